/* am_poll.c: polling, the only place where handlers of the program run; and idle waiting.
 *
 * Any number of threads may poll at once, each in a different queue. */
#include <sched.h>
#include <unistd.h>

#include "base/compiler.h"
#include "gas/am/am.h"
#include "gas/memory/ask.h"

struct gas_tended gas_tended;

/* ---- running messages ---- */

static void run_local(int from, int slot) {
    struct am_slot *s = &gas_box_of(from)->slots[slot];
    struct am_token token = {.reply = &s->reply, .reply_data = gas_box_slot_data(from, slot, AM_REPLY)};
    gas_am_run(&s->request, gas_box_slot_data(from, slot, AM_REQUEST), &token, AM_IN_REQUEST);
    if (token.replied)
        gas_box_post(from, slot | AM_IS_REPLY);
    else
        gas_box_release(gas_box_of(from), slot);
}

static void run_arrived(int place) {
    struct am_place *p = &gas_box_mine()->places[place];
    int local = gas_job.world->local;
    struct am_token token = {.reply = &p->reply, .reply_data = gas_box_place_data(local, place, AM_REPLY)};
    gas_am_run(&p->request, gas_box_place_data(local, place, AM_REQUEST), &token, AM_IN_REQUEST);
    if (!token.replied)
        p->reply.kind = AM_NO_REPLY;
    gas_remote_reply(place);
}

static void run_reply(int slot) {
    struct am_box *b = gas_box_mine();
    struct am_token token = {0};
    gas_am_run(&b->slots[slot].reply, gas_box_slot_data(gas_job.world->local, slot, AM_REPLY), &token,
               AM_IN_REPLY);
    gas_box_release(b, slot);
}

static void run_message(int queue, int what) {
    if (what & AM_IS_REPLY)
        run_reply(what & ~AM_IS_REPLY);
    else if (queue < gas_job.world->local_count)
        run_local(queue, what);
    else
        run_arrived(what);
}

static bool has_parked(void) {
    return gas_job.world->nodes > 1 &&
           atomic_load_explicit(&gas_box_mine()->parked, memory_order_relaxed) > 0;
}

static bool poll_messages(bool network) {
    gas_leave_if_asked();
    bool happened = gas_box_take_all(run_message);
    if (network)
        gas_ask_progress();
    if (UNLIKELY(has_parked()))
        happened |= gas_pull_tend();
    if (UNLIKELY(atomic_load_explicit(&gas_tended.open, memory_order_relaxed) > 0))
        happened |= gas_tended.collectives();
    return happened;
}

bool gas_poll(void) {
    gas_tended.operations();
    return poll_messages(gas_job.world->nodes > 1);
}

bool gas_poll_quickly(void) {
    return poll_messages(UNLIKELY(has_parked()));
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

/* More ranks than cores, counting the helper that must run if there are several nodes: spinning starves the process
 * that is waited for. */
static bool is_crowded(void) {
    static _Atomic int known; /* 0: unknown; 1: no; 2: yes */
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (is == 0) {
        is = gas_job.machine_ranks + (gas_job.world->nodes > 1 ? 1 : 0) > sysconf(_SC_NPROCESSORS_ONLN) ? 2
                                                                                                        : 1;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == 2;
}

/* A wait may be for a condition that causes no wakeup, such as memory that another rank writes: no sleep is long. */
void gas_poll_rest(unsigned *round) {
    enum { SPINS = 200, CROWDED_SPINS = 4, SHORT_US = 50, LONG_US = 1000 };
    unsigned spins = is_crowded() ? CROWDED_SPINS : SPINS, n = (*round)++;
    int how = atomic_load_explicit(&mode, memory_order_relaxed);
    if (how == GASNET_WAIT_BLOCK)
        spins = 0;
    if (n < spins && !is_crowded())
        cpu_relax();
    else if (n < spins || how == GASNET_WAIT_SPIN)
        sched_yield();
    else if (gas_job.world->nodes > 1 && gas_pull_is_busy())
        gas_box_sleep(SHORT_US);
    else
        gas_box_sleep(n < spins + 16 ? SHORT_US : LONG_US);
}

gasnet_threadinfo_t gasnetc_threadinfo(void) {
    static _Thread_local char here;
    return &here;
}

void gasnetc_wait_round(unsigned *round) {
    gas_need("GASNET_BLOCKUNTIL", 0);
    gas_need_free("GASNET_BLOCKUNTIL");
    if (gas_poll())
        *round = 0;
    else
        gas_poll_rest(round);
}

int gasnet_AMPoll(void) {
    if (UNLIKELY(!gas_is_attached()))
        return gas_leave_or_refuse("gasnet_AMPoll");
    gas_need_free("gasnet_AMPoll");
    gas_poll();
    return GASNET_OK;
}
ALSO(int, AMPoll, (void));
