/* unit_data_patch_random.c: compares strided areas of up to 7 levels, with tiny rows and negative strides, with simple
 * loops.
 *
 * A round makes random arguments of a strided call in one arena, and the same bytes in other rows in another.
 * area_offset defines the place of every byte. What patch_* and accumulate_* do to the arena must equal what a loop
 * over all bytes, or elements, does to a copy of it; bytes beside the area are compared too.
 *
 * Options: --seconds N, --operations N (rows), --seed N. The seed is printed first. Each round has its own, and a
 * failure prints the command that replays it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "accumulate_help.h"
#include "base/random.h"
#include "episodes.h"
#include "patch_help.h"

enum { ARENA = 32 << 10, MOST = 3 << 10 };

static _Alignas(LOCK_TABLE_GRAIN) char there[ARENA], here[ARENA], model[ARENA];
static char packed[MOST + 16];
static struct net_lock_table *lock_table;
static struct random dice;
static uint64_t round_seed;

static void fail(const char *what, int line) {
    printf("FAIL data_patch_random %s:%d: not so: %s (replay with --seed %llu --operations 1)\n", __FILE__,
           line, what, (unsigned long long)round_seed);
    exit(1);
}

static uint32_t roll(uint32_t n) {
    return random_below(&dice, n);
}

/* A place in an arena where the whole area fits. */
static char *find_base(const struct area *a, char *arena) {
    return arena - a->low + roll((uint32_t)(ARENA - (a->high - a->low) + 1));
}

static bool fits(const struct area *a) {
    return a->high - a->low <= ARENA;
}

/* Two areas of the same bytes: with the same counts, or regrouped. */
static void choose_areas(struct area *a, struct area *b, int unit, bool alike) {
    do {
        area_choose(a, &dice, unit, MOST);
        if (alike) {
            *b = *a;
            area_lay_out(b, &dice, unit);
        } else {
            area_regroup(b, a, &dice, unit);
        }
    } while (!fits(a) || !fits(b));
}

/* Bytes that differ from round to round; those out of reach do not change, and are compared as well. */
static void fill_arenas(void) {
    uint64_t x = random_next(&dice);
    for (size_t i = 0; i < ARENA; i += 8) {
        uint64_t a = x * (i + 1), b = ~a * 3;
        memcpy(there + i, &a, 8);
        memcpy(here + i, &b, 8);
    }
    memcpy(model, there, ARENA);
}

/* ---- what a patch covers ---- */

struct walk {
    const struct area *area;
    const char *base;
    uint64_t from, next;
    unsigned pieces_left;
};

static bool check_piece(void *arg, char *place, uint64_t offset, size_t bytes) {
    struct walk *w = arg;
    if (!w->pieces_left--)
        return false;
    require(offset == w->next && bytes > 0);
    for (size_t i = 0; i < bytes; i++)
        require(place + i == w->base + area_offset(w->area, (int64_t)(w->from + offset + i)));
    w->next += bytes;
    return true;
}

static void check_walk(const struct area *a, const struct patch *p, const char *base) {
    uint64_t from = roll((uint32_t)a->bytes), bytes = roll((uint32_t)(a->bytes - (int64_t)from) + 1);
    struct walk w = {.area = a, .base = base, .from = from, .pieces_left = roll(2) ? roll(50) : ~0u};
    uint64_t walked = data_patch_walk(p, from, bytes, check_piece, &w);
    require(walked == w.next && walked <= bytes);
    require(walked == bytes || w.pieces_left == ~0u);
}

static void check_hull(const struct area *a, const struct patch *p, const char *base) {
    char *low, *high;
    data_patch_hull(p, &low, &high);
    require(low == base + a->low && high == base + a->high);
}

