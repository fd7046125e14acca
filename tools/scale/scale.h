/* scale.h: the memory that each part of Hearth needs, for a number of ranks. Computed from the real structures: their size functions,
 * their sizes, or their allocation. For sim_memory and hearth info --scale. */
#ifndef HEARTH_TOOLS_SCALE_H
#define HEARTH_TOOLS_SCALE_H

#include <stdbool.h>
#include <stddef.h>

struct scale_job {
    double ranks, per_node, nodes;
    double peers;      /* ranks with which a rank communicates */
    double peer_nodes; /* their nodes, at most */
    double memory;     /* bytes of a node */
    double page;       /* bytes of a page (HEARTH_PAGE_SIZE) */
};

enum scale_owner {
    SCALE_RANK,  /* every rank has it */
    SCALE_NODE,  /* a node has it once */
    SCALE_START, /* every rank has it while it starts */
    SCALE_MAKE,  /* a node has it once, while something is created */
    SCALE_SHARE  /* a share of the data instead of bytes */
};

struct scale_item {
    const char *system, *what, *grows, *basis;
    enum scale_owner owner;
    double (*bytes)(const struct scale_job *j); /* NAN: not possible with so many */
};

extern const struct scale_item scale_items[];
extern const size_t scale_item_count;

/* Completes ranks, per_node and peers (0: all ranks); memory and page are the caller's. */
void scale_job_fill(struct scale_job *j, double ranks, double per_node, double peers);

#endif
