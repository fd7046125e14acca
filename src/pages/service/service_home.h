/* service_home.h: the home of the pages on this node's NVM (directory.h). */
#ifndef HEARTH_PAGES_SERVICE_HOME_H
#define HEARTH_PAGES_SERVICE_HOME_H

#include "pages/protocol/directory.h"
#include "pages/service/service_send.h"

struct service;

enum {
    SERVICE_WORKS = 64, /* maximum number of concurrent transactions of a home */
    SERVICE_LEAST = 8,
    /* Their number is limited to this many bytes of buffers, but is at least SERVICE_LEAST. */
    SERVICE_BUFFERS = 64 << 20,
};

/* A transaction of the home, with the buffer that it may need (directory.h). */
struct work {
    bool taken;
    /* The transaction has ended; the struct is free once nothing is sent from its buffer. */
    bool over;
    bool stalled;         /* the store has not accepted its I/O yet */
    bool zero;            /* the page is all zero */
    bool reading;         /* the I/O under way, if any, is a read */
    bool applying, dirty; /* APPLY: the page is read, then written if the operation modifies it */
    uint32_t page, came, sends;
    /* Frame of our pool that is read into or written from instead of the buffer; or POOL_NO_FRAME. */
    int64_t frame;
    bool holds;            /* the work keeps that frame until it has ended */
    uint64_t bounce;       /* APPLY */
    char *buffer, *memory; /* memory: location of the page */
};

struct service_home {
    struct pages_directory *directory; /* NULL: this node has no pages */
    uint32_t works_taken, works_most;
    struct work *works;             /* [SERVICE_WORKS] */
    struct pages_message *messages; /* [nodes + 1], for a transaction that starts */
};

/* Buffer for a page that returns to the home; NULL: it was not requested. */
char *pages_home_place(struct service *s, uint32_t page);

/* Handles a message to our home, with a piece of its page. */
void pages_home_take(struct service *s, const struct wire *w, const char *data);

/* One send from the buffer of the work has left. */
void pages_home_left(struct service *s, uint32_t work);

unsigned pages_home_begin(struct service *s);

/* Whether this node is the home of the message's page. */
bool pages_home_has(const struct service *s, const struct pages_message *m);
struct work *pages_home_work(struct service *s, uint32_t page);
void pages_home_finished(struct service *s, struct work *w);

#endif
