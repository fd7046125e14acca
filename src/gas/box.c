/* The boxes of a node: one piece of shared memory, one box after the other, each with its payloads behind it.
 *
 *      box | payload of slot 0: request, reply | slot 1 ... | place 0: request, reply | ...      box ...
 *
 * **No wake is lost.** Who puts something sets its bit, then reads `asleep`; who sleeps sets `asleep`, then
 * reads all bits. All four are sequentially consistent: if the first does not find the other asleep, that one
 * finds the bit. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gas/message.h"

static char *boxes;
static size_t head_bytes, box_bytes;
static _Atomic int wanting; /* threads that wait for a slot */

static size_t data_bytes(void) {
    int places = gas.world->nodes > 1 ? AM_PLACES : 0; /* nobody else sends */
    return (size_t)(AM_SLOTS + places) * 2 * AM_MEDIUM;
}

struct am_box *box_of(int local) {
    return (struct am_box *)(boxes + (size_t)local * box_bytes);
}

struct am_box *box_mine(void) {
    return box_of(gas.world->local);
}

char *box_slot_data(int local, int slot, enum am_data which) {
    return boxes + (size_t)local * box_bytes + head_bytes + ((size_t)slot * 2 + which) * AM_MEDIUM;
}

char *box_place_data(int local, int place, enum am_data which) {
    return box_slot_data(local, AM_SLOTS + place, which);
}

int box_open(void) {
    int ranks = gas.world->local_count;
    head_bytes = round_up(sizeof(struct am_box) + (size_t)ranks * sizeof(_Atomic uint32_t), 128);
    box_bytes = head_bytes + data_bytes();
    boxes = net_world_share(gas.world, &gas.boot, (size_t)ranks * box_bytes);
    if (!boxes)
        return -ENOMEM;
    struct am_box *b = box_mine();
    atomic_store(&b->free_slots, UINT32_MAX);
    atomic_store(&b->free_places, UINT32_MAX);
    return 0;
}

/* ---- bits ---- */

int bits_take(_Atomic uint32_t *word) {
    uint32_t set = atomic_load_explicit(word, memory_order_relaxed);
    while (set != 0) {
        int bit = __builtin_ctz(set);
        if (bits_take_one(word, bit))
            return bit;
        set = atomic_load_explicit(word, memory_order_relaxed);
    }
    return -1;
}

int box_take_slot(void) {
    return bits_take(&box_mine()->free_slots);
}

void box_wants_slot(int more) {
    atomic_fetch_add_explicit(&wanting, more, memory_order_relaxed);
}

void box_release(struct am_box *b, int slot) {
    if (atomic_fetch_sub_explicit(&b->slots[slot].holds, 1, memory_order_acq_rel) > 1)
        return;
    bits_set(&b->free_slots, slot);
    box_wake(b);
}

/* ---- sleeping ---- */

/* Partner: box_sleep. */
void box_wake(struct am_box *b) {
    if (atomic_load(&b->asleep))
        wake_up(&b->wake);
}

bool box_is_empty(void) {
    struct am_box *b = box_mine();
    if (atomic_load(&b->replies) || atomic_load(&b->arrived))
        return false;
    if (atomic_load_explicit(&wanting, memory_order_relaxed) > 0 && atomic_load(&b->free_slots))
        return false;
    for (int i = 0; i < gas.world->local_count; i++)
        if (atomic_load(&b->inbox[i]))
            return false;
    return true;
}

/* Partner: box_wake. A thread that finds another one asleep gets no wake: it looks again soon. */
void box_sleep(uint64_t microseconds) {
    static _Atomic bool taken;
    struct am_box *b = box_mine();
    if (atomic_exchange_explicit(&taken, true, memory_order_acquire)) {
        usleep((useconds_t)(microseconds < 200 ? microseconds : 200));
        return;
    }
    atomic_store(&b->asleep, 1);
    if (box_is_empty())
        wake_wait(&b->wake, microseconds);
    atomic_store_explicit(&b->asleep, 0, memory_order_relaxed);
    atomic_store_explicit(&taken, false, memory_order_release);
}
