/* callers.c: finds the call site of a get, and keeps the table of call sites.
 *
 * The stack is walked because a hook can be reached in several ways: from MPI_Get or PMPI_Get, directly or through
 * the Fortran bindings, with a varying number of Hearth's frames in between. Frames of Hearth and of MPI are
 * recognised by the address ranges of their libraries, which are collected once: a query of the dynamic
 * linker for each frame takes longer than the walk. */
#include "mpi/observe/callers.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "mpi/observe/python.h"

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else /* a C library without it, such as musl: no call sites */
static int backtrace(void **frames, int most) {
    return 0;
}
#endif

enum { DEPTH = 16, RANGES = 16 };

static struct range { uintptr_t begin, end; } ranges[RANGES];
static unsigned range_count;

static bool is_mpi(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return !strncmp(name, "libmpi", 6) || !strncmp(name, "libopen-", 8) ||
           !strncmp(name, "libopen_mpi", 11) || !strncmp(name, "libpmpi", 7);
}

static int note_library(struct dl_phdr_info *info, size_t size, void *arg) {
    struct range r = {UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        r.begin = begin < r.begin ? begin : r.begin;
        r.end = begin + p->p_memsz > r.end ? begin + p->p_memsz : r.end;
    }
    uintptr_t here = (uintptr_t)callers_start;
    bool is_own = here >= r.begin && here < r.end;
    if ((is_own || is_mpi(info->dlpi_name)) && range_count < RANGES)
        ranges[range_count++] = r;
    return 0;
}

void callers_start(void) {
    void *frames[DEPTH];
    range_count = 0;
    dl_iterate_phdr(note_library, NULL);
    backtrace(frames, DEPTH); /* loads its dependencies now, and not inside a get */
    python_start();
}

static bool callers_is_inside(uintptr_t address) {
    for (unsigned i = 0; i < range_count; i++)
        if (address >= ranges[i].begin && address < ranges[i].end)
            return true;
    return false;
}

static uintptr_t callers_native(void) {
    void *frames[DEPTH];
    int depth = backtrace(frames, DEPTH);
    /* frames before Hearth's own belong to wrappers of backtrace, such as sanitizers */
    bool was_inside = false;
    for (int i = 0; i < depth; i++) {
        bool is_ours = callers_is_inside((uintptr_t)frames[i]);
        if (was_inside && !is_ours)
            return (uintptr_t)frames[i];
        was_inside |= is_ours;
    }
    return 0;
}

uintptr_t callers_here(void) {
    uintptr_t native = callers_native();
    const struct python_place *place = native ? python_here(native) : NULL;
    return place ? (uintptr_t)place : native;
}

/* The matching row, or the free one where it belongs; NULL if there is neither. */
static struct caller *callers_find(struct callers *c, uintptr_t address, uint64_t window) {
    size_t i = (address ^ window * 31) * 0x9e3779b97f4a7c15u >> 57;
    _Static_assert(CALLERS == 1 << 7, "seven bits of the hash");
    for (unsigned tries = 0; tries < CALLERS; tries++, i = (i + 1) % CALLERS) {
        struct caller *row = &c->rows[i];
        if (!row->address || (row->address == address && row->window == window))
            return row;
    }
    return NULL;
}

struct caller *callers_row(struct callers *c, uintptr_t address, uint64_t window) {
    struct caller *row = callers_find(c, address, window);
    if ((!row || !row->address) && c->used >= CALLERS / 2)
        row = callers_find(c, address, window = 0);
    if (row && !row->address) {
        row->address = address;
        row->window = window;
        c->used++;
    }
    return row;
}

/* Executables linked to a fixed address are identified by address, others by the offset from their load address. One
 * byte back lies inside the call instruction. */
struct caller_place callers_place(uintptr_t address) {
    Dl_info info;
    const struct python_place *python = python_place_at(address);
    if (python)
        return (struct caller_place){
            .file = python->file, .function = python->function, .offset = python->line, .line = python->line};
    if (!dladdr((void *)(address - 1), &info) || !info.dli_fname || !info.dli_fbase)
        return (struct caller_place){.file = "?", .function = "", .offset = address - 1};
    const ElfW(Ehdr) *head = info.dli_fbase;
    uintptr_t base = head->e_type == ET_EXEC ? 0 : (uintptr_t)info.dli_fbase;
    return (struct caller_place){.file = info.dli_fname,
                                 .function = info.dli_sname ? info.dli_sname : "",
                                 .offset = address - 1 - base};
}
