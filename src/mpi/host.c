/* host.c: finding the MPI library's own functions, and telling its internal calls from the program's.
 *
 * Both MPI_X and PMPI_X are ours (Fortran and C++ bindings, and MPICH's mpi_f08, call PMPI_X). An MPI library
 * that calls PMPI_X through the linker therefore reaches us as well: ROMIO does. Such calls are recognised by
 * where they return to. A depth counter would not do: error handlers jump out, and callbacks call MPI from
 * inside MPI.
 *
 *      objects, sorted by address:   [start, end) host?  [start, end) host?  ...
 *
 * The host's objects are the one that holds PMPI_Init, Open MPI's libopen-* and its components (mca_*). The
 * Fortran and C++ bindings are the program's side. An address in no known object makes the list anew:
 * components are loaded late. Readers take no lock: a list is complete when published, and old ones stay. */
#include "mpi/host.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct host_table host_real, host_next;
bool host_has_tool;
_Thread_local const void *host_mark __attribute__((tls_model("initial-exec")));
uintptr_t host_program_start, host_program_bytes;

struct object {
    uintptr_t start, end;
    bool host;
};

struct objects {
    size_t count;
    struct object at[];
};

static _Atomic(struct objects *) known;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* rank: innermost */
static uintptr_t host_library;                             /* an address inside it */

static void *find_real(const char *name) {
    char pmpi[64] = "P";
    strncat(pmpi, name, sizeof pmpi - 2);
    return dlsym(RTLD_NEXT, pmpi);
}

static void *object_of(void *function) {
    Dl_info info;
    return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* The next MPI_X is a tool's if it lies in another object than the library's PMPI_X. */
static void *find_next(const char *name, void *real) {
    void *next = dlsym(RTLD_NEXT, name);
    if (!next || object_of(next) == object_of(real))
        return real;
    host_has_tool = true;
    return next;
}

static void find_functions(void) {
#define HOOK(name, params, args)                                                                             \
    *(void **)&host_real.name = find_real("MPI_" #name);                                                     \
    *(void **)&host_next.name = find_next("MPI_" #name, *(void **)&host_real.name);
#define USE(name, params, args) *(void **)&host_real.name = find_real("MPI_" #name);
#include "mpi/calls.def"
#undef HOOK
#undef USE
    host_library = (uintptr_t)find_real("MPI_Init");
}

static bool is_component(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return !strncmp(name, "mca_", 4) || !strncmp(name, "libmca_", 7) || !strncmp(name, "libopen-", 8);
}

struct listing {
    struct objects *list;
    size_t room;
};

static bool make_room(struct listing *l) {
    if (l->list && l->list->count < l->room)
        return true;
    size_t room = l->room ? 2 * l->room : 64;
    struct objects *more = realloc(l->list, sizeof *more + room * sizeof more->at[0]);
    if (!more)
        return false;
    if (!l->list)
        more->count = 0;
    l->list = more;
    l->room = room;
    return true;
}

static int list_object(struct dl_phdr_info *info, size_t size, void *arg) {
    struct listing *l = arg;
    bool component = is_component(info->dlpi_name), program = !host_program_bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || !make_room(l))
            continue;
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        bool host = component || (host_library >= start && host_library < end);
        l->list->at[l->list->count++] = (struct object){.start = start, .end = end, .host = host};
        if (program) { /* the first object is the program itself */
            host_program_start = start;
            host_program_bytes = end - start;
        }
    }
    return 0;
}

static int by_address(const void *a, const void *b) {
    const struct object *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void list_objects(void) {
    struct listing l = {0};
    pthread_mutex_lock(&making);
    dl_iterate_phdr(list_object, &l);
    if (l.list) {
        qsort(l.list->at, l.list->count, sizeof l.list->at[0], by_address);
        atomic_store_explicit(&known, l.list, memory_order_release); /* pairs with find_object */
    }
    pthread_mutex_unlock(&making);
}

static const struct object *find_object(uintptr_t address) {
    const struct objects *list = atomic_load_explicit(&known, memory_order_acquire);
    size_t low = 0, high = list ? list->count : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->at[middle].end <= address)
            low = middle + 1;
        else if (list->at[middle].start > address)
            high = middle;
        else
            return &list->at[middle];
    }
    return NULL;
}

bool host_owns_slowly(const void *address) {
    static _Thread_local uintptr_t
        foreign_page; /* code in no object, made at run time: not worth a new list each call */
    uintptr_t a = (uintptr_t)address, page = a >> 12;
    host_open();
    const struct object *o = find_object(a);
    if (!o && page != foreign_page) {
        list_objects();
        o = find_object(a);
        foreign_page = o ? foreign_page : page;
    }
    return o && o->host;
}

static void open_once(void) {
    find_functions();
    list_objects();
}

void host_open(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
}

/* Before main, so that no hook needs to ask. */
__attribute__((constructor)) static void open_early(void) {
    host_open();
}
