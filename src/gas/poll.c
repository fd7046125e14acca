/* Polling: the one place where handlers of the program run; and waiting for something to poll for.
 *
 * Any number of threads poll at once: a message goes to the one that takes its bit. */
#include <sched.h>
#include <unistd.h>

#include "gas/am.h"
#include "gas/ask.h"
#include "gas/coll.h"
#include "gas/leave.h"

/* ---- running what came ---- */

static void run_near(int from, int slot) {
    struct am_box *b = box_of(from);
    struct am_slot *s = &b->slots[slot];
    struct am_token token = {.reply = &s->reply, .reply_data = box_slot_data(from, slot, AM_REPLY)};
    am_run(&s->request, box_slot_data(from, slot, AM_REQUEST), &token, AM_IN_REQUEST);
    if (!token.replied) {
        box_release(b, slot);
        return;
    }
    bits_set(&b->replies, slot);
    box_wake(b);
}

static void run_arrived(int place) {
    struct am_place *p = &box_mine()->places[place];
    int local = gas.world->local;
    struct am_token token = {.reply = &p->reply, .reply_data = box_place_data(local, place, AM_REPLY)};
    am_run(&p->request, box_place_data(local, place, AM_REQUEST), &token, AM_IN_REQUEST);
    if (!token.replied)
        p->reply.kind = AM_NO_REPLY;
    far_reply(place);
}

static void run_reply(int slot) {
    struct am_box *b = box_mine();
    struct am_token token = {0};
    am_run(&b->slots[slot].reply, box_slot_data(gas.world->local, slot, AM_REPLY), &token, AM_IN_REPLY);
    box_release(b, slot);
}

/* What is set now, once each: a sender that is quick does not keep the others waiting. */
static bool poll_near(int from) {
    _Atomic uint32_t *word = &box_mine()->inbox[from];
    bool happened = false;
    for (uint32_t bits = atomic_load_explicit(word, memory_order_relaxed); bits != 0; bits &= bits - 1)
        if (bits_take_one(word, __builtin_ctz(bits))) {
            run_near(from, __builtin_ctz(bits));
            happened = true;
        }
    return happened;
}

static bool poll_word(_Atomic uint32_t *word, void (*run)(int bit)) {
    bool happened = false;
    for (uint32_t bits = atomic_load_explicit(word, memory_order_relaxed); bits != 0; bits &= bits - 1)
        if (bits_take_one(word, __builtin_ctz(bits))) {
            run(__builtin_ctz(bits));
            happened = true;
        }
    return happened;
}

bool gas_poll(void) {
    struct am_box *b = box_mine();
    leave_if_asked();
    bool happened = poll_word(&b->replies, run_reply);
    for (int i = 0; i < gas.world->local_count; i++)
        happened |= poll_near(i);
    if (gas.world->nodes > 1) {
        happened |= poll_word(&b->arrived, run_arrived);
        ask_progress();
        if (far_is_under_way(UINT32_MAX))
            happened |= far_tend();
    }
    if (UNLIKELY(coll_is_busy()))
        happened |= coll_tend();
    return happened;
}

/* ---- waiting ---- */

static _Atomic int mode = GASNET_WAIT_SPINBLOCK;

int gasnet_set_waitmode(int wanted) {
    if (wanted != GASNET_WAIT_SPIN && wanted != GASNET_WAIT_BLOCK && wanted != GASNET_WAIT_SPINBLOCK)
        return gas_refuse(GASNET_ERR_BAD_ARG, "gasnet_set_waitmode", "there is no mode %d", wanted);
    atomic_store_explicit(&mode, wanted, memory_order_relaxed);
    return GASNET_OK;
}
ALSO(int, set_waitmode, (int wanted));

static void relax(void) {
#if defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* More ranks than cores, and between nodes each has a helper that must run: who spins keeps another from what
 * it waits for. */
static bool is_crowded(void) {
    static _Atomic int known; /* 0: not yet; 1: no; 2: yes */
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (is == 0) {
        is = gas.machine_ranks + (gas.world->nodes > 1 ? 1 : 0) > sysconf(_SC_NPROCESSORS_ONLN) ? 2 : 1;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == 2;
}

/* A wait may be for something that wakes nobody, such as memory that another rank writes: no sleep is long. */
void gas_rest(unsigned *round) {
    enum { SPINS = 200, CROWDED_SPINS = 4, SHORT_US = 50, LONG_US = 1000 };
    unsigned spins = is_crowded() ? CROWDED_SPINS : SPINS, n = (*round)++;
    int how = atomic_load_explicit(&mode, memory_order_relaxed);
    if (how == GASNET_WAIT_BLOCK)
        spins = 0;
    if (n < spins && !is_crowded())
        relax();
    else if (n < spins || how == GASNET_WAIT_SPIN)
        sched_yield();
    else if (gas.world->nodes > 1 && far_is_under_way(UINT32_MAX))
        box_sleep(SHORT_US);
    else
        box_sleep(n < spins + 16 ? SHORT_US : LONG_US);
}

void gasnetc_wait_round(unsigned *round) {
    gas_need("GASNET_BLOCKUNTIL", 0);
    gas_need_free("GASNET_BLOCKUNTIL");
    if (gas_poll())
        *round = 0;
    else
        gas_rest(round);
}

int gasnet_AMPoll(void) {
    if (UNLIKELY(!gas_is_attached()))
        return leave_or_refuse("gasnet_AMPoll");
    gas_need_free("gasnet_AMPoll");
    gas_poll();
    return GASNET_OK;
}
ALSO(int, AMPoll, (void));
