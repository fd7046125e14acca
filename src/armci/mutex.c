/* mutex.c: mutexes: each process creates some, and all may lock them. The helper of the owner's node keeps them
 * (locks.c). Processes of its node reach it by mailbox, others by a block. */
#include "armci/mutex.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "hearth/armci/armcix.h"
#include "armci/request/armci_count.h"
#include "armci/request/find.h"
#include "armci/request/guard.h"
#include "armci/request/locks.h"
#include "armci/job/sync_event.h"
#include "armci/request/local_ask.h"
#include "armci/request/ops.h"
#include "base/settings.h"

/* ---- requests to the helper ---- */

struct remote_mutex {
    struct net_op op;
    struct op_mutex asked;
    int64_t answer;
};

static size_t mutex_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct remote_mutex *f = op->arg;
    (void)room, (void)answer_room;
    memcpy(out->header, &f->asked, sizeof f->asked);
    out->header_bytes = sizeof f->asked;
    return 0;
}

static void mutex_take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    struct remote_mutex *f = op->arg;
    (void)offset;
    memcpy(&f->answer, data, bytes < sizeof f->answer ? bytes : sizeof f->answer);
}

static int64_t lock_remote(const struct op_mutex *m, int node) {
    struct remote_mutex f = {.op = {.handler = OP_LOCK,
                                    .waits = true,
                                    .first_helper = true,
                                    .next = mutex_next,
                                    .take = mutex_take},
                             .asked = *m};
    f.op.arg = &f;
    armci_guard_enter();
    net_start(armci_job.net, node, &f.op);
    net_wait_done(armci_job.net, node, &f.op);
    armci_guard_leave();
    return f.answer;
}

/* The unlock must take effect after everything sent before, which is automatic only if one helper executes both. The
 * call waits although there is no answer: an unlock that the network has not accepted yet would stay here while this
 * process computes, and another process may wait for the mutex. */
static void unlock_remote(const struct op_mutex *m, int node) {
    struct remote_mutex f = {.op = {.handler = OP_UNLOCK, .first_helper = true, .next = mutex_next},
                             .asked = *m};
    f.op.arg = &f;
    armci_guard_enter();
    if (settings_get()->helpers > 1)
        net_fence(armci_job.net, node);
    net_start(armci_job.net, node, &f.op);
    net_wait_sent(armci_job.net, node, &f.op);
    net_fence(armci_job.net, node);
    armci_guard_leave();
}

static _Noreturn void mutex_refuse(const char *call, const struct op_mutex *m, int64_t why) {
    if (why == -ENOENT)
        armci_fail(call, "rank %u has no mutex %u: call ARMCI_Create_mutexes first", m->owner, m->mutex);
    armci_fail(call, "mutex %u of rank %u: %s", m->mutex, m->owner,
               why == -EDEADLK ? "this rank holds it already"
               : why == -EPERM ? "this rank does not hold it"
                               : strerror((int)-why));
}

/* ---- sets of mutexes ---- */

enum { NO_SET = 0 };
static uint64_t world_set = NO_SET;

void armci_mutex_forget(void) {
    world_set = NO_SET;
}

/* Collective over the group: the rank of its first member, and how many sets that rank has numbered. So no two sets
 * have the same number, even if threads create sets of different groups at once. */
static uint64_t mutex_new_set(const char *call, const ARMCI_Group *group) {
    static _Atomic uint32_t numbered;
    uint64_t set = 0;
    if (group->rank == 0)
        set = (uint64_t)armci_job.rank << 32 | (atomic_fetch_add(&numbered, 1) + 1);
    armci_check(call, MPI_Bcast(&set, 1, MPI_UINT64_T, 0, group->comm));
    return set;
}

static int mutex_create(const char *call, int count, const ARMCI_Group *group, uint64_t *set) {
    armci_need_open(call);
    if (count < 0)
        armci_fail(call, "the number of mutexes is negative: %d", count);
    *set = mutex_new_set(call, group);
    struct op_mutex m = {.set = *set, .mutex = (uint32_t)count};
    int status = (int)armci_local_ask(LOCAL_CREATE, &m, sizeof m), worst;
    /* Also a barrier: no process locks before all mutexes exist. */
    armci_check(call, MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, group->comm));
    return worst;
}

static int mutex_destroy(const char *call, uint64_t set, const ARMCI_Group *group) {
    armci_need_open(call);
    PARMCI_AllFence(); /* completes unlocks in flight */
    armci_check(call, MPI_Barrier(group->comm));
    struct op_mutex m = {.set = set};
    int64_t status = armci_local_ask(LOCAL_DESTROY, &m, sizeof m);
    if (status == -EBUSY)
        armci_fail(call, "a mutex of this rank is still held or waited for");
    return status == 0 ? 0 : 1;
}

static int64_t lock_once(const struct op_mutex *m, enum way way) {
    return way == WAY_REMOTE ? lock_remote(m, (int)armci_job.world->node_of[m->owner])
                             : armci_local_ask(LOCAL_LOCK, m, sizeof *m);
}

