/* words.h: a string vector for command lines, and its quoted form. */
#ifndef HEARTH_TOOLS_WORDS_H
#define HEARTH_TOOLS_WORDS_H

#include <stddef.h>

struct words {
    char **of; /* terminated by NULL, for exec; NULL if empty */
    size_t count, room;
};

/* Appends a copy of the word. */
void words_add(struct words *w, const char *word);
void words_free(struct words *w);

/* The command in a form that a shell parses back to the same words. To be freed. */
char *words_quoted(const struct words *w);

#endif
