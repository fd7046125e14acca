/* reuse.c: counts how often a program gets the same data, and how large its gets are (Figs. 2 and 3 of the
 * CLaMPI paper).
 *
 * It is preloaded into a program without the library. Each rank counts its calls of MPI_Get to other ranks by
 * window, target, displacement and size. At MPI_Finalize it writes, to the file named by REUSE_FILE followed by
 * its rank, one line for each group of equal counts:
 *
 *     bytes,times,distinct       this many distinct gets of this many bytes were made this many times each
 *
 * One hash table with open addressing, never more than half full. Gets from several threads at once are not
 * counted correctly. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct get {
    uint64_t window, disp;
    uint32_t target, bytes, times; /* times 0: free */
};

static struct get *table;
static size_t slots, used;

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
}

static int same(const struct get *a, const struct get *b) {
    return a->window == b->window && a->disp == b->disp && a->target == b->target && a->bytes == b->bytes;
}

static struct get *find(const struct get *g) {
    uint64_t hash = mix(mix(mix(g->window) + g->disp) + ((uint64_t)g->target << 32 | g->bytes));
    for (size_t i = hash & (slots - 1);; i = (i + 1) & (slots - 1))
        if (!table[i].times || same(&table[i], g))
            return &table[i];
}

static void grow(void) {
    struct get *old = table;
    size_t count = slots;
    slots = slots ? 2 * slots : 4096;
    table = calloc(slots, sizeof *table);
    if (!table) {
        fprintf(stderr, "reuse: out of memory for %zu distinct gets\n", slots / 2);
        exit(1);
    }
    for (size_t i = 0; i < count; i++)
        if (old[i].times)
            *find(&old[i]) = old[i];
    free(old);
}

static void count(const struct get *g) {
    if (2 * used >= slots)
        grow();
    struct get *at = find(g);
    if (!at->times) {
        *at = *g;
        used++;
    }
    at->times++;
}

int MPI_Get(void *origin, int origin_count, MPI_Datatype origin_type, int target, MPI_Aint disp,
            int target_count, MPI_Datatype target_type, MPI_Win win) {
    struct get g = {.disp = (uint64_t)disp, .target = (uint32_t)target};
    int size, rank;
    memcpy(&g.window, &win, sizeof win < sizeof g.window ? sizeof win : sizeof g.window);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (target != rank && target >= 0 && !MPI_Type_size(target_type, &size)) {
        g.bytes = (uint32_t)size * (uint32_t)target_count;
        count(&g);
    }
    return PMPI_Get(origin, origin_count, origin_type, target, disp, target_count, target_type, win);
}

static int by_size_and_times(const void *a, const void *b) {
    const struct get *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->times > y->times) - (x->times < y->times);
}

static void write_counts(FILE *file) {
    size_t n = 0;
    for (size_t i = 0; i < slots; i++)
        if (table[i].times)
            table[n++] = table[i];
    if (n)
        qsort(table, n, sizeof *table, by_size_and_times);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && !by_size_and_times(&table[i], &table[j]); j++)
            ;
        fprintf(file, "%u,%u,%zu\n", (unsigned)table[i].bytes, (unsigned)table[i].times, j - i);
    }
}

int MPI_Finalize(void) {
    const char *path = getenv("REUSE_FILE");
    char name[4096];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", path ? path : "reuse", rank);
    FILE *file = fopen(name, "w");
    if (file)
        write_counts(file);
    if (!file || fclose(file))
        fprintf(stderr, "reuse: cannot write '%s'\n", name);
    return PMPI_Finalize();
}
