/* unit_locale.c: tests settings and JSON in a program whose locale has a decimal comma, which it may set before MPI_Init.
 * localedef makes the locale. */
#define TEST_OWN_MAIN
#include "test.h"

#include <locale.h>

#include "base/number.h"
#include "base/settings.h"
#include "observe/json.h"
#include "observe/json_read.h"

static struct settings into;
static char text[256];

static const char *printed(const char *setting) {
    settings_print(settings_find(setting), &into, text, sizeof text);
    return text;
}

TEST(the_program_has_a_decimal_comma)
{
    snprintf(text, sizeof text, "%.1f", 1.5);
    expect_text(text, "1,5");
}

TEST(defaults_are_not_0)
{
    memset(&into, 0, sizeof into);
    settings_defaults(&into);
    expect(into.buffer_memory == 0.05);
    expect(into.helper_threshold == 1e9);
}

TEST(settings_have_a_decimal_point)
{
    const struct setting *s = settings_find("HEARTH_BUFFER_MEMORY");
    expect_eq(settings_parse(s, "0.25", &into, text, sizeof text), 0);
    expect(into.buffer_memory == 0.25);
    expect_text(printed("HEARTH_BUFFER_MEMORY"), "0.25");
    expect(settings_parse(s, "0,25", &into, text, sizeof text) != 0);
    expect_eq(settings_parse(settings_find("HEARTH_CACHE_SIZE"), "1.5m", &into, text, sizeof text), 0);
    expect_eq(into.cache_size, 1536 << 10);
}

TEST(a_complaint_has_a_decimal_point)
{
    struct setting s = *settings_find("HEARTH_BUFFER_MEMORY");
    s.least = 0.25;
    expect(settings_parse(&s, "0.1", &into, text, sizeof text) != 0);
    expect_text(text, "HEARTH_BUFFER_MEMORY=0.1 is not a number from 0.25 to 1");
}

TEST(json_has_a_decimal_point)
{
    char *written = NULL;
    size_t length = 0;
    struct json j;
    json_begin(&j, open_memstream(&written, &length));
    json_open(&j, NULL, '[');
    json_number(&j, NULL, 0.125);
    json_number(&j, NULL, 1e-9);
    json_close(&j, ']');
    fclose(j.file);
    expect_text(written, "[\n  0.125,\n  1e-09\n]\n");
    free(written);
}

TEST(json_is_read)
{
    struct json_value *root = NULL;
    struct json_error error;
    snprintf(text, sizeof text, "[2.75, 1.5e1]");
    expect_eq(json_read(text, strlen(text), &root, &error), 0);
    const struct json_value *first = json_next(root, NULL);
    expect(first->number == 2.75);
    expect(json_next(root, first)->number == 15);
    free(root);
}

TEST(the_program_keeps_its_locale)
{
    char *end;
    expect(number_parse("1.5", &end) == 1.5);
    expect_text(end, "");
    expect(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
    the_program_has_a_decimal_comma();
}

/* Makes the locale in a folder of its own, and sets it. */
static bool locale_set(void) {
    char folder[] = "/tmp/unit_locale.XXXXXX", command[512];
    if (!mkdtemp(folder))
        return false;
    snprintf(command, sizeof command,
             "cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\nEND "
             "LC_NUMERIC\\n' >source && localedef -c -i source -f ANSI_X3.4-1968 ./comma >log 2>&1",
             folder);
    int made = system(command); /* localedef warns of the categories that are missing */
    setenv("LOCPATH", folder, 1);
    bool is_set = setlocale(LC_NUMERIC, "comma") != NULL;
    printf("localedef: %d\n", made);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return !system(command) && is_set;
}

int main(int argc, char **argv) {
    if (!locale_set()) {
        puts("skipped: localedef or its files are missing");
        return 77;
    }
    return test_main(argc, argv);
}
