/* unit_pages_replace.c: which frame goes first, against lists kept in the most simple way. */
#include "test.h"

#include <stdatomic.h>
#include <time.h>

#include "base/random.h"
#include "pages/replace.h"

enum { FRAMES = 40 };

static struct replace replace;
static struct replace_link links[FRAMES];
static bool only[FRAMES];
static unsigned looks;

static bool is_only(void *arg, uint32_t frame) {
    looks++;
    return ((bool *)arg)[frame];
}

static void begin(enum replace_policy policy, uint32_t frames) {
    memset(links, 0, sizeof(links));
    memset(only, 0, sizeof(only));
    replace_open(&replace, policy, frames);
}

static void add(uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        replace_add(&replace, links, first + i);
}

static void use(uint32_t frame) {
    atomic_store_explicit(&links[frame].used, 1, memory_order_relaxed);
}

/* -1: none. */
static int propose(void) {
    uint32_t frame = 0;
    bool found = replace_propose(&replace, links, is_only, only, &frame);
    expect(replace_check(&replace, links));
    return found ? (int)frame : -1;
}

/* As a pool does it: what is proposed goes. */
static int take(void) {
    int frame = propose();
    if (frame >= 0)
        replace_remove(&replace, links, (uint32_t)frame);
    return frame;
}

TEST(without_frames_there_is_no_victim)
{
    begin(REPLACE_LRU_FIFO, 8);
    expect_eq(propose(), -1);
    add(3, 1);
    expect_eq(take(), 3);
    expect_eq(propose(), -1);
}

TEST(the_oldest_goes_first_unless_it_was_used)
{
    for (int policy = REPLACE_LRU; policy <= REPLACE_LRU_KEEP; policy++) {
        begin((enum replace_policy)policy, 8);
        add(0, 5);
        use(0);
        use(2);
        expect_eq(take(), 1);
        expect_eq(take(), 3);
        expect_eq(take(), 4);
        expect_eq(take(), 0);
        expect_eq(take(), 2);
        expect_eq(take(), -1);
    }
}

TEST(lru_does_not_ask_who_else_has_the_page)
{
    begin(REPLACE_LRU, 8);
    add(0, 3);
    only[0] = true;
    looks = 0;
    expect_eq(take(), 0);
    expect_eq(looks, 0);
}

TEST(shared_copies_go_first)
{
    begin(REPLACE_LRU_FIFO, 8);
    add(0, 4);
    only[0] = only[1] = true;
    expect_eq(take(), 2);
    expect_eq(replace.lists[REPLACE_IN_FIFO].count, 2);
    expect_eq(take(), 3);
    expect_eq(take(), 0); /* nothing is in LRU: below the half, all the same */
    expect_eq(take(), 1);
    expect_eq(take(), -1);
}

TEST(more_than_half_in_fifo_and_its_head_goes)
{
    begin(REPLACE_LRU_FIFO, 8);
    add(0, 8);
    for (int i = 0; i < 5; i++)
        only[i] = true;
    expect_eq(take(), 0); /* 5 of 8: the shared ones stay */
    expect_eq(replace.lists[REPLACE_IN_FIFO].count, 4);
    expect_eq(replace.lists[REPLACE_IN_LRU].count, 3);
    expect_eq(take(), 5);
    expect_eq(take(), 6);
    expect_eq(take(), 7);
    expect_eq(take(), 1);
}

TEST(a_use_brings_it_back_from_fifo)
{
    begin(REPLACE_LRU_FIFO, 8);
    add(0, 8);
    for (int i = 0; i < 5; i++)
        only[i] = true;
    use(0);
    expect_eq(take(), 5); /* 0 goes behind 7, and only 1 to 4 into FIFO */
    use(1);
    only[6] = only[7] = true; /* so that FIFO has more than half, with 1 as its head */
    expect_eq(take(), 2);
    expect_eq(links[1].list, REPLACE_IN_LRU);
    expect_eq(links[6].list, REPLACE_IN_FIFO);
}

/* All of `pages` in order, some times, each the only copy; how many are found in the last walk. */
static int found_in_a_walk(enum replace_policy policy, uint32_t pages, int walks) {
    enum { MOST = 256 };
    int frame_of[MOST], page_in[FRAMES], found = 0;
    uint32_t filled = 0;
    begin(policy, FRAMES);
    memset(frame_of, -1, sizeof(frame_of));
    memset(only, 1, sizeof(only));
    for (uint32_t i = 0; i < pages * (uint32_t)walks; i++) {
        uint32_t page = i % pages;
        if (i % pages == 0)
            found = 0;
        if (frame_of[page] >= 0) {
            use((uint32_t)frame_of[page]);
            found++;
            continue;
        }
        int frame = filled < FRAMES ? (int)filled++ : take();
        if (i >= FRAMES && frame >= 0 && page_in[frame] >= 0)
            frame_of[page_in[frame]] = -1;
        page_in[frame] = (int)page;
        frame_of[page] = frame;
        replace_add(&replace, links, (uint32_t)frame);
    }
    return found;
}

