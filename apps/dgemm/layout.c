/* layout.c: the owner and the location of each tile. */
#include "dgemm.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/compiler.h"

static uint64_t divide_up(uint64_t n, uint64_t by) {
    return (n + by - 1) / by;
}

/* A tile takes whole pages of GASNet. If the bytes of a block are a multiple of HEARTH_PAGE_SIZE, as with 128
 * or 256 elements and the default page size, it takes whole pages of the segment too, and no two tiles share a
 * page. */
void dgemm_layout_describe(struct dgemm_layout *l, const struct dgemm_options *o, int rank, int ranks) {
    *l = (struct dgemm_layout){.size = o->size,
                               .block = o->block,
                               .tiles = divide_up(o->size, o->block),
                               .rank = rank,
                               .ranks = ranks,
                               .grid_rows = o->grid.rows,
                               .grid_columns = o->grid.columns};
    l->row = (uint64_t)rank / l->grid_columns;
    l->column = (uint64_t)rank % l->grid_columns;
    l->rows = divide_up(l->tiles, l->grid_rows);
    l->columns = divide_up(l->tiles, l->grid_columns);
    l->tile_bytes = round_up(l->block * l->block * sizeof(double), GASNET_PAGESIZE);
    l->segment_bytes = DGEMM_MATRICES * l->rows * l->columns * l->tile_bytes;
}

/* The same result on all ranks: it compares with the room that all ranks have. */
static int check_room(const struct dgemm_layout *l) {
    uint64_t room = gasnet_getMaxGlobalSegmentSize();
    if (l->segment_bytes <= room)
        return APP_OK;
    return app_reject(
        "--size %" PRIu64 ": each rank needs a segment of %" PRIu64 " MB, and there is room for %" PRIu64
        " MB: use a smaller size, more ranks on more nodes, or HEARTH_NVM=on with HEARTH_NVM_DIR on a "
        "larger disk",
        l->size, (l->segment_bytes >> 20) + 1, room >> 20);
}

int dgemm_layout_attach(struct dgemm_layout *l) {
    int code = check_room(l);
    if (code)
        return code;
    code = gasnet_attach(NULL, 0, l->segment_bytes, 0);
    if (code != GASNET_OK) {
        app_complain("gasnet_attach with a segment of %" PRIu64 " bytes: %s", l->segment_bytes,
                     gasnet_ErrorDesc(code));
        return APP_FAILED;
    }
    l->segments = calloc((size_t)l->ranks, sizeof *l->segments);
    if (!l->segments || gasnet_getSegmentInfo(l->segments, l->ranks) != GASNET_OK) {
        app_complain("cannot get the segment table of %d ranks", l->ranks);
        return APP_FAILED;
    }
    return APP_OK;
}

void dgemm_layout_free(struct dgemm_layout *l) {
    free(l->segments);
    l->segments = NULL;
}

uint64_t dgemm_extent(const struct dgemm_layout *l, uint64_t tile) {
    uint64_t rest = l->size - tile * l->block;
    return rest < l->block ? rest : l->block;
}

int dgemm_owner(const struct dgemm_layout *l, uint64_t i, uint64_t j) {
    return (int)(i % l->grid_rows * l->grid_columns + j % l->grid_columns);
}

double *dgemm_tile(const struct dgemm_layout *l, int matrix, uint64_t i, uint64_t j) {
    uint64_t place = ((uint64_t)matrix * l->rows + i / l->grid_rows) * l->columns + j / l->grid_columns;
    return (double *)(void *)((char *)l->segments[dgemm_owner(l, i, j)].addr + place * l->tile_bytes);
}

size_t dgemm_tile_bytes(const struct dgemm_layout *l, uint64_t i) {
    return dgemm_extent(l, i) * l->block * sizeof(double);
}

double *dgemm_make_room(uint64_t bytes) {
    return aligned_alloc(GASNET_PAGESIZE, round_up(bytes ? bytes : 1, GASNET_PAGESIZE));
}
