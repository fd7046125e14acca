/* unit_mpi_target_table.c: tests the table of targets: every rank has one row, however many collide; what does not fit is
 * counted with the others; the report has the targets with most bytes, and nothing is lost. */
#include "test.h"

#include "mpi/observe/target_table.c"

#include "observe/json.h"
#include "observe/json_read.h"

static struct target_table table;

/* The table as the report has it. The caller frees both. */
static const struct json_value *report_of(const struct target_table *t, char **text,
                                          struct json_value **root) {
    struct json j;
    struct json_error error;
    size_t length;
    FILE *file = open_memstream(text, &length);
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    target_table_json(&j, t, 1);
    json_close(&j, '}');
    fclose(file);
    *text = realloc(*text, length + 2);
    expect_eq(json_read(*text, length, root, &error), 0);
    return json_member(*root, "targets");
}

static uint64_t sum_of(const struct json_value *targets, const char *name) {
    uint64_t sum = json_member(json_member(targets, "others"), name)->count;
    for (const struct json_value *v = NULL, *list = json_member(targets, name); (v = json_next(list, v));)
        sum += v->count;
    return sum;
}

static void fill(int targets, int step) {
    table = (struct target_table){0};
    for (int i = 0; i < targets; i++) {
        uint64_t *counters = target_table_row(&table, i * step)->counters;
        counters[TARGET_GETS] += 1;
        counters[TARGET_GET_BYTES] += (uint64_t)i + 1;
        counters[TARGET_PUTS] += 2;
        counters[TARGET_PUT_BYTES] += 1;
        counters[TARGET_MESSAGES] += 3;
        counters[TARGET_MESSAGE_BYTES] += 4;
        counters[TARGET_TICKS] += 1000000;
    }
}

TEST(every_rank_has_one_row)
{
    fill(300, TARGET_SLOTS); /* all have the same hash */
    expect_eq(table.count, 300);
    for (int i = 0; i < 300; i++) {
        struct target_row *row = target_table_row(&table, i * TARGET_SLOTS);
        expect(row->rank == i * TARGET_SLOTS && row->counters[TARGET_GET_BYTES] == (uint64_t)i + 1);
    }
    expect_eq(table.count, 300);
}

TEST(few_targets_are_all_reported)
{
    char *text;
    struct json_value *root;
    fill(3, 5);
    const struct json_value *targets = report_of(&table, &text, &root);
    expect_eq(json_member(targets, "ranks")->size, 3);
    expect_eq(json_member(json_member(targets, "others"), "targets")->count, 0);
    expect_eq(sum_of(targets, "gets"), 3);
    expect_eq(sum_of(targets, "get_bytes"), 6);
    expect_eq(sum_of(targets, "puts"), 6);
    free(root);
    free(text);
}

TEST(of_many_those_with_most_bytes)
{
    char *text;
    struct json_value *root;
    enum { MANY = TARGET_ROWS + 100 };
    fill(MANY, 1);
    expect_eq(table.count, TARGET_ROWS);
    expect(target_table_row(&table, MANY + 1) == &table.rows[TARGET_ROWS]);
    expect(target_table_row(&table, 3) != &table.rows[TARGET_ROWS]);
    const struct json_value *targets = report_of(&table, &text, &root),
                            *ranks = json_member(targets, "ranks");
    uint64_t wanted = TARGET_ROWS - TARGETS_REPORTED;
    for (const struct json_value *v = NULL; (v = json_next(ranks, v));)
        expect_eq(v->count, wanted++);
    expect_eq(wanted, TARGET_ROWS);
    expect_eq(sum_of(targets, "gets"), MANY);
    expect_eq(sum_of(targets, "get_bytes"), MANY * (MANY + 1) / 2);
    expect_eq(sum_of(targets, "puts"), 2 * MANY);
    expect_eq(sum_of(targets, "messages"), 3 * MANY);
    expect_eq(sum_of(targets, "message_bytes"), 4 * MANY);
    expect(sum_of(targets, "nanoseconds") > 0);
    free(root);
    free(text);
}

TEST(processes_without_a_rank_are_others)
{
    table = (struct target_table){0};
    expect(target_table_row(&table, -1) == &table.rows[TARGET_ROWS]);
    expect_eq(table.count, 0);
}
