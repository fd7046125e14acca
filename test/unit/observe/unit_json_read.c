/* unit_json_read.c: tests the JSON reader: valid and invalid input, random damage, and that it reads what the writer
 * writes. */
#include "test.h"

#include <errno.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/utf8.h"
#include "observe/json.h"
#include "observe/json_read.h"

static char *text;
static struct json_value *root;
static struct json_error error;

/* Reads a copy of exactly this length, so that the sanitizer detects reads beyond it. */
static int read_bytes(const char *from, size_t length) {
    free(text);
    free(root);
    root = NULL;
    text = malloc(length + 1);
    memcpy(text, from, length);
    text[length] = 'x'; /* not the 0 that the reader needs; it sets it */
    return json_read(text, length, &root, &error);
}

static int read_text(const char *from) {
    return read_bytes(from, strlen(from));
}

static bool is_refused(const char *from, size_t line, size_t column, const char *what) {
    int err = read_text(from);
    if (err == -EINVAL && error.line == line && error.column == column && !strcmp(error.what, what))
        return true;
    printf("%s: %d, line %zu, column %zu, %s\n", from, err, error.line, error.column, err ? error.what : "");
    return false;
}

TEST(values_of_all_kinds)
{
    expect_eq(
        read_text(" {\"a\" : [1, 2.5e1, -3], \"b\":{}, \"c\":null,\"d\":true , \"e\":false, \"f\": \"x\"}\n"),
        0);
    expect_eq(root->kind, JSON_OBJECT);
    expect_eq(root->size, 6);
    const struct json_value *a = json_member(root, "a"), *m = json_next(a, NULL);
    expect_eq(a->size, 3);
    expect(m->is_count && m->count == 1 && m->number == 1);
    m = json_next(a, m);
    expect(!m->is_count && m->number == 25);
    m = json_next(a, m);
    expect(!m->is_count && m->number == -3);
    expect(!json_next(a, m));
    expect_eq(json_member(root, "b")->size, 0);
    expect(!json_next(json_member(root, "b"), NULL));
    expect_eq(json_member(root, "c")->kind, JSON_NULL);
    expect_eq(json_member(root, "d")->kind, JSON_TRUE);
    expect_eq(json_member(root, "e")->kind, JSON_FALSE);
    expect_text(json_member(root, "f")->text, "x");
    expect(!json_member(root, "g"));
    expect(!json_member(a, "a"));
    expect(!json_member(NULL, "a"));
}

TEST(large_counts_are_exact)
{
    expect_eq(read_text("[18446744073709551615, 18446744073709551616, 9007199254740993]"), 0);
    expect(root[1].is_count && root[1].count == UINT64_MAX);
    expect(!root[2].is_count && root[2].number > 1e19);
    expect(root[3].count == 9007199254740993u);
}

