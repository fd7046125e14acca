/* fetch_policy.c: fetch policy (ski rental). A remote operation has a small cost each time. A page has a large cost once, and
 * then operations on it are free as long as it stays. The number of operations that will follow is unknown.
 *
 * The classical strategy is to rent until the rents add up to the price, then to buy. A page costs about POLICY_LEAST
 * remote operations. A caller that stops before has paid the optimum; one that continues has paid at most twice the
 * optimum. No deterministic online strategy does better.
 *
 * However, a page can be taken away. Where many nodes write to neighbouring words, each fetch costs all of them a page,
 * for an operation or two. A page that is missing soon after its fetch was fetched in vain, so the threshold for the
 * next fetch doubles. While this continues, n operations cost about log(n) pages, which is negligible. When the
 * contention ends, the page is fetched after at most as many remote operations as the threshold, or earlier: each long
 * period without such a loss halves the threshold.
 *
 * An entry is one word, so that it never mixes two pages:
 *
 *      | 63 tag 48 | 47 time 23 | 22 count 6 | 5 doublings 2 | 1 fetched | 0 to write |
 *
 * tag: identifies the page, in addition to its position in the table. time: of the last fetch or the last halving, in
 * units of 16 us, wraps around after 9 minutes. Threads that update an entry concurrently overwrite each other: a count
 * is lost. */
#include "pages/pool/fetch_policy.h"

#include "base/random.h"

enum { TO_WRITE = 1, FETCHED = 2 };
enum { DOUBLINGS_AT = 2, COUNT_AT = 6, TIME_AT = 23, TAG_AT = 48 };
enum { DOUBLINGS_MOST = 14, TICK_BITS = 14 };

#define TIME_MASK ((1u << (TAG_AT - TIME_AT)) - 1)

_Static_assert(POLICY_LEAST << DOUBLINGS_MOST == POLICY_MOST, "as often doubled as the word has room for");
_Static_assert(POLICY_MOST < 1 << (TIME_AT - COUNT_AT), "a count has room");

struct policy_entry {
    uint32_t tag, time, count, doublings;
    bool fetched, to_write;
};

static struct policy_entry policy_unpack(uint64_t word) {
    return (struct policy_entry){.tag = (uint32_t)(word >> TAG_AT),
                                 .time = (uint32_t)(word >> TIME_AT) & TIME_MASK,
                                 .count = (uint32_t)(word >> COUNT_AT) & ((1u << (TIME_AT - COUNT_AT)) - 1),
                                 .doublings = (uint32_t)(word >> DOUBLINGS_AT) & 15,
                                 .fetched = word & FETCHED,
                                 .to_write = word & TO_WRITE};
}

static uint64_t policy_pack(const struct policy_entry *e) {
    return (uint64_t)e->tag << TAG_AT | (uint64_t)e->time << TIME_AT | (uint64_t)e->count << COUNT_AT |
           (uint64_t)e->doublings << DOUBLINGS_AT | (e->fetched ? FETCHED : 0) | (e->to_write ? TO_WRITE : 0);
}

static uint32_t ticks(uint64_t ns) {
    return (uint32_t)(ns >> TICK_BITS);
}

static void forget_with_time(struct policy_entry *e, uint32_t age) {
    uint32_t times = age / ticks(POLICY_LONG_NS);
    if (!times)
        return;
    e->doublings = e->doublings > times ? e->doublings - times : 0;
    e->time = (e->time + times * ticks(POLICY_LONG_NS)) & TIME_MASK;
}

/* The page was fetched, and is missing. */
static void note_loss(struct policy_entry *e, uint32_t age) {
    if (age > ticks(POLICY_SOON_NS))
        forget_with_time(e, age);
    else if (e->doublings < DOUBLINGS_MOST)
        e->doublings++;
    e->count = 0;
    e->fetched = false;
}

static bool policy_decide(struct policy_entry *e, bool write, uint32_t now) {
    uint32_t age = (now - e->time) & TIME_MASK;
    if (e->fetched && write && !e->to_write) { /* the page may still be here for reading: not a loss */
        e->count = 0;
        e->fetched = false;
    } else if (e->fetched) {
        if (age <= ticks(POLICY_ON_ITS_WAY_NS))
            return false;
        note_loss(e, age);
    } else {
        forget_with_time(e, age);
    }
    if (e->count < (uint32_t)POLICY_LEAST << e->doublings) {
        e->count++;
        return true;
    }
    e->fetched = true;
    e->to_write = write;
    e->time = now;
    return false;
}

bool pages_policy_is_small(struct fetch_policy *h, uint16_t home, uint32_t page, bool write,
                           enum pages_hint hint, uint64_t now_ns) {
    if (hint == PAGES_NO_CACHE)
        return true;
    if (hint == PAGES_READ_MOSTLY)
        return write;
    uint64_t hash = random_mix((uint64_t)home << 32 | page);
    uint32_t tag = (uint32_t)(hash >> TAG_AT), now = ticks(now_ns) & TIME_MASK;
    _Atomic uint64_t *place = &h->pages[hash % POLICY_PAGES];
    struct policy_entry e = policy_unpack(atomic_load_explicit(place, memory_order_relaxed));
    if (e.tag != tag)
        e = (struct policy_entry){.tag = tag, .time = now};
    bool small = policy_decide(&e, write, now);
    atomic_store_explicit(place, policy_pack(&e), memory_order_relaxed);
    return small;
}
