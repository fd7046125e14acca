/* service_behind.h: pages of the home that are not on the NVM yet. */
#ifndef HEARTH_PAGES_SERVICE_BEHIND_H
#define HEARTH_PAGES_SERVICE_BEHIND_H

#include "pages/service/service_home.h"

struct service;

/* A page of the home that is not on the NVM while later transactions continue: either its write is under way
 * (HEARTH_WRITE_BACK=dram), or it could not be written. */
struct behind {
    uint32_t page; /* page + 1; 0: free */
    bool dirty, writing;
    bool failed;   /* the write failed; it is retried later */
    int64_t frame; /* pool frame that holds the page, or POOL_NO_FRAME: it is in a buffer of its own */
    char *buffer;
};

struct service_behind {
    uint32_t failed;        /* pages that could not be written */
    uint32_t unwritten;     /* pages that are in memory only, including the failed ones */
    struct behind *entries; /* [most]; the first works_most have buffers */
    uint32_t most, end;     /* entries in use are before `end` */
    uint32_t frames_taken;  /* pages that are in frames of the pool */
    int error;              /* of the last failed write */
    uint64_t retried;       /* clock_ns of the last retry */
};

/* Writes pages that are in memory only; retries failed writes. */
void pages_behind_flush(struct service *s);
void pages_behind_retry(struct service *s);
struct behind *pages_behind_of(struct service *s, uint32_t page);

/* Keeps the page in memory instead of writing it, in its own entry or a free one. False: all are in use, or its own is being
 * written. */
bool pages_behind_keep(struct service *s, uint32_t page, const char *memory);
void pages_behind_written(struct service *s, struct behind *b, int error);

/* Keeps a page whose write failed in memory. False: there is no space for it now. */
bool pages_behind_keep_failed(struct service *s, struct work *w, int error);

#endif
