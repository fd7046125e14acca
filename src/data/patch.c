/* patch.c: makes, walks, copies and encodes strided areas of memory.
 *
 * A position in a patch is a cursor: the offset of its row from the base, the offset in the row, and one index per
 * level. Finding the cursor of a packed byte takes one division per level, once; from there on it steps:
 *
 *      level 1 ends     level 2 ends
 *      ----+            ----+
 *      row row row  ->  row row row  ->  ...
 *
 *      offset += stride[0], and at the end of level 1  offset += stride[1] - count[1] * stride[0]
 *
 * Two patches are walked together as runs: as many rows as are equal in both before one of them begins a new level.
 * If one side is contiguous there, it is divided into the rows of the other. Copying, packing, unpacking and
 * accumulating are all loops over runs, so the cost of a step is paid once per run and not per row.
 *
 * Invariant of a patch: counts are not 0 unless it is empty, and then it has one row of no bytes; the product of the
 * counts is `bytes`, at most INT64_MAX; counts of levels are at most UINT32_MAX, as they are sent as such. */
#include "data/patch.h"

#include <errno.h>
#include <string.h>

#include "data/rows.h"

/* ---- construction ---- */

struct patch data_patch_row(const void *base, size_t bytes) {
    return (struct patch){.base = (char *)(uintptr_t)base, .bytes = bytes, .count = {bytes}};
}

/* Returns -EINVAL, or 0 and the number of bytes. */
static int count_bytes(const int counts[], int levels, uint64_t *bytes) {
    uint64_t product = 1;
    bool empty = false, overflow = false;
    if (levels < 0 || levels > PATCH_LEVELS)
        return -EINVAL;
    for (int i = 0; i <= levels; i++) {
        if (counts[i] < 0)
            return -EINVAL;
        empty |= counts[i] == 0;
        overflow |= __builtin_mul_overflow(product, (uint64_t)counts[i], &product) || product > INT64_MAX;
    }
    if (overflow && !empty)
        return -EINVAL;
    *bytes = empty ? 0 : product;
    return 0;
}

/* Whether the next level, of this stride, continues where the highest level of the patch ends. */
static bool patch_continues(const struct patch *p, int64_t stride) {
    uint32_t top = p->levels;
    int64_t step = top ? p->stride[top - 1] : 1, end;
    return !__builtin_mul_overflow(step, (int64_t)p->count[top], &end) && end == stride;
}

static bool may_join(const struct patch *p, uint64_t count) {
    return p->levels == 0 || p->count[p->levels] * count <= UINT32_MAX;
}

static void patch_add_level(struct patch *p, int64_t stride, uint64_t count) {
    p->stride[p->levels++] = stride;
    p->count[p->levels] = count;
}

int data_patch_make(struct patch *p, const void *base, const int strides[], const int counts[], int levels) {
    uint64_t bytes;
    int err = count_bytes(counts, levels, &bytes);
    if (err)
        return err;
    *p = data_patch_row(base, bytes ? (size_t)counts[0] : 0);
    p->bytes = bytes;
    for (int i = 1; i <= levels && bytes; i++) {
        uint64_t count = (uint64_t)counts[i];
        if (count == 1)
            continue;
        if (patch_continues(p, strides[i - 1]) && may_join(p, count))
            p->count[p->levels] *= count;
        else
            patch_add_level(p, strides[i - 1], count);
    }
    return 0;
}

int data_patch_make_pair(struct patch *a, const void *a_base, const int a_strides[], struct patch *b,
                         const void *b_base, const int b_strides[], const int counts[], int levels) {
    uint64_t bytes;
    int err = count_bytes(counts, levels, &bytes);
    if (err)
        return err;
    *a = data_patch_row(a_base, bytes ? (size_t)counts[0] : 0);
    *b = data_patch_row(b_base, bytes ? (size_t)counts[0] : 0);
    a->bytes = b->bytes = bytes;
    for (int i = 1; i <= levels && bytes; i++) {
        uint64_t count = (uint64_t)counts[i];
        if (count == 1)
            continue;
        if (patch_continues(a, a_strides[i - 1]) && patch_continues(b, b_strides[i - 1]) &&
            may_join(a, count)) {
            a->count[a->levels] *= count;
            b->count[b->levels] *= count;
        } else {
            patch_add_level(a, a_strides[i - 1], count);
            patch_add_level(b, b_strides[i - 1], count);
        }
    }
    return 0;
}

