/* json_read.h: reading JSON, as strictly as RFC 8259 puts it, and what is wrong with it, by line and column. */
#ifndef HEARTH_JSON_READ_H
#define HEARTH_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* A value; its members, if any, follow it in memory, each with its own behind it. */
struct json_value {
    enum json_kind kind;
    bool is_count;    /* a number that is whole, not negative, and below 2^64 */
    size_t size;      /* members of an array or object, bytes of a text */
    size_t span;      /* how many values this one is, with all inside it */
    const char *name; /* as a member of an object, else NULL */
    const char *text; /* a string, ended by 0 and without another 0; else "" */
    double number;    /* else 0 */
    uint64_t count;   /* if is_count, else 0 */
};

struct json_error {
    size_t line, column; /* from 1; columns are bytes */
    const char *what;
};

enum { JSON_DEPTH = 32 }; /* deeper ones are refused */

/* Reads `length` bytes, behind which there must be one more byte of room. The texts of the values lie in there, changed, so it must
 * live as long as *values, an array to be freed whose first value is the outermost. 0, or -EINVAL with *error set, or -ENOMEM. */
int json_read(char *text, size_t length, struct json_value **values, struct json_error *error);

/* The member of this name of an object; NULL if there is none, or it is no object. The first of several. */
const struct json_value *json_member(const struct json_value *value, const char *name);

/* One member after the other: NULL gives the first, the last gives NULL. */
const struct json_value *json_next(const struct json_value *value, const struct json_value *member);

#endif
