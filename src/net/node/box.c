/* box.c: a ring with one writer and one reader, without atomic read-modify-writes and without fences.
 *
 * The writer reads the reader's `head` only when its cached copy says that the ring is full. The reader needs no
 * index of the writer: it reads the word of the next record. That word must not be left over from the previous
 * round, when other data was stored there. So
 *
 *      the word at the writer's offset is always 0:
 *
 * before it publishes a record, the writer clears the word behind it. Therefore one line behind the last record is
 * never used. The reader never writes to the ring, so its cache lines are transferred in one direction only.
 *
 * While the reader keeps up, the writer stays in the first quarter of the ring, so that little of the CPU's caches is used:
 * after each quarter it looks whether the reader has read everything, and then returns to the start by a skip. A stream,
 * whose reader is behind, uses the whole ring, so that the writer waits seldom.
 *
 * The doorbell. A receiver has many boxes and cannot poll them all. Each box has a 16-bit counter in the segment, 32
 * of them per cache line, in which the writer stores how many messages it has written so far. The receiver compares
 * the line with its own counts. The usual alternative is a bit that the writer sets if the box was empty, and that the
 * reader clears once the box is empty. But then the writer must store the message before it reads the bit, which takes
 * a fence per message; in a stream that costs several times the message itself. A counter needs no order. If the
 * receiver sees the doorbell before the message, it finds nothing and checks again in the next poll, since the counts
 * still differ. If it finds the message before the doorbell, its count is ahead until the doorbell arrives, and the box
 * is not read again for it. Wrapping is harmless, since a box holds far fewer than 32768 records. */
#include "net/node/box.h"

#include "base/log.h"

void net_box_write_open(struct box_writer *w, struct box_shared *shared, char *ring, size_t bytes,
                        _Atomic uint16_t *doorbell) {
    *w = (struct box_writer){
        .ring = ring, .bytes = bytes, .look_at = bytes / 4, .shared = shared, .doorbell = doorbell};
}

void net_box_read_open(struct box_reader *r, struct box_shared *shared, char *ring, size_t bytes) {
    *r = (struct box_reader){.ring = ring, .bytes = bytes, .shared = shared, .peer = -1};
}

/* Whether there is room for this many bytes and the line behind them. */
static inline bool box_has_room(const struct box_writer *w, size_t bytes) {
    return w->bytes - (w->tail - w->head) >= bytes + CACHE_LINE;
}

/* A record that is too large for the space before the offset goes behind it: otherwise it might never have room. */
static inline bool returns_with(const struct box_writer *w, size_t size) {
    return UNLIKELY(w->returns) && size + CACHE_LINE <= w->offset;
}

/* The space up to the end of the ring, if a record of that size does not fit there, or the writer returns to the start. */
static inline size_t skipped(const struct box_writer *w, size_t size) {
    return LIKELY(w->offset + size <= w->bytes && !returns_with(w, size)) ? 0 : w->bytes - w->offset;
}

/* Pairs with box_publish_head. The writer may overwrite what the reader has read. */
static void box_update_head(struct box_writer *w) {
    uint64_t head = atomic_load_explicit(&w->shared->head, memory_order_acquire);
    if (head - w->head <= w->tail - w->head) /* always true, unless the memory is corrupted */
        w->head = head;
}

static __attribute__((noinline)) void box_look_for_return(struct box_writer *w) {
    w->look_at += w->bytes / 4;
    box_update_head(w);
    w->returns = w->head == w->tail;
}

struct node_record *net_box_reserve(struct box_writer *w, size_t size) {
    if (UNLIKELY(w->offset >= w->look_at))
        box_look_for_return(w);
    size_t skip = skipped(w, size);
    if (UNLIKELY(!box_has_room(w, skip + size))) {
        box_update_head(w);
        if (!box_has_room(w, skip + size))
            return NULL;
    }
    return net_record_at(w->ring, skip ? 0 : w->offset);
}

static inline void clear_word(struct box_writer *w, size_t offset) {
    atomic_store_explicit(&net_record_at(w->ring, offset)->word, 0, memory_order_relaxed);
}

