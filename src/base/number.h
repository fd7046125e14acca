/* number.h: numbers as text that programs read: settings and JSON. The decimal point is a dot, also if the program has called
 * setlocale and its language has a comma. */
#ifndef HEARTH_NUMBER_H
#define HEARTH_NUMBER_H

#include <stddef.h>

/* As strtod. */
double number_parse(const char *text, char **end);

/* As snprintf with %.*g. */
void number_print(double value, int digits, char *text, size_t room);

#endif
