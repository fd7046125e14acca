/* report_names.c: finds the functions and lines of call sites. A running process knows only exported names; the file of a
 * program or library usually has all of them, in .symtab. The file is read only if it still exists and has not changed
 * since the run. Its content is not trusted: every offset is checked against the size of the file. */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "report/report.h"
#include "tools.h"

enum { SITES = 64 }; /* more than are shown */

struct image {
    const char *path; /* looked up last; NULL: none yet */
    const char *data; /* NULL: not found */
    size_t size;
};

static void image_close(struct image *i) {
    if (i->data)
        munmap((void *)i->data, i->size);
    *i = (struct image){0};
}

/* Whether the file is unchanged since the run began. File systems may round the time up to the next second. */
static bool is_older(time_t changed, uint64_t begun) {
    return changed <= 1 || (uint64_t)changed - 1 <= begun;
}

static void image_open(struct image *i, const char *path, const struct run *run) {
    struct stat about;
    i->path = path;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_same = fd >= 0 && !fstat(fd, &about) && S_ISREG(about.st_mode) &&
                   about.st_size > (off_t)sizeof(Elf64_Ehdr) && is_older(about.st_mtime, run->begun);
    void *data = is_same ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (data == MAP_FAILED)
        return;
    i->data = data;
    i->size = (size_t)about.st_size;
}

/* `count` elements of `size` bytes at this offset, or NULL if they are not all in the file. */
static const void *names_part(const struct image *i, uint64_t offset, uint64_t count, size_t size) {
    bool is_in = offset <= i->size && count <= (i->size - offset) / size && !(offset % 8 && size > 1);
    return is_in ? i->data + offset : NULL;
}

static const Elf64_Shdr *sections(const struct image *i, size_t *count) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)i->data;
    *count = 0;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64)
        return NULL;
    const Elf64_Shdr *list = names_part(i, head->e_shoff, head->e_shnum, sizeof *list);
    *count = list ? head->e_shnum : 0;
    return list;
}

/* The function that contains this offset, "" if there is none. Points into the file. */
static const char *names_name_in(const struct image *i, const Elf64_Shdr *table, const Elf64_Shdr *texts,
                                 uint64_t place) {
    size_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbols = names_part(i, table->sh_offset, count, sizeof *symbols);
    const char *names = names_part(i, texts->sh_offset, texts->sh_size, 1);
    if (!symbols || !names || !texts->sh_size || names[texts->sh_size - 1])
        return "";
    for (const Elf64_Sym *s = symbols; s < symbols + count; s++)
        if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && place >= s->st_value &&
            place - s->st_value < s->st_size && s->st_name < texts->sh_size)
            return names + s->st_name;
    return "";
}

static const char *find_name(const struct image *i, uint64_t place) {
    size_t count;
    const Elf64_Shdr *list = sections(i, &count);
    for (size_t k = 0; k < count; k++)
        if (list[k].sh_type == SHT_SYMTAB && list[k].sh_link < count)
            return names_name_in(i, &list[k], &list[list[k].sh_link], place);
    return "";
}

/* Names from files are printed to terminals and pages like those from the JSON, so they must be UTF-8 too. */
static bool is_text(const char *name) {
    size_t left = strlen(name), n = 1;
    for (; left && n; name += n, left -= n)
        n = utf8_length(name, left);
    return n;
}

static bool has_lines(const struct image *i) {
    size_t count;
    const Elf64_Shdr *list = sections(i, &count);
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)i->data;
    if (!count || head->e_shstrndx >= count)
        return false;
    const Elf64_Shdr *texts = &list[head->e_shstrndx];
    const char *names = names_part(i, texts->sh_offset, texts->sh_size, 1);
    if (!names || !texts->sh_size || names[texts->sh_size - 1])
        return false;
    for (size_t k = 0; k < count; k++)
        if (list[k].sh_name < texts->sh_size && (!strcmp(names + list[k].sh_name, ".debug_line") ||
                                                 !strcmp(names + list[k].sh_name, ".gnu_debuglink")))
            return true;
    return false;
}

/* Fortran's names as in the source: __solver_MOD_step is solver::step, and in a Fortran file step_ is step. */
static void names_fortran(struct site *s) {
    const char *dot = s->line ? strrchr(s->line, '.') : NULL, *module = strstr(s->function, "_MOD_");
    size_t length = strlen(s->function);
    char *name = NULL;
    if (!strncmp(s->function, "__", 2) && module && module > s->function + 2)
        name = need_text("%.*s::%s", (int)(module - s->function - 2), s->function + 2, module + 5);
    else if (!strcmp(s->function, "MAIN__"))
        name = need_copy("main program");
    else if (dot && (dot[1] == 'f' || dot[1] == 'F') && length > 1 && s->function[length - 1] == '_')
        name = need_text("%.*s", (int)length - 1, s->function);
    if (!name)
        return;
    free(s->name);
    s->function = s->name = name;
}

/* The call sites that may be shown: those of gets, and those that created windows. */
static size_t names_collect(struct run *run, struct site **list) {
    size_t count = 0;
    for (size_t k = 0; k < run->site_count && k < SITES; k++)
        list[count++] = &run->sites[k];
    for (size_t k = 0; k < run->window_count && k < SITES; k++)
        if (run->windows[k].made.file)
            list[count++] = &run->windows[k].made;
    return count;
}

static int by_file(const void *a, const void *b) {
    return strcmp((*(struct site *const *)a)->file, (*(struct site *const *)b)->file);
}

/* All sites of one file. */
static void names_of_file(const struct run *run, struct site **list, size_t count) {
    struct image image = {0};
    image_open(&image, list[0]->file, run);
    for (size_t k = 0; image.data && k < count; k++) {
        const char *name = *list[k]->function ? "" : find_name(&image, list[k]->offset);
        if (*name && is_text(name))
            list[k]->function = list[k]->name = need_copy(name);
    }
    bool wants_lines = image.data && has_lines(&image);
    image_close(&image);
    if (wants_lines)
        report_lines(list, count);
}

void report_names(struct run *run) {
    struct site *list[2 * SITES];
    size_t count = names_collect(run, list), end;
    qsort(list, count, sizeof *list, by_file);
    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && !strcmp(list[end]->file, list[begin]->file);)
            end++;
        names_of_file(run, &list[begin], end - begin);
    }
    for (size_t k = 0; k < count; k++)
        names_fortran(list[k]);
}
