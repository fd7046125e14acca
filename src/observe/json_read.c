/* json_read.c: parses JSON in one pass over the text, into one array of values.
 *
 * A value is appended to the array before its members. Its span, the number of values that it and its members occupy,
 * is set when the members have been read:
 *
 *      {"a": [1, 2], "b": 3}   ->   object(5)  a: array(3)  1(1)  2(1)  b: number(1)
 *
 * Members are iterated by adding spans, and one free() releases everything. Strings are unescaped in place, since
 * they only become shorter.
 *
 * Invariant: `at` never passes `end`, and *end is 0, so that looking one byte ahead needs no test. Depth is bounded,
 * and with it the recursion. */
#include "observe/json_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"

struct reader {
    char *at, *end;
    size_t line;      /* from 1; strings contain no line ends before they are unescaped */
    const char *head; /* start of the line; recorded, as unescaped strings may contain line ends */
    struct json_value *values;
    size_t count, room;
    unsigned depth;
    const char *what; /* the error, at `at` */
};

static int json_fail(struct reader *r, const char *what) {
    r->what = what;
    return -EINVAL;
}

static void skip_blanks(struct reader *r) {
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        if (*r->at++ == '\n') {
            r->line++;
            r->head = r->at;
        }
}

/* Appends a value and returns its index; not a pointer, because the array may move. */
static int add_value(struct reader *r, enum json_kind kind, const char *name, size_t *index) {
    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        struct json_value *more = realloc(r->values, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        r->values = more;
        r->room = room;
    }
    *index = r->count++;
    r->values[*index] = (struct json_value){.kind = kind, .span = 1, .name = name, .text = ""};
    return 0;
}

/* ---- strings ---- */

static int read_hex(struct reader *r, unsigned *code) {
    *code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char c = *r->at, low = (char)(c | 0x20);
        if (c >= '0' && c <= '9')
            *code = *code * 16 + (unsigned)(c - '0');
        else if (low >= 'a' && low <= 'f')
            *code = *code * 16 + (unsigned)(low - 'a' + 10);
        else
            return json_fail(r, "\\u requires four hexadecimal digits");
    }
    return 0;
}

static char *put_utf8(char *to, unsigned code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* After "\u". Characters beyond U+FFFF come as surrogate pairs. */
static int read_unicode(struct reader *r, char **to) {
    unsigned code, low;
    if (read_hex(r, &code))
        return -EINVAL;
    if (!code)
        return json_fail(r, "a string contains the character 0");
    if (code >= 0xdc00 && code < 0xe000)
        return json_fail(r, "unpaired surrogate");
    if (code >= 0xd800 && code < 0xdc00) {
        if (r->at[0] != '\\' || r->at[1] != 'u')
            return json_fail(r, "unpaired surrogate");
        r->at += 2;
        if (read_hex(r, &low))
            return -EINVAL;
        if (low < 0xdc00 || low >= 0xe000)
            return json_fail(r, "unpaired surrogate");
        code = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
    }
    *to = put_utf8(*to, code);
    return 0;
}

static int read_escape(struct reader *r, char **to) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = *r->at;
    const char *place = c ? strchr(letters, c) : NULL;
    if (place) {
        *(*to)++ = meanings[place - letters];
        r->at++;
        return 0;
    }
    if (c != 'u')
        return json_fail(r, "unknown escape sequence");
    r->at++;
    return read_unicode(r, to);
}

/* From after the first quote to after the last. */
static int json_read_text(struct reader *r, const char **text, size_t *size) {
    char *from = r->at, *to = from;
    while (*r->at != '"') {
        if (r->at == r->end)
            return json_fail(r, "unterminated string");
        if ((unsigned char)*r->at < 0x20)
            return json_fail(r, "a control character in a string");
        if (*r->at == '\\') {
            r->at++;
            if (read_escape(r, &to))
                return -EINVAL;
            continue;
        }
        size_t n = utf8_length(r->at, (size_t)(r->end - r->at));
        if (!n)
            return json_fail(r, "invalid UTF-8");
        memmove(to, r->at, n);
        to += n;
        r->at += n;
    }
    r->at++;
    *to = 0; /* at the last quote, or before it */
    *text = from;
    *size = (size_t)(to - from);
    return 0;
}

/* ---- numbers and words ---- */

static size_t skip_digits(struct reader *r) {
    const char *from = r->at;
    while (*r->at >= '0' && *r->at <= '9')
        r->at++;
    return (size_t)(r->at - from);
}

