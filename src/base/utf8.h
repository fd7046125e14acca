/* utf8.h: the length of a UTF-8 character. */
#ifndef HEARTH_UTF8_H
#define HEARTH_UTF8_H

#include <stddef.h>

/* The number of bytes of the first character in `room` bytes: 1 to 4, or 0 if they do not begin with a valid one.
 * Overlong forms, unpaired surrogates and codes beyond U+10FFFF are invalid. */
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
