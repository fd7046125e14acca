/* queue.c: a ring with many writers and one reader.
 *
 * A writer reserves space by moving the tail with a compare-and-swap, writes its record, and publishes it with the
 * word at its start. The reader takes records in the order of their reservations and stops at the first unpublished
 * one, whose size it cannot know. A writer cannot clear the word behind its record, as in a box: another writer may
 * have written its record there already. So
 *
 *      the first word of each free line is 0:
 *
 * after reading a record the reader clears its lines, before it moves the head past them.
 *
 * A writer that is killed between reserving and publishing stops the queue for good. The others find it full after a
 * while, and get -EAGAIN. Nothing here blocks, so nothing hangs; the launcher is about to end the job. */
#include "net/node/queue.h"

#include "base/log.h"

void net_queue_write_open(struct queue_writer *w, struct queue_shared *shared, char *ring, size_t bytes) {
    *w = (struct queue_writer){.shared = shared, .ring = ring, .bytes = bytes};
}

void net_queue_read_open(struct queue_reader *r, struct queue_shared *shared, char *ring, size_t bytes) {
    *r = (struct queue_reader){.shared = shared, .ring = ring, .bytes = bytes};
}

/* Pairs with queue_publish_head. Writers may overwrite what the reader has read; its lines are clear. */
static void look_at_head(struct queue_writer *w) {
    w->head = atomic_load_explicit(&w->shared->head, memory_order_acquire);
}

static inline bool queue_has_room(const struct queue_writer *w, uint64_t tail, size_t bytes) {
    uint64_t used = tail - w->head;
    return used <= w->bytes && w->bytes - used >= bytes;
}

/* Reserves [*from, *to). Relaxed: the head orders the previous content of the ring, and the word orders the new
 * content. */
static bool move_tail(struct queue_writer *w, size_t size, uint64_t *from, uint64_t *to) {
    uint64_t tail = atomic_load_explicit(&w->shared->tail, memory_order_relaxed), end;
    do {
        size_t left = w->bytes - (tail & (w->bytes - 1));
        end = tail + size + (size <= left ? 0 : left);
        if (!queue_has_room(w, tail, end - tail))
            look_at_head(w);
        if (!queue_has_room(w, tail, end - tail))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&w->shared->tail, &tail, end, memory_order_relaxed,
                                                    memory_order_relaxed));
    *from = tail;
    *to = end;
    ASSERT(end - tail <= w->bytes && size % CACHE_LINE == 0);
    ASSERT((tail & (w->bytes - 1)) % CACHE_LINE == 0);
    return true;
}

struct node_record *net_queue_reserve(struct queue_writer *w, size_t size) {
    uint64_t from, to;
    if (!move_tail(w, size, &from, &to))
        return NULL;
    w->last = to;
    struct node_record *r = net_record_at(w->ring, from & (w->bytes - 1) & ~(uint64_t)(CACHE_LINE - 1));
    if (to - from == size)
        return r;
    atomic_store_explicit(&r->word, RECORD_SKIP, memory_order_release);
    return net_record_at(w->ring, 0);
}

/* Pairs with net_queue_read. */
void net_queue_commit(struct node_record *record, int rank, uint32_t word) {
    record->peer = (uint32_t)rank;
    atomic_store_explicit(&record->word, word, memory_order_release);
}

bool net_queue_is_drained(struct queue_writer *w) {
    if (w->head < w->last)
        look_at_head(w);
    return w->head >= w->last;
}

/* Pairs with look_at_head. */
static void queue_publish_head(struct queue_reader *r) {
    atomic_store_explicit(&r->shared->head, r->head, memory_order_release);
    r->told = r->head;
}

static void clear_lines(char *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i += CACHE_LINE)
        atomic_store_explicit(&net_record_at(from, i)->word, 0, memory_order_relaxed);
}

/* Moves `bytes` past the record at the head, and clears its first `cleared` bytes. */
static void queue_advance(struct queue_reader *r, size_t cleared, size_t bytes) {
    clear_lines(r->ring + (r->head & (r->bytes - 1)), cleared);
    r->head += bytes;
    ASSERT(bytes > 0 && bytes <= r->bytes && cleared <= bytes);
    if (r->head - r->told >= r->bytes / 4) /* writers may be waiting for space */
        queue_publish_head(r);
}

static void queue_give_up(struct queue_reader *r, const char *what, uint64_t value) {
    r->broken = true;
    log_error("a message in shared memory has a %s of %llu, which is impossible: it was overwritten; "
              "no more is read from the queue",
              what, (unsigned long long)value);
}

/* Delivers the record at the head. Its word and peer are read only once, since other processes can change them. */
static bool queue_take_record(struct queue_reader *r, uint32_t word, int count, const struct delivery *to) {
    size_t offset = r->head & (r->bytes - 1), bytes = word - 1, room = r->bytes - offset;
    struct node_record *record = net_record_at(r->ring, offset);
    uint32_t peer = *(volatile uint32_t *)&record->peer;
    if (UNLIKELY(bytes > room || net_record_size(to->header_room, bytes) > room))
        queue_give_up(r, "length", bytes);
    else if (UNLIKELY(peer >= (uint32_t)count))
        queue_give_up(r, "sender's rank", peer);
    if (UNLIKELY(r->broken))
        return false;
    net_record_deliver(record, (int)peer, bytes, to);
    size_t size = net_record_size(to->header_room, bytes);
    queue_advance(r, size, size);
    return true;
}

/* The word of the next record; 0 if there is none. Pairs with net_queue_commit. */
static uint32_t queue_next_word(struct queue_reader *r) {
    size_t offset = r->head & (r->bytes - 1);
    uint32_t word = atomic_load_explicit(&net_record_at(r->ring, offset)->word, memory_order_acquire);
    if (word != RECORD_SKIP)
        return word;
    queue_advance(r, CACHE_LINE, r->bytes - offset);
    return atomic_load_explicit(&net_record_at(r->ring, 0)->word, memory_order_acquire);
}

int net_queue_read(struct queue_reader *r, int count, const struct delivery *to) {
    uint32_t word;
    int n = 0;
    while (n < RECORD_BATCH && !r->broken && (word = queue_next_word(r)) != 0)
        n += queue_take_record(r, word, count, to);
    if (r->head != r->told)
        queue_publish_head(r);
    return n;
}