TEST(a_long_walk_leaves_what_is_kept)
{
    expect_eq(found_in_a_walk(REPLACE_LRU, 3 * FRAMES, 6), 0);
    expect_eq(found_in_a_walk(REPLACE_LRU_FIFO, 3 * FRAMES, 6), 0);
    expect(found_in_a_walk(REPLACE_LRU_KEEP, 3 * FRAMES / 2, 6) >= FRAMES / 2 - 1);
    expect(found_in_a_walk(REPLACE_LRU_KEEP, 3 * FRAMES, 6) >= FRAMES / 4);
}

TEST(what_is_kept_but_of_no_use_goes_in_time)
{
    begin(REPLACE_LRU_KEEP, 8);
    memset(only, 1, sizeof(only));
    add(0, 8);
    int gone = 0;
    for (int i = 0; i < 200; i++) { /* newcomers, one after the other; nobody uses the first ones again */
        int frame = take();
        gone += links[0].list == REPLACE_NONE;
        if (gone)
            break;
        replace_add(&replace, links, (uint32_t)frame);
    }
    expect(gone);
}

TEST(what_is_refused_is_asked_again_after_the_others)
{
    for (int policy = REPLACE_LRU; policy <= REPLACE_LRU_KEEP; policy++) {
        begin((enum replace_policy)policy, 8);
        add(0, 4);
        for (int i = 0; i < 12; i++)
            expect_eq(propose(), i % 4);
    }
}

/* In LRU all are refused, FIFO is below half; then FIFO above half refuses, and LRU is not empty. */
static void all_have_their_turn(enum replace_policy policy, int shared) {
    begin(policy, 8);
    add(0, 8);
    for (int i = shared; i < 8; i++)
        only[i] = true;
    bool proposed[8] = {false};
    for (int i = 0; i < 16; i++)
        proposed[propose()] = true;
    for (int i = 0; i < 8; i++)
        expect(proposed[i]);
}

TEST(a_list_that_refuses_does_not_hide_the_other)
{
    for (int shared = 0; shared < 8; shared++) {
        all_have_their_turn(REPLACE_LRU_FIFO, shared);
        all_have_their_turn(REPLACE_LRU_KEEP, shared);
    }
}

TEST(a_use_after_a_refusal_counts)
{
    begin(REPLACE_LRU_FIFO, 8);
    add(0, 3);
    expect_eq(propose(), 0);
    use(0);
    expect_eq(propose(), 1);
    expect_eq(propose(), 2);
    expect_eq(propose(), 1); /* 0 has moved behind them */
}

/* Somebody uses everything all the time. */
static bool is_only_and_all_are_used(void *arg, uint32_t frame) {
    for (uint32_t f = 0; f < FRAMES; f++)
        use(f);
    return is_only(arg, frame);
}

TEST(the_walk_ends_while_others_use_everything)
{
    for (int policy = REPLACE_LRU; policy <= REPLACE_LRU_KEEP; policy++) {
        begin((enum replace_policy)policy, FRAMES);
        add(0, FRAMES);
        for (int i = 0; i < FRAMES; i++) {
            only[i] = i % 3 != 0;
            use((uint32_t)i);
        }
        looks = 0;
        for (int i = 0; i < FRAMES; i++) {
            uint32_t frame;
            expect(replace_propose(&replace, links, is_only_and_all_are_used, only, &frame));
        }
        expect(looks <= 5 * FRAMES * FRAMES);
        expect(replace_check(&replace, links));
    }
}

TEST(a_broken_list_is_noticed)
{
    begin(REPLACE_LRU_FIFO, 8);
    add(0, 4);
    expect(replace_check(&replace, links));
    links[2].older = 1;
    expect(!replace_check(&replace, links));
    links[2].older = 2;
    links[1].list = REPLACE_IN_FIFO;
    expect(!replace_check(&replace, links));
    links[1].list = REPLACE_IN_LRU;
    links[3].newer = 1; /* a ring */
    expect(!replace_check(&replace, links));
    links[3].newer = 0;
    replace.lists[REPLACE_IN_LRU].count = 3;
    expect(!replace_check(&replace, links));
    replace.lists[REPLACE_IN_LRU].count = 4;
    links[6].list = REPLACE_IN_LRU;
    expect(!replace_check(&replace, links));
}

/* ---- the model: two arrays, oldest first ---- */

struct model {
    int lru[FRAMES], fifo[FRAMES], lrus, fifos;
    int mark[FRAMES]; /* 1 used, 2 refused */
    unsigned newcomers;
};