void net_box_commit(struct box_writer *w, struct node_record *record, size_t size, uint32_t word) {
    size_t skip = skipped(w, size), next = (skip ? 0 : w->offset) + size;
    ASSERT(size % CACHE_LINE == 0 && next <= w->bytes);
    ASSERT(box_has_room(w, skip + size));
    ASSERT(record == net_record_at(w->ring, skip ? 0 : w->offset));
    if (next == w->bytes)
        next = 0;
    clear_word(w, next);
    if (UNLIKELY(skip)) { /* the reader is still before the skip, so the skip publishes the record */
        atomic_store_explicit(&record->word, word, memory_order_relaxed);
        record = net_record_at(w->ring, w->offset);
        word = RECORD_SKIP;
    }
    /* Pairs with net_box_read. */
    atomic_store_explicit(&record->word, word, memory_order_release);
    if (UNLIKELY(next < w->offset)) {
        w->look_at = w->bytes / 4;
        w->returns = false;
    }
    w->offset = next;
    w->tail += skip + size;
    ASSERT(w->offset < w->bytes && w->tail - w->head <= w->bytes);
    atomic_store_explicit(w->doorbell, ++w->signalled, memory_order_relaxed);
}

/* Pairs with box_update_head. */
static inline void box_publish_head(struct box_reader *r) {
    atomic_store_explicit(&r->shared->head, r->head, memory_order_release);
    r->told = r->head;
}

static inline void box_advance(struct box_reader *r, size_t bytes) {
    r->head += bytes;
    r->offset += bytes;
    ASSERT(bytes > 0 && r->offset <= r->bytes && r->head - r->told <= r->bytes);
    if (r->offset == r->bytes)
        r->offset = 0;
    if (UNLIKELY(r->head - r->told >= r->bytes / 4)) /* the writer may be waiting for space */
        box_publish_head(r);
}

/* Pairs with net_box_commit. */
static inline uint32_t word_here(const struct box_reader *r) {
    return atomic_load_explicit(&net_record_at(r->ring, r->offset)->word, memory_order_acquire);
}

/* The word of the next record; 0 if there is none. */
static inline uint32_t box_next_word(struct box_reader *r) {
    uint32_t word = word_here(r);
    if (UNLIKELY(word == RECORD_SKIP)) {
        box_advance(r, r->bytes - r->offset);
        word = word_here(r);
    }
    return word;
}

static void box_give_up(struct box_reader *r, const char *what, uint64_t value) {
    r->broken = true;
    log_error("a message in shared memory has a %s of %llu, which is impossible: it was overwritten; "
              "no more is read from that box",
              what, (unsigned long long)value);
}

/* Finds the writer of the box. The owner was stored before the word that was just read. */
static void box_identify(struct box_reader *r, int count) {
    uint32_t owner = atomic_load_explicit(&r->shared->owner, memory_order_relaxed);
    if (owner - 1 < (uint32_t)count)
        r->peer = (int)owner - 1;
    else
        box_give_up(r, "sender's rank", owner);
}

static inline void box_take(struct box_reader *r, uint32_t word, const struct delivery *to) {
    size_t bytes = word - 1, room = r->bytes - r->offset;
    if (UNLIKELY(bytes > room || net_record_size(to->header_room, bytes) > room)) {
        box_give_up(r, "length", bytes);
        return;
    }
    net_record_deliver(net_record_at(r->ring, r->offset), r->peer, bytes, to);
    box_advance(r, net_record_size(to->header_room, bytes));
}

int net_box_read(struct box_reader *r, int most, int count, const struct delivery *to) {
    uint32_t word;
    int n = 0;
    while (n < most && LIKELY(!r->broken) && (word = box_next_word(r)) != 0) {
        if (UNLIKELY(r->peer < 0))
            box_identify(r, count);
        if (UNLIKELY(r->broken))
            break;
        box_take(r, word, to);
        n += !r->broken;
    }
    if (r->head != r->told)
        box_publish_head(r);
    return n;
}
