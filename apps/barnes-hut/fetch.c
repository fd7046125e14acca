/* fetch.c: fetches a node of another rank, with one get and one flush for each, and no prefetching, because the
 * next node depends on the contents of this one. All bodies of this rank do so, and most of them need the same
 * nodes. The cache decides whether a repeated access uses the network:
 *
 *      none      plain MPI
 *      hearth    the same calls; the preloaded library answers repeated ones
 *      blocks    a cache in the program, see blocks.c */
#include "bh.h"

const struct bh_node *bh_fetch(struct bh_fetch *f, int owner, uint32_t index) {
    f->remote++;
    if (f->blocks)
        return bh_blocks_find(f->blocks, f, owner, index);
    MPI_Win window = f->tree->window.window;
    MPI_Get(&f->arrived, sizeof f->arrived, MPI_BYTE, owner, (MPI_Aint)index, sizeof f->arrived, MPI_BYTE,
            window);
    MPI_Win_flush(owner, window);
    f->gets++;
    f->bytes += sizeof f->arrived;
    return &f->arrived;
}
