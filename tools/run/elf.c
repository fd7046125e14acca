/* elf.c: a small ELF reader.
 *
 * header -> program headers -> PT_DYNAMIC -> DT_NEEDED, DT_RPATH ... : offsets into DT_STRTAB, an address
 *                                                                       that PT_LOAD translates to the file
 *
 * Numbers in the file are not trusted: every range is checked against the size of the file before it is read, and
 * strings end inside the table, to which we append a 0. Files are read, not mapped: a mapped file that is rewritten
 * meanwhile, for example by a compiler, could raise SIGBUS. */
#include "run/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools.h"

enum { MOST_HEADERS = 4096, MOST_DYNAMIC = 65536, MOST_STRINGS = 1 << 28 };

struct file {
    int descriptor;
    uint64_t bytes;
    ElfW(Ehdr) header;
    ElfW(Phdr) * parts;
};

/* A copy of that range with a 0 appended, or NULL if the range is not in the file. */
static void *read_range(const struct file *f, uint64_t from, uint64_t bytes) {
    if (from > f->bytes || bytes > f->bytes - from || bytes > MOST_STRINGS)
        return NULL;
    char *copy = need((size_t)bytes + 1);
    if (pread(f->descriptor, copy, (size_t)bytes, (off_t)from) == (ssize_t)bytes)
        return copy;
    free(copy);
    return NULL;
}

static int elf_open_file(const char *path, struct file *f) {
    struct stat st;
    f->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (f->descriptor < 0)
        return -errno;
    if (!fstat(f->descriptor, &st) && S_ISREG(st.st_mode)) {
        f->bytes = (uint64_t)st.st_size;
        return 0;
    }
    close(f->descriptor);
    return -EINVAL;
}

static void close_file(struct file *f) {
    free(f->parts);
    close(f->descriptor);
}

/* Compares with our own executable. */
static bool is_native(const ElfW(Ehdr) * header) {
    ElfW(Ehdr) own = {0};
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool known = self >= 0 && pread(self, &own, sizeof own, 0) == (ssize_t)sizeof own;
    if (self >= 0)
        close(self);
    return !known ||
           (own.e_machine == header->e_machine && own.e_ident[EI_CLASS] == header->e_ident[EI_CLASS] &&
            own.e_ident[EI_DATA] == header->e_ident[EI_DATA]);
}

static enum elf_kind read_header(struct file *f) {
    ElfW(Ehdr) *header = read_range(f, 0, sizeof *header);
    if (!header)
        return ELF_NOT;
    f->header = *header;
    free(header);
    if (memcmp(f->header.e_ident, ELFMAG, SELFMAG) != 0)
        return ELF_NOT;
    if (!is_native(&f->header))
        return ELF_FOREIGN;
    if (f->header.e_phentsize != sizeof(ElfW(Phdr)) || f->header.e_phnum > MOST_HEADERS)
        return ELF_DAMAGED;
    f->parts = read_range(f, f->header.e_phoff, f->header.e_phnum * sizeof(ElfW(Phdr)));
    return f->parts ? ELF_STATIC : ELF_DAMAGED;
}

static const ElfW(Phdr) * find_part(const struct file *f, unsigned type) {
    for (unsigned i = 0; i < f->header.e_phnum; i++)
        if (f->parts[i].p_type == type)
            return &f->parts[i];
    return NULL;
}

/* The file offset of the byte that is loaded at this address; 0: none. */
static uint64_t elf_offset_of(const struct file *f, uint64_t address) {
    for (unsigned i = 0; i < f->header.e_phnum; i++) {
        const ElfW(Phdr) *p = &f->parts[i];
        if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz)
            return p->p_offset + (address - p->p_vaddr);
    }
    return 0;
}

static uint64_t value_of(const ElfW(Dyn) * dynamic, size_t count, ElfW(Sxword) tag) {
    for (size_t i = 0; i < count && dynamic[i].d_tag != DT_NULL; i++)
        if (dynamic[i].d_tag == tag)
            return dynamic[i].d_un.d_val;
    return 0;
}

/* Stores the entries that are offsets of strings. */
static bool take_entries(struct elf *e, const ElfW(Dyn) * dynamic, size_t count, uint64_t room) {
    e->needed = need(count * sizeof *e->needed);
    for (size_t i = 0; i < count && dynamic[i].d_tag != DT_NULL; i++) {
        ElfW(Sxword) tag = dynamic[i].d_tag;
        if (tag != DT_NEEDED && tag != DT_SONAME && tag != DT_RPATH && tag != DT_RUNPATH)
            continue;
        if (dynamic[i].d_un.d_val >= room)
            return false;
        const char *text = e->strings + dynamic[i].d_un.d_val;
        if (tag == DT_NEEDED)
            e->needed[e->needed_count++] = text;
        else
            *(tag == DT_SONAME ? &e->soname : tag == DT_RPATH ? &e->rpath : &e->runpath) = text;
    }
    return true;
}