/* number_parse accepts more than JSON does (hexadecimal, infinite, leading zeros), so the syntax is checked here. */
static int json_read_number(struct reader *r, struct json_value *v) {
    const char *from = r->at;
    bool is_whole = *r->at != '-';
    r->at += *r->at == '-';
    const char *first = r->at;
    size_t digits = skip_digits(r);
    if (!digits)
        return json_fail(r, "a digit was expected");
    if (*first == '0' && digits > 1) {
        r->at -= digits;
        return json_fail(r, "a number with a leading 0");
    }
    if (*r->at == '.') {
        is_whole = false;
        r->at++;
        if (!skip_digits(r))
            return json_fail(r, "a digit was expected");
    }
    if (*r->at == 'e' || *r->at == 'E') {
        is_whole = false;
        r->at++;
        r->at += *r->at == '+' || *r->at == '-';
        if (!skip_digits(r))
            return json_fail(r, "a digit was expected");
    }
    v->number = number_parse(from, NULL);
    errno = 0;
    uint64_t count = is_whole ? strtoull(from, NULL, 10) : 0;
    v->is_count = is_whole && !errno;
    v->count = v->is_count ? count : 0;
    return 0;
}

static int read_word(struct reader *r, const char *word) {
    size_t n = strlen(word);
    if (strncmp(r->at, word, n))
        return json_fail(r, "a value was expected: a string, a number, true, false, null, [ or {");
    r->at += n;
    return 0;
}

/* ---- values ---- */

static int read_value(struct reader *r, const char *name, size_t *index);

static int read_member(struct reader *r, bool is_object) {
    const char *name = NULL;
    size_t size, index;
    if (is_object) {
        if (*r->at != '"')
            return json_fail(r, "a name in quotes was expected");
        r->at++;
        if (json_read_text(r, &name, &size))
            return -EINVAL;
        skip_blanks(r);
        if (*r->at != ':')
            return json_fail(r, "a colon was expected");
        r->at++;
    }
    return read_value(r, name, &index);
}

static int read_members(struct reader *r, size_t index, char close) {
    bool is_object = close == '}';
    r->at++;
    skip_blanks(r);
    if (*r->at == close) {
        r->at++;
        return 0;
    }
    for (;;) {
        int err = read_member(r, is_object);
        if (err)
            return err;
        r->values[index].size++;
        skip_blanks(r);
        if (*r->at == close)
            break;
        if (*r->at != ',')
            return json_fail(r, is_object ? "a comma or } was expected" : "a comma or ] was expected");
        r->at++;
        skip_blanks(r);
    }
    r->at++;
    r->values[index].span = r->count - index;
    return 0;
}

static int read_nested(struct reader *r, const char *name, size_t *index) {
    bool is_object = *r->at == '{';
    if (r->depth == JSON_DEPTH)
        return json_fail(r, "nested too deep");
    int err = add_value(r, is_object ? JSON_OBJECT : JSON_ARRAY, name, index);
    if (err)
        return err;
    r->depth++;
    err = read_members(r, *index, is_object ? '}' : ']');
    r->depth--;
    return err;
}

static int read_string(struct reader *r, const char *name, size_t *index) {
    int err = add_value(r, JSON_STRING, name, index);
    if (err)
        return err;
    r->at++;
    return json_read_text(r, &r->values[*index].text, &r->values[*index].size);
}

static int read_plain(struct reader *r, const char *name, size_t *index) {
    char c = *r->at;
    bool is_number = c == '-' || (c >= '0' && c <= '9');
    enum json_kind kind = is_number ? JSON_NUMBER : c == 't' ? JSON_TRUE : c == 'f' ? JSON_FALSE : JSON_NULL;
    int err = add_value(r, kind, name, index);
    if (err)
        return err;
    if (is_number)
        return json_read_number(r, &r->values[*index]);
    return read_word(r, kind == JSON_TRUE ? "true" : kind == JSON_FALSE ? "false" : "null");
}

static int read_value(struct reader *r, const char *name, size_t *index) {
    skip_blanks(r);
    if (*r->at == '{' || *r->at == '[')
        return read_nested(r, name, index);
    return *r->at == '"' ? read_string(r, name, index) : read_plain(r, name, index);
}

static void locate(const struct reader *r, struct json_error *error) {
    *error = (struct json_error){.line = r->line,
                                 .column = (size_t)(r->at - r->head) + 1,
                                 .what = r->at == r->end ? "the file ends in the middle" : r->what};
}

int json_read(char *text, size_t length, struct json_value **values, struct json_error *error) {
    struct reader r = {.at = text, .end = text + length, .line = 1, .head = text};
    size_t index;
    text[length] = 0;
    int err = read_value(&r, NULL, &index);
    if (!err) {
        skip_blanks(&r);
        if (r.at != r.end)
            err = json_fail(&r, "text after the end of the value");
    }
    if (!err) {
        *values = r.values;
        return 0;
    }
    if (err == -EINVAL)
        locate(&r, error);
    free(r.values);
    return err;
}

const struct json_value *json_next(const struct json_value *value, const struct json_value *member) {
    const struct json_value *next = member ? member + member->span : value + 1;
    return next < value + value->span ? next : NULL;
}

const struct json_value *json_member(const struct json_value *value, const char *name) {
    if (!value || value->kind != JSON_OBJECT)
        return NULL;
    for (const struct json_value *m = NULL; (m = json_next(value, m));)
        if (!strcmp(m->name, name))
            return m;
    return NULL;
}
