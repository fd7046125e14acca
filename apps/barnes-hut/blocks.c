/* blocks.c: a direct-mapped cache of blocks, as a program builds for itself when it knows its data. All parts
 * of the tree form one sequence of blocks of equal size, and block n can only be in slot n mod the number of
 * slots.
 *
 *      blocks          | rank 0: 0 1 2 ... | rank 1: k k+1 ... | rank 2: ...
 *      slots           tag: the block in this slot (or none); the block's bytes
 *
 * A miss fetches the whole block with one get. A hit is a division, a compare, and no copy. Two blocks that
 * share a slot evict each other, however much memory is free. Tags and blocks together take the given memory. */
#include "bh.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

enum { NOTHING = -1 };

struct bh_blocks {
    uint64_t places, nodes; /* nodes per block */
    int64_t *tags;
    struct bh_node *memory;
    uint64_t hits;
};

bool bh_blocks_fit(uint64_t memory, uint64_t block) {
    return memory / (block + sizeof(int64_t)) > 0;
}

struct bh_blocks *bh_blocks_open(uint64_t memory, uint64_t block) {
    struct bh_blocks *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->nodes = block / sizeof *b->memory;
    b->places = memory / (block + sizeof *b->tags);
    b->tags = malloc(b->places * sizeof *b->tags);
    b->memory = aligned_alloc(CACHE_LINE, b->places * block);
    if (!b->tags || !b->memory) {
        bh_blocks_close(b);
        return NULL;
    }
    bh_blocks_forget(b);
    return b;
}

void bh_blocks_close(struct bh_blocks *b) {
    if (!b)
        return;
    free(b->tags);
    free(b->memory);
    free(b);
}

void bh_blocks_forget(struct bh_blocks *b) {
    for (uint64_t i = 0; i < b->places; i++)
        b->tags[i] = NOTHING;
}

uint64_t bh_blocks_hits(const struct bh_blocks *b) {
    return b->hits;
}

/* The last block of a window may be shorter. */
static void load(const struct bh_blocks *b, struct bh_fetch *f, int owner, uint64_t block,
                 struct bh_node *to) {
    const struct bh_window *w = &f->tree->window;
    uint64_t first = block * b->nodes, nodes = w->room - first < b->nodes ? w->room - first : b->nodes;
    int bytes = (int)(nodes * sizeof *to);
    MPI_Get(to, bytes, MPI_BYTE, owner, (MPI_Aint)first, bytes, MPI_BYTE, w->window);
    MPI_Win_flush(owner, w->window);
    f->gets++;
    f->bytes += (uint64_t)bytes;
}

const struct bh_node *bh_blocks_find(struct bh_blocks *b, struct bh_fetch *f, int owner, uint32_t index) {
    uint64_t per_rank = (f->tree->window.room + b->nodes - 1) / b->nodes;
    uint64_t block = index / b->nodes, number = (uint64_t)owner * per_rank + block,
             place = number % b->places;
    struct bh_node *memory = b->memory + place * b->nodes;
    if (b->tags[place] == (int64_t)number) {
        b->hits++;
    } else {
        load(b, f, owner, block, memory);
        b->tags[place] = (int64_t)number;
    }
    return memory + index % b->nodes;
}
