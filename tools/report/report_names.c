/* report_names.c: finds the functions of call sites. A running process knows only exported names; the file of a
 * program or library usually has all of them, in .symtab. The file is read only if it still exists and has not changed
 * since the run. Its content is not trusted: every offset is checked against the size of the file. */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

void report_names(struct run *run) {
    struct image image = {0};
    for (size_t k = 0; k < run->site_count && k < SITES; k++) {
        struct site *s = &run->sites[k];
        if (*s->function)
            continue;
        if (!image.path || strcmp(image.path, s->file)) {
            image_close(&image);
            image_open(&image, s->file, run);
        }
        const char *name = image.data ? find_name(&image, s->offset) : "";
        if (*name && is_text(name))
            s->function = s->name = need_copy(name);
    }
    image_close(&image);
}
