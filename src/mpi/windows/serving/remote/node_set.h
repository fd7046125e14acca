/* node_set.h: a set of nodes, one bit for each node of a job. Independent of MPI. */
#ifndef HEARTH_MPI_NODE_SET_H
#define HEARTH_MPI_NODE_SET_H

#include <stddef.h>
#include <stdint.h>

enum { NODE_SET_WORD = 64 };

/* Bytes of a set of some of `count` nodes. It is empty if they are 0. */
static inline size_t node_set_bytes(int count) {
    return ((size_t)count + NODE_SET_WORD - 1) / NODE_SET_WORD * sizeof(uint64_t);
}

static inline void node_set_add(uint64_t *set, int node) {
    set[node / NODE_SET_WORD] |= (uint64_t)1 << node % NODE_SET_WORD;
}

/* The first member that is not before `node`; `count`: none. */
static inline int node_set_next(const uint64_t *set, int count, int node) {
    while (node < count) {
        uint64_t left = set[node / NODE_SET_WORD] >> node % NODE_SET_WORD;
        if (left)
            return node + __builtin_ctzll(left);
        node = (node / NODE_SET_WORD + 1) * NODE_SET_WORD;
    }
    return count;
}

#endif
