/* protocol.h: what the page caches of the nodes and the homes of the pages say to each other.
 *
 * A page lives in the NVM of its *home*, and may be cached in the DRAM of any node, the home's own included:
 * the home is a client of its own directory, and nobody reads the NVM around it. The network may reorder
 * messages, but loses none. The home does one transaction per page at a time, the others wait in a queue.
 *
 *  Req   cache -> home   GETS       I would read it                       (a cache has at most one of
 *                        GETX       I would write it                       these three open per page)
 *                        PUT        I would drop it
 *                        SMALL      apply this small operation to it      (needs no copy of the page)
 *  Fwd   home -> cache   FWD_S      send your copy to `peer`, keep one
 *                        FWD_X      send your copy to `peer`, keep none; GRANTED: it is the only one
 *                        FWD_SMALL  apply this small operation for `peer`
 *                        INV        drop your copy
 *                        OWN        the owner leaves: you are it now
 *                        NEED       your PUT: bring the page home, if it is dirty
 *                        RECALL_S   bring the page home if it is dirty, keep a copy    (only if caches
 *                        RECALL_X   the same, keep none                                 do not cooperate)
 *  Resp  -> cache        DATA       the page, as `state`; DIRTY: newer than NVM; GRANTED: no GRANT follows
 *                        GRANT      nobody else has it: write
 *                        PUT_ACK    you have dropped it
 *                        ANSWER     of a small operation, from who applied it
 *        -> home         IACK       is dropped (INV)
 *                        OWNED      is owned (OWN)
 *                        BACK       answers NEED and RECALL; DIRTY: with the page
 *                        APPLIED    is applied (FWD_SMALL)
 *                        UNBLOCK    I have it: next; DIRTY as DATA said
 *
 * Req < Fwd < Resp: to serve a Fwd, a cache sends nothing but Resp, and a Resp can always be taken. With a
 * frame reserved before the request is sent, no Fwd and no PUT ever needs memory that is not there.
 *
 * A page in the directory, and who then has copies of it:
 *
 *  U   nobody; the NVM is valid
 *  S   any number have it as S; the NVM is valid
 *  X   one has it, as E, M or O: only it knows which
 *  O   one has it as O, others as S; the NVM is older
 *
 * Transactions. F is the holder whose turn it is: the newest first, then round and round. r is the requester.
 *
 *      GETS                     then   GETX, r has no copy             then   ends when
 *  U   read; DATA E to r        X      read; DATA M granted to r       X      UNBLOCK
 *  S   FWD_S to F               S      FWD_X to F, INV to the others;  X      UNBLOCK
 *                                      all acks: GRANT to r
 *  X   FWD_S to the owner       O S    FWD_X granted to the owner      X      UNBLOCK, which says: O or S
 *  O   FWD_S to F               O      as S                            X      UNBLOCK
 *
 *      GETX, r has a copy       then   PUT                             then   ends when
 *  U                                   PUT_ACK (copy lost meanwhile)   U      at once
 *  S   INV to the others;       X      PUT_ACK                         S U    UNBLOCK; at once
 *      all acks: GRANT to r
 *  X   GRANT to r               X      NEED to r; if dirty, write      U      UNBLOCK; BACK, written
 *  O   as S                     X      of a sharer: PUT_ACK            O X    at once
 *                                      of the owner: OWN to F;         O X    OWNED
 *                                        OWNED: PUT_ACK
 *                                      or NEED to r; write             S      written
 *
 *      SMALL that reads         then   SMALL that writes               then   ends when
 *  U   apply; ANSWER to r       U      apply; ANSWER to r              U      applied
 *  S   FWD_SMALL to F           S      INV to all; all acks: apply;    U      APPLIED; applied
 *                                      ANSWER to r
 *  X   FWD_SMALL to the owner   X      FWD_SMALL to the owner          X      APPLIED
 *  O   FWD_SMALL to F           O      INV to the sharers; all acks:   X      APPLIED
 *                                      FWD_SMALL to the owner
 *
 * A PUT of somebody who has no copy any more is acknowledged: the directory is believed, not the message. If
 * the caches do not cooperate, pages come from the home only: S reads the NVM where it says FWD_S or FWD_X, X
 * becomes RECALL_S or RECALL_X, a write if it was dirty, then DATA; there is no O.
 *
 * A cache. What it answers, and its state then; * is DIRTY; blank: never comes.
 *
 *      FWD_S      FWD_X     INV       OWN        NEED       RECALL_S   RECALL_X   FWD_SMALL r, w
 *  S   DATA   S   DATA  I   IACK  I   OWNED  O                                    S, -
 *  E   DATA   S   DATA  I                        BACK   I   BACK   S   BACK   I   E, M
 *  M   DATA*  O   DATA  I                        BACK*  I   BACK*  S   BACK*  I   M, M
 *  O   DATA*  O   DATA  I   IACK  I              BACK*  I                         O, M
 *
 *      to read    to write             to drop   DATA                    GRANT
 *  I   GETS       GETX                           GETS: S or E, UNBLOCK   waits for DATA
 *                                                GETX: waits for GRANT   after DATA: M, UNBLOCK
 *  S   hit        GETX                 PUT                               GETX: M, UNBLOCK
 *  E   hit        M, hit: no message   PUT
 *  M   hit        hit                  PUT
 *  O   hit        GETX                 PUT                               GETX: M, UNBLOCK
 *
 * After PUT a copy is frozen: nobody here reads or writes it, but it serves every Fwd as before, until
 * PUT_ACK or NEED. A copy that is lost while its GETX or PUT is open leaves the request open, as I.
 *
 * Nobody tells the home that a Fwd with DATA was served: the requester's UNBLOCK comes after the DATA, and
 * brings along what the holder said of itself. */