/* Also a damaged one: it is refused, or it is a valid patch. */
static void check_wire(const struct patch *p) {
    char wire[PATCH_WIRE + 8], *at = wire + roll(8), *low, *high;
    struct patch q = {0};
    size_t length = data_patch_write(p, at);
    require(length <= PATCH_WIRE);
    require(data_patch_read(&q, at, length) == (int)length);
    require(!memcmp(p, &q, sizeof q));
    require(data_patch_read(&q, at, roll((uint32_t)length)) == -EPROTO);
    at[roll((uint32_t)length)] ^= (char)(1 << roll(8));
    int result = data_patch_read(&q, at, length);
    require(result == -EPROTO || (result > 0 && result <= (int)length));
    data_patch_hull(&q, &low, &high);
    require(low < high);
}

/* ---- copies ---- */

static void check_packing(const struct area *a, const struct patch *p, char *base) {
    bool all = roll(3) == 0;
    size_t from = all ? 0 : roll((uint32_t)a->bytes);
    size_t bytes = all ? (size_t)a->bytes : roll((uint32_t)((size_t)a->bytes - from) + 1);
    packed[bytes] = 77;
    data_patch_pack(p, from, packed, bytes);
    require(packed[bytes] == 77);
    for (size_t i = 0; i < bytes; i++)
        require(packed[i] == base[area_offset(a, (int64_t)(from + i))]);
    for (size_t i = 0; i < bytes; i++) {
        packed[i] = (char)(packed[i] * 5 + 1);
        model[base - there + area_offset(a, (int64_t)(from + i))] = packed[i];
    }
    data_patch_unpack(p, from, packed, bytes);
    require(!memcmp(there, model, ARENA));
}

static void check_copy(const struct area *a, const struct patch *to, const struct area *b,
                       const struct patch *from) {
    for (int64_t i = 0; i < a->bytes; i++)
        model[to->base - there + area_offset(a, i)] = from->base[area_offset(b, i)];
    data_patch_copy(to, from);
    require(!memcmp(there, model, ARENA));
}

/* Copies a range of one area to a range of the other, run by run. */
static void check_pair(const struct area *a, const struct patch *to, const struct area *b,
                       const struct patch *from) {
    uint64_t bytes = 1 + roll((uint32_t)a->bytes), left = bytes;
    uint64_t to_from = roll((uint32_t)(to->bytes - bytes) + 1);
    uint64_t from_from = roll((uint32_t)(to->bytes - bytes) + 1);
    struct patch_pair pair;
    struct patch_rows r;
    for (uint64_t i = 0; i < bytes; i++)
        model[to->base - there + area_offset(a, (int64_t)(to_from + i))] =
            ~from->base[area_offset(b, (int64_t)(from_from + i))];
    data_patch_pair_start(&pair, to, to_from, from, from_from, bytes);
    while (data_patch_pair_next(&pair, &r)) {
        require(r.rows && r.bytes && r.rows * r.bytes <= left);
        left -= r.rows * r.bytes;
        for (uint64_t i = 0; i < r.rows * r.bytes; i++) {
            int64_t row = (int64_t)(i / r.bytes), within = (int64_t)(i % r.bytes);
            r.to[row * r.to_stride + within] = ~r.from[row * r.from_stride + within];
        }
    }
    require(left == 0);
    require(!memcmp(there, model, ARENA));
}

/* Returns the number of rows, as sum_round does. */
static uint64_t copy_round(void) {
    struct area a, b;
    struct patch to, from;
    bool alike = roll(2);
    choose_areas(&a, &b, 1, alike);
    fill_arenas();
    char *to_base = find_base(&a, there), *from_base = find_base(&b, here);
    if (alike) {
        require(
            !data_patch_make_pair(&to, to_base, a.strides, &from, from_base, b.strides, a.counts, a.levels));
        require(to.levels == from.levels && !memcmp(to.count, from.count, sizeof to.count));
    } else {
        require(!data_patch_make(&to, to_base, a.strides, a.counts, a.levels));
        require(!data_patch_make(&from, from_base, b.strides, b.counts, b.levels));
    }
    require(to.bytes == (uint64_t)a.bytes && from.bytes == to.bytes);
    check_hull(&a, &to, to_base);
    check_walk(&b, &from, from_base);
    check_wire(&from);
    check_copy(&a, &to, &b, &from);
    check_pair(&a, &to, &b, &from);
    check_packing(&a, &to, to_base);
    return (uint64_t)(a.bytes / a.counts[0]);
}

