/* parts_merge.c: see parts_merge.h.
 *
 * The texts are not parsed, only split into their members, so the values of the merged report are those of the parts to the last
 * digit. Damaged text gives a damaged report, which its reader refuses; nothing is read beyond its end. */
#include "report/read/parts_merge.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "observe/output.h"

/* ---- the members of a part ---- */

struct member {
    const char *name, *value; /* the name with its quotes */
    size_t name_bytes, bytes;
    bool is_list; /* `value` excludes its brackets */
};

static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

static const char *skip_value(const char *at, const char *end) {
    int depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (!depth && strchr(",]}\n", *at))
            return at;
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    }
    return at;
}

static const char *skip_all(const char *at, const char *end, const char *blanks) {
    while (at < end && strchr(blanks, *at))
        at++;
    return at;
}

static void strip_brackets(struct member *m) {
    m->value++;
    m->bytes -= m->bytes > 1 ? 2 : 1;
    while (m->bytes && strchr(" \n", m->value[m->bytes - 1]))
        m->bytes--;
}

/* Takes the member at or behind this place; returns the place behind it, or NULL if there is none. */
static const char *member_next(const struct part *p, const char *at, struct member *m) {
    const char *end = p->text + p->length;
    at = skip_all(at, end, " \n,{");
    if (at >= end || *at != '"')
        return NULL;
    const char *after = skip_string(at, end), *value = skip_all(after, end, ": ");
    const char *last = skip_value(value, end);
    *m = (struct member){at, value, (size_t)(after - at), (size_t)(last - value),
                         value < end && *value == '['};
    if (m->is_list)
        strip_brackets(m);
    return last;
}

static bool list_find(const struct part *p, const struct member *like, struct member *found) {
    for (const char *at = p->text; (at = member_next(p, at, found));)
        if (found->name_bytes == like->name_bytes && !memcmp(found->name, like->name, like->name_bytes))
            return found->is_list;
    return false;
}

/* ---- merging ---- */

static void print_list(FILE *out, const struct part *parts, size_t count, const struct member *like) {
    const char *between = "";
    struct member m;
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        if (!list_find(&parts[i], like, &m) || !m.bytes)
            continue;
        fprintf(out, "%s%.*s", between, (int)m.bytes, m.value);
        between = ",";
    }
    fputs("\n  ]", out);
}

static void print_merged(FILE *out, const struct part *parts, size_t count, const char *why) {
    static const char partial[] = "\"partial\"";
    const char *between = "{";
    struct member m;
    if (*why) {
        fprintf(out, "{\n  %s: \"%s\"", partial, why);
        between = ",";
    }
    for (const char *at = parts[0].text; (at = member_next(&parts[0], at, &m));) {
        if (*why && m.name_bytes == sizeof partial - 1 && !memcmp(m.name, partial, m.name_bytes))
            continue;
        fprintf(out, "%s\n  %.*s: ", between, (int)m.name_bytes, m.name);
        if (m.is_list)
            print_list(out, parts, count, &m);
        else
            fprintf(out, "%.*s", (int)m.bytes, m.value);
        between = ",";
    }
    fputs("\n}\n", out);
}

char *parts_merge(const struct part *parts, size_t count, const char *why, size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out)
        return NULL;
    print_merged(out, parts, count, why);
    return output_text(out, &text);
}
