/* shapes.c: the classic litmus tests of memory models, with MPI's operations.
 *
 * Store buffering: both ranks write their own place, synchronise, and read the other's place; neither may read the old
 * value. Only one rank per run can have the old value cached without having been notified since, so the ranks alternate.
 *
 * Store and load buffering without synchronisation race, except by atomic flags. In store buffering the two flags read may
 * not both be old, as both writes were complete before the reads began. In load buffering they may not both be new, as both
 * reads were complete before the writes began. A rank that reads a new flag must find the data that was written before it.
 *
 * Write-to-read causality and ISA2: notification through a third rank. Independent reads of independent writes: two
 * readers may not see two writes in different orders. */
#include "litmus.h"

enum { PEER_FLAG = 1 };

/* ---- store buffering ---- */

typedef void meeting(uint64_t v);

/* One of the two, `first`, has read the other's place when both write. */
static void let_read_before(int first, struct place theirs, uint64_t v) {
    int other = 1 - litmus_rank;
    if (litmus_rank == first) {
        receive_word(other, TAG_READY);
        expect_last(theirs);
        send_word(other, TAG_MORE, v);
    } else {
        send_word(other, TAG_READY, v);
        receive_word(other, TAG_MORE);
    }
}

static void store_buffering(meeting *meet) {
    for (uint64_t v; (v = litmus_next());) {
        struct place places[2] = {place_pick(0), place_pick(1)};
        struct place mine = places[litmus_rank], theirs = places[1 - litmus_rank];
        let_read_before(v & 1, theirs, v);
        litmus_delay();
        place_write(mine, v);
        *mine.last = v;
        litmus_delay();
        meet(v);
        expect_value(theirs, v);
        MPI_Barrier(litmus_comm);
    }
}

static void meet_sendrecv(uint64_t v) {
    uint64_t in;
    MPI_Sendrecv(&v, 1, MPI_UINT64_T, 1 - litmus_rank, TAG_NEWS, &in, 1, MPI_UINT64_T, 1 - litmus_rank,
                 TAG_NEWS, litmus_comm, MPI_STATUS_IGNORE);
}

static void meet_barrier(uint64_t v) {
    MPI_Barrier(litmus_comm);
}

LITMUS(store_buffering_sendrecv, 2) {
    store_buffering(meet_sendrecv);
}

LITMUS(store_buffering_barrier, 2) {
    store_buffering(meet_barrier);
}

/* ---- with atomic flags ---- */

static uint64_t read_flag(int home) {
    struct place f = place_flag(0, home, PEER_FLAG);
    uint64_t none = 0, v = 0;
    MPI_Fetch_and_op(&none, &v, MPI_UINT64_T, f.home, f.disp, MPI_NO_OP, f.win);
    MPI_Win_flush(f.home, f.win);
    return v;
}

static void set_flag(int home, uint64_t v) {
    struct place f = place_flag(0, home, PEER_FLAG);
    MPI_Accumulate(&v, 1, MPI_UINT64_T, f.home, f.disp, 1, MPI_UINT64_T, MPI_REPLACE, f.win);
    MPI_Win_flush(f.home, f.win);
}

static void forbid_both(uint64_t seen, uint64_t forbidden) {
    uint64_t both[2];
    MPI_Allgather(&seen, 1, MPI_UINT64_T, both, 1, MPI_UINT64_T, litmus_comm);
    if (litmus_rank == 0 && both[0] == forbidden && both[1] == forbidden)
        litmus_forbid("both read %llu", (unsigned long long)forbidden);
}

/* Reads the other rank's data if its new flag was read. A barrier before this call keeps each rank from writing while the
 * other still reads. */
static void read_flagged(uint64_t seen, struct place theirs, uint64_t v) {
    if (seen == v)
        expect_value(theirs, v);
    *theirs.last = v;
}

static void write_flagged(struct place mine, uint64_t v) {
    place_write(mine, v);
    *mine.last = v;
    set_flag(litmus_rank, v);
}

LITMUS_MARKED(store_buffering_atomic, 2, 0) {
    for (uint64_t v; (v = litmus_next());) {
        struct place places[2] = {place_pick(0), place_pick(1)};
        let_read_before(v & 1, places[1 - litmus_rank], v);
        litmus_delay();
        write_flagged(places[litmus_rank], v);
        uint64_t seen = read_flag(1 - litmus_rank);
        read_flagged(seen, places[1 - litmus_rank], v);
        forbid_both(seen, v - 1);
    }
}

