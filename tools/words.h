/* words.h: a command line that grows, and how to show it. */
#ifndef HEARTH_TOOLS_WORDS_H
#define HEARTH_TOOLS_WORDS_H

#include <stddef.h>

struct words {
    char **of; /* ends with NULL, as exec wants it; NULL while there are none */
    size_t count, room;
};

/* A copy of the word, at the end. */
void words_add(struct words *w, const char *word);
void words_free(struct words *w);

/* The command as a shell would read it back, word for word: quoted where it must be. To be freed. */
char *words_quoted(const struct words *w);

#endif
