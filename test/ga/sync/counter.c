/* counter.c: tests concurrent operations on the same place: counters, mutexes, and notifications. */
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "wide.h"

static long read_inc(int array, int place, long by) {
    int at[] = {place};
    return turn() ? NGA_Read_inc(array, at, by) : NGA_Read_inc64(array, widen(at, 1).at, by);
}

/* Every value is drawn by exactly one rank. */
static void draw_all(int type, int by) {
    enum { COUNTERS = 5, EACH = 60 };
    int dims[] = {COUNTERS}, total = EACH * ranks;
    int array = NGA_Create(type, 1, dims, "counters", NULL), *drawn;
    GA_Zero(array);
    for (int c = 0; c < COUNTERS; c++) {
        long last = -1;
        drawn = need((size_t)total * sizeof *drawn);
        for (int i = 0; i < EACH; i++) {
            long value = read_inc(array, c, by);
            expect(value > last && value % by == 0);
            last = value;
            if (expect(value >= 0 && value / by < total))
                drawn[value / by]++;
        }
        GA_Igop(drawn, total, "+");
        for (int i = 0; i < total; i++)
            expect_eq(drawn[i], 1);
        free(drawn);
        expect_eq(read_inc(array, c, 0), (long)total * by);
    }
    GA_Sync();
    GA_Destroy(array);
}

CASE(ints_drawn_once) {
    draw_all(C_INT, 1);
}

CASE(longs_drawn_once) {
    draw_all(C_LONG, 7);
}

CASE(a_long_beyond_32_bits) {
    int dims[] = {ranks}, at[] = {(me + 1) % ranks};
    int array = NGA_Create(C_LONG, 1, dims, "long", NULL);
    long start = 5000000000, negative = -3;
    GA_Fill(array, &start);
    expect_eq(NGA_Read_inc(array, at, 1), start);
    expect_eq(NGA_Read_inc(array, at, negative), start + 1);
    expect_eq(NGA_Read_inc(array, at, 0), start - 2);
    GA_Sync();
    GA_Destroy(array);
}

/* All ranks draw numbers and, in between, accumulate elsewhere in the same array. */
CASE(draws_among_accs) {
    int dims[] = {8}, lo[] = {1}, hi[] = {7}, total = 0;
    int array = NGA_Create(C_LONG, 1, dims, "mixed", NULL);
    long ones[] = {1, 1, 1, 1, 1, 1, 1}, all[8], one = 1;
    GA_Zero(array);
    for (int i = 0; i < 40; i++) {
        total += read_inc(array, 0, 1) >= 0;
        NGA_Acc(array, lo, hi, ones, NULL, &one);
    }
    GA_Sync();
    lo[0] = 0;
    NGA_Get(array, lo, hi, all, NULL);
    for (int i = 0; i < 8; i++)
        expect_eq(all[i], 40 * ranks);
    expect_eq(total, 40);
    GA_Sync();
    GA_Destroy(array);
}

/* Reads, adds and writes back by get and put: only the mutex makes this atomic. */
static void change_under_mutex(int array, int place, bool other_names) {
    int at[] = {place};
    long value;
    if (other_names)
        NGA_Lock(place);
    else
        GA_Lock(place);
    NGA_Get(array, at, at, &value, NULL);
    value += me + 1;
    GA_Init_fence();
    NGA_Put(array, at, at, &value, NULL);
    GA_Fence(); /* a put returns at local completion; the next holder must see it */
    if (other_names)
        NGA_Unlock(place);
    else
        GA_Unlock(place);
}

CASE(mutexes) {
    enum { MUTEXES = 3, ROUNDS = 15 };
    int dims[] = {MUTEXES}, lo[] = {0}, hi[] = {MUTEXES - 1};
    for (int names = 0; names < 2; names++) {
        int array = NGA_Create(C_LONG, 1, dims, "guarded", NULL);
        long all[MUTEXES];
        GA_Zero(array);
        expect(GA_Create_mutexes(MUTEXES));
        for (int i = 0; i < ROUNDS * MUTEXES; i++)
            change_under_mutex(array, i % MUTEXES, names);
        GA_Sync();
        NGA_Get(array, lo, hi, all, NULL);
        for (int i = 0; i < MUTEXES; i++)
            expect_eq(all[i], (long)ROUNDS * ranks * (ranks + 1) / 2);
        expect(names ? NGA_Destroy_mutexes() : GA_Destroy_mutexes());
        GA_Destroy(array);
    }
}

/* Data for the next rank, a fence, then a notification: a rank that sees the notification sees all of the data. */
CASE(fence_before_the_news) {
    enum { WORDS = 500 };
    int dims[] = {ranks, WORDS}, flags_dims[] = {ranks}, next = (me + 1) % ranks;
    int chunk[] = {1, WORDS};
    int data = NGA_Create(C_LONG, 2, dims, "data", chunk),
        flags = NGA_Create(C_LONG, 1, flags_dims, "flags", NULL);
    long *words = need(WORDS * sizeof *words);
    GA_Zero(data);
    GA_Zero(flags);
    for (int round = 1; round <= 10; round++) {
        int lo[] = {next, 0}, hi[] = {next, WORDS - 1}, ld[] = {WORDS}, mine[] = {me};
        for (int i = 0; i < WORDS; i++)
            words[i] = round * 1000 + i + me;
        if (turn()) {
            GA_Init_fence();
            NGA_Put(data, lo, hi, words, ld);
            GA_Fence();
        } else {
            NGA_Init_fence();
            NGA_Put(data, lo, hi, words, ld);
            NGA_Fence();
        }
        read_inc(flags, next, 1);
        while (NGA_Read_inc(flags, mine, 0) < round)
            ;
        lo[0] = hi[0] = me;
        NGA_Get(data, lo, hi, words, ld);
        for (int i = 0; i < WORDS; i++)
            expect_eq(words[i], round * 1000 + i + (me + ranks - 1) % ranks);
        GA_Sync();
    }
    free(words);
    GA_Destroy(data);
    GA_Destroy(flags);
}
