/* pages.h: segments in pages: on NVM, cached in the DRAM of all nodes. Other folders use pages/ through this
 * header alone.
 *
 * Each rank has a segment, which all ranks read and write through the calls below, and which its own rank may
 * load from and store to as well. Calls come from any thread, also at the same time, also from a signal handler
 * that was entered by a fault in a segment (local.h); none of them runs code of the program. Local memory that
 * they are given may lie in the caller's own segment. Who writes while others read or write the same bytes gets
 * any mixture of them; a page is never lost or torn apart by it.
 *
 * What cannot be read ends the job (`failed`), and so do pages that cannot be written once they fill the memory: these calls have
 * no errors. */
#ifndef HEARTH_PAGES_PAGES_H
#define HEARTH_PAGES_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net.h"

struct pages; /* of a process */

struct pages_events {
    void *arg;
    /* The job cannot go on, a line was written; any thread, and it need not return. */
    void (*failed)(void *arg, const char *why);
};

/* Collective, by all processes: `bytes` for the segment of this one (0: none), rounded up to pages. Files, pool and
 * sizes as the settings say. 0, or a negative code after a line, everywhere. */
int pages_open(const struct net_boot *boot, struct net_world *world, const void *comm, uint64_t bytes,
               const struct pages_events *events, struct pages **pages);

/* Which checkpoint pages_open goes back to, instead of the newest; 0: as HEARTH_NVM_EPOCH says. The same everywhere. */
void pages_choose_epoch(uint64_t epoch);

/* Collective. Whoever touches a segment from now on waits for ever. Named segments are checkpointed and marked clean, if they
 * are to be kept (the same everywhere); else they stay as they were at the last checkpoint, and are gone if there is none.
 * 0 or a negative code after a line: they could not be kept. */
int pages_close(struct pages *p, const struct net_boot *boot, bool keep);

/* Before that, if the process ends with it: its other threads may be at whatever they like. Their loads and stores in the segment do
 * not return any more, and what their calls use stays. */
void pages_end(struct pages *p);

/* Where files are made: as HEARTH_NVM_DIR says, or else in the folder of temporary files. */
const char *pages_folder(void);

/* Of that rank's segment. Addresses of another rank's segment mean nothing but to the calls below. */
char *pages_base(const struct pages *p, int rank);
uint64_t pages_bytes(const struct pages *p, int rank);
size_t pages_page_bytes(const struct pages *p);

/* Whether named segments were found and held what an earlier job left: which of its checkpoints; 0: all was new. */
uint64_t pages_epoch(const struct pages *p);
/* The newest checkpoint: the last that was made, or else that one. */
uint64_t pages_last_epoch(const struct pages *p);

/* ---- reading and writing: all of [from, from + bytes) lies in that rank's segment ---- */

void pages_get(struct pages *p, void *to, int rank, const void *from, size_t bytes);
void pages_put(struct pages *p, int rank, void *to, const void *from, size_t bytes);
void pages_set(struct pages *p, int rank, void *to, int value, size_t bytes);

/* The same in two steps: what must be fetched is asked for, and the rest is done by pages_finish, in which it is
 * complete. In between, `to` of a get and `from` of a put belong to the operation, and it stays where it is. */
struct pages_op {
    void *local;
    const char *remote; /* what is not done yet begins here */
    size_t bytes;       /* 0: done */
    int32_t rank;
    int32_t slot;   /* a small operation under way, or -1 */
    uint8_t way;    /* of pages/ */
    uint16_t tries; /* in vain */
};
void pages_begin_get(struct pages *p, struct pages_op *op, void *to, int rank, const void *from,
                     size_t bytes);
void pages_begin_put(struct pages *p, struct pages_op *op, int rank, void *to, const void *from,
                     size_t bytes);
/* Does what it can without waiting; whether all is done. */
bool pages_try(struct pages *p, struct pages_op *op);
void pages_finish(struct pages *p, struct pages_op *op);

/* Asks for what is not in this node's pool, as far as there is room, and does not wait. */
void pages_prefetch(struct pages *p, int rank, const void *from, size_t bytes);

/* What this process says about the use of some memory, for its own calls. */
enum pages_hint {
    PAGES_NORMAL,
    PAGES_READ_MOSTLY, /* pages are fetched at the first read, however small; small writes go to where the page is */
    PAGES_NO_CACHE /* what is not here is read and written where it is, without fetching pages */
};
/* -EINVAL: not in that segment; -ENOSPC: too many ranges. */
int pages_hint(struct pages *p, int rank, const void *from, size_t bytes, enum pages_hint hint);

/* ---- checkpoints of named segments ---- */

/* Collective; all operations are finished, and nobody stores. What the segments hold now can be gone back to. 0 and its
 * number, or a negative code after a line, the same everywhere: -EINVAL: segments have no name. */
int pages_checkpoint(struct pages *p, const struct net_boot *boot, uint64_t *epoch);

/* ---- files of named segments, without a job ---- */

struct pages_file {
    const char *why; /* it cannot be examined */
    uint64_t file_bytes, bytes, page_bytes;
    uint32_t rank, ranks;
    bool clean;               /* nothing was written after the newest checkpoint */
    struct pages_file_epoch { /* the newest first; epoch 0: there is none */
        uint64_t epoch, pages, damaged;
        uint64_t damaged_page, damaged_offset; /* the first of them; in the file */
        bool lacks_table;                      /* that is damaged: pages cannot be found */
    } epochs[2];
};

/* Reads all of it and compares it with its checksums. 0, or a negative code and `why`. */
int pages_examine(const char *path, struct pages_file *file);

/* ---- reports ---- */

struct pages_counts {
    /* of this process */
    uint64_t hits, misses, smalls, prefetched, faults, write_faults;
    /* of its node */
    uint64_t frames, frames_used, from_nvm, from_home, from_peers, served_peers, invalidated, evicted,
        written_back, nvm_reads, nvm_writes, nvm_holes, messages, message_bytes, unmapped;
};
void pages_count(const struct pages *p, struct pages_counts *c);

#endif
