/* number.c: see number.h. The C library has one locale for the process and one for each thread, which takes precedence. The
 * thread's is set to "C" for the conversion and then restored, so other threads, and the program, are not affected. */
#include "base/number.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t number_locale; /* 0: no memory; numbers then follow the program's locale */

static void number_open(void) {
    number_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Returns the thread's locale, for number_leave. */
static locale_t number_enter(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, number_open);
    return uselocale(number_locale);
}

static void number_leave(locale_t before) {
    uselocale(before);
}

double number_parse(const char *text, char **end) {
    locale_t before = number_enter();
    double value = strtod(text, end);
    number_leave(before);
    return value;
}

void number_print(double value, int digits, char *text, size_t room) {
    locale_t before = number_enter();
    snprintf(text, room, "%.*g", digits, value);
    number_leave(before);
}
