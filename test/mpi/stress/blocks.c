/* blocks.c: makes random blocks; see blocks.h. Regular blocks become vectors, irregular ones hindexed types, and
 * contiguous ones plain bytes, so that all kinds of datatype descriptions occur. */
#include "blocks.h"

#include <string.h>

uint32_t blocks_random(uint64_t *state, uint32_t below) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 32) % below);
}

struct blocks blocks_contiguous(size_t bytes) {
    struct blocks b = {.count = 1, .bytes = bytes, .span = bytes};
    b.block[0].bytes = bytes;
    return b;
}

bool blocks_are_contiguous(const struct blocks *b) {
    return b->count == 1;
}

static struct blocks make_regular(uint64_t *state, size_t bytes, size_t span, int count) {
    struct blocks b = {.count = count, .bytes = bytes};
    size_t each = bytes / (size_t)count, room = (span - bytes) / (size_t)count;
    size_t stride = each + (room ? blocks_random(state, (uint32_t)room + 1) : 0);
    for (int i = 0; i < count; i++) {
        b.block[i].at = (size_t)i * stride;
        b.block[i].bytes = each;
    }
    b.span = (size_t)(count - 1) * stride + each;
    return b;
}

static void swap_some(uint64_t *state, struct blocks *b) {
    for (int i = 0; i < b->count; i++) {
        int j = (int)blocks_random(state, (uint32_t)b->count);
        size_t at = b->block[i].at, bytes = b->block[i].bytes;
        b->block[i] = b->block[j];
        b->block[j].at = at;
        b->block[j].bytes = bytes;
    }
}

static struct blocks make_irregular(uint64_t *state, size_t bytes, size_t span, int count) {
    struct blocks b = {.count = count, .bytes = bytes};
    size_t at = 0, left = bytes, room = span - bytes;
    for (int i = 0; i < count; i++) {
        size_t gap = blocks_random(state, (uint32_t)(room / (size_t)count) + 1);
        size_t part = i == count - 1 ? left : blocks_random(state, (uint32_t)left + 1);
        b.block[i].at = at += gap;
        b.block[i].bytes = part;
        at += part;
        left -= part;
    }
    b.span = at;
    if (blocks_random(state, 2))
        swap_some(state, &b);
    return b;
}

struct blocks blocks_make(uint64_t *state, size_t bytes, size_t span) {
    int count = 1 + (int)blocks_random(state, MOST_BLOCKS);
    switch (blocks_random(state, 4)) {
    case 0:
        return make_irregular(state, bytes, span, count);
    case 1:
        if (bytes % (size_t)count == 0)
            return make_regular(state, bytes, span, count);
        return blocks_contiguous(bytes);
    default:
        return blocks_contiguous(bytes);
    }
}

void blocks_gather(void *packed, const void *from, const struct blocks *b) {
    char *out = packed;
    for (int i = 0; i < b->count; i++) {
        memcpy(out, (const char *)from + b->block[i].at, b->block[i].bytes);
        out += b->block[i].bytes;
    }
}

void blocks_scatter(void *to, const struct blocks *b, const void *packed) {
    const char *in = packed;
    for (int i = 0; i < b->count; i++) {
        memcpy((char *)to + b->block[i].at, in, b->block[i].bytes);
        in += b->block[i].bytes;
    }
}

static bool is_regular(const struct blocks *b) {
    for (int i = 0; i < b->count; i++)
        if (b->block[i].bytes != b->block[0].bytes || b->block[i].at != (size_t)i * b->block[1].at)
            return false;
    return true;
}

MPI_Datatype blocks_type(const struct blocks *b, int *count) {
    MPI_Datatype type;
    int lengths[MOST_BLOCKS];
    MPI_Aint places[MOST_BLOCKS];
    *count = b->count == 1 && b->block[0].at == 0 ? (int)b->bytes : 1;
    if (b->count == 1 && b->block[0].at == 0)
        return MPI_BYTE;
    for (int i = 0; i < b->count; i++) {
        lengths[i] = (int)b->block[i].bytes;
        places[i] = (MPI_Aint)b->block[i].at;
    }
    if (b->count > 1 && is_regular(b))
        MPI_Type_vector(b->count, lengths[0], (int)b->block[1].at, MPI_BYTE, &type);
    else
        MPI_Type_create_hindexed(b->count, lengths, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

void blocks_free_type(MPI_Datatype *type) {
    if (*type != MPI_BYTE)
        MPI_Type_free(type);
}
