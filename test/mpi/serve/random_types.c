/* random_types.c: random datatypes, values and layouts. */
#include "random_types.h"

#include <stdbool.h>
#include <string.h>

uint64_t draw(struct stream *s) {
    uint64_t z = (s->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned draw_below(struct stream *s, unsigned n) {
    return (unsigned)(draw(s) % n);
}

/* ---- element types ---- */

#define BITS                                                                                                 \
    { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LXOR, MPI_REPLACE }
#define REALS                                                                                                \
    { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_REPLACE }
#define INTEGER(type, bytes, is_unsigned)                                                                    \
    { type, bytes, 0, BITS, 10, is_unsigned }

/* Not constant: handles of Open MPI are addresses. */
const struct element *element_number(int n) {
    static struct element list[ELEMENTS];
    if (!list[0].size) {
        const struct element all[ELEMENTS] = {
            INTEGER(MPI_INT8_T, 1, false),
            INTEGER(MPI_INT16_T, 2, false),
            INTEGER(MPI_INT32_T, 4, false),
            INTEGER(MPI_INT64_T, 8, false),
            INTEGER(MPI_UINT8_T, 1, true),
            INTEGER(MPI_UINT16_T, 2, true),
            INTEGER(MPI_UINT32_T, 4, true),
            INTEGER(MPI_UINT64_T, 8, true),
            {MPI_BYTE, 1, 0, {MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE}, 4, false},
            {MPI_FLOAT, 4, 1, REALS, 5, false},
            {MPI_DOUBLE, 8, 2, REALS, 5, false},
            {MPI_C_DOUBLE_COMPLEX, 16, 3, {MPI_SUM, MPI_REPLACE}, 2, false},
            {MPI_2INT, 8, 4, {MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE}, 3, false},
            {MPI_C_BOOL, 1, 5, {MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE}, 4, false}};
        memcpy(list, all, sizeof all);
    }
    return &list[n];
}

/* Positive: products and sums are never NaN or a negative zero, of which there is more than one representation. */
static double real_draw(struct stream *s) {
    return 1 + draw_below(s, 3);
}

static void element_fill_one(struct stream *s, const struct element *e, char *at) {
    uint64_t bits;
    float single;
    double two[2];
    bool truth;
    switch (e->area) {
    case 0:
        bits = draw(s);
        memcpy(at, &bits, e->size);
        break;
    case 1:
        single = (float)real_draw(s);
        memcpy(at, &single, e->size);
        break;
    case 2:
    case 3:
        two[0] = real_draw(s);
        two[1] = real_draw(s);
        memcpy(at, two, e->size);
        break;
    case 4:
        bits = draw(s);
        memcpy(at, (int[2]){(int)(bits % 7), (int)(bits >> 8) % 5}, e->size);
        break;
    default:
        truth = draw(s) & 1;
        memcpy(at, &truth, e->size);
    }
}

void element_fill(struct stream *s, const struct element *e, void *into, int count) {
    for (int i = 0; i < count; i++)
        element_fill_one(s, e, (char *)into + (size_t)i * e->size);
}

uint64_t load_unsigned(const void *from, size_t size) {
    uint8_t n8;
    uint16_t n16;
    uint32_t n32;
    uint64_t n64;
    switch (size) {
    case 1:
        return memcpy(&n8, from, size), n8;
    case 2:
        return memcpy(&n16, from, size), n16;
    case 4:
        return memcpy(&n32, from, size), n32;
    default:
        return memcpy(&n64, from, size), n64;
    }
}

/* ---- layouts ---- */

static void be_contiguous(const struct element *e, int count, struct layout *l) {
    *l = (struct layout){.type = e->type, .times = count, .count = count, .span = count};
    for (int i = 0; i < count; i++)
        l->place[i] = i;
}

/* Blocks of equal length with equal gaps, or with random gaps. */
static bool be_blocks(struct stream *s, const struct element *e, int most, int count, struct layout *l) {
    int length = 1 + (int)draw_below(s, 4), at = 0, starts[MOST_ELEMENTS];
    bool equal = draw_below(s, 2);
    int gap = (int)draw_below(s, 4);
    if (count % length != 0)
        length = 1;
    *l = (struct layout){.times = 1, .count = count, .derived = true};
    for (int b = 0; b < count / length; b++) {
        starts[b] = at;
        for (int i = 0; i < length; i++)
            l->place[b * length + i] = at + i;
        l->span = at + length;
        at += length + (equal ? gap : (int)draw_below(s, 4));
    }
    if (l->span > most)
        return false;
    if (equal)
        MPI_Type_vector(count / length, length, length + gap, e->type, &l->type);
    else
        MPI_Type_create_indexed_block(count / length, length, starts, e->type, &l->type);
    MPI_Type_commit(&l->type);
    return true;
}

static void layout_draw(struct stream *s, const struct element *e, int most, int count, struct layout *l) {
    if (draw_below(s, 3) || !be_blocks(s, e, most, count, l))
        be_contiguous(e, count, l);
}

static void layout_free(struct layout *l) {
    if (l->derived)
        MPI_Type_free(&l->type);
}

void layout_gather(const struct layout *l, size_t size, const void *from, void *packed) {
    for (int i = 0; i < l->count; i++)
        memcpy((char *)packed + (size_t)i * size, (const char *)from + (size_t)l->place[i] * size, size);
}

void layout_scatter(const struct layout *l, size_t size, void *to, const void *packed) {
    for (int i = 0; i < l->count; i++)
        memcpy((char *)to + (size_t)l->place[i] * size, (const char *)packed + (size_t)i * size, size);
}

/* ---- patterns ---- */

void pattern_draw(struct stream *s, struct pattern *p) {
    const struct element *e = p->element = element_number((int)draw_below(s, ELEMENTS));
    int count = 1 + (int)draw_below(s, draw_below(s, 4) ? 4 : MOST_ELEMENTS);
    layout_draw(s, e, AREA_BYTES / (int)e->size, count, &p->place);
    layout_draw(s, e, PATTERN_BUFFER / (int)e->size, count, &p->origin);
    layout_draw(s, e, PATTERN_BUFFER / (int)e->size, count, &p->result);
}

void pattern_single(const struct element *e, struct pattern *p) {
    p->element = e;
    be_contiguous(e, 1, &p->place);
    p->origin = p->result = p->place;
}

void pattern_free(struct pattern *p) {
    layout_free(&p->place);
    layout_free(&p->origin);
    layout_free(&p->result);
}