/* ---- extent ---- */

/* The numbers may come from another node and are not trusted: a stride times a count takes 96 bits, so 128 bits hold the
 * sum over all levels. Returns true if the patch lies in the address space; otherwise the range is clipped to it. */
static bool find_hull(const struct patch *p, uintptr_t *low, uintptr_t *high) {
    __int128 lowest = (__int128)(uintptr_t)p->base, highest = lowest + p->count[0];
    for (uint32_t i = 0; i < p->levels; i++) {
        __int128 reach = (__int128)p->stride[i] * (__int128)(p->count[i + 1] - 1);
        *(reach < 0 ? &lowest : &highest) += reach;
    }
    *low = lowest < 0 ? 0 : (uintptr_t)lowest;
    *high = highest > (__int128)UINTPTR_MAX ? UINTPTR_MAX : (uintptr_t)highest;
    return lowest >= 0 && highest <= (__int128)UINTPTR_MAX;
}

void data_patch_hull(const struct patch *p, char **low, char **high) {
    uintptr_t from = (uintptr_t)p->base, to = from;
    if (p->bytes)
        find_hull(p, &from, &to);
    *low = (char *)from;
    *high = (char *)to;
}

/* ---- iteration ---- */

static void cursor_start(struct patch_cursor *c, const struct patch *p, uint64_t from) {
    *c = (struct patch_cursor){.patch = p};
    if (!from)
        return;
    c->within = from % p->count[0];
    from /= p->count[0];
    for (uint32_t i = 0; i < p->levels && from; i++) {
        c->index[i] = from % p->count[i + 1];
        c->offset += c->index[i] * (uint64_t)p->stride[i];
        from /= p->count[i + 1];
    }
}

static char *cursor_place(const struct patch_cursor *c) {
    return (char *)((uintptr_t)c->patch->base + c->offset + c->within);
}

static uint64_t cursor_row_left(const struct patch_cursor *c) {
    return c->patch->count[0] - c->within;
}

static void cursor_step_rows(struct patch_cursor *c, uint64_t rows) {
    const struct patch *p = c->patch;
    for (uint32_t i = 0; i < p->levels; i++) {
        uint64_t stride = (uint64_t)p->stride[i];
        c->index[i] += rows;
        c->offset += rows * stride;
        if (c->index[i] < p->count[i + 1])
            return;
        c->index[i] = 0;
        c->offset -= p->count[i + 1] * stride;
        rows = 1;
    }
}

/* Steps over consecutive pieces of a row, or over whole rows. */
static void cursor_step(struct patch_cursor *c, uint64_t pieces, uint64_t bytes) {
    if (c->within == 0 && bytes == c->patch->count[0]) {
        cursor_step_rows(c, pieces);
        return;
    }
    c->within += pieces * bytes;
    if (c->within == c->patch->count[0]) {
        c->within = 0;
        cursor_step_rows(c, 1);
    }
}

/* Whether pieces of this many bytes are rows of this patch here; if not, they lie inside one of its rows. */
static bool cursor_at_rows(const struct patch_cursor *c, uint64_t bytes) {
    return c->patch->levels && c->within == 0 && bytes == c->patch->count[0];
}

static uint64_t cursor_rows_left(const struct patch_cursor *c) {
    return c->patch->count[1] - c->index[0];
}

static uint64_t patch_least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void data_patch_pair_start(struct patch_pair *pair, const struct patch *to, uint64_t to_from,
                           const struct patch *from, uint64_t from_from, uint64_t bytes) {
    cursor_start(&pair->to, to, to_from);
    cursor_start(&pair->from, from, from_from);
    pair->left = bytes;
}

