/* identity.c: identifies a program by what it is, not by its name: settings that were measured for one build say nothing
 * about the next.
 *
 *      a program that needs MPI, also behind numactl and the like    its ELF build id; without one, a hash of the file
 *      a script, and the script that an interpreter runs             a hash of its real path and its content, and of those of the
 *                                                                    programs before it, as of a wrapper
 *      several programs in one line                                  a hash of all of them, with their ranks
 *      code in an argument, a module, a program that loads MPI late  nothing: another program would look the same
 *
 * The number of ranks is read from the launcher's options. If they do not tell, as in `mpirun ./app`, it is 0, in the
 * command that stores the settings and in the one that looks for them. */
#include "run/identity.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "run/elf.h"
#include "run/python.h"
#include "run/script.h"

enum { MOST_WORDS = 32 };

/* ---- hashes ---- */

static const uint64_t hash_start = 0xcbf29ce484222325u;

/* FNV-1a; identity_print spreads its bits. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

static bool hash_file(const char *path, uint64_t *hash) {
    char piece[65536];
    ssize_t n;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    while ((n = read(file, piece, sizeof piece)) > 0)
        *hash = hash_bytes(*hash, piece, (size_t)n);
    close(file);
    return n == 0;
}

static void identity_print(uint64_t hash, char key[17]) {
    snprintf(key, 17, "%016" PRIx64, random_mix(hash));
}

/* ---- one program ---- */

/* Letters that are safe in a file name and in a shell. */
static void name_from(const char *path, char name[48]) {
    const char *slash = strrchr(path, '/');
    snprintf(name, 48, "%s", slash ? slash + 1 : path);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '_';
    if (*name == '.' || *name == '-')
        *name = '_';
}

static bool identify_elf(const char *path, struct identity *id) {
    char whole[129];
    uint64_t hash = hash_start;
    name_from(path, id->name);
    if (elf_build_id(path, whole, sizeof whole)) {
        snprintf(id->key, sizeof id->key, "%.16s", whole);
        return true;
    }
    if (!hash_file(path, &hash))
        return false;
    identity_print(hash, id->key);
    return true;
}

static bool is_elf(const char *path) {
    struct elf e;
    if (elf_read(path, &e))
        return false;
    bool is = e.kind != ELF_NOT;
    elf_free(&e);
    return is;
}

