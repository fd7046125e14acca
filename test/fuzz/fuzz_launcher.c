/* fuzz_launcher.c: feeds command lines of launchers. The first byte chooses the launcher, words end at zeros or
 * blanks. */
#include <stdlib.h>
#include <string.h>

#include "run/launcher/launcher.h"
#include "run/strvec.h"
#include "fuzz.h"

static struct strvec split(const uint8_t *data, size_t size) {
    struct strvec w = {0};
    char *word = malloc(size + 1);
    size_t n = 0;
    fuzz_must(word != NULL);
    strvec_add(&w, "mpirun");
    for (size_t i = 0; i < size; i++) {
        word[n] = data[i] == ' ' ? 0 : (char)data[i];
        if (!word[n++]) {
            strvec_add(&w, word);
            n = 0;
        }
    }
    word[n] = 0;
    if (n)
        strvec_add(&w, word);
    free(word);
    return w;
}

static void check_parts(const struct launcher_line *line, const struct strvec *w) {
    size_t end = 1;
    for (size_t i = 0; i < line->count; i++) {
        const struct launcher_part *p = &line->parts[i];
        fuzz_must(p->program >= end && p->program < p->end && p->end <= w->count);
        fuzz_must(p->end == w->count || !strcmp(w->of[p->end], ":"));
        end = p->end;
    }
    fuzz_must(line->export_word < w->count + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input in = {data, size};
    enum launcher_kind kind = (enum launcher_kind)(1 + fuzz_take_byte(&in) % LAUNCHER_OTHER);
    setenv("PATH", "/bin", 1);
    struct strvec w = split(in.at, in.left);
    struct launcher_line line = launcher_read(kind, w.of, 0, w.count);
    check_parts(&line, &w);
    for (size_t i = 1; i < w.count && i < 4; i++) {
        char path[PATH_MAX];
        bool by_shell;
        launcher_resolve(w.of[i], i > 1 ? w.of[1] : NULL, i > 2 ? w.of[2] : NULL, path, &by_shell);
        launcher_is_name(w.of[i]);
    }
    launcher_free(&line);
    char *quoted = strvec_quoted(&w);
    free(quoted);
    strvec_free(&w);
    return 0;
}
