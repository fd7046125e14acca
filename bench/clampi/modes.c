/* modes.c: implements modes.h. */
#include "modes.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/clock.h"

static const char *const names[WAYS] = {"bare", "off", "transparent", "acquire", "always"};

/* The MPI library's own function, below all interposers. MPI_Comm_rank is not interposed, so its address
 * identifies that library. */
static void *find_below(const char *name) {
    static void *library;
    Dl_info info;
    if (!library && dladdr(dlsym(RTLD_DEFAULT, "MPI_Comm_rank"), &info))
        library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *found = library && !dlsym(library, "CLAMPI_Get_stats") ? dlsym(library, name) : NULL;
    if (!found) {
        fprintf(stderr, "bench: cannot find %s in the MPI library itself: is it linked statically?\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return found;
}

const char *modes_pattern_name(enum pattern pattern) {
    return pattern == STREAM ? "stream" : "reuse";
}

void modes_fill(struct way *w, char *buffer, long count) {
    static const uint64_t most_ns = 1500000000;
    uint64_t start = clock_ns();
    for (long done = 0; done < count && clock_ns() - start < most_ns; done += 100)
        modes_run(w, STREAM, 8, buffer, 100);
}

typedef int create_function(void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *);
typedef int allocate_function(MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *);

/* The initiator exposes only one cache line: every rank's window is page-aligned and a multiple of 64 bytes,
 * without which MPICH 4.0 is incorrect. */
static MPI_Win make(create_function *create, allocate_function *allocate, MPI_Info info) {
    static _Alignas(4096) char nothing[64];
    MPI_Win win;
    bool exposes = !bench_is_initiator();
    MPI_Aint bytes = exposes ? PART : (MPI_Aint)sizeof nothing;
    char *memory = nothing;
    if (allocate) {
        allocate(bytes, 1, info, MPI_COMM_WORLD, &memory, &win);
    } else {
        memory = exposes ? bench_memory(PART) : nothing;
        create(memory, bytes, 1, info, MPI_COMM_WORLD, &win);
    }
    if (exposes)
        bench_fill(memory, PART);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void open_bare(struct way *w, bool allocate) {
    create_function *create;
    allocate_function *allocates;
    int (*lock_all)(int, MPI_Win);
    *(void **)&create = find_below("PMPI_Win_create");
    *(void **)&allocates = find_below("PMPI_Win_allocate");
    *(void **)&lock_all = find_below("PMPI_Win_lock_all");
    *(void **)&w->get = find_below("PMPI_Get");
    *(void **)&w->flush = find_below("PMPI_Win_flush");
    w->win = make(create, allocate ? allocates : NULL, MPI_INFO_NULL);
    if (bench_is_initiator())
        lock_all(0, w->win);
}

static void open_mode(struct way *w, bool allocate) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_mode", w->name);
    w->win = make(MPI_Win_create, allocate ? MPI_Win_allocate : NULL, info);
    MPI_Info_free(&info);
    if (bench_is_initiator())
        MPI_Win_lock_all(0, w->win);
}

void modes_open(struct way ways[WAYS], bool allocate) {
    for (unsigned i = 0; i < WAYS; i++) {
        ways[i] = (struct way){.name = names[i], .get = MPI_Get, .flush = MPI_Win_flush};
        if (i == BARE)
            open_bare(&ways[i], allocate);
        else
            open_mode(&ways[i], allocate);
    }
}

/* The target waits here, in MPI, for the initiator. */
void modes_close(struct way ways[WAYS]) {
    int (*unlock_all)(MPI_Win), (*free_window)(MPI_Win *);
    *(void **)&unlock_all = find_below("PMPI_Win_unlock_all");
    *(void **)&free_window = find_below("PMPI_Win_free");
    for (unsigned i = 0; i < WAYS; i++) {
        if (bench_is_initiator())
            (i == BARE ? unlock_all : MPI_Win_unlock_all)(ways[i].win);
        MPI_Barrier(MPI_COMM_WORLD);
        (i == BARE ? free_window : MPI_Win_free)(&ways[i].win);
    }
}
