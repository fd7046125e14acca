/* directory.h: the home's side of protocol.h: the directory that tracks the holders of each page.
 *
 * A pure state machine: no I/O, no memory of its own, no threads. The caller passes in messages and completions of I/O,
 * and receives the messages to send and the I/O to start. It may delay both arbitrarily, as a slow network or device
 * would. The caller uses this freedom to meet its own obligations:
 *
 * - Buffers. A page that is read for DATA, or that arrives with WRITEBACK_DATA, occupies a buffer of the caller, one for each
 *   page under way. The caller obtains the buffer before it starts the read, or before it sends WRITEBACK_REQ or RECALL. The
 *   buffer is free when the DATA sent from it has left, or, where no DATA follows, when the write has finished.
 * - Send space. Transactions start in pages_directory_start only, and the caller does not call it before there is room
 *   for all messages that one may send. Every other call produces at most one message or one I/O. */
#ifndef HEARTH_PAGES_DIRECTORY_H
#define HEARTH_PAGES_DIRECTORY_H

#include <stddef.h>

#include "pages/protocol/protocol.h"

struct pages_limits {
    uint32_t nodes;  /* 1 ... PAGES_NODES: clients, including this node */
    uint32_t window; /* 1 ... PAGES_WINDOW: requests that one client may have open here */
    uint32_t pages;  /* at least 1 */
    uint16_t home;   /* this node */
    bool coop;       /* cooperation: caches serve each other */
    bool hand_over;  /* an owner that drops its copy makes a sharer the owner; else it is written back */
};

enum pages_io {
    PAGES_NO_IO,
    PAGES_READ,  /* the page, into its buffer */
    PAGES_WRITE, /* the page, from its buffer */
    PAGES_APPLY  /* the remote operation of this cookie, on the page */
};

/* Work for the caller. `messages` belongs to the caller and has room for nodes + 1. */
struct pages_output {
    struct pages_message *messages;
    uint32_t count;
    enum pages_io io; /* at most one; when it has finished: pages_directory_finished(page) */
    uint32_t page;
    uint16_t requester; /* the node that the I/O is for */
    uint32_t refused;   /* pages_directory_start: the node whose request for this page was dropped */
    uint64_t cookie;
};

struct pages_directory;

/* Bytes of memory that a directory needs; 0: invalid limits. */
size_t pages_directory_bytes(const struct pages_limits *limits);

/* `memory`: that many bytes, all zero, aligned to 8. Entries that were never touched stay zero, so a page that was
 * never cached costs address space only. The memory contains no pointers. */
struct pages_directory *pages_directory_open(void *memory, const struct pages_limits *limits);

/* Handles a message. A request is only queued; the `cookie` of a remote operation is kept. Returns 0, or -EPROTO and no
 * change: a correct client cannot send this message now. */
int pages_directory_receive(struct pages_directory *d, const struct pages_message *m,
                            struct pages_output *out);

/* Starts the next transaction that can start, pages in turn. Returns 1; 0: there is none; -EPROTO: an invalid request
 * was dropped. */
int pages_directory_start(struct pages_directory *d, struct pages_output *out);

/* The I/O of this page has finished. Returns 0, or -EPROTO: none was under way. */
int pages_directory_finished(struct pages_directory *d, uint32_t page, struct pages_output *out);

/* Sets limits.hand_over for the transactions that start from now on. */
void pages_directory_hand_over(struct pages_directory *d, bool hand_over);

/* For a page with a PAGES_APPLY under way: whether the operation modifies the page. */
bool pages_directory_writes(const struct pages_directory *d, uint32_t page);

/* True if no transaction is under way or queued. */
bool pages_directory_is_idle(const struct pages_directory *d);

/* For reports and tests. */
struct pages_look {
    enum pages_known known;
    uint32_t holders, owner; /* owner: valid for PAGES_EXCLUSIVE and PAGES_OWNED_SHARED */
    enum pages_kind busy;    /* the request under way */
    bool overwrites;         /* it overwrites all of the page */
};
struct pages_look pages_directory_look(const struct pages_directory *d, uint32_t page);
bool pages_directory_holds(const struct pages_directory *d, uint32_t page, uint32_t node);

/* Verifies all invariants; aborts if one is broken. */
void pages_directory_check(const struct pages_directory *d);

#endif
