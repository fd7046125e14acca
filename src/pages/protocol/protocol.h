/* protocol.h: the messages and states of the page coherence protocol, between the page caches of the nodes and the
 * homes of the pages.
 *
 * A page resides in the NVM of its *home* node. Any node may cache it in DRAM, including the home itself: the home is a
 * client of its own directory, and no access to the NVM bypasses the directory. The network may reorder messages but
 * does not lose them. The home executes one transaction per page at a time; further requests for the page wait in a
 * queue.
 *
 *  Req   cache -> home   GETS       request to read                       (a cache has at most one of
 *                        GETX       request to write                       these three open per page);
 *                                   OVERWRITE: all of the page
 *                        PUT        request to drop the copy
 *                        SMALL      execute this remote operation         (needs no copy of the page); an update of a
 *                                   word is one that writes, and is answered with the word's previous value
 *  Fwd   home -> cache   FWD_S      send your copy to `peer`, keep one
 *                        FWD_X      send your copy to `peer`, keep none; GRANTED: it is the only copy
 *                        FWD_SMALL  execute this remote operation for `peer`
 *                        INV        drop your copy; OVERWRITE: even if it is the only one
 *                        OWN        the owner drops its copy: become the owner
 *                        WRITEBACK_REQ  answers PUT: return the page to the home if it is dirty
 *                        RECALL_S   return the page to the home if it is dirty, keep a copy   (only without
 *                        RECALL_X   the same, keep none                                        cooperation)
 *  Resp  -> cache        DATA       the page, in `state`; DIRTY: newer than NVM; GRANTED: no GRANT follows;
 *                                   OVERWRITE: without the page
 *                        GRANT      no other copy exists: the page may be written
 *                        PUT_ACK    the home has removed you from the holders
 *                        ANSWER     result of a remote operation, sent by the node that executed it
 *        -> home         IACK       answers INV: the copy is dropped
 *                        OWNED      answers OWN
 *                        WRITEBACK_DATA  answers WRITEBACK_REQ and RECALL; DIRTY: the page is included
 *                        APPLIED    answers FWD_SMALL
 *                        UNBLOCK    the requester has the page: start the next transaction; DIRTY as in DATA
 *
 * Message classes are ordered Req < Fwd < Resp. A cache that serves a Fwd sends Resp messages only, and a Resp can
 * always be accepted. A frame is reserved before the request for its page is sent, so neither a Fwd nor a PUT ever has
 * to allocate memory.
 *
 * The states of a page in the directory, and the copies that exist in each:
 *
 *  U   no copies; the NVM is valid
 *  S   any number of S copies; the NVM is valid
 *  X   one copy, in E, M or O: only its holder knows which
 *  O   one copy in O, others in S; the NVM is stale
 *
 * Transactions. F is the holder that serves next: the newest holder first, then round robin. r is the requester.
 *
 *      GETS                     then   GETX, r has no copy             then   ends when
 *  U   read; DATA E to r        X      read; DATA M granted to r       X      UNBLOCK
 *  S   FWD_S to F               S      FWD_X to F, INV to the others;  X      UNBLOCK
 *                                      all acks: GRANT to r
 *  X   FWD_S to the owner       O S    FWD_X granted to the owner      X      UNBLOCK; its DIRTY flag selects O or S
 *  O   FWD_S to F               O      as S                            X      UNBLOCK
 *
 *      GETX, r has a copy       then   PUT                             then   ends when
 *  U                                   PUT_ACK (copy lost meanwhile)   U      at once
 *  S   INV to the others;       X      PUT_ACK                         S U    UNBLOCK; at once
 *      all acks: GRANT to r
 *  X   GRANT to r               X      WRITEBACK_REQ to r;             U      UNBLOCK; WRITEBACK_DATA, written
 *                                        if dirty, write
 *  O   as S                     X      from a sharer: PUT_ACK          O X    at once
 *                                      from the owner: OWN to F;       O X    OWNED
 *                                        OWNED: PUT_ACK
 *                                      or WRITEBACK_REQ to r; write    S      written
 *
 *      SMALL that reads         then   SMALL that writes               then   ends when
 *  U   apply; ANSWER to r       U      apply; ANSWER to r              U      applied
 *  S   FWD_SMALL to F           S      a holder becomes the owner:     X      APPLIED
 *                                      then as O, or as X
 *  X   FWD_SMALL to the owner   X      FWD_SMALL to the owner          X      APPLIED
 *  O   FWD_SMALL to F           O      INV to the sharers; all acks:   X      APPLIED
 *                                      FWD_SMALL to the owner
 *
 * A GETX with OVERWRITE from a node without a copy moves no data: INV to all holders, and after all acks DATA OVERWRITE to
 * r. Its cache accepts no other access, and sends UNBLOCK, only after the whole page has been written. Until then the
 * page has no valid copy at all, and no node can ask for it.
 *
 * A PUT from a cache that no longer holds a copy is acknowledged: the directory is authoritative, not the message.
 * Without cooperation, pages come from the home only. S then reads the NVM where the table says FWD_S or FWD_X. X
 * becomes RECALL_S or RECALL_X, a write if the page was dirty, then DATA. A SMALL that reads in S is applied at the
 * home; one that writes in S sends INV to all, is applied at the home after all acks, and leaves U. State O does not
 * occur.
 *
 * A cache: its answer to each message and its next state. WB is WRITEBACK_DATA; * is DIRTY; blank: cannot occur.
 *
 *      FWD_S      FWD_X     INV       OWN        WRITEBACK_REQ  RECALL_S   RECALL_X   FWD_SMALL read, write
 *  S   DATA   S   DATA  I   IACK  I   OWNED  O                                        S, M
 *  E   DATA   S   DATA  I                        WB     I       WB     S   WB     I   E, M
 *  M   DATA*  O   DATA  I                        WB*    I       WB*    S   WB*    I   M, M
 *  O   DATA*  O   DATA  I   IACK  I              WB*    I                             O, M
 *
 *      to read    to write             to drop   DATA                    GRANT
 *  I   GETS       GETX                           GETS: S or E, UNBLOCK   waits for DATA
 *                                                GETX: waits for GRANT   after DATA: M, UNBLOCK
 *  S   hit        GETX                 PUT                               GETX: M, UNBLOCK
 *  E   hit        M, hit: no message   PUT
 *  M   hit        hit                  PUT
 *  O   hit        GETX                 PUT                               GETX: M, UNBLOCK
 *
 * After PUT a copy is frozen: its node no longer reads or writes it, but it serves every Fwd as before, until PUT_ACK
 * or WRITEBACK_REQ. If a copy is lost while its GETX or PUT is open, the request stays open, in state I.
 *
 * A holder does not report to the home that it served a Fwd with DATA. The UNBLOCK of the requester follows the DATA
 * and carries the DIRTY flag that the holder set. */
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
    PAGES_WRITEBACK_REQ,
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
    PAGES_WRITEBACK_DATA,
    PAGES_APPLIED,
    PAGES_UNBLOCK,
    PAGES_KINDS
};

