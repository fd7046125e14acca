/* controller.h: a cache's side of protocol.h, for one page and the frame that is reserved for it.
 *
 * A pure state machine of 28 bytes: no I/O, no memory, no threads.
 *
 * *Pins.* A thread that reads or writes the frame holds a pin meanwhile: for the duration of a copy, never while it
 * waits. A message that would revoke the access that a pin guarantees is deferred until the pin is released, and no new
 * pins are given before it is served. At most one message is deferred, as the home executes one transaction at a time.
 *
 * *Mappings.* The application may have the page mapped for reading or for writing. A message that requires a lower
 * level is deferred in the same way: first until the pins are released, then until the caller reports that the page is
 * unmapped or protected. E is mapped for reading at most: the first store faults, requests a pin for writing, and makes
 * the state M.
 *
 * *Overwriting.* A thread that will write all of a page gets it without its content. Until it releases its pin, the
 * transaction stays open at the home, and no other thread gets a pin.
 *
 * When a message is served, its page can be sent from the frame itself. The frame is not overwritten before the page
 * has arrived, because the transaction does not end before that. The caller must keep a frame that is FREED until
 * everything sent from it has left. */
#ifndef HEARTH_PAGES_CONTROLLER_H
#define HEARTH_PAGES_CONTROLLER_H

#include "pages/protocol/protocol.h"

enum pages_level { PAGES_UNMAPPED, PAGES_TO_READ, PAGES_TO_WRITE };

struct pages_control {
    uint32_t page;
    uint16_t home, self;
    uint8_t state; /* enum pages_state */
    uint8_t open;  /* our request: PAGES_GETS, PAGES_GETX, PAGES_PUT, or PAGES_NOTHING */
    uint8_t flags;
    uint8_t mapped;                            /* enum pages_level */
    uint16_t readers, writers;                 /* pins */
    uint16_t waiting_readers, waiting_writers; /* get their pins when the request completes */
    /* The deferred message. */
    uint16_t put_off_peer;
    uint8_t put_off, put_off_flags;
    uint32_t unused;
};

/* Actions for the caller, in this order; sending comes last. */
enum {
    PAGES_FRAME_APPLY = 1, /* apply the received remote operation to the frame */
    PAGES_UNMAP = 2,       /* then pages_control_unmapped(PAGES_UNMAPPED) */
    PAGES_PROTECT = 4,     /* then pages_control_unmapped(PAGES_TO_READ) */
    PAGES_READY = 8,       /* all waiters of PAGES_WAIT have their pins */
    PAGES_FREED = 16, /* no copy and no request: the frame is free once everything sent from it has left */
    PAGES_RETRY = 32, /* callers that got PAGES_LATER may retry */
};

struct pages_effects {
    struct pages_message messages[2];
    uint8_t count, actions;
};

/* Initialises the state of a frame that was reserved for this page. */
void pages_control_open(struct pages_control *c, uint16_t self, uint16_t home, uint32_t page);

enum pages_got {
    PAGES_HIT,  /* pinned */
    PAGES_WAIT, /* will be pinned when PAGES_READY is reported */
    PAGES_LATER /* another action is under way: retry after PAGES_RETRY */
};

/* Every function overwrites *e. */
enum pages_got pages_control_acquire(struct pages_control *c, bool write, struct pages_effects *e);
/* As pages_control_acquire for writing, by a thread that writes all of the page before it releases the pin. If there is
 * no copy, the page is not fetched: its content is undefined when PAGES_READY is reported, and no other pin is given
 * before the release. */
enum pages_got pages_control_overwrite(struct pages_control *c, struct pages_effects *e);
void pages_control_release(struct pages_control *c, bool write, struct pages_effects *e);

/* Requests the page if there is no copy, without a waiter. Returns whether it did. */
bool pages_control_prefetch(struct pages_control *c, struct pages_effects *e);

/* Starts to drop the copy. False: the copy is in use, or there is none. */
bool pages_control_evict(struct pages_control *c, struct pages_effects *e);

/* The holder of a pin has mapped the page. Mapping for writing requires a pin for writing. */
void pages_control_map(struct pages_control *c, enum pages_level level);
/* The PAGES_UNMAP or PAGES_PROTECT has been carried out. */
void pages_control_unmapped(struct pages_control *c, enum pages_level level, struct pages_effects *e);

/* Handles a message. Returns 0; for DATA, the caller then stores the page in the frame before anything else. -EPROTO
 * and no change: a correct home or cache cannot send this message now. */
int pages_control_receive(struct pages_control *c, const struct pages_message *m, struct pages_effects *e);

/* True if a request is open, or will be once the page is unmapped. It counts in our window at the home. Before
 * pages_control_acquire, _prefetch and _evict the caller must make sure that the window has room for one more. */
bool pages_control_is_asking(const struct pages_control *c);

static inline bool pages_control_is_idle(const struct pages_control *c) {
    return !c->open && !c->put_off && !c->flags && !c->readers && !c->writers;
}

/* Aborts if an invariant is broken. */
void pages_control_check(const struct pages_control *c);

#endif
