/* strvec.c: a growing list of words, and shell quoting. */
#include "run/strvec.h"

#include <ctype.h>
#include <stdlib.h>
#include <stdbool.h>
#include <string.h>

#include "tools.h"

void strvec_add(struct strvec *w, const char *word) {
    if (w->count + 1 >= w->room) {
        size_t room = w->room ? 2 * w->room : 16;
        char **more = need(room * sizeof *more);
        if (w->count)
            memcpy(more, w->of, w->count * sizeof *more);
        free(w->of);
        w->of = more;
        w->room = room;
    }
    w->of[w->count++] = need_copy(word);
}

void strvec_free(struct strvec *w) {
    for (size_t i = 0; i < w->count; i++)
        free(w->of[i]);
    free(w->of);
    *w = (struct strvec){0};
}

/* Words of these characters alone have no special meaning in any shell; an initial = or ~ may have one. */
static bool strvec_is_plain(const char *word) {
    static const char harmless[] = "_@%+=:,./-";
    if (!*word || *word == '=')
        return false;
    for (; *word; word++)
        if (!isalnum((unsigned char)*word) && !strchr(harmless, *word))
            return false;
    return true;
}

/* In single quotes only the quote itself is special; it becomes '\''. */
static char *quote(const char *word, char *to) {
    *to++ = '\'';
    for (; *word; word++) {
        *to++ = *word;
        if (*word == '\'') {
            memcpy(to, "\\''", 3);
            to += 3;
        }
    }
    *to++ = '\'';
    return to;
}

/* A first word with = would be an assignment. */
static char *put_word(const char *word, bool is_first, char *to) {
    if (strvec_is_plain(word) && !(is_first && strchr(word, '=')))
        return stpcpy(to, word);
    return quote(word, to);
}

char *strvec_quoted(const struct strvec *w) {
    size_t room = 1;
    for (size_t i = 0; i < w->count; i++)
        room += 4 * strlen(w->of[i]) + 3;
    char *text = need(room), *to = text;
    for (size_t i = 0; i < w->count; i++) {
        if (i)
            *to++ = ' ';
        to = put_word(w->of[i], i == 0, to);
    }
    *to = 0;
    return text;
}