enum pages_class { PAGES_REQ, PAGES_FWD, PAGES_RESP };

static inline enum pages_class pages_class_of(enum pages_kind kind) {
    return kind <= PAGES_SMALL ? PAGES_REQ : kind <= PAGES_RECALL_X ? PAGES_FWD : PAGES_RESP;
}

/* Whether the home's directory handles the message, as opposed to the node's cache. */
static inline bool pages_is_for_home(enum pages_kind kind) {
    return kind <= PAGES_SMALL || kind >= PAGES_IACK;
}

/* State of a copy. */
enum pages_state { PAGES_I, PAGES_S, PAGES_E, PAGES_M, PAGES_O };

/* State of a page in the directory. */
enum pages_known { PAGES_UNCACHED, PAGES_SHARED, PAGES_EXCLUSIVE, PAGES_OWNED_SHARED };

enum {
    PAGES_DIRTY = 1,      /* DATA, UNBLOCK, WRITEBACK_DATA */
    PAGES_GRANTED = 2,    /* DATA, FWD_X */
    PAGES_WRITES = 4,     /* SMALL, FWD_SMALL: the operation modifies the page */
    PAGES_UPDATES = 8,    /* with PAGES_WRITES: it updates a word, and its answer is the previous value */
    PAGES_OVERWRITE = 16, /* GETX, INV, DATA: all of the page will be written, its content is not needed */
};

enum { PAGES_NODES = 65535 /* maximum */, PAGES_WINDOW = 64 /* maximum */ };

/* Header of a message. The payload follows it and is the caller's part: DATA carries the page unless OVERWRITE,
 * WRITEBACK_DATA carries it if DIRTY, and SMALL, FWD_SMALL and ANSWER carry the bytes of the remote operation. */
struct pages_message {
    uint64_t cookie; /* not sent; at the home, of a remote operation: where its bytes are kept */
    uint32_t page;   /* page number at its home */
    uint32_t tag;    /* of a remote operation: chosen by the requester */
    uint16_t home;
    uint16_t from, to;
    uint16_t peer; /* Fwd: the node it is served for */
    uint8_t kind, flags;
    uint8_t state; /* DATA: state of the copy at the receiver */
    uint8_t unused[5];
};

#endif
