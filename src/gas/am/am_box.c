/* am_box.c: the boxes of a node: one block of shared memory, one box after the other, each followed by its payloads.
 *
 *      box | payload of slot 0: request, reply | slot 1 ... | place 0: request, reply | ... | parked      box ...
 *
 * **No wakeup is lost.** A sender fills a cell or sets a bit, then reads `asleep`. A receiver sets `asleep`, then reads
 * all cells and bits. All four accesses are sequentially consistent: if the sender does not find the receiver asleep,
 * the receiver finds the message. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "gas/am/message.h"

static char *boxes;
static size_t head_bytes, box_bytes;
static _Atomic int wanting; /* threads that wait for a slot */

static size_t box_data_bytes(void) {
    int places = gas_job.world->nodes > 1 ? AM_PLACES : 0; /* no other node sends */
    return (size_t)(AM_SLOTS + places) * 2 * AM_MEDIUM;
}

/* A parked request keeps its slot, which bounds their number. */
uint32_t gas_box_parked_cells(void) {
    uint32_t cells = 1, most = (uint32_t)(gas_job.size - gas_job.world->local_count) * AM_SLOTS;
    while (cells < most)
        cells *= 2;
    return cells;
}

struct am_box *gas_box_of(int local) {
    return (struct am_box *)(boxes + (size_t)local * box_bytes);
}

struct am_box *gas_box_mine(void) {
    return gas_box_of(gas_job.world->local);
}

char *gas_box_slot_data(int local, int slot, enum am_data which) {
    return boxes + (size_t)local * box_bytes + head_bytes + ((size_t)slot * 2 + which) * AM_MEDIUM;
}

char *gas_box_place_data(int local, int place, enum am_data which) {
    return gas_box_slot_data(local, AM_SLOTS + place, which);
}

_Atomic uint64_t *gas_box_parked(int local) {
    return (_Atomic uint64_t *)(void *)(boxes + (size_t)local * box_bytes + head_bytes + box_data_bytes());
}

int gas_box_open(void) {
    int ranks = gas_job.world->local_count;
    head_bytes =
        round_up(sizeof(struct am_box) + ((size_t)ranks + AM_REMOTE_QUEUES) * sizeof(struct am_queue), 128);
    box_bytes = round_up(head_bytes + box_data_bytes() + gas_box_parked_cells() * sizeof(uint64_t), 128);
    boxes = net_world_share(gas_job.world, &gas_job.boot, (size_t)ranks * box_bytes);
    if (!boxes)
        return -ENOMEM;
    struct am_box *b = gas_box_mine();
    atomic_store(&b->free_slots, UINT32_MAX);
    atomic_store(&b->free_places, UINT32_MAX);
    return gas_queue_open();
}

/* ---- bits ---- */

int gas_bits_take(_Atomic uint32_t *word) {
    uint32_t set = atomic_load_explicit(word, memory_order_relaxed);
    while (set != 0) {
        int bit = __builtin_ctz(set);
        uint32_t mask = (uint32_t)1 << bit;
        if (atomic_fetch_and_explicit(word, ~mask, memory_order_acq_rel) & mask)
            return bit;
        set = atomic_load_explicit(word, memory_order_relaxed);
    }
    return -1;
}

int gas_box_take_slot(void) {
    return gas_bits_take(&gas_box_mine()->free_slots);
}

void gas_box_wants_slot(int more) {
    atomic_fetch_add_explicit(&wanting, more, memory_order_relaxed);
}

void gas_box_release(struct am_box *b, int slot) {
    atomic_store_explicit(&b->slots[slot].in_use, 0, memory_order_relaxed);
    gas_bits_set(&b->free_slots, slot);
    gas_box_wake(b);
}

/* ---- sleeping ---- */

/* Pairs with gas_box_sleep. */
void gas_box_wake(struct am_box *b) {
    if (atomic_load(&b->asleep))
        net_wake_up(&b->wake);
}

/* Whether this rank has work other than in queues. */
static bool has_work(void) {
    struct am_box *b = gas_box_mine();
    if (atomic_load_explicit(&wanting, memory_order_relaxed) > 0 && atomic_load(&b->free_slots))
        return true;
    return gas_job.world->nodes > 1 && gas_box_has_parked() && atomic_load(&b->free_places);
}

/* Pairs with gas_box_wake. Only one thread of the rank waits for the wakeup. If one already does, the caller sleeps for at
 * most 200 us instead. */
void gas_box_sleep(uint64_t microseconds) {
    enum { SOON_US = 50 };
    static _Atomic bool taken;
    struct am_box *b = gas_box_mine();
    if (atomic_exchange_explicit(&taken, true, memory_order_acquire)) {
        usleep((useconds_t)(microseconds < 200 ? microseconds : 200));
        return;
    }
    atomic_store(&b->asleep, 1);
    enum queue_look look = gas_queue_look();
    if (look == QUEUE_TAKEN && microseconds > SOON_US)
        microseconds = SOON_US;
    if (look != QUEUE_HAS && !has_work())
        net_wake_wait(&b->wake, microseconds);
    atomic_store_explicit(&b->asleep, 0, memory_order_relaxed);
    atomic_store_explicit(&taken, false, memory_order_release);
}

/* ---- leaving ---- */

void gas_box_quit(int local, int code) {
    struct am_box *b = gas_box_of(local);
    pid_t pid = atomic_load(&b->pid);
    atomic_store(&b->leave_code, code + 1);
    if (pid > 0)
        kill(pid, SIGQUIT);
}

bool gas_box_is_leaving(int local) {
    return atomic_load(&gas_box_of(local)->pid) == 0;
}
