/* coll.h: collective operations, built from steps. */
#ifndef HEARTH_GAS_COLL_H
#define HEARTH_GAS_COLL_H

#include "base/compiler.h"
#include "gas/process/process.h"
#include "hearth/gasnet/gasnet_coll.h"

/* The members of a team are images: participating threads, or the nodes themselves if each has one image. Every image has
 * its own team object. */
struct gasnet_team {
    uint64_t id; /* the same in all members, and unique among the teams of each member */
    gasnet_node_t rank, size;
    gasnet_node_t local;                   /* number of members before this one on its node */
    bool several;                          /* some node has several members */
    uint32_t next;                         /* number of its next operation */
    struct gasnet_coll_operation *barrier; /* that was notified, or NULL */
    struct team_barrier *notified;
    gasnet_node_t nodes[]; /* [size], of the members */
};

/* ---- steps: schedule.c ---- */

/* Steps are executed in order. A receive is only started; it is complete before the steps after the next
 * gas_schedule_next_round. */
enum step_kind { STEP_SEND, STEP_RECEIVE, STEP_ROUND, STEP_RUN };
enum { TAG_IN = 0, TAG_OUT = 64, TAG_DATA = 128, TAG_RESULT }; /* a barrier uses one tag per round */

struct gasnet_coll_operation;
struct step {
    enum step_kind kind;
    gasnet_node_t peer; /* in the team */
    uint32_t tag;
    char *at;
    size_t bytes, arrived;
    bool complete; /* of a receive; accessed under the lock of schedule.c */
    void (*run)(struct gasnet_coll_operation *o, struct step *s);
    void *arg;
};

/* A new operation without steps. Ends the job if the process is not attached, or runs a handler. */
struct gasnet_coll_operation *gas_schedule_new(const char *call, gasnet_team_handle_t team);
/* Memory that lives as long as the operation. */
void *gas_schedule_memory(struct gasnet_coll_operation *o, size_t bytes);

void gas_schedule_send(struct gasnet_coll_operation *o, gasnet_node_t to, uint32_t tag, const void *at,
                       size_t bytes);
void gas_schedule_receive(struct gasnet_coll_operation *o, gasnet_node_t from, uint32_t tag, void *at,
                          size_t bytes);
void gas_schedule_next_round(struct gasnet_coll_operation *o);
void gas_schedule_run(struct gasnet_coll_operation *o,
                      void (*run)(struct gasnet_coll_operation *, struct step *), void *arg, void *at);
void gas_schedule_copy(struct gasnet_coll_operation *o, void *to, const void *from, size_t bytes);
void gas_schedule_barrier(struct gasnet_coll_operation *o, uint32_t tag);

/* Starts it; it progresses whenever this process polls. */
gasnet_coll_handle_t gas_schedule_start(struct gasnet_coll_operation *o);

/* Whether it is complete; if so, it is freed. gas_schedule_wait polls until then. */
bool gas_schedule_try(gasnet_coll_handle_t handle);
void gas_schedule_wait(gasnet_coll_handle_t handle);
/* Whether it is complete; does not free it. */
bool gas_schedule_is_complete(gasnet_coll_handle_t handle);
void gas_schedule_free(gasnet_coll_handle_t handle);

/* ---- trees: coll_tree.c ---- */

/* Sends `from` of the root to `at` of all other members. */
void gas_tree_broadcast(struct gasnet_coll_operation *o, const struct gasnet_team *team, gasnet_node_t root,
                        uint32_t tag, const void *from, void *at, size_t bytes);

/* Only its steps know where its partial result is: `add` combines it with that of the next higher ranks, which has arrived at
 * s->at, and `settle` copies it to s->at. s->arg is `arg`. */
struct tree_reduction {
    void (*add)(struct gasnet_coll_operation *o, struct step *s);
    void (*settle)(struct gasnet_coll_operation *o, struct step *s);
    void *arg;
    size_t bytes; /* of a partial result */
};
/* Combines the partial results of all members in the order of their ranks, counted from `first`, which gets the result. */
void gas_tree_reduce(struct gasnet_coll_operation *o, const struct gasnet_team *team, gasnet_node_t first,
                     const struct tree_reduction *r);
/* The same; the result is in `dst` of the root. */
void gas_tree_reduce_to(struct gasnet_coll_operation *o, const struct gasnet_team *team, gasnet_node_t first,
                        gasnet_node_t root, void *dst, const struct tree_reduction *r);

/* In gasnet_attach, before any rank can have left it. */
void gas_coll_open(void);

/* ---- teams: team.c ---- */

/* Creates the team of all nodes. */
void gas_team_open(void);
/* A team of `size` members, not filled in; call gas_team_complete when its nodes and its rank are set. */
gasnet_team_handle_t gas_team_new(const char *call, gasnet_node_t size);
void gas_team_complete(gasnet_team_handle_t team);
/* Collective: members with the same color form a new team, in the order of relrank. */
gasnet_team_handle_t gas_team_split(const char *call, gasnet_team_handle_t team, gasnet_node_t color,
                                    gasnet_node_t relrank);
/* Ids of teams that are not made by a split; those of split teams are larger. */
enum { TEAM_ALL, TEAM_IMAGES, TEAM_EX };

/* ---- images: image.c ---- */

/* A program uses GASNET_TEAM_ALL both for the team of all nodes and for that of all images. Returns the calling
 * thread's team of images if a node has several and images are meant, else the team itself. */
gasnet_team_handle_t gas_image_team(const char *call, gasnet_team_handle_t team, bool images);
/* In gasnet_coll_init, called by the thread of each image; `images` may be NULL. */
void gas_image_init(const gasnet_image_t *images, gasnet_image_t my_image);

/* ---- operations: coll.c ---- */

/* Arguments of one call. */
struct collective {
    const char *call;
    gasnet_team_handle_t team;
    gasnet_image_t root;
    void *dst, *src;
    size_t bytes; /* of a block */
    int flags;
};
gasnet_coll_handle_t gas_coll_broadcast(const struct collective *c);
gasnet_coll_handle_t gas_coll_scatter(const struct collective *c);
gasnet_coll_handle_t gas_coll_gather(const struct collective *c);
gasnet_coll_handle_t gas_coll_gather_all(const struct collective *c);
gasnet_coll_handle_t gas_coll_exchange(const struct collective *c);
gasnet_coll_handle_t gas_coll_reduce(const struct collective *c, size_t elem_size, size_t elem_count,
                                     gasnet_coll_fn_handle_t func, int arg);
gasnet_coll_handle_t gas_coll_scan(const struct collective *c, size_t elem_size, size_t elem_count,
                                   gasnet_coll_fn_handle_t func, int arg);

#endif
