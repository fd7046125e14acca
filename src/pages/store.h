/* store.h: where the pages of a rank's segment lie: one sparse file on the node's NVM.
 *
 * Pages have one size and are read and written whole, many at a time: a request is submitted, runs beside the
 * program, and is polled. A page that was never written is zero and costs no I/O. A temporary store has no name
 * and is gone with the process; a named one holds checkpoints, each of which has a number, its epoch.
 *
 * One thread at a time calls it. Only opening, closing, reserving and the calls about epochs wait for the
 * disk. */
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
    STORE_AGAIN      /* NAME.RANK, which must hold a checkpoint; store_select comes next */
};

enum store_way { STORE_READ, STORE_WRITE };

enum store_engine_name { STORE_AUTO, STORE_URING, STORE_THREADS };

struct store_options {
    enum store_kind kind;
    const char *folder; /* on the NVM */
    const char *name;   /* of a named store */
    uint64_t identity;  /* of a new one: a number that the ranks have agreed on, to be found again */
    int rank, ranks;
    size_t page_bytes; /* a power of two */
    uint64_t bytes;    /* of the segment */
    enum store_engine_name engine;
    unsigned depth;    /* requests at a time */
    unsigned threads;  /* of the engine of that name */
    bool buffered;     /* through the system's page cache even where direct I/O is possible */
    uint64_t throttle; /* bytes per second, to play a slower disk; 0: none */
};

/* What is in a file that is opened again. */
struct store_found {
    uint64_t prepared;  /* the newest epoch that this rank can go back to */
    uint64_t older;     /* another one; 0: none */
    uint64_t committed; /* the newest of which the file says that all ranks have prepared it; 0: none */
    uint64_t tried;     /* the largest number that was ever used, also for one that was given up */
    uint64_t identity;  /* must be the same on all ranks */
    bool clean;         /* nothing was written after the newest checkpoint */
};

struct store_done {
    uint64_t token;
    int error; /* 0, or negative: what a read has left in its buffer means nothing then; -EBADMSG: it is damaged */
};

struct store_facts {
    const char *engine; /* "io_uring" or "threads" */
    bool direct;
    uint64_t reads, writes, holes; /* done; reads that took no I/O are only counted as holes */
    uint64_t failures;
    uint64_t lost; /* pages whose last write failed */
};

struct store;

/* Each of these writes one line about what it refuses, but -ENOENT of STORE_AGAIN is without one: it may just be
 * the first time. -EEXIST, -EBUSY (another job has it open), -EPROTO (of another version), -EINVAL (of another
 * shape, or wrong options), -ENODATA (no checkpoint was ever finished), -EBADMSG (truncated or damaged), or what
 * the system says. `found` may be NULL unless the file is opened again. */
int store_open(const struct store_options *options, struct store **store, struct store_found *found);

/* Waits for the requests on their way and drops their completions. A named store that holds nothing newer than
 * its last checkpoint, which is committed, is marked clean; an error means that it could not be. The store is gone
 * in any case. NULL is allowed. */
int store_close(struct store *store);

/* What was written, or should have been, since the newest checkpoint is not kept: the store will not be marked clean. */
void store_give_up(struct store *store);

/* Removes the file of a named store that this job has made and cannot use; best before it is closed, while nobody else
 * can have it. */
void store_forget(const struct store_options *options);

/* ---- pages ---- */

/* Starts to move a page, at the latest at the next store_poll or store_arm. The buffer is aligned and stays where
 * it is until the completion. -EAGAIN: too many on their way; -EBUSY: one of this page is on its way, and one of
 * both is a write; -EINVAL: no such page, or a buffer that is not aligned. */
int store_submit(struct store *store, enum store_way way, uint64_t page, void *buffer, uint64_t token);

/* Takes up to `most` completions, in any order; never waits. A page whose write has failed cannot be read nor
 * be part of a checkpoint until it was written again. */
unsigned store_poll(struct store *store, struct store_done *done, unsigned most);

/* Before sleeping: 0, and the descriptor becomes readable when store_poll has something to do; or -EAGAIN, poll
 * at once. A sleep in epoll_wait may end early with EINTR, as the kernel does part of the work in its place. */
int store_arm(struct store *store);
int store_descriptor(const struct store *store);

/* Never written: zero. */
bool store_is_hole(const struct store *store, uint64_t page);

/* Takes the room that the next write of this page needs, where the filesystem can: that write does not find the disk
 * full then. Waits for the disk. */
int store_reserve(struct store *store, uint64_t page);

/* ---- checkpoints of a named store; doc in store_epoch.c ---- */

/* All pages as they are now become epoch `epoch`, a number that was never used before. No requests are on their way
 * (-EBUSY). Returns when it would survive a power failure. The last one that is committed is kept, the one before it given
 * up. -EINVAL: the last one is neither committed nor abandoned. -EIO: a page could not be written, or was lost by an
 * earlier failure. After any error the last one is still there, and this one must be abandoned. */
int store_prepare(struct store *store, uint64_t epoch);

/* All ranks have prepared it. Nothing is written, and so nothing fails but a call out of order (-EINVAL). */
int store_commit(struct store *store, uint64_t epoch);

/* Some rank could not prepare it: undone here, wherever its preparation has come to; the last one is the newest again.
 * After an error it may still be in the file; the next store_prepare tries again first. */
int store_abandon(struct store *store, uint64_t epoch);

/* Whether a checkpoint now would differ from the last one. */
bool store_is_changed(const struct store *store);

/* Of a store that was opened again, first: goes back to this epoch, which all ranks hold; a newer one is gone then. All
 * ranks must have done so before one prepares the next. -ESTALE: this one does not hold it. */
int store_select(struct store *store, uint64_t epoch);

/* ---- */

struct store_facts store_facts(const struct store *store);

/* For people: which file; what to do about an error, or "". */
const char *store_label(const struct store *store);
const char *store_advice(int error);

/* Whether all is consistent inside; walks everything. */
bool store_check(const struct store *store);

/* For tests: the n-th request to the system from now on and the `times` - 1 after it (0: all) fail with this
 * error; STORE_SHORT: they move a part only, where it is bytes they move. n = 0: never. Returns
 * how many have failed since the last call. */
enum { STORE_SHORT = -1 };
unsigned store_fail_at(unsigned n, unsigned times, int error);

/* For tests: told of every write before it begins, and if it fails; of every sync when it has succeeded. */
struct store_event {
    enum { STORE_WROTE, STORE_FAILED, STORE_SYNCED } what;
    int file;
    uint64_t offset;
    const void *data;
    size_t bytes;
};
void store_watch(void (*watch)(void *arg, const struct store_event *event), void *arg);

#endif
