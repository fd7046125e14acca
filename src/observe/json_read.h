/* json_read.h: reads JSON, strictly as RFC 8259 defines it; errors are reported by line and column. */
#ifndef HEARTH_JSON_READ_H
#define HEARTH_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* A value. Its members, if any, follow it in memory, each followed by its own members. */
struct json_value {
    enum json_kind kind;
    bool is_count;    /* a number that is whole, not negative, and below 2^64 */
    size_t size;      /* members of an array or object, bytes of a string */
    size_t span;      /* number of values, this one and all inside it */
    const char *name; /* as a member of an object, else NULL */
    const char *text; /* a string, terminated by 0 and without another 0; else "" */
    double number;    /* else 0 */
    uint64_t count;   /* if is_count, else 0 */
};

struct json_error {
    size_t line, column; /* from 1; columns are bytes */
    const char *what;
};

enum { JSON_DEPTH = 32 }; /* deeper nesting is rejected */

/* Reads `length` bytes, after which there must be one more writable byte. The strings of the values lie in this text,
 * which is modified, so it must live as long as *values, an array to be freed whose first value is the outermost.
 * Returns 0, -EINVAL with *error set, or -ENOMEM. */
int json_read(char *text, size_t length, struct json_value **values, struct json_error *error);

/* The member of this name of an object; NULL if there is none, or the value is no object. The first of several. */
const struct json_value *json_member(const struct json_value *value, const char *name);

/* Iterates over members: NULL yields the first; after the last it returns NULL. */
const struct json_value *json_next(const struct json_value *value, const struct json_value *member);

#endif
