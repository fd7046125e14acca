/* loader.c: searches for libraries like glibc's ld.so, in its order:
 *
 *      1. DT_RPATH of the file, of the one that loaded it, and so on up to the program, each only if it has no
 *         DT_RUNPATH; none of them if the file itself has a DT_RUNPATH
 *      2. LD_LIBRARY_PATH
 *      3. DT_RUNPATH of the file alone
 *      4. /etc/ld.so.cache
 *      5. the default folders
 *
 * $ORIGIN is supported, other variables are not. Subfolders for special processors are ignored: they hold the same
 * libraries, compiled differently. */
#include "run/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools.h"

struct loader_file *loader_open(const char *path, const struct loader_file *asked_by) {
    struct loader_file *file = need(sizeof *file);
    snprintf(file->path, sizeof file->path, "%s", path);
    file->asked_by = asked_by;
    file->tries = asked_by ? asked_by->tries : &file->own_tries;
    if (!elf_read(path, &file->elf) && (file->elf.kind == ELF_DYNAMIC || file->elf.kind == ELF_LIBRARY))
        return file;
    loader_close(file);
    return NULL;
}

void loader_close(struct loader_file *file) {
    elf_free(&file->elf);
    free(file);
}

static bool loader_is_usable(const char *path) {
    struct elf e;
    if (elf_read(path, &e))
        return false;
    bool good = e.kind == ELF_LIBRARY || e.kind == ELF_DYNAMIC;
    elf_free(&e);
    return good;
}

/* ---- lists of folders ---- */

/* Expands $ORIGIN in one folder of a list. False if it does not fit or contains another variable. */
static bool loader_expand(const char *folder, size_t length, const char *file, char out[PATH_MAX]) {
    static const char *const origins[] = {"${ORIGIN}", "$ORIGIN"};
    size_t head = (size_t)(strrchr(file, '/') ? strrchr(file, '/') - file : 0);
    size_t n = 0;
    for (size_t i = 0; i < length && n + head + 1 < PATH_MAX;) {
        size_t taken = 0;
        for (int k = 0; k < 2 && !taken; k++)
            if (length - i >= strlen(origins[k]) && !strncmp(folder + i, origins[k], strlen(origins[k])))
                taken = strlen(origins[k]);
        if (taken) {
            memcpy(out + n, head ? file : ".", head ? head : 1);
            n += head ? head : 1;
            i += taken;
        } else if (folder[i] == '$') {
            return false;
        } else {
            out[n++] = folder[i++];
        }
    }
    out[n] = 0;
    return n + head + 1 < PATH_MAX;
}

/* `from`: the file to which the list belongs, and whose tries are counted. */
static bool search_folders(const char *list, const char *name, const struct loader_file *from,
                           char path[PATH_MAX]) {
    char folder[PATH_MAX];
    while (list && *from->tries < LOADER_TRIES) {
        size_t length = strcspn(list, ":;");
        ++*from->tries;
        if (loader_expand(list, length, from->path, folder) &&
            snprintf(path, PATH_MAX, "%s/%s", *folder ? folder : ".", name) < PATH_MAX &&
            loader_is_usable(path))
            return true;
        list = list[length] ? list + length + 1 : NULL;
    }
    return false;
}

static bool search_rpaths(const struct loader_file *from, const char *name, char path[PATH_MAX]) {
    if (from->elf.runpath)
        return false;
    for (; from; from = from->asked_by)
        if (from->elf.rpath && !from->elf.runpath && search_folders(from->elf.rpath, name, from, path))
            return true;
    return false;
}

/* ---- the cache of ldconfig ---- */

struct cache_head { /* since glibc 2.2; an older table may precede it */
    char magic[20]; /* glibc-ld.so.cache1.1 */
    uint32_t count, strings;
    uint32_t unused[5];
};

struct cache_entry {
    int32_t flags;
    uint32_t name, path; /* offsets of strings, from the header on */
    uint32_t system;
    uint64_t features;
};

/* The whole file with a 0 appended, or NULL. Read once per process. */
static const char *cache_bytes(size_t *bytes) {
    static char *copy;
    static size_t length;
    int file = copy ? -1 : open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (file >= 0 && !fstat(file, &st) && st.st_size > 0 && st.st_size < 1 << 28) {
        copy = need((size_t)st.st_size + 1);
        ssize_t n = read(file, copy, (size_t)st.st_size);
        length = n > 0 ? (size_t)n : 0;
    }
    if (file >= 0)
        close(file);
    *bytes = length;
    return copy;
}

static bool search_cache(const char *name, char path[PATH_MAX]) {
    static const char magic[] = "glibc-ld.so.cache1.1";
    size_t bytes;
    const char *file = cache_bytes(&bytes);
    const char *head = file ? memmem(file, bytes, magic, sizeof magic - 1) : NULL;
    struct cache_head h;
    if (!head || bytes - (size_t)(head - file) < sizeof h)
        return false;
    bytes -= (size_t)(head - file);
    memcpy(&h, head, sizeof h);
    for (uint32_t i = 0; i < h.count; i++) {
        struct cache_entry e;
        size_t at = sizeof h + (size_t)i * sizeof e;
        if (at + sizeof e > bytes)
            return false;
        memcpy(&e, head + at, sizeof e);
        if (e.name < bytes && e.path < bytes && !strcmp(head + e.name, name) &&
            snprintf(path, PATH_MAX, "%s", head + e.path) < PATH_MAX && loader_is_usable(path))
            return true;
    }
    return false;
}

/* ---- everything together ---- */

bool loader_find(const struct loader_file *from, const char *name, char path[PATH_MAX]) {
    if (*from->tries >= LOADER_TRIES)
        return false;
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && loader_is_usable(path);
    return search_rpaths(from, name, path) || search_folders(getenv("LD_LIBRARY_PATH"), name, from, path) ||
           (from->elf.runpath && search_folders(from->elf.runpath, name, from, path)) ||
           search_cache(name, path) ||
           search_folders("/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib", name, from, path);
}
