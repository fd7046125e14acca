/* windows_each.h: the operations of windows_ops.c, and what they share with it. */
#ifndef HEARTH_BENCH_WINDOWS_EACH_H
#define HEARTH_BENCH_WINDOWS_EACH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { MEGABYTE = 1 << 20, LONG = 1 << 16, ROWS = 8192, FIRST = 7 };
enum {
    REALS = MEGABYTE / 2,
    SUMS = MEGABYTE * 3 / 4
}; /* displacements of the doubles, and of those that are accumulated to */

extern int rank;
extern bool between_nodes;        /* the limit is UCX, not memcpy */
extern bool has_bare;             /* between nodes, and UCX is there */
extern bool only_owner_maps;      /* the limit is the kernel's copy */
extern char *buffer, *source;     /* of rank 0 */
extern MPI_Datatype every_second; /* double */

double now(void); /* seconds; not an MPI call, so the MPI library does not progress in it */
void spin(double seconds);
double ns_since(double start, int executions);
void check(bool holds, const char *what); /* ends the job */

struct operation {
    const char *name;
    double (*execute)(MPI_Win win); /* by rank 0; NULL: create, by both */
    bool locks;                     /* makes its own epoch */
    double (*limit)(void);          /* by both */
};
extern const struct operation operations[];
extern const size_t operation_count;

#endif