/* With several threads, no thread may wait at the helper, holding the guard or a mailbox cell, for a mutex held by
 * another thread of this process that needs either of them to release it. The helper knows ranks, not threads: a
 * mutex that another thread of this rank holds is reported as taken. */
static int64_t lock_by_tries(const struct op_mutex *m, enum way way) {
    enum { SHORTEST_US = 10, LONGEST_US = 1000 };
    struct op_mutex try = *m;
    try.only_try = 1;
    for (useconds_t nap = SHORTEST_US;; nap = nap < LONGEST_US ? 2 * nap : LONGEST_US) {
        int64_t answer = lock_once(&try, way);
        if (answer != LOCK_TAKEN)
            return answer;
        usleep(nap);
    }
}

static int64_t mutex_lock(const char *call, struct op_mutex *m, int proc) {
    enum way way = armci_find_way(call, proc);
    m->owner = (uint32_t)proc;
    armci_count_call(COUNT_LOCK, way, 0);
    int64_t answer = armci_job.threaded && !m->only_try ? lock_by_tries(m, way) : lock_once(m, way);
    if (answer < 0)
        mutex_refuse(call, m, answer);
    armci_sync_event();
    return answer;
}

static void unlock(const char *call, struct op_mutex *m, int proc) {
    enum way way = armci_find_way(call, proc);
    m->owner = (uint32_t)proc;
    if (way == WAY_REMOTE) {
        unlock_remote(m, (int)armci_job.world->node_of[proc]);
        return;
    }
    int64_t answer = armci_local_ask(LOCAL_UNLOCK, m, sizeof *m);
    if (answer != 0)
        mutex_refuse(call, m, answer);
}

/* ---- the calls ---- */

int PARMCI_Create_mutexes(int count) {
    if (world_set != NO_SET)
        armci_fail("ARMCI_Create_mutexes", "there are mutexes already: call ARMCI_Destroy_mutexes first");
    int status = mutex_create("ARMCI_Create_mutexes", count, &armci_job.world_group, &world_set);
    log_debug(LOG_ARMCI, "%d mutexes of this rank are %s", count, status ? "refused" : "made");
    if (status != 0)
        world_set = NO_SET;
    return status;
}
ALIAS(int, ARMCI_Create_mutexes, (int count));

int PARMCI_Destroy_mutexes(void) {
    if (world_set == NO_SET)
        armci_fail("ARMCI_Destroy_mutexes", "there are no mutexes");
    uint64_t set = world_set;
    world_set = NO_SET;
    return mutex_destroy("ARMCI_Destroy_mutexes", set, &armci_job.world_group);
}
ALIAS(int, ARMCI_Destroy_mutexes, (void));

void PARMCI_Lock(int mutex, int proc) {
    struct op_mutex m = {.set = world_set, .mutex = (uint32_t)mutex};
    mutex_lock("ARMCI_Lock", &m, proc);
}
ALIAS(void, ARMCI_Lock, (int mutex, int proc));

void PARMCI_Unlock(int mutex, int proc) {
    struct op_mutex m = {.set = world_set, .mutex = (uint32_t)mutex};
    unlock("ARMCI_Unlock", &m, proc);
}
ALIAS(void, ARMCI_Unlock, (int mutex, int proc));

/* Mutexes of a group; processes are named by their group ranks. Programs see only the first part. */
struct group_mutexes {
    struct armcix_mutex_hdl_s public;
    uint64_t set;
};

static uint64_t mutex_set_of(armcix_mutex_hdl_t hdl) {
    return ((const struct group_mutexes *)hdl)->set;
}

armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *group) {
    struct group_mutexes *g = calloc(1, sizeof *g);
    if (!g)
        armci_fail("ARMCIX_Create_mutexes_hdl", "no memory");
    if (mutex_create("ARMCIX_Create_mutexes_hdl", count, group, &g->set) != 0) {
        free(g);
        return NULL;
    }
    g->public.my_count = count;
    g->public.grp = *group;
    return &g->public;
}

int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl) {
    int status = mutex_destroy("ARMCIX_Destroy_mutexes_hdl", mutex_set_of(hdl), &hdl->grp);
    free(hdl);
    return status;
}

void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc) {
    struct op_mutex m = {.set = mutex_set_of(hdl), .mutex = (uint32_t)mutex};
    mutex_lock("ARMCIX_Lock_hdl", &m, ARMCI_Absolute_id(&hdl->grp, proc));
}

int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc) {
    struct op_mutex m = {.set = mutex_set_of(hdl), .mutex = (uint32_t)mutex, .only_try = 1};
    return mutex_lock("ARMCIX_Trylock_hdl", &m, ARMCI_Absolute_id(&hdl->grp, proc)) == 1 ? 0 : 1;
}

void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc) {
    struct op_mutex m = {.set = mutex_set_of(hdl), .mutex = (uint32_t)mutex};
    unlock("ARMCIX_Unlock_hdl", &m, ARMCI_Absolute_id(&hdl->grp, proc));
}