#ifndef HEARTH_PAGES_PROTOCOL_H
#define HEARTH_PAGES_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

enum pages_kind {
    PAGES_NOTHING,
    /* Req */
    PAGES_GETS,
    PAGES_GETX,
    PAGES_PUT,
    PAGES_SMALL,
    /* Fwd */
    PAGES_FWD_S,
    PAGES_FWD_X,
    PAGES_FWD_SMALL,
    PAGES_INV,
    PAGES_OWN,
    PAGES_NEED,
    PAGES_RECALL_S,
    PAGES_RECALL_X,
    /* Resp to a cache */
    PAGES_DATA,
    PAGES_GRANT,
    PAGES_PUT_ACK,
    PAGES_ANSWER,
    /* Resp to a home */
    PAGES_IACK,
    PAGES_OWNED,
    PAGES_BACK,
    PAGES_APPLIED,
    PAGES_UNBLOCK,
    PAGES_KINDS
};

enum pages_class { PAGES_REQ, PAGES_FWD, PAGES_RESP };

static inline enum pages_class pages_class_of(enum pages_kind kind) {
    return kind <= PAGES_SMALL ? PAGES_REQ : kind <= PAGES_RECALL_X ? PAGES_FWD : PAGES_RESP;
}

/* Whether it is the home's directory that takes it, not the cache of the node. */
static inline bool pages_is_for_home(enum pages_kind kind) {
    return kind <= PAGES_SMALL || kind >= PAGES_IACK;
}

/* Of a copy. */
enum pages_state { PAGES_I, PAGES_S, PAGES_E, PAGES_M, PAGES_O };

/* Of a page in the directory. */
enum pages_known { PAGES_UNCACHED, PAGES_SHARED, PAGES_EXCLUSIVE, PAGES_OWNED_SHARED };

enum {
    PAGES_DIRTY = 1,   /* DATA, UNBLOCK, BACK */
    PAGES_GRANTED = 2, /* DATA, FWD_X */
    PAGES_WRITES = 4,  /* SMALL, FWD_SMALL: the operation changes the page */
};

enum { PAGES_NODES = 65535 /* most */, PAGES_WINDOW = 64 /* most */ };

/* DATA always brings the page, BACK if it is DIRTY; SMALL, FWD_SMALL and ANSWER bring the bytes of the
 * operation. That is the caller's part: here is only what goes before them. */
struct pages_message {
    uint64_t cookie; /* not sent: the home's, of a small operation: where its bytes are kept */
    uint32_t page;   /* of its home's */
    uint32_t tag;    /* of a small operation: the requester's */
    uint16_t home;
    uint16_t from, to;
    uint16_t peer; /* Fwd: for whom */
    uint8_t kind, flags;
    uint8_t state; /* DATA: what it is now */
    uint8_t unused[5];
};

#endif
