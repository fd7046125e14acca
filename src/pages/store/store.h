/* store.h: storage of the pages of a rank's segment: one sparse file on the node's NVM.
 *
 * All pages have the same size and are read and written whole, with asynchronous requests: submit, then poll. A page
 * that was never written is zero and costs no I/O. A temporary store has no name and disappears with the process. A
 * named store holds checkpoints, each identified by a number, its epoch.
 *
 * Only one thread may call it at a time. Only open, close, reserve and the epoch calls wait for the disk. */
#ifndef HEARTH_PAGES_STORE_H
#define HEARTH_PAGES_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STORE_SMALLEST_PAGE = 4 << 10,
    STORE_LARGEST_PAGE = 4 << 20,
    STORE_ALIGNMENT = 4096, /* of buffers */
    STORE_DEEPEST = 1024,
    STORE_MOST_THREADS = 64
};

enum store_kind {
    STORE_TEMPORARY, /* no name */
    STORE_NEW,       /* NAME.RANK, which must not exist */
    STORE_AGAIN      /* NAME.RANK, which must hold a checkpoint; pages_store_select comes next */
};

enum store_way { STORE_READ, STORE_WRITE };

enum store_engine_name { STORE_AUTO, STORE_URING, STORE_THREADS };

struct store_options {
    enum store_kind kind;
    const char *folder; /* on the NVM */
    const char *name;   /* of a named store */
    uint64_t identity;  /* of a new store: a number that the ranks have agreed on, checked at the next open */
    int rank, ranks;
    size_t page_bytes; /* a power of two */
    uint64_t bytes;    /* of the segment */
    enum store_engine_name engine;
    unsigned depth;    /* maximum number of concurrent requests */
    unsigned threads;  /* of the threads engine */
    bool buffered;     /* use the system's page cache even where direct I/O is possible */
    uint64_t throttle; /* emulated bandwidth of a slower device, bytes/s; 0: unlimited */
};

/* Content of a file that is opened again. */
struct store_found {
    uint64_t prepared;  /* the newest epoch that this rank can restore */
    uint64_t older;     /* another one; 0: none */
    uint64_t committed; /* the newest epoch that, according to the file, all ranks have prepared; 0: none */
    uint64_t tried;     /* the largest number ever used, including abandoned epochs */
    uint64_t identity;  /* must be the same on all ranks */
    bool clean;         /* nothing was written after the newest checkpoint */
};

struct store_done {
    uint64_t token;
    int error; /* 0, or negative; a failed read leaves garbage in its buffer; -EBADMSG: damaged */
};

struct store_facts {
    const char *engine; /* "io_uring" or "threads" */
    bool direct;
    uint64_t reads, writes, holes; /* completed; reads without I/O count as holes only */
    uint64_t failures;
    uint64_t lost; /* pages whose last write failed */
};

struct store;

/* Logs one line for each refusal, except -ENOENT of STORE_AGAIN, as this may be the first job. -EEXIST; -EBUSY (another
 * job has it open); -EPROTO (another version); -EINVAL (another shape, or invalid options); -ENODATA (no checkpoint was
 * ever completed); -EBADMSG (truncated or damaged); or a system error. `found` may be NULL unless the file is opened
 * again. */
int pages_store_open(const struct store_options *options, struct store **store, struct store_found *found);

/* Waits for the requests under way and drops their completions. A named store that holds nothing newer than its last
 * checkpoint, which is committed, is marked clean; an error means that this failed. The store is closed in any case.
 * NULL is allowed. */
int pages_store_close(struct store *store);

/* Discards everything written since the newest checkpoint: the store will not be marked clean. */
void pages_store_give_up(struct store *store);

/* Removes the file of a named store that this job created and cannot use; preferably before it is closed, while no
 * other job can open it. */
void pages_store_forget(const struct store_options *options);

/* ---- pages ---- */

/* Starts to read or write a page, at the latest at the next pages_store_poll or pages_store_arm. The buffer must be aligned and
 * stay valid until completion. -EAGAIN: too many requests under way; -EBUSY: a request for this page is under way, and
 * one of the two is a write; -EINVAL: no such page, or an unaligned buffer. */
int pages_store_submit(struct store *store, enum store_way way, uint64_t page, void *buffer, uint64_t token);

/* Takes up to `most` completions, in any order; never waits. A page whose write has failed can neither be read nor be
 * part of a checkpoint until it has been written again. */
unsigned pages_store_poll(struct store *store, struct store_done *done, unsigned most);

/* Call before sleeping. 0: the descriptor becomes readable when pages_store_poll has something to do; -EAGAIN: poll
 * immediately. A sleep in epoll_wait may end early with EINTR, as the kernel does part of the work in this thread's
 * context. */
int pages_store_arm(struct store *store);
int pages_store_descriptor(const struct store *store);

/* True if the page was never written, that is, is zero. */
bool pages_store_is_hole(const struct store *store, uint64_t page);

/* Reserves the disk space that the next write of this page needs, where the filesystem supports it, so that the write
 * cannot find the disk full. Waits for the disk. */
int pages_store_reserve(struct store *store, uint64_t page);

/* ---- checkpoints of a named store; see store_epoch.c ---- */

/* Makes the current pages epoch `epoch`, a number that was never used before. No requests may be under way (-EBUSY).
 * When it returns, the epoch survives a power failure. The last committed epoch is kept, the one before it is given up.
 * -EINVAL: the last one is neither committed nor abandoned. -EIO: a page could not be written, or was lost by an
 * earlier failure. After any error the last epoch still exists, and this one must be abandoned. */
int pages_store_prepare(struct store *store, uint64_t epoch);

/* All ranks have prepared it. Nothing is written, so it fails only if called out of order (-EINVAL). */
int pages_store_commit(struct store *store, uint64_t epoch);

/* Some rank could not prepare it: undoes the preparation here, whatever its progress; the last epoch is the newest
 * again. After an error it may still be in the file; the next pages_store_prepare first tries again to remove it. */
int pages_store_abandon(struct store *store, uint64_t epoch);

/* Whether a checkpoint now would differ from the last one. */
bool pages_store_is_changed(const struct store *store);

/* First call for a store that was opened again: restores this epoch, which all ranks hold; a newer one is discarded.
 * All ranks must have done so before one prepares the next. -ESTALE: this store does not hold it. */
int pages_store_select(struct store *store, uint64_t epoch);

/* ---- */

struct store_facts pages_store_facts(const struct store *store);

/* For messages: the file's name; the remedy for an error, or "". */
const char *pages_store_label(const struct store *store);
const char *pages_store_advice(int error);

/* Verifies the internal consistency of the whole store. */
bool pages_store_check(const struct store *store);

#endif