LITMUS_MARKED(load_buffering_atomic, 2, 0) {
    for (uint64_t v; (v = litmus_next());) {
        struct place places[2] = {place_pick(0), place_pick(1)};
        let_read_before(v & 1, places[1 - litmus_rank], v);
        litmus_delay();
        uint64_t seen = read_flag(1 - litmus_rank);
        read_flagged(seen, places[1 - litmus_rank], v);
        write_flagged(places[litmus_rank], v);
        forbid_both(seen, v);
    }
}

/* ---- through a third rank ---- */

/* The place is in one rank's memory, another writes it, the third reads it. The first only makes progress. */
LITMUS(home_elsewhere, 3) {
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(THIRD);
        if (litmus_rank == WRITER) {
            receive_word(READER, TAG_READY);
            litmus_delay();
            place_write(p, v);
            send_word(READER, TAG_NEWS, v);
        } else if (litmus_rank == READER) {
            expect_last(p);
            send_word(WRITER, TAG_READY, v);
            receive_word(WRITER, TAG_NEWS);
            expect_value(p, v);
            send_word(THIRD, TAG_MORE, v);
        } else
            receive_word(READER, TAG_MORE);
    }
}

/* 0 writes and notifies 1; 1 reads and notifies 2; 2 reads. */
LITMUS(write_read_causality, 3) {
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(0);
        if (litmus_rank > 0) {
            expect_last(p);
            send_word(0, TAG_READY, v);
            receive_word(litmus_rank - 1, TAG_NEWS);
            expect_value(p, v);
        } else {
            receive_word(1, TAG_READY);
            receive_word(2, TAG_READY);
            litmus_delay();
            place_write(p, v);
        }
        if (litmus_rank < 2)
            send_word(litmus_rank + 1, TAG_NEWS, v);
    }
}

/* 0 writes p and notifies 1; 1 writes q and notifies 2; 2 reads both. */
LITMUS(isa2, 3) {
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(0), q = place_pick(1);
        if (litmus_rank == 2) {
            expect_last(p);
            expect_last(q);
            send_word(0, TAG_READY, v);
            receive_word(1, TAG_NEWS);
            expect_value(q, v);
            expect_value(p, v);
            continue;
        }
        receive_word(litmus_rank == 0 ? 2 : 0, litmus_rank == 0 ? TAG_READY : TAG_NEWS);
        litmus_delay();
        place_write(litmus_rank == 0 ? p : q, v);
        send_word(litmus_rank + 1, TAG_NEWS, v);
    }
}

/* ---- independent reads of independent writes ---- */

static void read_in_order(struct place first, struct place second, uint64_t v, uint64_t seen[2]) {
    seen[0] = read_flag(first.home);
    if (seen[0] == v)
        expect_value(first, v);
    seen[1] = read_flag(second.home);
    if (seen[1] == v)
        expect_value(second, v);
    *first.last = *second.last = v;
}

/* seen: two flags per rank; rank 2 has read those of ranks 0 and 1, rank 3 those of ranks 1 and 0, in this order. */
static void forbid_disagreement(const uint64_t seen[8], uint64_t v) {
    const uint64_t *two = seen + 4, *three = seen + 6;
    if (two[0] == v && two[1] != v && three[0] == v && three[1] != v)
        litmus_forbid("two readers saw two writes in different orders");
}

LITMUS_MARKED(iriw, 4, 0) {
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(0), q = place_pick(1);
        uint64_t seen[2] = {0}, all[8];
        if (litmus_rank >= 2) {
            expect_last(p);
            expect_last(q);
            send_word(0, TAG_READY, v);
            send_word(1, TAG_READY, v);
            litmus_delay();
            read_in_order(litmus_rank == 2 ? p : q, litmus_rank == 2 ? q : p, v, seen);
        } else {
            receive_word(2, TAG_READY);
            receive_word(3, TAG_READY);
            write_flagged(litmus_rank == 0 ? p : q, v);
        }
        MPI_Allgather(seen, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, litmus_comm);
        if (litmus_rank == 0)
            forbid_disagreement(all, v);
    }
}
