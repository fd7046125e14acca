/* memfile.h: memory that processes of a node share, as a file without a name.
 *
 * One makes it, tells the others its address, and they find it. Nothing here writes a line: who calls knows
 * what it is for, and gets the words for it, such as "cannot find it", in *what. */
#ifndef HEARTH_NET_MEMFILE_H
#define HEARTH_NET_MEMFILE_H

#include <stddef.h>
#include <stdint.h>

/* What the others need to find it; exchanged by the caller, by whatever means. */
struct net_address {
    char bytes[64];
};

/* Random, so that nothing else is taken for it. */
struct segment_token {
    uint64_t words[2];
};

/* What a net_address holds. */
struct memfile_place {
    struct segment_token token;
    uint64_t bytes;
    int32_t process, file;
};
struct memfile_place memfile_place(const struct net_address *address);

/* So many bytes, a multiple of the page, zero, with no memory behind them yet. The descriptor may be
 * closed once the others have found it. */
int memfile_make(uint64_t bytes, int *file, struct net_address *address, const char **what);

/* Takes the memory for this part of it, on the NUMA node of the caller. Without it, a node that has
 * none left would show that as SIGBUS at some later store. */
int memfile_fill(int file, uint64_t from, uint64_t bytes, const char **what);

/* Bytes of it that have memory behind them. */
int memfile_backed(const struct net_address *address, uint64_t *bytes);

/* Opens that of another process, or one's own once more. -EPERM, -EACCES, -ENOENT: the system does not
 * let us; -ESTALE: it is not the one that was announced; -EMFILE ... */
int memfile_find(const struct net_address *address, int *file, const char **what);

/* Maps all of it: anywhere, or, if `at` is not NULL, exactly there, where nothing may be yet: -EEXIST.
 * `flags`: 0 or MAP_POPULATE. */
int memfile_map(int file, uint64_t bytes, void *at, int flags, void **base, const char **what);

/* For people: the system's words, and what to look for where it is not memory that is missing. */
const char *memfile_reason(int error);
const char *memfile_hint(int error);

/* For tests: the n-th request to the system from now fails, and all after it; 0 = never. */
void memfile_fail_at(unsigned n);

#endif
