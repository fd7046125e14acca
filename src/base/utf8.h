/* utf8.h: which bytes make up a character. */
#ifndef HEARTH_UTF8_H
#define HEARTH_UTF8_H

#include <stddef.h>

/* How many of these bytes, of which there are `room`, are the first character: 1 to 4, or 0 if they do not begin with one.
 * Overlong forms, halves of surrogate pairs and what is beyond U+10FFFF are none. */
static inline size_t utf8_length(const char *text, size_t room) {
    const unsigned char *c = (const unsigned char *)text;
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = !room         ? 0
               : c[0] < 0x80 ? 1
               : c[0] < 0xc2 ? 0
               : c[0] < 0xe0 ? 2
               : c[0] < 0xf0 ? 3
               : c[0] < 0xf5 ? 4
                             : 0;
    if (n <= 1 || n > room)
        return n > room ? 0 : n;
    unsigned code = c[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3f);
    }
    return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

#endif
