/* layout_type.c: creates a datatype from a shape, to request exactly these bytes from MPI.
 *
 * The constructors count in ints; longer blocks are split. */
#include <limits.h>
#include <stdlib.h>

#include "mpi/types/layout.h"
#include "tables/shape.h"

enum { PIECE = 1 << 30 };

static uint64_t pieces_of(uint64_t bytes) {
    return (bytes + PIECE - 1) / PIECE;
}

static uint64_t count_pieces(const struct shape *s) {
    if (!s->list)
        return s->blocks * pieces_of(s->block_bytes);
    uint64_t n = 0;
    for (uint64_t i = 0; i < s->blocks; i++)
        n += pieces_of(s->list[i].bytes);
    return n;
}

static void type_cut(const struct shape *s, int *lengths, MPI_Aint *places) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < s->blocks; i++) {
        struct shape_block block = shape_block_at(s, i);
        for (uint64_t from = 0; from < block.bytes; from += PIECE, n++) {
            uint64_t left = block.bytes - from;
            places[n] = block.offset + (MPI_Aint)from;
            lengths[n] = left < PIECE ? (int)left : PIECE;
        }
    }
}

static int make_listed(const struct shape *s, MPI_Datatype *type) {
    uint64_t n = count_pieces(s);
    if (n > INT_MAX)
        return MPI_ERR_COUNT;
    MPI_Aint *places = malloc(n * (sizeof *places + sizeof(int)));
    if (!places)
        return MPI_ERR_NO_MEM;
    int *lengths = (int *)(places + n);
    type_cut(s, lengths, places);
    int rc = host_Type_create_hindexed((int)n, lengths, places, MPI_BYTE, type);
    free(places);
    return rc;
}

static bool needs_list(const struct shape *s) {
    bool misread = s->stride == -1; /* Open MPI 4.1 treats it as no stride */
    return s->list || misread || s->block_bytes > INT_MAX || s->blocks > INT_MAX;
}

static int make_type(const struct shape *s, MPI_Datatype *type) {
    if (needs_list(s))
        return make_listed(s, type);
    if (shape_is_contiguous(s))
        return host_Type_contiguous((int)s->bytes, MPI_BYTE, type);
    return host_Type_create_hvector((int)s->blocks, (int)s->block_bytes, s->stride, MPI_BYTE, type);
}

int layout_to_type(const struct shape *s, MPI_Datatype *type) {
    MPI_Datatype made;
    int rc = make_type(s, &made);
    if (rc)
        return rc;
    rc = host_Type_commit(&made);
    if (rc)
        host_Type_free(&made);
    else
        *type = made;
    return rc;
}
