/* node_poll.c: receives messages.
 *
 * An empty poll reads the doorbells, 32 boxes per cache line, and the first word of the queue, whatever the number
 * of processes. While no process writes to them, these lines stay in the reader's cache.
 *
 * A box is not read beyond its doorbell count. Reading one more record would take the next line away from the sender
 * just when it writes there, which slows a stream by a quarter. But a process that waits for an answer should not have
 * to wait for the doorbell too: it lies in another line, whose transfer takes as long again. So after some empty polls,
 * the box that was read last is polled as well. */
#include "base/compiler.h"
#include "net/node/node.h"

enum { EMPTY_POLLS = 2 };

/* Four doorbells at once. Relaxed: see box.c. */
static inline uint64_t poll_word_of(const volatile void *doorbells, uint32_t word) {
    return __atomic_load_n((const volatile uint64_t *)doorbells + word, __ATOMIC_RELAXED);
}

static inline int read_box(struct net_node *n, uint32_t box, int most, const struct delivery *to) {
    int read = net_box_read(&n->boxes[box], most, n->count, to);
    n->seen[box] = (uint16_t)(n->seen[box] + read);
    return read;
}

/* New messages according to the doorbell. Zero or negative if they were seen before their doorbell. */
static inline int pending_of(const struct net_node *n, uint32_t box) {
    uint16_t doorbell = atomic_load_explicit(&n->doorbells[box], memory_order_relaxed);
    int pending = (int16_t)(uint16_t)(doorbell - n->seen[box]);
    return pending < RECORD_BATCH ? pending : RECORD_BATCH;
}

/* The boxes of one word whose doorbells differ. */
static int read_boxes(struct net_node *n, uint32_t word, uint64_t differ, const struct delivery *to) {
    enum { BITS = 64 / DOORBELLS_IN_WORD, BIG_ENDIAN_HERE = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
    int count = 0;
    while (differ) {
        uint32_t lane = (uint32_t)__builtin_ctzll(differ) / BITS;
        uint32_t box = word * DOORBELLS_IN_WORD + (BIG_ENDIAN_HERE ? DOORBELLS_IN_WORD - 1 - lane : lane);
        int pending = pending_of(n, box), read = pending > 0 ? read_box(n, box, pending, to) : 0;
        differ &= ~(UINT64_C(0xffff) << lane * BITS);
        if (read)
            n->hot = &n->boxes[box];
        count += read;
    }
    return count;
}

/* All boxes whose doorbell has changed. */
static int read_changed(struct net_node *n, const struct delivery *to) {
    int count = 0;
    for (uint32_t word = 0; word < n->doorbell_words; word++)
        count += read_boxes(n, word, poll_word_of(n->doorbells, word) ^ poll_word_of(n->seen, word), to);
    return count;
}

/* Whether any doorbell differs. Without a branch per word. */
static inline bool have_signalled(const struct net_node *n) {
    const volatile void *doorbells = n->doorbells, *seen = n->seen;
    uint64_t differ = 0;
    for (uint32_t word = 0, words = n->doorbell_words; word < words; word++)
        differ |= poll_word_of(doorbells, word) ^ poll_word_of(seen, word);
    return differ != 0;
}

static inline int poll_read_all(struct net_node *n, const struct delivery *to) {
    int count = UNLIKELY(have_signalled(n)) ? read_changed(n, to) : 0;
    if (UNLIKELY(net_queue_has_message(&n->queue)))
        count += net_queue_read(&n->queue, n->count, to);
    return count;
}

int net_node_poll(struct net_node *n, net_handler *handler, void *arg) {
    struct delivery to = {.handler = handler, .arg = arg, .header_room = n->header_room};
    int count;
    if (n->empty >= EMPTY_POLLS && n->hot && net_box_has_message(n->hot))
        count = read_box(n, (uint32_t)(n->hot - n->boxes), 1, &to);
    else
        count = poll_read_all(n, &to);
    n->empty = count ? 0 : n->empty + 1;
    return count;
}
