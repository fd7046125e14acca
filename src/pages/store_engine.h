/* store_engine.h: who moves the bytes: the kernel, asked through io_uring, or threads that pread and pwrite.
 *
 * An engine is given a request and gives it back with a result. What fails, fails by the result: giving never
 * does. No more are given than it was opened for. */
#ifndef HEARTH_PAGES_STORE_ENGINE_H
#define HEARTH_PAGES_STORE_ENGINE_H

#include "pages/store.h"

struct store_request {
    struct store_request *next; /* in the list of whoever has it */
    char *buffer;
    uint64_t offset; /* in the file */
    uint32_t bytes;
    uint32_t moved; /* of them, so far */
    int result;
    uint8_t way, copy; /* enum store_way; which copy of the page */
    uint64_t page, token;
    uint64_t due; /* when a throttled disk would have done it */
};

/* First in, first out. */
struct request_queue {
    struct store_request *first, *last;
};

static inline void queue_add(struct request_queue *q, struct store_request *r) {
    r->next = NULL;
    if (q->first)
        q->last->next = r;
    else
        q->first = r;
    q->last = r;
}

static inline struct store_request *queue_take(struct request_queue *q) {
    struct store_request *r = q->first;
    if (r)
        q->first = r->next;
    return r;
}

struct store_engine {
    const char *name;
    int descriptor; /* readable, after arm, when there is something to take */
    void (*give)(struct store_engine *engine, struct store_request *request);
    unsigned (*take)(struct store_engine *engine, struct store_request **done, unsigned most);
    bool (*arm)(struct store_engine *engine); /* false: there is something to take now */
    void (*close)(struct store_engine *engine);
};

/* -ENOSYS: not built in, or not allowed here. Neither writes a line. */
int uring_open(int file, unsigned depth, struct store_engine **engine);
int threads_open(int file, unsigned threads, struct store_engine **engine);

#endif