/* At most `rows` rows of this many bytes: as many as fit into `room`. Seldom divides. */
static uint64_t fit(uint64_t rows, uint64_t bytes, uint64_t room) {
    return rows * bytes <= room ? rows : room / bytes;
}

/* The number of rows of this many bytes that follow in both patches at constant strides; sets the strides. */
static uint64_t find_run(const struct patch_pair *pair, uint64_t bytes, struct patch_rows *r) {
    const struct patch_cursor *to = &pair->to, *from = &pair->from;
    bool to_rows = cursor_at_rows(to, bytes), from_rows = cursor_at_rows(from, bytes);
    uint64_t rows = to_rows ? cursor_rows_left(to) : from_rows ? cursor_rows_left(from) : 1;
    r->to_stride = to_rows ? to->patch->stride[0] : (int64_t)bytes;
    r->from_stride = from_rows ? from->patch->stride[0] : (int64_t)bytes;
    rows = to_rows ? rows : fit(rows, bytes, cursor_row_left(to));
    rows = from_rows ? patch_least(rows, cursor_rows_left(from)) : fit(rows, bytes, cursor_row_left(from));
    return fit(rows, bytes, pair->left);
}

bool data_patch_pair_next(struct patch_pair *pair, struct patch_rows *r) {
    struct patch_cursor *to = &pair->to, *from = &pair->from;
    if (!pair->left)
        return false;
    uint64_t bytes = patch_least(pair->left, patch_least(cursor_row_left(to), cursor_row_left(from)));
    r->to = cursor_place(to);
    r->from = cursor_place(from);
    r->bytes = bytes;
    r->rows = find_run(pair, bytes, r);
    cursor_step(to, r->rows, bytes);
    cursor_step(from, r->rows, bytes);
    pair->left -= r->rows * bytes;
    return true;
}

uint64_t data_patch_walk(const struct patch *p, uint64_t from, uint64_t bytes, patch_piece *each, void *arg) {
    struct patch_cursor c;
    cursor_start(&c, p, from);
    for (uint64_t done = 0, piece; done < bytes; done += piece) {
        piece = patch_least(bytes - done, cursor_row_left(&c));
        if (!each(arg, cursor_place(&c), done, piece))
            return done;
        cursor_step(&c, 1, piece);
    }
    return bytes;
}

/* ---- copying ---- */

static void copy_range(const struct patch *to, uint64_t to_from, const struct patch *from, uint64_t from_from,
                       uint64_t bytes, bool streaming) {
    struct patch_pair pair;
    struct patch_rows rows;
    data_patch_pair_start(&pair, to, to_from, from, from_from, bytes);
    while (data_patch_pair_next(&pair, &rows))
        data_rows_copy_run(&rows, streaming);
}

static bool have_same_counts(const struct patch *a, const struct patch *b) {
    return a->levels == b->levels && !memcmp(a->count, b->count, (a->levels + 1) * sizeof a->count[0]);
}

/* Copies the levels from this one down, of two patches with the same counts. */
static void copy_levels(const struct patch *to, const struct patch *from, uint32_t level,
                        struct patch_rows *rows, bool streaming) {
    if (level < 2) {
        data_rows_copy_run(rows, streaming);
        return;
    }
    char *to_start = rows->to;
    const char *from_start = rows->from;
    for (uint64_t i = 0; i < to->count[level]; i++) {
        rows->to = to_start + (int64_t)i * to->stride[level - 1];
        rows->from = from_start + (int64_t)i * from->stride[level - 1];
        copy_levels(to, from, level - 1, rows, streaming);
    }
}

static void copy_same(const struct patch *to, const struct patch *from, bool streaming) {
    struct patch_rows rows = {.to = to->base,
                              .from = from->base,
                              .to_stride = to->stride[0],
                              .from_stride = from->stride[0],
                              .rows = to->levels ? to->count[1] : 1,
                              .bytes = to->count[0]};
    copy_levels(to, from, to->levels, &rows, streaming);
}

