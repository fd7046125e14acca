/* fetch.c: a node of another rank. One get and one flush for each, as the walk needs it and nothing ahead:
 * which node is next depends on what is in this one. So does every body of this rank, and most of them ask
 * for the same nodes; whether each time goes over the network is the cache's business:
 *
 *      none      MPI as it is
 *      hearth    the same calls; the library under the program answers those that repeat
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
