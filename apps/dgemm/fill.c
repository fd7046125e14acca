/* fill.c: the owners write A and B. Elements are numbers from -1 to 1 that depend on the seed and their
 * position, so that the verification need not read them. */
#include "dgemm.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

double dgemm_element(uint64_t seed, int matrix, uint64_t i, uint64_t j) {
    uint64_t bits = random_mix((seed * DGEMM_MATRICES + (uint64_t)matrix) ^ random_mix(i << 32 | j));
    return (double)(int64_t)bits * 0x1p-63;
}

static void make_tile(const struct dgemm_layout *l, uint64_t seed, int matrix, uint64_t i, uint64_t j,
                      double *tile) {
    uint64_t rows = dgemm_extent(l, i), columns = dgemm_extent(l, j);
    for (uint64_t r = 0; r < rows; r++)
        for (uint64_t c = 0; c < columns; c++)
            tile[r * l->block + c] = dgemm_element(seed, matrix, i * l->block + r, j * l->block + c);
}

int dgemm_fill(const struct dgemm_layout *l, uint64_t seed) {
    double *tile = dgemm_make_room(l->tile_bytes);
    int code = dgemm_agree(tile ? APP_OK : APP_FAILED, "no memory for a tile: use a smaller --block");
    if (code) {
        free(tile);
        return code;
    }
    memset(tile, 0, l->tile_bytes);
    for (int matrix = DGEMM_A; matrix <= DGEMM_B; matrix++)
        for (uint64_t i = l->row; i < l->tiles; i += l->grid_rows)
            for (uint64_t j = l->column; j < l->tiles; j += l->grid_columns) {
                make_tile(l, seed, matrix, i, j, tile);
                gasnet_put_bulk((gasnet_node_t)l->rank, dgemm_tile(l, matrix, i, j), tile,
                                dgemm_tile_bytes(l, i));
            }
    free(tile);
    dgemm_barrier();
    return APP_OK;
}
