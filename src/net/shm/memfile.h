/* memfile.h: shared memory of a node's processes, as files without names.
 *
 * One process creates the file and publishes its address, with which the others find it. Nothing here logs: the
 * caller knows the purpose of the memory. On an error *what is set to words for the caller's message: a phrase such as
 * "cannot create a file" in the calls of the owner, a verb such as "find" or "map" in the others. */
#ifndef HEARTH_NET_MEMFILE_H
#define HEARTH_NET_MEMFILE_H

#include <stddef.h>
#include <stdint.h>

/* How the others find the file. The caller exchanges it by any means. */
struct net_address {
    char bytes[64];
};

/* Random, so that no other file is mistaken for it. */
struct segment_token {
    uint64_t words[2];
};

/* The content of a net_address. */
struct memfile_place {
    struct segment_token token;
    uint64_t bytes;
    int32_t process, file;
};
struct memfile_place net_memfile_place(const struct net_address *address);

/* `bytes` (a multiple of the page size) of zeros, with no memory behind them yet. The descriptor may be closed once
 * the others have found the file. */
int net_memfile_make(uint64_t bytes, int *file, struct net_address *address, const char **what);

/* Allocates memory for this part of the file, on the caller's NUMA node. Without this call, a lack of memory would
 * show only later, as SIGBUS at a store. */
int net_memfile_fill(int file, uint64_t from, uint64_t bytes, const char **what);

/* Bytes of the file that have memory behind them. */
int net_memfile_backed(const struct net_address *address, uint64_t *bytes);

/* Opens the file of another process, or one's own once more. -EPERM, -EACCES, -ENOENT: the system denies access;
 * -ESTALE: it is not the file that was announced; -EMFILE ... */
int net_memfile_find(const struct net_address *address, int *file, const char **what);

/* Maps the whole file: anywhere, or, if `at` is not NULL, exactly there. -EEXIST: something is mapped there already.
 * `flags`: 0 or MAP_POPULATE. */
int net_memfile_map(int file, uint64_t bytes, void *at, int flags, void **base, const char **what);

/* For messages: the system's error text; and a remedy, or "" if none is known. */
const char *net_memfile_reason(int error);
const char *net_memfile_hint(int error);

#endif
