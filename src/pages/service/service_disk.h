/* service_disk.h: reads and writes of the NVM. */
#ifndef HEARTH_PAGES_SERVICE_DISK_H
#define HEARTH_PAGES_SERVICE_DISK_H

#include "pages/service/service_home.h"
#include "pages/store/store.h"

struct service;

struct service_homes { /* of the ranks of this node */
    struct store *store;
    uint32_t first, pages;
    bool made; /* this job created the file */
};

struct service_stores {
    struct service_homes *homes; /* [locals] */
    int locals;
    bool write_behind; /* HEARTH_WRITE_BACK=dram */
};

struct service_io {
    uint32_t under_way; /* at the stores */
    uint32_t stalled;   /* works whose I/O waits for space in the store's queue */
};

/* Starts a read, write or apply; pages_home_finished follows, possibly before it returns. */
void pages_io_begin(struct service *s, struct work *w, enum pages_io io, uint64_t bounce, uint16_t requester);
unsigned pages_io_poll(struct service *s);

/* Whether no I/O is under way; *status: the error of pages that could not be written, or 0. */
bool pages_io_is_idle(const struct service *s, int *status);

/* Ends the job: no memory is left for pages that cannot be written, such as this one. */
void pages_io_fail_full(struct service *s, uint32_t page, int error);

/* Submits a request to the store; 0 if it was accepted. */
int pages_io_submit(struct service *s, enum store_way way, uint32_t page, char *memory, uint64_t token);
enum { DISK_BEHIND = 1 << 16 /* tokens of the store: works, and from here on entries of service_behind */ };

/* Reserve space on the NVM for a page of this node, or for all pages that are in memory only. 0, or a negative code
 * after an error line. */
int pages_io_reserve_page(struct service *s, uint32_t page);
int pages_io_reserve_behind(struct service *s);

#endif
