/* coll.h: collective operations, made of steps. */
#ifndef HEARTH_GAS_COLL_H
#define HEARTH_GAS_COLL_H

#include "gas/inside.h"
#include "gasnet/gasnet_coll.h"

/* Members are images: threads that take part, or nodes where there is one on each. Every image has a team of its own. */
struct gasnet_team {
    uint64_t id; /* the same in all members, and of no other team in any of them */
    gasnet_node_t rank, size;
    gasnet_node_t local;                   /* how many members before this one are on its node */
    bool several;                          /* of some node */
    uint32_t next;                         /* number of its next operation */
    struct gasnet_coll_operation *barrier; /* that was notified, or NULL */
    struct team_barrier *notified;
    gasnet_node_t nodes[]; /* [size], of the members */
};

/* ---- steps: schedule.c ---- */

/* One after the other; a receive is only begun, and complete before what follows the next schedule_next_round. */
enum step_kind { STEP_SEND, STEP_RECEIVE, STEP_ROUND, STEP_RUN };
enum { TAG_IN = 0, TAG_OUT = 64, TAG_DATA = 128, TAG_RESULT }; /* a barrier takes one per round */

struct gasnet_coll_operation;
struct step {
    enum step_kind kind;
    gasnet_node_t peer; /* in the team */
    uint32_t tag;
    char *at;
    size_t bytes, arrived;
    bool complete; /* of a receive; changed and read under the lock of schedule.c */
    void (*run)(struct gasnet_coll_operation *o, struct step *s);
    void *arg;
};

/* A new operation without steps; ends the job if the process is not attached, or runs a handler. */
struct gasnet_coll_operation *schedule_new(const char *call, gasnet_team_handle_t team);
/* Memory that lives as long as the operation. */
void *schedule_memory(struct gasnet_coll_operation *o, size_t bytes);

void schedule_send(struct gasnet_coll_operation *o, gasnet_node_t to, uint32_t tag, const void *at,
                   size_t bytes);
void schedule_receive(struct gasnet_coll_operation *o, gasnet_node_t from, uint32_t tag, void *at,
                      size_t bytes);
void schedule_next_round(struct gasnet_coll_operation *o);
void schedule_run(struct gasnet_coll_operation *o, void (*run)(struct gasnet_coll_operation *, struct step *),
                  void *arg, void *at);
void schedule_copy(struct gasnet_coll_operation *o, void *to, const void *from, size_t bytes);
void schedule_barrier(struct gasnet_coll_operation *o, uint32_t tag);

/* Begins it; it goes on whenever this process polls. */
gasnet_coll_handle_t schedule_start(struct gasnet_coll_operation *o);

/* Whether it is complete: then it is gone. Polls. */
bool schedule_try(gasnet_coll_handle_t handle);
void schedule_wait(gasnet_coll_handle_t handle);
/* Until it is complete; it stays. */
bool schedule_is_complete(gasnet_coll_handle_t handle);
void schedule_free(gasnet_coll_handle_t handle);

/* ---- for gas_poll ---- */

extern _Atomic unsigned coll_open_count HIDDEN; /* operations that are not complete */
static inline bool coll_is_busy(void) {
    return atomic_load_explicit(&coll_open_count, memory_order_relaxed) > 0;
}
/* Does what can be done; whether there was anything. */
bool coll_tend(void);

/* In gasnet_attach: before any rank can have left it. */
void coll_open(void);

/* ---- teams: team.c ---- */

/* The team of all nodes. */
void team_open(void);
/* Of `size` members, without anything in it; team_complete when its nodes and its rank are known. */
gasnet_team_handle_t team_new(const char *call, gasnet_node_t size);
void team_complete(gasnet_team_handle_t team);

/* ---- images: image.c ---- */

/* A program says GASNET_TEAM_ALL for the team of all nodes and for that of all images: the calling thread's team of images if
 * there are several on a node and these are meant, else the team itself. */
gasnet_team_handle_t image_team(const char *call, gasnet_team_handle_t team, bool images);
/* In gasnet_coll_init, by the thread of each image; `images` may be NULL. */
void image_init(const gasnet_image_t *images, gasnet_image_t my_image);

/* ---- operations: coll.c ---- */

/* Of one call. */
struct collective {
    const char *call;
    gasnet_team_handle_t team;
    gasnet_image_t root;
    void *dst, *src;
    size_t bytes; /* of a block */
    int flags;
};
gasnet_coll_handle_t coll_broadcast(const struct collective *c);
gasnet_coll_handle_t coll_scatter(const struct collective *c);
gasnet_coll_handle_t coll_gather(const struct collective *c);
gasnet_coll_handle_t coll_gather_all(const struct collective *c);
gasnet_coll_handle_t coll_exchange(const struct collective *c);
gasnet_coll_handle_t coll_reduce(const struct collective *c, size_t elem_size, size_t elem_count,
                                 gasnet_coll_fn_handle_t func, int arg);
gasnet_coll_handle_t coll_scan(const struct collective *c, size_t elem_size, size_t elem_count,
                               gasnet_coll_fn_handle_t func, int arg);

#endif
