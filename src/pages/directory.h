/* directory.h: the home's side of protocol.h: who has which of its pages. States and numbers: no I/O, no
 * memory of its own, no threads.
 *
 * The caller hands in messages and says when I/O has finished; it is told which messages to send and which
 * I/O to do. Both may be put off as long as it likes, as a slow network and a slow device would, and that
 * is how it keeps its own promises:
 *
 *      A page that is read for DATA, or that comes with BACK, stands in a buffer of the caller's, one for
 *      each page under way: it finds one before it reads, or before it sends NEED or RECALL. The buffer is
 *      free when DATA has left from it, or, where no DATA follows from the end of a write, then.
 *      Transactions begin in pages_directory_start only: not before there is room for all that one may
 *      send. All else leads to one message or one I/O at most. */
#ifndef HEARTH_PAGES_DIRECTORY_H
#define HEARTH_PAGES_DIRECTORY_H

#include <stddef.h>

#include "pages/protocol.h"

struct pages_limits {
    uint32_t nodes;  /* 1 ... PAGES_NODES: clients, this one included */
    uint32_t window; /* 1 ... PAGES_WINDOW: requests that one of them may have open here */
    uint32_t pages;  /* at least 1 */
    uint16_t home;   /* which node this is */
    bool coop;       /* caches serve each other */
    bool hand_over;  /* an owner that leaves hands the page to a sharer; otherwise it is written back */
};

enum pages_io {
    PAGES_NO_IO,
    PAGES_READ,  /* the page, into its buffer */
    PAGES_WRITE, /* the page, from its buffer */
    PAGES_APPLY  /* the small operation of this cookie, on the page */
};

/* What is to be done. `messages` is the caller's and has room for nodes + 1. */
struct pages_output {
    struct pages_message *messages;
    uint32_t count;
    enum pages_io io; /* one at most; when it is done: pages_directory_finished(page) */
    uint32_t page;
    uint16_t requester; /* whom the I/O is for */
    uint32_t refused;   /* by pages_directory_start: whose request of this page was dropped */
    uint64_t cookie;
};

struct pages_directory;

/* How much memory one takes; 0: these limits are not sound. */
size_t pages_directory_bytes(const struct pages_limits *limits);

/* In so much memory, all zero and aligned to 8. What was never touched stays zero, so that a page that is
 * not cached costs nothing but addresses. There are no pointers in it. */
struct pages_directory *pages_directory_open(void *memory, const struct pages_limits *limits);

/* A message has come. A request only queues; of a small one, `cookie` is kept. 0, or -EPROTO: no client of
 * ours would say this now, and nothing has changed. */
int pages_directory_receive(struct pages_directory *d, const struct pages_message *m,
                            struct pages_output *out);

/* Begins the next transaction that can begin, pages in turn. 1; 0: there is none; -EPROTO: a request that
 * makes no sense was dropped. */
int pages_directory_start(struct pages_directory *d, struct pages_output *out);

/* The I/O of this page is done. 0, or -EPROTO: there was none. */
int pages_directory_finished(struct pages_directory *d, uint32_t page, struct pages_output *out);

/* From now on an owner that leaves hands its page over, or does not. */
void pages_directory_hand_over(struct pages_directory *d, bool hand_over);

/* Of a page that PAGES_APPLY was said of: whether the operation changes it. */
bool pages_directory_writes(const struct pages_directory *d, uint32_t page);

/* No transaction is under way or waits. */
bool pages_directory_is_idle(const struct pages_directory *d);

/* For reports and tests. */
struct pages_look {
    enum pages_known known;
    uint32_t holders, owner; /* owner: of PAGES_EXCLUSIVE and PAGES_OWNED_SHARED */
    enum pages_kind busy;    /* the request under way */
};
struct pages_look pages_directory_look(const struct pages_directory *d, uint32_t page);
bool pages_directory_holds(const struct pages_directory *d, uint32_t page, uint32_t node);

/* Walks everything and aborts if an invariant is broken. */
void pages_directory_check(const struct pages_directory *d);

#endif