/* Contiguous memory, described with the packed rows of another patch. */
static struct patch patch_spread(const struct patch *row, const struct patch *like) {
    struct patch p = *like;
    p.base = row->base;
    for (uint64_t i = 0, step = 1; i < like->levels; i++) {
        step *= like->count[i];
        p.stride[i] = (int64_t)step;
    }
    return p;
}

void data_patch_copy(const struct patch *to, const struct patch *from) {
    struct patch rows;
    bool streaming = data_rows_are_streamed(to->bytes);
    if (!to->bytes)
        return;
    if (to->levels == 0 && from->levels != 0) {
        rows = patch_spread(to, from);
        to = &rows;
    } else if (from->levels == 0 && to->levels != 0) {
        rows = patch_spread(from, to);
        from = &rows;
    }
    if (have_same_counts(to, from))
        copy_same(to, from, streaming);
    else
        copy_range(to, 0, from, 0, to->bytes, streaming);
    if (streaming)
        data_rows_fence();
}

void data_patch_pack(const struct patch *p, uint64_t from, void *packed, size_t bytes) {
    struct patch row = data_patch_row(packed, bytes);
    if (bytes == p->bytes)
        data_patch_copy(&row, p);
    else
        copy_range(&row, 0, p, from, bytes, false);
}

void data_patch_unpack(const struct patch *p, uint64_t from, const void *packed, size_t bytes) {
    struct patch row = data_patch_row(packed, bytes);
    if (bytes == p->bytes)
        data_patch_copy(p, &row);
    else
        copy_range(p, from, &row, 0, bytes, false);
}

/* ---- wire format ----
 *
 *      base 8 | levels 4 | stride 8 x levels | count[0] 8 | count 4 x levels
 */

static char *patch_put(char *at, const void *value, size_t bytes) {
    memcpy(at, value, bytes);
    return at + bytes;
}

static const char *patch_take(const char *at, void *value, size_t bytes) {
    memcpy(value, at, bytes);
    return at + bytes;
}

static size_t wire_bytes(uint32_t levels) {
    return 8 + 4 + levels * 8 + 8 + levels * 4;
}

size_t data_patch_write(const struct patch *p, void *wire) {
    uint64_t base = (uintptr_t)p->base;
    char *at = patch_put(patch_put(wire, &base, 8), &p->levels, 4);
    at = patch_put(at, p->stride, p->levels * sizeof p->stride[0]);
    at = patch_put(at, &p->count[0], 8);
    for (uint32_t i = 1; i <= p->levels; i++) {
        uint32_t count = (uint32_t)p->count[i];
        at = patch_put(at, &count, 4);
    }
    return (size_t)(at - (char *)wire);
}

/* Counts the bytes; false if the patch is empty or too large to exist. */
static bool patch_is_possible(struct patch *p) {
    uintptr_t low, high;
    p->bytes = 1;
    for (uint32_t i = 0; i <= p->levels; i++)
        if (__builtin_mul_overflow(p->bytes, p->count[i], &p->bytes) || !p->bytes || p->bytes > INT64_MAX)
            return false;
    return find_hull(p, &low, &high);
}

int data_patch_read(struct patch *p, const void *wire, size_t bytes) {
    struct patch new = {0};
    uint64_t base;
    if (bytes < wire_bytes(0))
        return -EPROTO;
    const char *at = patch_take(patch_take(wire, &base, 8), &new.levels, 4);
    if (new.levels > PATCH_LEVELS || bytes < wire_bytes(new.levels))
        return -EPROTO;
    new.base = (char *)(uintptr_t)base;
    at = patch_take(at, new.stride, new.levels * sizeof new.stride[0]);
    at = patch_take(at, &new.count[0], 8);
    for (uint32_t i = 1; i <= new.levels; i++) {
        uint32_t count;
        at = patch_take(at, &count, 4);
        new.count[i] = count;
        if (count == 1)
            new.stride[i - 1] =
                0; /* not part of the range checked below, but loops add it after the only row */
    }
    if (!patch_is_possible(&new))
        return -EPROTO;
    *p = new;
    return (int)(at - (const char *)wire);
}
