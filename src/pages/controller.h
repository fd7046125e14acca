/* controller.h: a cache's side of protocol.h, for one page and the frame that is kept for it. No I/O, no
 * memory, no threads: 28 bytes of state.
 *
 * *Pins.* Who reads or writes the frame holds a pin meanwhile: for a copy, never for a wait. A message that
 * would take away what a pin stands for is put off until the pin is gone, and nobody new is let in before
 * it. There is never more than one such message, as the home does one transaction at a time.
 *
 * *Mappings.* The application may have the page mapped, to read or to write. A message that needs less is
 * put off in the same way, first for pins, then until the caller has reported that the page is unmapped or
 * protected. E is mapped to read at most: the first store faults, asks for a pin to write, and makes it M.
 *
 * When a message is served its page can be sent from the frame itself: the frame is not written before the
 * page has arrived, because the transaction is not over before. A frame that is GONE must be kept until
 * what was sent from it has left. */
#ifndef HEARTH_PAGES_CONTROLLER_H
#define HEARTH_PAGES_CONTROLLER_H

#include "pages/protocol.h"

enum pages_level { PAGES_UNMAPPED, PAGES_TO_READ, PAGES_TO_WRITE };

struct pages_control {
    uint32_t page;
    uint16_t home, self;
    uint8_t state; /* enum pages_state */
    uint8_t open;  /* our request: PAGES_GETS, PAGES_GETX, PAGES_PUT, or PAGES_NOTHING */
    uint8_t flags;
    uint8_t mapped;                            /* enum pages_level */
    uint16_t readers, writers;                 /* pins */
    uint16_t waiting_readers, waiting_writers; /* will have one when the request is done */
    /* A message that was put off. */
    uint16_t put_off_peer;
    uint8_t put_off, put_off_flags;
    uint32_t unused;
};

/* What the caller does then, in this order; sending comes last. */
enum {
    PAGES_FRAME_APPLY = 1, /* the small operation that came, on the frame */
    PAGES_UNMAP = 2,       /* then pages_control_unmapped(PAGES_UNMAPPED) */
    PAGES_PROTECT = 4,     /* then pages_control_unmapped(PAGES_TO_READ) */
    PAGES_READY = 8,       /* all who were told to wait have their pins */
    PAGES_GONE = 16,       /* there is no copy, no request: the frame is free once what it sent has left */
    PAGES_AGAIN = 32,      /* who was told PAGES_LATER may try again */
};

struct pages_effects {
    struct pages_message messages[2];
    uint8_t count, actions;
};

/* Of a frame that was reserved for it. */
void pages_control_open(struct pages_control *c, uint16_t self, uint16_t home, uint32_t page);

enum pages_got {
    PAGES_HIT,  /* pinned */
    PAGES_WAIT, /* will be pinned when PAGES_READY is said */
    PAGES_LATER /* something else is under way: try again after PAGES_AGAIN */
};

/* Every function sets *e anew. */
enum pages_got pages_control_acquire(struct pages_control *c, bool write, struct pages_effects *e);
void pages_control_release(struct pages_control *c, bool write, struct pages_effects *e);

/* Asks for the page if there is no copy; nobody waits for it. Whether it did. */
bool pages_control_prefetch(struct pages_control *c, struct pages_effects *e);

/* Begins to drop the copy. False: not now, it is in use, or there is none. */
bool pages_control_evict(struct pages_control *c, struct pages_effects *e);

/* Whoever has a pin has mapped the page. To write: only with a pin to write. */
void pages_control_map(struct pages_control *c, enum pages_level level);
/* What PAGES_UNMAP or PAGES_PROTECT asked for is done. */
void pages_control_unmapped(struct pages_control *c, enum pages_level level, struct pages_effects *e);

/* A message has come. 0: and if it is DATA, its page goes into the frame before all else. -EPROTO: no home
 * or cache of ours would say this now, and nothing has changed. */
int pages_control_receive(struct pages_control *c, const struct pages_message *m, struct pages_effects *e);

/* A request is open, or will be once the page is unmapped: it counts in the window that we have at the
 * home. Before pages_control_acquire, _prefetch and _evict the caller sees that one more has room there. */
bool pages_control_is_asking(const struct pages_control *c);

static inline bool pages_control_is_idle(const struct pages_control *c) {
    return !c->open && !c->put_off && !c->flags && !c->readers && !c->writers;
}

/* Aborts if an invariant is broken. */
void pages_control_check(const struct pages_control *c);

#endif