static bool read_dynamic(const struct file *f, const ElfW(Phdr) * part, struct elf *e) {
    size_t count = part->p_filesz / sizeof(ElfW(Dyn));
    ElfW(Dyn) *dynamic =
        count <= MOST_DYNAMIC ? read_range(f, part->p_offset, count * sizeof *dynamic) : NULL;
    if (!dynamic)
        return false;
    uint64_t room = value_of(dynamic, count, DT_STRSZ);
    uint64_t from = elf_offset_of(f, value_of(dynamic, count, DT_STRTAB));
    e->strings = from ? read_range(f, from, room) : NULL;
    bool good = e->strings && take_entries(e, dynamic, count, room);
    free(dynamic);
    return good;
}

int elf_read(const char *path, struct elf *e) {
    struct file f = {0};
    *e = (struct elf){0};
    int err = elf_open_file(path, &f);
    if (err)
        return err;
    e->kind = read_header(&f);
    const ElfW(Phdr) *part = e->kind == ELF_STATIC ? find_part(&f, PT_DYNAMIC) : NULL;
    if (part) {
        e->kind = find_part(&f, PT_INTERP) ? ELF_DYNAMIC : ELF_LIBRARY;
        if (!read_dynamic(&f, part, e)) {
            elf_free(e);
            e->kind = ELF_DAMAGED;
        }
    }
    close_file(&f);
    return 0;
}

void elf_free(struct elf *e) {
    free(e->needed);
    free(e->strings);
    *e = (struct elf){0};
}

/* ---- symbols ---- */

static bool holds_definition(const struct file *f, const ElfW(Shdr) * table, const ElfW(Shdr) * names,
                             const char *symbol) {
    ElfW(Sym) *symbols = read_range(f, table->sh_offset, table->sh_size);
    char *strings = read_range(f, names->sh_offset, names->sh_size);
    bool found = false;
    for (size_t i = 0; symbols && strings && !found && i < table->sh_size / sizeof *symbols; i++)
        found = symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name < names->sh_size &&
                !strcmp(strings + symbols[i].st_name, symbol);
    free(symbols);
    free(strings);
    return found;
}

/* Searches only the first table of a kind. A valid file has one of each; a damaged file could list thousands, each of
 * which would be read. */
static bool search_table(const struct file *f, const ElfW(Shdr) * sections, unsigned kind,
                         const char *symbol) {
    unsigned count = f->header.e_shnum;
    for (unsigned i = 0; i < count; i++)
        if (sections[i].sh_type == kind)
            return sections[i].sh_link < count &&
                   holds_definition(f, &sections[i], &sections[sections[i].sh_link], symbol);
    return false;
}

static bool search_sections(const struct file *f, const char *symbol) {
    ElfW(Shdr) *sections = f->header.e_shentsize == sizeof *sections
                               ? read_range(f, f->header.e_shoff, f->header.e_shnum * sizeof *sections)
                               : NULL;
    bool found = sections && (search_table(f, sections, SHT_SYMTAB, symbol) ||
                              search_table(f, sections, SHT_DYNSYM, symbol));
    free(sections);
    return found;
}

bool elf_defines(const char *path, const char *symbol) {
    struct file f = {0};
    if (elf_open_file(path, &f))
        return false;
    bool found = read_header(&f) == ELF_STATIC && search_sections(&f, symbol);
    close_file(&f);
    return found;
}

/* ---- build id ---- */

static uint64_t note_padded(uint64_t bytes) {
    return (bytes + 3) & ~(uint64_t)3;
}

static void print_hex(const unsigned char *data, size_t bytes, char *text, size_t room) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes && 2 * i + 2 < room; i++) {
        text[2 * i] = digits[data[i] >> 4];
        text[2 * i + 1] = digits[data[i] & 15];
        text[2 * i + 2] = 0;
    }
}

/* Searches the notes of one program header: headers, each with a name and a description. */
static bool search_notes(const char *notes, uint64_t bytes, char *text, size_t room) {
    uint64_t at = 0;
    while (bytes - at >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes + at, sizeof note);
        uint64_t name = at + sizeof note, data = name + note_padded(note.n_namesz);
        at = data + note_padded(note.n_descsz);
        if (at > bytes)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) &&
            note.n_descsz) {
            print_hex((const unsigned char *)notes + data, note.n_descsz, text, room);
            return true;
        }
    }
    return false;
}

bool elf_build_id(const char *path, char *text, size_t room) {
    struct file f = {0};
    bool found = false;
    if (elf_open_file(path, &f))
        return false;
    bool is_elf = read_header(&f) == ELF_STATIC;
    for (unsigned i = 0; is_elf && i < f.header.e_phnum && !found; i++) {
        if (f.parts[i].p_type != PT_NOTE)
            continue;
        char *notes = read_range(&f, f.parts[i].p_offset, f.parts[i].p_filesz);
        found = notes && search_notes(notes, f.parts[i].p_filesz, text, room);
        free(notes);
    }
    close_file(&f);
    return found;
}
