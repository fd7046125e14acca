/* strvec.h: a string vector for command lines, and its quoted form. */
#ifndef HEARTH_TOOLS_STRVEC_H
#define HEARTH_TOOLS_STRVEC_H

#include <stddef.h>

struct strvec {
    char **of; /* terminated by NULL, for exec; NULL if empty */
    size_t count, room;
};

/* Appends a copy of the word. */
void strvec_add(struct strvec *w, const char *word);
void strvec_free(struct strvec *w);

/* The command in a form that a shell parses back to the same words. To be freed. */
char *strvec_quoted(const struct strvec *w);

#endif
