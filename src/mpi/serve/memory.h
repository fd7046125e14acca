/* memory.h: memory that was allocated with a served window. All processes of the window map it at the same address. It
 * may be part of further windows, and lives as long as one of them. */
#ifndef HEARTH_MPI_SERVE_MEMORY_H
#define HEARTH_MPI_SERVE_MEMORY_H

#include "mpi/serve/process.h"
#include "net/net.h"

struct served_memory;

/* Takes over the mapping, whose parts belong to these processes (copied). `id`: random, the same in all of them. The
 * result has one user. NULL: out of memory; the mapping stays the caller's. */
struct served_memory *serve_memory_open(uint64_t id, struct net_shared *shared, struct serve_card owners[]);

/* The last user unmaps it. */
void serve_memory_leave(struct served_memory *m);

/* The memory of this id, with one more user; NULL: it is not mapped here. */
struct served_memory *serve_memory_use(uint64_t id);

/* Which memory, and which process's part of it, contains all of this range. False: none. */
bool serve_memory_find(const void *base, uint64_t bytes, uint64_t *id, struct serve_card *owner);

#endif
