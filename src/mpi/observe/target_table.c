/* target_table.c: see target_table.h. */
#include "mpi/observe/target_table.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/compiler.h"

_Static_assert(TARGET_SLOTS >= 2 * TARGET_ROWS && TARGET_ROWS < UINT16_MAX, "a search ends at a free slot");

struct target_row *target_table_row(struct target_table *t, int rank) {
    uint32_t slot = (uint32_t)rank % TARGET_SLOTS; /* neighbours have different ones */
    if (UNLIKELY(rank < 0))
        return &t->rows[TARGET_ROWS];
    for (; t->slots[slot]; slot = (slot + 1) % TARGET_SLOTS)
        if (LIKELY(t->rows[t->slots[slot] - 1].rank == rank))
            return &t->rows[t->slots[slot] - 1];
    if (t->count == TARGET_ROWS)
        return &t->rows[TARGET_ROWS];
    t->slots[slot] = (uint16_t)(t->count + 1);
    t->rows[t->count].rank = rank;
    return &t->rows[t->count++];
}

/* ---- the report ---- */

static const char *const counter_names[TARGET_COUNTERS] = {
    "gets", "get_bytes", "puts", "put_bytes", "messages", "message_bytes", "nanoseconds"};

static double ns_per_tick; /* of the report that is being written: ticks are estimates, which it limits */

static uint64_t target_value(const struct target_row *t, int counter) {
    uint64_t value = t->counters[counter];
    return counter == TARGET_TICKS ? (uint64_t)((double)value * ns_per_tick) : value;
}

static uint64_t target_bytes(const struct target_row *t) {
    return t->counters[TARGET_GET_BYTES] + t->counters[TARGET_PUT_BYTES] + t->counters[TARGET_MESSAGE_BYTES];
}

static int target_by_bytes(const void *a, const void *b) {
    const struct target_row *x = *(const struct target_row *const *)a,
                            *y = *(const struct target_row *const *)b;
    uint64_t p = target_bytes(x), q = target_bytes(y);
    return p != q ? (p < q) - (p > q) : x->rank - y->rank;
}

static int target_by_rank(const void *a, const void *b) {
    return (*(const struct target_row *const *)a)->rank - (*(const struct target_row *const *)b)->rank;
}

static void write_target_columns(struct json *j, const struct target_row *const *rows, size_t count) {
    uint64_t column[TARGETS_REPORTED];
    for (size_t i = 0; i < count; i++)
        column[i] = (uint64_t)rows[i]->rank;
    json_counts(j, "ranks", column, count);
    for (int c = 0; c < TARGET_COUNTERS; c++) {
        for (size_t i = 0; i < count; i++)
            column[i] = target_value(rows[i], c);
        json_counts(j, counter_names[c], column, count);
    }
}

static void write_other_targets(struct json *j, const struct target_row *const *rows, size_t count,
                                const struct target_row *unlisted) {
    bool is_any = false;
    for (int c = 0; c < TARGET_COUNTERS; c++)
        is_any |= unlisted->counters[c] > 0;
    json_open(j, "others", '{');
    json_count(j, "targets", count + is_any);
    for (int c = 0; c < TARGET_COUNTERS; c++) {
        uint64_t sum = target_value(unlisted, c);
        for (size_t i = 0; i < count; i++)
            sum += target_value(rows[i], c);
        json_count(j, counter_names[c], sum);
    }
    json_close(j, '}');
}

void target_table_json(struct json *j, const struct target_table *t, double limit) {
    ns_per_tick = limit * clock_ns_per_tick();
    const struct target_row *rows[TARGET_ROWS];
    size_t count = t->count, shown = count < TARGETS_REPORTED ? count : TARGETS_REPORTED;
    for (size_t i = 0; i < count; i++)
        rows[i] = &t->rows[i];
    qsort(rows, count, sizeof *rows, target_by_bytes);
    qsort(rows, shown, sizeof *rows, target_by_rank);
    json_open(j, "targets", '{');
    write_target_columns(j, rows, shown);
    write_other_targets(j, rows + shown, count - shown, &t->rows[TARGET_ROWS]);
    json_close(j, '}');
}