static bool is_file(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

static bool is_same(const char *a, const char *b) {
    struct stat first, second;
    return *b && !stat(a, &first) && !stat(b, &second) && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* An interpreter, whose own file says nothing about the program, and letters of its options. */
struct interpreter {
    const char *code;   /* the program is no file: -c, -m */
    const char *valued; /* a value follows */
    bool may_wrap;      /* its script may start another program, which follows */
};

static const struct interpreter *find_interpreter(const char *path) {
    static const struct interpreter python = {"cm", "WX", false}, shell = {"cs", "oO", true};
    return python_is_interpreter(path) ? &python : script_is_shell(path) ? &shell : NULL;
}

/* The index of the script in the arguments of the interpreter at `at`; 0: none. */
static size_t script_index(char *const *words, size_t at, size_t end, const struct interpreter *in) {
    while (++at < end) {
        if (!strcmp(words[at], "--"))
            return at + 1 < end ? at + 1 : 0;
        if (*words[at] != '-')
            return at;
        const char *letter = words[at] + 1;
        if (!*letter) /* standard input */
            return 0;
        for (; *letter && words[at][1] != '-'; letter++) {
            if (strchr(in->code, *letter))
                return 0;
            if (strchr(in->valued, *letter)) {
                at += !letter[1];
                break;
            }
        }
    }
    return 0;
}

/* The file of a word that starts a program. */
static bool program_file(const char *word, const struct launcher_part *part, char path[PATH_MAX]) {
    bool by_shell;
    return *word != '-' && launcher_resolve(word, part->folder, part->path, path, &by_shell);
}

/* The file of an interpreter's script, which need not be executable. */
static bool script_file(const char *word, const struct launcher_part *part, char path[PATH_MAX]) {
    bool here = *word == '/' || !part->folder;
    int n = snprintf(path, PATH_MAX, "%s%s%s", here ? "" : part->folder, here ? "" : "/", word);
    return (n < PATH_MAX && is_file(path)) || program_file(word, part, path);
}

/* Adds the real path and the content. */
static bool add_file(const char *path, uint64_t *hash, char name[48]) {
    char real[PATH_MAX];
    if (!realpath(path, real))
        return false;
    name_from(real, name);
    *hash = hash_bytes(*hash, real, strlen(real) + 1);
    return hash_file(real, hash);
}

static size_t last_word(const struct launcher_part *part) {
    size_t most = part->program + MOST_WORDS + 1;
    return part->end < most ? part->end : most;
}

/* The program itself, or the one behind a wrapper, that is linked to MPI. */
static bool identify_carrier(char *const *words, const struct launcher_part *part,
                             const struct program *program, struct identity *id) {
    char path[PATH_MAX];
    for (size_t i = part->program; i < last_word(part); i++)
        if (program_file(words[i], part, path) && is_same(path, program->carrier) && !find_interpreter(path))
            return identify_elf(path, id);
    return false;
}

/* Scripts, and the programs before them: a wrapper may start any program. If there is no script, as with ./app that loads MPI at run
 * time, or `bash -c ...`, nothing tells it from others. */
static bool identify_scripts(char *const *words, const struct launcher_part *part, struct identity *id) {
    char path[PATH_MAX], name[48];
    uint64_t hash = hash_start;
    for (size_t i = part->program; i < last_word(part); i++) {
        if (!program_file(words[i], part, path))
            continue;
        const struct interpreter *in = find_interpreter(path);
        if (in) {
            i = script_index(words, i, part->end, in);
            if (!i || !script_file(words[i], part, path))
                return false;
        }
        if (!add_file(path, &hash, name))
            return false;
        if (in || !is_elf(path))
            memcpy(id->name, name, sizeof name);
        if (in && !in->may_wrap)
            break;
    }
    identity_print(hash, id->key);
    return *id->name;
}

static bool identify_part(char *const *words, const struct launcher_part *part, const struct program *program,
                          struct identity *id) {
    return identify_carrier(words, part, program, id) || identify_scripts(words, part, id);
}

/* ---- ranks ---- */

static uint64_t whole_number(const char *text) {
    char *end;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    return text && isdigit((unsigned char)*text) && !*end ? value : 0;
}

/* The value of -LETTER or --NAME in words [at, end); 0: not given. */
static uint64_t option_number(char *const *words, size_t at, size_t end, char letter, const char *name) {
    uint64_t value = 0;
    size_t length = strlen(name);
    for (; at < end; at++) {
        const char *word = words[at], *next = at + 1 < end ? words[at + 1] : NULL;
        if (word[0] == '-' && word[1] == letter)
            value = whole_number(word[2] ? word + 2 : next);
        else if (!strncmp(word, "--", 2) && !strncmp(word + 2, name, length) &&
                 (!word[2 + length] || word[2 + length] == '='))
            value = whole_number(word[2 + length] ? word + 3 + length : next);
    }
    return value;
}

/* jsrun counts resource sets, and the tasks in each; or all tasks. */
static uint64_t jsrun_ranks(char *const *words, size_t at, size_t end) {
    uint64_t tasks = option_number(words, at, end, 'p', "np");
    return tasks ? tasks
                 : option_number(words, at, end, 'n', "nrs") *
                       option_number(words, at, end, 'a', "tasks_per_rs");
}

/* The number of ranks in the options of one part, words [at, end); 0: not given. */
static uint64_t ranks_in(char *const *words, size_t at, size_t end, enum launcher_kind kind) {
    static const char *const names[] = {"-n", "-np", "--n", "--np", "--ntasks"};
    uint64_t ranks = 0;
    if (kind == LAUNCHER_JSRUN)
        return jsrun_ranks(words, at, end);
    for (; at < end; at++) {
        const char *word = words[at];
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            size_t length = strlen(names[k]);
            if (!strcmp(word, names[k]) && at + 1 < end)
                ranks = whole_number(words[at + 1]);
            else if (k >= 2 && !strncmp(word, names[k], length) && word[length] == '=')
                ranks = whole_number(word + length + 1);
        }
        if (kind == LAUNCHER_SRUN && !strncmp(word, "-n", 2) && whole_number(word + 2))
            ranks = whole_number(word + 2);
    }
    return ranks;
}

static uint64_t part_ranks(char *const *words, size_t first, enum launcher_kind kind,
                           const struct launcher_line *line, size_t number) {
    size_t at = number ? line->parts[number - 1].end + 1 : first + 1;
    if (!kind)
        return 1;
    uint64_t ranks = ranks_in(words, at, line->parts[number].program, kind);
    return !ranks && kind == LAUNCHER_SRUN ? whole_number(getenv("SLURM_NTASKS")) : ranks;
}

/* ---- the whole line ---- */

bool identity_find(char *const *words, size_t first, enum launcher_kind kind,
                   const struct launcher_line *line, const struct program *programs, struct identity *id) {
    uint64_t hash = hash_start;
    bool all_known = true;
    *id = (struct identity){0};
    for (size_t i = 0; i < line->count; i++) {
        struct identity one = {0};
        if (!identify_part(words, &line->parts[i], &programs[i], &one))
            return false;
        one.ranks = part_ranks(words, first, kind, line, i);
        all_known &= one.ranks != 0;
        id->ranks += one.ranks;
        hash = hash_bytes(hash, one.key, strlen(one.key));
        hash = hash_bytes(hash, &one.ranks, sizeof one.ranks);
        if (!i) {
            memcpy(id->name, one.name, sizeof id->name);
            memcpy(id->key, one.key, sizeof id->key);
        }
    }
    if (line->count > 1)
        identity_print(hash, id->key);
    if (!all_known)
        id->ranks = 0;
    return line->count > 0;
}