static int pop(int *list, int *count) {
    int first = list[0];
    memmove(list, list + 1, (size_t)-- * count * sizeof(int));
    return first;
}

static void model_remove(struct model *m, int frame) {
    for (int i = 0; i < m->lrus; i++)
        if (m->lru[i] == frame) {
            memmove(m->lru + i, m->lru + i + 1, (size_t)(--m->lrus - i) * sizeof(int));
            return;
        }
    for (int i = 0; i < m->fifos; i++)
        if (m->fifo[i] == frame) {
            memmove(m->fifo + i, m->fifo + i + 1, (size_t)(--m->fifos - i) * sizeof(int));
            return;
        }
}

static int model_lru(struct model *m) {
    for (;;) {
        int f = pop(m->lru, &m->lrus), mark = m->mark[f];
        m->lru[m->lrus++] = f;
        m->mark[f] = 2;
        if (mark != 1)
            return f;
        m->mark[f] = 0;
    }
}

/* The newcomer, or the head of FIFO in its place; -1: it has joined. */
static int model_joins(struct model *m, int frames, int f) {
    if (m->fifos < frames / 2) {
        m->fifo[m->fifos++] = f;
        return -1;
    }
    int head = m->fifo[0], mark = m->mark[head], victim = f;
    m->mark[head] = 0;
    if (mark == 1) {
        pop(m->fifo, &m->fifos);
        m->fifo[m->fifos++] = head;
    } else if (++m->newcomers % 8 == 0) {
        victim = pop(m->fifo, &m->fifos);
        m->fifo[m->fifos++] = f;
        m->fifo[m->fifos++] = victim;
    }
    if (victim == f)
        m->lru[m->lrus++] = f;
    m->mark[victim] = 2;
    return victim;
}

static int model_lru_fifo(struct model *m, int frames, bool keep) {
    bool other = false;
    for (;;) {
        bool fifo = m->fifos && (!m->lrus || (!keep && m->fifos > frames / 2) != other);
        int f = fifo ? pop(m->fifo, &m->fifos) : pop(m->lru, &m->lrus);
        int mark = m->mark[f];
        m->mark[f] = 0;
        if (mark == 1) {
            m->lru[m->lrus++] = f;
        } else if (mark == 2 && !other && (fifo ? m->lrus : m->fifos)) {
            other = true;
            if (fifo)
                m->fifo[m->fifos++] = f;
            else
                m->lru[m->lrus++] = f;
        } else if (!fifo && only[f] && keep) {
            int victim = model_joins(m, frames, f);
            if (victim >= 0)
                return victim;
        } else if (!fifo && only[f]) {
            m->fifo[m->fifos++] = f;
        } else {
            if (fifo)
                m->fifo[m->fifos++] = f;
            else
                m->lru[m->lrus++] = f;
            m->mark[f] = 2;
            return f;
        }
    }
}

static void step(struct model *m, struct random *r, enum replace_policy policy) {
    uint32_t f = random_below(r, FRAMES), dice = random_below(r, 10);
    bool here = links[f].list != REPLACE_NONE;
    if (dice < 3 && !here) {
        only[f] = random_below(r, 2);
        replace_add(&replace, links, f);
        m->lru[m->lrus++] = (int)f;
        m->mark[f] = 0;
    } else if (dice < 5 && here) {
        use(f);
        m->mark[f] = 1;
    } else if (dice == 5) {
        only[f] = !only[f];
    } else if (dice == 6 && here && random_below(r, 3) == 0) {
        replace_remove(&replace, links, f);
        model_remove(m, (int)f);
    } else if (m->lrus + m->fifos) {
        int expected =
            policy == REPLACE_LRU ? model_lru(m) : model_lru_fifo(m, FRAMES, policy == REPLACE_LRU_KEEP);
        int got = propose();
        expect_eq(got, expected);
        if (random_below(r, 3) && got >= 0) {
            replace_remove(&replace, links, (uint32_t)got);
            model_remove(m, got);
        }
    } else {
        expect_eq(propose(), -1);
    }
    expect_eq(replace.lists[REPLACE_IN_LRU].count, m->lrus);
    expect_eq(replace.lists[REPLACE_IN_FIFO].count, m->fifos);
}

TEST(random_steps_as_the_model_says)
{
    const char *text = getenv("SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)seed);
    struct random r;
    random_seed(&r, seed);
    for (int policy = REPLACE_LRU; policy <= REPLACE_LRU_KEEP; policy++) {
        struct model m = {.lrus = 0};
        begin((enum replace_policy)policy, FRAMES);
        for (int i = 0; i < 50000 && !test_failures; i++)
            step(&m, &r, (enum replace_policy)policy);
    }
}