/* ---- sums ---- */

static bool is_held(const char *place) {
    bool got = net_lock_table_try(lock_table, place);
    if (got)
        net_lock_table_unlock(lock_table, place);
    return !got;
}

/* A complex element needs the locks of both its parts. */
static bool is_blocked(const char *element, int type) {
    bool is_complex = type == ACC_COMPLEX || type == ACC_DOUBLE_COMPLEX;
    return is_held(element) || (is_complex && is_held(element + data_accumulate_grain(type) / 2));
}

/* Returns where a try that begins at `from` must stop: at the first element whose lock is held. */
static size_t find_stop(const struct area *a, const char *base, size_t from, size_t bytes, int type) {
    size_t done = 0;
    while (done < bytes && !is_blocked(base + area_offset(a, (int64_t)(from + done)), type))
        done += data_accumulate_grain(type);
    return done;
}

/* The whole area, in ranges, some of which meet a lock that is held. */
static void sum_by_trying(int type, const union element *s, const struct area *a, const struct patch *to,
                          const char *values) {
    size_t grain = data_accumulate_grain(type), all = (size_t)a->bytes;
    for (size_t done = 0; done < all;) {
        size_t bytes = (1 + roll((uint32_t)((all - done) / grain))) * grain;
        const char *obstacle = roll(2) ? to->base + area_offset(a, (int64_t)roll((uint32_t)all)) : NULL;
        if (obstacle)
            net_lock_table_lock(lock_table, obstacle);
        size_t expected = find_stop(a, to->base, done, bytes, type);
        size_t came = data_accumulate_patch_try(lock_table, type, s, to, done, values + done, bytes);
        if (obstacle)
            net_lock_table_unlock(lock_table, obstacle);
        require(came == expected);
        done += came;
    }
}

static uint64_t sum_round(void) {
    struct area a, b;
    struct patch to, from;
    int type = (int)roll(TYPES), grain = (int)data_accumulate_grain(type);
    union element s = random_scale(type, &dice);
    choose_areas(&a, &b, grain, roll(2));
    fill_arenas();
    char *to_base = find_base(&a, there), *from_base = find_base(&b, here);
    fill_elements(type, &dice, packed, (size_t)a.bytes);
    for (int64_t i = 0; i < a.bytes; i += grain) {
        size_t at = (size_t)(to_base - there + area_offset(&a, i));
        union element value = random_element(type, &dice);
        memcpy(there + at, &value, (size_t)grain);
        memcpy(model + at, &value, (size_t)grain);
        memcpy(from_base + area_offset(&b, i), packed + i, (size_t)grain);
        naive_add(type, &s, model + at, packed + i);
    }
    require(!data_patch_make(&to, to_base, a.strides, a.counts, a.levels));
    require(!data_patch_make(&from, from_base, b.strides, b.counts, b.levels));
    if (roll(2))
        data_accumulate_patch(lock_table, type, &s, &to, &from);
    else
        sum_by_trying(type, &s, &a, &to, packed);
    require(!memcmp(there, model, ARENA));
    require(!is_held(to_base));
    return (uint64_t)(a.bytes / a.counts[0]);
}

static uint64_t run_round(uint64_t seed) {
    round_seed = seed;
    random_seed(&dice, seed);
    return roll(2) ? copy_round() : sum_round();
}

int main(int argc, char **argv) {
    struct episodes all = {
        .name = "data_patch_random", .operations = "rows in", .things = "rounds", .run = run_round};
    lock_table = open_stripes();
    int status = episodes_run(all, argc, argv);
    close_stripes(lock_table);
    return status;
}
