/* unit_settings.c: tests values, ranges, keywords and misspellings. */
#include "test.h"

#include <errno.h>

#include "base/settings.h"

static struct settings into;
static char why[512];

static const struct setting *named(const char *name) {
    size_t count;
    const struct setting *table = settings_table(&count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

static int parse(const char *name, const char *text) {
    return settings_parse(named(name), text, &into, why, sizeof why);
}

TEST(every_default_is_in_its_range_and_every_help_says_something)
{
    size_t count;
    const struct setting *table = settings_table(&count);
    expect(count > 20);
    for (size_t i = 0; i < count; i++) {
        expect_eq(settings_parse(&table[i], table[i].fallback, &into, why, sizeof why), 0);
        expect(!strncmp(table[i].name, "HEARTH_", 7) || !strcmp(table[i].name, "HEARTH"));
        expect(strlen(table[i].help) > 10);
        expect(table[i].least <= table[i].most);
        expect(i == 0 || table[i].audience >= table[i - 1].audience);
    }
}

TEST(defaults_are_those_of_the_list)
{
    settings_defaults(&into);
    expect_eq(into.mode, MODE_TRANSPARENT);
    expect_eq(into.cache_size, 4 << 20);
    expect_eq(into.index_size, 8000);
    expect_eq(into.helpers, 1);
    expect_eq(into.adapt, 1);
    expect_text(into.report, "");
}

TEST(sizes_take_units_of_1024_and_counts_of_1000)
{
    expect_eq(parse("HEARTH_CACHE_SIZE", "4096"), 0);
    expect_eq(into.cache_size, 4096);
    expect_eq(parse("HEARTH_CACHE_SIZE", "3k"), 0);
    expect_eq(into.cache_size, 3072);
    expect_eq(parse("HEARTH_CACHE_SIZE", "1.5M"), 0);
    expect_eq(into.cache_size, 1536 << 10);
    expect_eq(parse("HEARTH_CACHE_SIZE", "2g"), 0);
    expect_eq(into.cache_size, 2ll << 30);
    expect_eq(parse("HEARTH_INDEX_SIZE", "20k"), 0);
    expect_eq(into.index_size, 20000);
}

TEST(large_seeds_keep_all_their_bits)
{
    expect_eq(parse("HEARTH_SEED", "9007199254740993"), 0);
    expect(into.seed == 9007199254740993u);
    expect_eq(parse("HEARTH_SEED", "17999999999999999999"), 0);
    expect(into.seed == 17999999999999999999u);
}

TEST(wrong_values_are_refused_and_change_nothing)
{
    static const char *const wrong[] = {"",    " ",   "x",   "-1",  "1x", "12kk", "1e400",
                                        "nan", "inf", "1.5", " 64", "0x", "k",    "64 "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        into.cache_size = 77;
        if (parse("HEARTH_CACHE_SIZE", wrong[i]) != -EINVAL || into.cache_size != 77)
            printf("taken: \"%s\"\n", wrong[i]);
        expect_eq(parse("HEARTH_CACHE_SIZE", wrong[i]), -EINVAL);
        expect_eq(into.cache_size, 77);
    }
}

TEST(the_reason_names_value_and_range)
{
    expect_eq(parse("HEARTH_HELPERS", "5000"), -EINVAL);
    expect(strstr(why, "HEARTH_HELPERS=5000") && strstr(why, "from 1 to 64"));
    expect_eq(parse("HEARTH_MODE", "sometimes"), -EINVAL);
    expect(strstr(why, "sometimes") && strstr(why, "transparent|always|user|off"));
    expect_eq(parse("HEARTH_BUFFER_MEMORY", "1.2"), -EINVAL);
    expect(strstr(why, "from 1e-09 to 1"));
}

TEST(choices_are_words_in_any_case)
{
    expect_eq(parse("HEARTH_MODE", "Always"), 0);
    expect_eq(into.mode, MODE_ALWAYS);
    expect_eq(parse("HEARTH_MODE", "alway"), -EINVAL);
    expect_eq(parse("HEARTH_ADAPT", "0"), 0);
    expect_eq(into.adapt, 0);
    expect_eq(parse("HEARTH_ADAPT", "on"), 0);
    expect_eq(into.adapt, 1);
    expect_eq(parse("HEARTH_SCORE", "positional"), 0);
    expect_eq(into.score, SCORE_POSITIONAL);
    expect_eq(settings_word("a|bc|d", "bc"), 1);
    expect_eq(settings_word("a|bc|d", "b"), -1);
    expect_eq(settings_word("a|bc|d", ""), -1);
}

/* Parses the text, and prints the value. */
static const char *printed(const char *name, const char *text) {
    static char out[256];
    expect_eq(parse(name, text), 0);
    settings_print(named(name), &into, out, sizeof out);
    return out;
}

TEST(values_are_printed_as_they_would_be_written)
{
    expect_text(printed("HEARTH_CACHE_SIZE", "4194304"), "4m");
    expect_text(printed("HEARTH_CACHE_SIZE", "1536"), "1536");
    expect_text(printed("HEARTH_CACHE_SIZE", "2048g"), "2048g");
    expect_text(printed("HEARTH_INDEX_SIZE", "8000"), "8k");
    expect_text(printed("HEARTH_INDEX_SIZE", "8192"), "8192");
    expect_text(printed("HEARTH_SAMPLED_ADMISSION", "0"), "0");
    expect_text(printed("HEARTH_SEED", "17999999999999999999"), "17999999999999999999");
    expect_text(printed("HEARTH_BUFFER_MEMORY", "0.1"), "0.1");
    expect_text(printed("HEARTH_HELPER_THRESHOLD", "1e300"), "1e+300");
    expect_text(printed("HEARTH_MODE", "TRANSPARENT"), "transparent");
    expect_text(printed("HEARTH_MODE", "acquire"), "acquire");
    expect_text(printed("HEARTH_CHECK", "1"), "on");
    expect_text(printed("HEARTH_REPORT", "a b.json"), "a b.json");
}

TEST(every_default_survives_being_printed)
{
    size_t count;
    const struct setting *table = settings_table(&count);
    char text[256], again[256];
    for (size_t i = 0; i < count; i++) {
        expect_eq(settings_parse(&table[i], table[i].fallback, &into, why, sizeof why), 0);
        settings_print(&table[i], &into, text, sizeof text);
        expect_eq(settings_parse(&table[i], text, &into, why, sizeof why), 0);
        settings_print(&table[i], &into, again, sizeof again);
        expect_text(again, text);
    }
}

TEST(misspelt_names_are_recognised)
{
    expect(settings_nearest("HEARTH_CACHESIZE") == named("HEARTH_CACHE_SIZE"));
    expect(settings_nearest("HEARTH_MODUS") == named("HEARTH_MODE"));
    expect(settings_nearest("HEARTH_SOMETHING_ELSE_ENTIRELY") == NULL);
    expect(settings_nearest("HEARTH_XYZ") != named("HEARTH"));
    expect(settings_nearest("HEARTH_A_NAME_THAT_IS_MUCH_LONGER_THAN_ANY_SETTING_COULD_EVER_BE_IN_PRACTICE") ==
           NULL);
}

TEST(a_setting_is_found_by_its_name)
{
    expect(settings_find("HEARTH_MODE") == named("HEARTH_MODE"));
    expect(!settings_find("HEARTH_MODUS"));
}

TEST(hearth_is_off_by_one_variable)
{
    expect(!settings_are_off());
    setenv("HEARTH", "of", 1);
    expect(!settings_are_off());
    setenv("HEARTH", "OFF", 1);
    expect(settings_are_off());
    setenv("HEARTH", "on", 1);
    expect(!settings_are_off());
    unsetenv("HEARTH");
}

TEST(the_environment_is_read_once_and_bad_values_fall_back)
{
    setenv("HEARTH_CACHE_SIZE", "1m", 1);
    setenv("HEARTH_HELPERS", "9", 1);
    setenv("HEARTH_LOG", "error", 1);
    const struct settings *s = settings_get();
    setenv("HEARTH_HELPERS", "11", 1);
    expect_eq(s->cache_size, 1 << 20);
    expect_eq(settings_get()->helpers, 9);
    expect_eq(s->buffers, 4);
    size_t count;
    const struct setting *table = settings_table(&count);
    for (size_t i = 0; i < count; i++) {
        bool set = !strcmp(table[i].name, "HEARTH_CACHE_SIZE") || !strcmp(table[i].name, "HEARTH_HELPERS") ||
                   !strcmp(table[i].name, "HEARTH_LOG");
        expect_eq(settings_source(i), set ? SOURCE_ENVIRONMENT : SOURCE_DEFAULT);
    }
}