TEST(texts_are_unescaped)
{
    expect_eq(read_text("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00z\""), 0);
    expect_text(root->text, "a\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
    expect_eq(root->size, strlen(root->text));
}

TEST(what_is_wrong_is_said_with_its_place)
{
    expect(is_refused("", 1, 1, "the file ends in the middle"));
    expect(is_refused("{\"a\": [1,\n 2", 2, 3, "the file ends in the middle"));
    expect(is_refused("{\"a\\n\\n\": 1,\n  \"b\" 2}", 2, 7, "a colon was expected"));
    expect(is_refused("[1,]", 1, 4, "a value was expected: a string, a number, true, false, null, [ or {"));
    expect(is_refused("[1 2]", 1, 4, "a comma or ] was expected"));
    expect(is_refused("{\"a\":1 \"b\"}", 1, 8, "a comma or } was expected"));
    expect(is_refused("{a:1}", 1, 2, "a name in quotes was expected"));
    expect(is_refused("{\"a\":1,}", 1, 8, "a name in quotes was expected"));
    expect(is_refused("01", 1, 1, "a number with a leading 0"));
    expect(is_refused("[-012]", 1, 3, "a number with a leading 0"));
    expect(is_refused("-x", 1, 2, "a digit was expected"));
    expect(is_refused("1.x", 1, 3, "a digit was expected"));
    expect(is_refused("1e+x", 1, 4, "a digit was expected"));
    expect(is_refused("nul ", 1, 1, "a value was expected: a string, a number, true, false, null, [ or {"));
    expect(is_refused("[] x", 1, 4, "text after the end of the value"));
    expect(is_refused("\"\\q\"", 1, 3, "unknown escape sequence"));
    expect(is_refused("\"\\u12g4\"", 1, 6, "\\u requires four hexadecimal digits"));
    expect(is_refused("\"\\u0000\"", 1, 8, "a string contains the character 0"));
    expect(is_refused("\"\\udc00 \"", 1, 8, "unpaired surrogate"));
    expect(is_refused("\"\\ud800x\"", 1, 8, "unpaired surrogate"));
    expect(is_refused("\"a\nb\"", 1, 3, "a control character in a string"));
    expect(is_refused("\"\xff\"", 1, 2, "invalid UTF-8"));
    expect(is_refused("\"\xc0\x80\"", 1, 2, "invalid UTF-8"));
    expect_eq(read_bytes("[1,\0 2]", 7), -EINVAL);
}

TEST(depth_is_bounded)
{
    char deep[2 * JSON_DEPTH + 3];
    memset(deep, '[', JSON_DEPTH);
    memset(deep + JSON_DEPTH, ']', JSON_DEPTH);
    deep[2 * JSON_DEPTH] = 0;
    expect_eq(read_text(deep), 0);
    memset(deep, '[', JSON_DEPTH + 1);
    memset(deep + JSON_DEPTH + 1, ']', JSON_DEPTH + 1);
    deep[2 * JSON_DEPTH + 2] = 0;
    expect(is_refused(deep, 1, JSON_DEPTH + 1, "nested too deep"));
}

TEST(utf8)
{
    expect_eq(utf8_length("a", 1), 1);
    expect_eq(utf8_length("", 0), 0);
    expect_eq(utf8_length("\xc3\xa9", 2), 2);
    expect_eq(utf8_length("\xc3\xa9", 1), 0);
    expect_eq(utf8_length("\xed\xa0\x80", 3), 0);     /* half of a surrogate pair */
    expect_eq(utf8_length("\xf4\x90\x80\x80", 4), 0); /* beyond the last code point */
    expect_eq(utf8_length("\xf0\x8f\xbf\xbf", 4), 0); /* overlong */
}

/* ---- random documents ---- */

static struct random dice;

static unsigned roll(unsigned n) {
    return random_below(&dice, n);
}

static void write_random_text(struct json *j, const char *name) {
    static const char *const pieces[] = {"a",    "\"",   "\\",        "\n",          "\xc3\xa9",
                                         "\xff", "\x01", "</script>", "\xe2\x82\xac"};
    char value[64] = "";
    for (unsigned i = roll(5); i; i--)
        strcat(value, pieces[roll(9)]);
    json_string(j, name, value);
}

static unsigned values_written;

static void write_random(struct json *j, const char *name, unsigned depth) {
    uint64_t counts[3] = {random_next(&dice), 0, 7};
    unsigned n = roll(4), kind = depth < 6 ? roll(6) : 2 + roll(3);
    values_written++;
    switch (kind) {
    case 0:
    case 1:
        json_open(j, name, kind ? '[' : '{');
        for (unsigned i = 0; i < n; i++)
            write_random(j, kind ? NULL : "name", depth + 1);
        json_close(j, kind ? ']' : '}');
        break;
    case 2:
        json_count(j, name, random_next(&dice) >> roll(64));
        break;
    case 3:
        json_number(j, name, (double)(int64_t)random_next(&dice) / 1e9);
        break;
    case 4:
        write_random_text(j, name);
        break;
    default:
        json_counts(j, name, counts, n < 3 ? n : 3);
        values_written += n < 3 ? n : 3;
    }
}

static char *written;
static size_t length;

static void write_document(void) {
    struct json j;
    free(written);
    FILE *file = open_memstream(&written, &length);
    json_begin(&j, file);
    values_written = 0;
    write_random(&j, NULL, 0);
    fclose(file);
}

/* Valid documents are read, value for value; with a few bytes changed, cut or doubled they are read or refused,
 * without any other effect. */
TEST(whatever_comes_is_read_or_refused)
{
    static const char likely[] = "{}[]\",:\\u0019eE+-.tfn \n\xff";
    const char *given = getenv("HEARTH_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : clock_ns() % 1000000;
    printf("HEARTH_TEST_SEED=%llu\n", (unsigned long long)seed);
    random_seed(&dice, seed);
    unsigned refused = 0;
    for (unsigned i = 0; i < 40000; i++) {
        write_document();
        expect_eq(read_bytes(written, length), 0);
        expect_eq(root->span, values_written);
        for (unsigned k = roll(4); k && length; k--)
            written[roll((unsigned)length)] = roll(2) ? likely[roll(sizeof likely)] : (char)roll(256);
        size_t cut = roll(3) ? length : roll((unsigned)length + 1);
        int err = read_bytes(written, cut);
        refused += err != 0;
        expect(!err || (err == -EINVAL && error.line && error.column && error.what));
    }
    expect(refused > 10000);
    free(written);
    free(text);
    free(root);
}
