/* memory.h: memory that several processes map at the same address: it was allocated with a served window, or by
 * MPI_Alloc_mem (alloc.h). It may be part of further windows, and stays mapped as long as one of them uses it. */
#ifndef HEARTH_MPI_SERVE_MEMORY_H
#define HEARTH_MPI_SERVE_MEMORY_H

#include "mpi/windows/serving/state/process.h"
#include "net/net.h"

struct served_memory;

/* Takes over the mapping, whose parts belong to these processes (copied). `id`: random, the same in all of them. The
 * result has one user. NULL: out of memory; the mapping stays the caller's. */
struct served_memory *serve_memory_open(uint64_t id, struct net_shared *shared, struct serve_card owners[]);

/* The same for memory of this process alone that others may attach at any time. */
struct served_memory *serve_memory_publish(uint64_t id, struct net_shared *shared, struct serve_card *owner);

/* The last user unmaps it. */
void serve_memory_leave(struct served_memory *m);

/* The memory of this id, with one more user; NULL: it is not mapped here. */
struct served_memory *serve_memory_use(uint64_t id);

/* As it is sent to others. */
struct serve_memory_name {
    uint64_t id;                   /* random; 0: none */
    struct serve_card owner;       /* the process whose part of it is meant */
    struct net_shared_place place; /* for processes that have not mapped it; bytes 0: they cannot */
};

/* Which memory, and which process's part of it, contains all of this range. False: none, and the name stays as it is. */
bool serve_memory_find(const void *base, uint64_t bytes, struct serve_memory_name *name);

/* The memory of this name, mapped now if it was not, with one more user; NULL: it cannot be mapped here. */
struct served_memory *serve_memory_attach(const struct serve_memory_name *name);

#endif
