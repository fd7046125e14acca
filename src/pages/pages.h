/* pages.h: public interface of pages/: segments in pages, stored on NVM and cached in the DRAM of all nodes.
 *
 * Other folders include this header only. Each rank has a segment. All ranks read and write it through the calls below;
 * the rank that owns it may also load from and store to it. The calls are thread-safe, and may be made from a signal
 * handler that was entered by a fault in a segment (local.h). None of them runs code of the program. Local buffers may
 * lie in the caller's own segment. Concurrent accesses to the same bytes, of which at least one writes, yield any
 * mixture of old and new bytes; they never lose or corrupt a page.
 *
 * These calls return no errors. A page that cannot be read ends the job (`failed`). Pages that cannot be written end it
 * once they fill the pool. */
#ifndef HEARTH_PAGES_PAGES_H
#define HEARTH_PAGES_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net.h"

struct pages; /* of a process */

/* An update of one word: a read-modify-write that is executed in one place. */
struct pages_update {
    uint32_t what;  /* the meaning is that of pages_events.update */
    uint32_t bytes; /* of the word: 4 or 8 */
    uint64_t operands[2];
};

struct pages_events {
    void *arg;
    /* The job cannot continue; the cause has been logged. Called from any thread; need not return. */
    void (*failed)(void *arg, const char *why);
    /* Executes an update on an aligned word of 4 or 8 bytes, atomically with respect to all processes of the node that do
     * the same, and returns the previous value of the word, at its lowest address. Called from any thread, also of
     * another process than the one that requested the update, under locks of pages/: it only computes. `what` may be
     * anything. NULL: the program makes no updates. */
    uint64_t (*update)(void *word, const struct pages_update *u);
};

/* Collective over all processes. `bytes`: size of this rank's segment (0: none), rounded up to whole pages. The
 * settings define files, pool and sizes. Returns 0, or a negative code after an error line, the same on all ranks. */
int pages_open(const struct net_boot *boot, struct net_world *world, const void *comm, uint64_t bytes,
               const struct pages_events *events, struct pages **pages);

/* Selects the checkpoint that pages_open restores instead of the newest; 0: as HEARTH_NVM_EPOCH says. Must be the same
 * on all ranks. */
void pages_choose_epoch(uint64_t epoch);

/* Collective. A thread that touches a segment from now on blocks forever. `keep` (the same on all ranks): named
 * segments are checkpointed and marked clean. Otherwise they stay as they were at the last checkpoint, and are removed
 * if there is none. Returns 0, or a negative code after an error line if the segments could not be kept. */
int pages_close(struct pages *p, const struct net_boot *boot, bool keep);

/* Called before pages_close if the process is about to exit while other threads still run. Their loads and stores in
 * the segment no longer return, and the memory that their calls use stays valid. */
void pages_end(struct pages *p);

/* Folder in which files are made: HEARTH_NVM_DIR, or the folder for temporary files. */
const char *pages_folder(void);

/* Of that rank's segment. An address in another rank's segment is valid in the calls below only. */
char *pages_base(const struct pages *p, int rank);
uint64_t pages_bytes(const struct pages *p, int rank);

/* The checkpoint of an earlier job that named segments were restored from; 0: all segments are new. */
uint64_t pages_epoch(const struct pages *p);
/* The newest checkpoint: the last one that this job made, or else pages_epoch. */
uint64_t pages_last_epoch(const struct pages *p);

/* ---- reading and writing: [from, from + bytes) must lie entirely in that rank's segment ---- */

void pages_get(struct pages *p, void *to, int rank, const void *from, size_t bytes);
void pages_put(struct pages *p, int rank, void *to, const void *from, size_t bytes);
void pages_set(struct pages *p, int rank, void *to, int value, size_t bytes);

/* The same in two steps. The begin call requests the pages that must be fetched, and returns whether the operation is complete already.
 * Else pages_finish does the rest, and the operation is complete when it returns, or when pages_try returns true. In between, `to` of a
 * get and `from` of a put belong to the operation, and the struct must neither move nor be read: other threads write to it. */
struct pages_op {
    void *local;
    const char *remote; /* start of the part that is not done yet */
    size_t bytes;       /* of that part; 0: done */
    int32_t rank;
    int32_t slot;               /* slot of a remote operation under way, or -1 */
    uint8_t way;                /* private to pages/ */
    uint16_t tries;             /* failed attempts */
    struct pages_update update; /* of an update; `local` receives the previous value, or is NULL */
};
bool pages_begin_get(struct pages *p, struct pages_op *op, void *to, int rank, const void *from,
                     size_t bytes);
bool pages_begin_put(struct pages *p, struct pages_op *op, int rank, void *to, const void *from,
                     size_t bytes);
/* Updates the aligned word at `at`, where its page is if that is cheaper than fetching the page. `old` receives the previous
 * value, u->bytes bytes of it, unless it is NULL. Updates of the same word are atomic with respect to each other, and to
 * the atomic instructions of the rank that maps it. */
bool pages_begin_update(struct pages *p, struct pages_op *op, void *old, int rank, void *at,
                        const struct pages_update *u);
/* Makes as much progress as possible without waiting. Returns whether the operation is done. */
bool pages_try(struct pages *p, struct pages_op *op);
void pages_finish(struct pages *p, struct pages_op *op);
bool pages_is_update(const struct pages_op *op);

/* Requests the pages that are not in this node's pool, as far as frames are free. Does not wait. */
void pages_prefetch(struct pages *p, int rank, const void *from, size_t bytes);

/* How this process uses a range; applies to its own calls only. */
enum pages_hint {
    PAGES_NORMAL,
    PAGES_READ_MOSTLY, /* a page is fetched at the first read of any size; small writes are remote operations */
    PAGES_NO_CACHE     /* pages are never fetched: misses become remote operations */
};
/* -EINVAL: not in that segment; -ENOSPC: too many ranges. */
int pages_hint(struct pages *p, int rank, const void *from, size_t bytes, enum pages_hint hint);

/* ---- checkpoints of named segments ---- */

/* Collective. All operations must be finished, and no rank may store meanwhile. Makes the current content of all
 * segments restorable. Returns 0 and the number of the checkpoint, or a negative code after an error line, the same on
 * all ranks. -EINVAL: segments have no name. */
int pages_checkpoint(struct pages *p, const struct net_boot *boot, uint64_t *epoch);

/* ---- files of named segments, outside of a job ---- */

struct pages_file {
    const char *why; /* reason why it cannot be examined */
    uint64_t file_bytes, bytes, page_bytes;
    uint32_t rank, ranks;
    bool clean;               /* nothing was written after the newest checkpoint */
    struct pages_file_epoch { /* newest first; epoch 0: none */
        uint64_t epoch, pages, damaged;
        uint64_t damaged_page, damaged_offset; /* the first damaged page, and its offset in the file */
        bool lacks_table;                      /* the page table is damaged, so pages cannot be located */
    } epochs[2];
};

/* Reads the whole file and verifies its checksums. Returns 0, or a negative code and sets `why`. */
int pages_examine(const char *path, struct pages_file *file);

/* ---- reports ---- */

struct pages_counts {
    /* Of this process. */
    uint64_t hits, misses, smalls, prefetched, faults, write_faults;
    /* Of its node. */
    uint64_t frames, frames_used, from_nvm, from_home, from_peers, served_peers, invalidated, evicted,
        written_back, nvm_reads, nvm_writes, nvm_holes, messages, message_bytes, unmapped;
};
void pages_count(const struct pages *p, struct pages_counts *c);

#endif
