/* unit_pages_replace.c: compares the choice of victims with lists kept in the simplest way. */
#include "test.h"

#include <stdatomic.h>
#include <time.h>

#include "base/random.h"
#include "pages/pool/replace.h"

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
    pages_replace_open(&replace, policy, frames);
}

static void add(uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        pages_replace_add(&replace, links, first + i, first + i + 1);
}

static void use(uint32_t frame) {
    atomic_store_explicit(&links[frame].used, 1, memory_order_relaxed);
}

/* -1: none. */
static int propose(void) {
    uint32_t frame = 0;
    bool found = pages_replace_propose(&replace, links, is_only, only, &frame);
    expect(pages_replace_check(&replace, links));
    return found ? (int)frame : -1;
}

/* As a pool does: the proposed frame is evicted. */
static int take(void) {
    int frame = propose();
    if (frame >= 0)
        pages_replace_remove(&replace, links, (uint32_t)frame);
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
    expect_eq(take(), 0); /* LRU is empty, so from FIFO, although it has less than half */
    expect_eq(take(), 1);
    expect_eq(take(), -1);
}

/* A page that was the only copy when it was kept, and that another node has fetched since. */
TEST(kept_page_that_others_have_too_goes_before_a_new_one)
{
    begin(REPLACE_LRU_KEEP, 8);
    add(0, 8);
    for (int i = 0; i < 8; i++)
        only[i] = true;
    expect_eq(propose(), 4); /* 0 to 3 are kept; the pool has no more room for kept pages */
    only[0] = only[1] = only[2] = false;
    use(1);
    expect_eq(take(), 0);
    expect_eq(links[1].list, REPLACE_IN_FIFO);
    expect_eq(replace.lists[REPLACE_IN_FIFO].count, 3);
    only[0] = true;
    add(0, 1);
    expect_eq(take(), 2); /* 5 takes the place of 0; 1 is in use */
    expect_eq(links[1].list, REPLACE_IN_LRU);
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
    expect_eq(take(), 5); /* 0 moves behind 7, and only 1 to 4 to FIFO */
    use(1);
    only[6] = only[7] = true; /* so that FIFO has more than half, with 1 as its head */
    expect_eq(take(), 2);
    expect_eq(links[1].list, REPLACE_IN_LRU);
    expect_eq(links[6].list, REPLACE_IN_FIFO);
}

/* A pool in which every page is the only copy. */
enum { MOST_PAGES = 1024 };
static int frame_of[MOST_PAGES], page_in[FRAMES];
static uint32_t filled;

static void begin_with_pages(enum replace_policy policy) {
    begin(policy, FRAMES);
    memset(frame_of, -1, sizeof(frame_of));
    memset(only, 1, sizeof(only));
    filled = 0;
}

/* Returns whether it was cached. */
static bool visit(uint32_t page) {
    if (frame_of[page] >= 0) {
        use((uint32_t)frame_of[page]);
        return true;
    }
    bool is_full = filled == FRAMES;
    int frame = is_full ? take() : (int)filled++;
    if (is_full)
        frame_of[page_in[frame]] = -1;
    page_in[frame] = (int)page;
    frame_of[page] = frame;
    pages_replace_add(&replace, links, (uint32_t)frame, pages_replace_name(3, page));
    return false;
}

/* Walks all of `pages` in order several times; returns the hits of the last walk. */
static int found_in_a_walk(enum replace_policy policy, uint32_t pages, int walks) {
    int found = 0;
    begin_with_pages(policy);
    for (uint32_t i = 0; i < pages * (uint32_t)walks; i++) {
        if (i % pages == 0)
            found = 0;
        found += visit(i % pages);
    }
    return found;
}

TEST(a_long_walk_leaves_what_is_kept)
{
    expect_eq(found_in_a_walk(REPLACE_LRU, 3 * FRAMES, 6), 0);
    expect_eq(found_in_a_walk(REPLACE_LRU_FIFO, 3 * FRAMES, 6), 0);
    expect(found_in_a_walk(REPLACE_LRU_KEEP, 3 * FRAMES / 2, 6) >= FRAMES / 3);
    expect(found_in_a_walk(REPLACE_LRU_KEEP, 3 * FRAMES, 6) >= FRAMES / 4);
}

/* A program that uses some pages at random for a while, then others, in 20 turns. Returns the hit ratio in percent. */
static int found_after_turns(enum replace_policy policy, uint32_t pages, uint32_t visits) {
    struct random r;
    int found = 0;
    random_seed(&r, 1);
    begin_with_pages(policy);
    for (uint32_t turn = 0; turn < 20; turn++)
        for (uint32_t i = 0; i < visits; i++)
            found += visit(turn * pages + random_below(&r, pages));
    return 100 * found / (20 * (int)visits);
}

TEST(who_turns_to_other_pages_finds_them_soon)
{
    int lru = found_after_turns(REPLACE_LRU, 35, 12 * 35);
    int keep = found_after_turns(REPLACE_LRU_KEEP, 35, 12 * 35);
    printf("found %d of 100, by LRU %d\n", keep, lru);
    expect(keep >= lru - 10);
}

/* Two walks through the same pages, one some pages behind the other. Returns the hit ratio of the second in percent. */
static int found_by_the_second(enum replace_policy policy, uint32_t behind, uint32_t visits) {
    int found = 0;
    begin_with_pages(policy);
    for (uint32_t i = 0; i < visits; i++) {
        visit(i % MOST_PAGES);
        found += i >= behind && visit((i - behind) % MOST_PAGES);
    }
    return 100 * found / (int)visits;
}

TEST(who_follows_a_walk_finds_its_pages)
{
    for (uint32_t behind = 2; behind <= FRAMES / 4; behind++)
        expect(found_by_the_second(REPLACE_LRU_KEEP, behind, 4 * MOST_PAGES) >= 90);
}

/* Frames that were used for other pages are reclaimed. */
TEST(a_walk_after_turns_finds_what_is_kept)
{
    enum { PAGES = 3 * FRAMES / 2, WALKS = 40 };
    int found = 0;
    found_after_turns(REPLACE_LRU_KEEP, 35, 12 * 35);
    for (int i = 0; i < WALKS * PAGES; i++)
        found += visit((uint32_t)(i % PAGES));
    expect(found >= WALKS * FRAMES / 4);
}

/* The names of as many kept pages as a table has slots occupy about 63 % of the slots, as random names would. */
TEST(names_of_kept_pages_are_spread)
{
    static uint8_t taken[600];
    for (uint32_t nodes = 2; nodes <= 8; nodes++)
        for (uint32_t places = 100; places < sizeof(taken); places++) {
            uint32_t kept = 0, spread = 0;
            memset(taken, 0, sizeof(taken));
            for (uint32_t page = 0; kept < places; page++) {
                if (!pages_replace_is_keeper(1, page, nodes, 1))
                    continue;
                uint8_t *place = &taken[pages_replace_name(1, page) % places];
                spread += !*place;
                *place = 1;
                kept++;
            }
            if (spread < places / 2) {
                printf("%u nodes, %u places: %u\n", nodes, places, spread);
                expect(spread >= places / 2);
                return;
            }
        }
}

TEST(what_is_kept_but_of_no_use_goes_in_time)
{
    begin(REPLACE_LRU_KEEP, 8);
    memset(only, 1, sizeof(only));
    add(0, 8);
    int gone = 0;
    for (int i = 0; i < 200; i++) { /* new pages one after the other; the first ones are not used again */
        int frame = take();
        gone += links[0].list == REPLACE_NONE;
        if (gone)
            break;
        pages_replace_add(&replace, links, (uint32_t)frame, (uint32_t)i + 1);
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

/* Every proposed frame is refused. With few only copies, FIFO is below half and all of LRU is refused; with many, FIFO is
 * above half and refused while LRU is not empty. */
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

/* Also while more pages are kept than there should be. */
TEST(all_have_their_turn_while_room_is_made)
{
    for (uint32_t kept = 1; kept < FRAMES / 2; kept++) {
        bool proposed[FRAMES] = {false};
        begin(REPLACE_LRU_KEEP, FRAMES);
        memset(only, 1, sizeof(only));
        add(0, FRAMES);
        propose(); /* half of them move to FIFO */
        expect_eq(replace.lists[REPLACE_IN_FIFO].count, FRAMES / 2);
        replace.room = FRAMES - kept;
        for (int i = 0; i < 2 * FRAMES; i++)
            proposed[propose()] = true;
        for (int i = 0; i < FRAMES; i++)
            expect(proposed[i]);
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

/* Everything is in use all the time. */
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
            expect(pages_replace_propose(&replace, links, is_only_and_all_are_used, only, &frame));
        }
        expect(looks <= 5 * FRAMES * FRAMES);
        expect(pages_replace_check(&replace, links));
    }
}

TEST(a_broken_list_is_noticed)
{
    begin(REPLACE_LRU_FIFO, 8);
    add(0, 4);
    expect(pages_replace_check(&replace, links));
    links[2].older = 1;
    expect(!pages_replace_check(&replace, links));
    links[2].older = 2;
    links[1].list = REPLACE_IN_FIFO;
    expect(!pages_replace_check(&replace, links));
    links[1].list = REPLACE_IN_LRU;
    links[3].newer = 1; /* a cycle */
    expect(!pages_replace_check(&replace, links));
    links[3].newer = 0;
    replace.lists[REPLACE_IN_LRU].count = 3;
    expect(!pages_replace_check(&replace, links));
    replace.lists[REPLACE_IN_LRU].count = 4;
    links[6].list = REPLACE_IN_LRU;
    expect(!pages_replace_check(&replace, links));
}

/* ---- the model: two arrays, oldest first ---- */

struct model {
    int lru[FRAMES], fifo[FRAMES], lrus, fifos;
    int mark[FRAMES]; /* 1 used, 2 refused */
    uint32_t name[FRAMES], gone[FRAMES / 2 + 1], when[FRAMES / 2 + 1], victims;
    int room;
    bool came_back[FRAMES];
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

/* Called when FIFO has its maximum or more; returns whether its head is evicted. */
static bool model_displaces(struct model *m, int f) {
    int head = m->fifo[0], mark = m->mark[head];
    bool too_many = m->fifos > FRAMES - m->room;
    m->mark[head] = 0;
    if (mark == 1 && m->room > FRAMES / 2)
        m->room--;
    if (mark) {
        pop(m->fifo, &m->fifos);
        if (mark == 1 && too_many)
            m->lru[m->lrus++] = head;
        else
            m->fifo[m->fifos++] = head;
        return false;
    }
    if (!too_many && !m->came_back[f] && ++m->newcomers % 8 != 0)
        return false;
    pop(m->fifo, &m->fifos);
    if (too_many) {
        memmove(m->lru + 1, m->lru, (size_t)m->lrus++ * sizeof(int)); /* it stays where it was */
        m->lru[0] = f;
    } else {
        m->fifo[m->fifos++] = f;
    }
    m->fifo[m->fifos++] = head;
    return true;
}

/* FIFO is full. Returns whether its head is evicted because other nodes have it too. */
static bool model_gives_way(struct model *m, int f) {
    int head = m->fifo[0], mark = m->mark[head];
    if (only[head])
        return false;
    m->mark[head] = 0;
    pop(m->fifo, &m->fifos);
    if (mark == 1)
        m->lru[m->lrus++] = head;
    else
        m->fifo[m->fifos++] = head;
    if (mark)
        return false;
    memmove(m->lru + 1, m->lru, (size_t)m->lrus++ * sizeof(int)); /* it stays where it was */
    m->lru[0] = f;
    return true;
}

/* Returns the victim: the new page, or the head of FIFO in its place; -1: the new page has joined FIFO. */
static int model_joins(struct model *m, int f) {
    int first = m->fifos ? m->fifo[0] : -1;
    if (m->fifos >= FRAMES - m->room && first >= 0 && model_gives_way(m, f))
        return first;
    if (m->fifos < FRAMES - m->room) {
        m->fifo[m->fifos++] = f;
        return -1;
    }
    int head = m->fifos ? m->fifo[0] : -1;
    if (head >= 0 && model_displaces(m, f))
        return head;
    m->lru[m->lrus++] = f;
    m->gone[m->name[f] % (FRAMES / 2 + 1)] = m->name[f];
    m->when[m->name[f] % (FRAMES / 2 + 1)] = m->victims;
    return f;
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
            int victim = model_joins(m, f);
            if (victim >= 0) {
                m->mark[victim] = 2;
                return victim;
            }
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

static void model_add(struct model *m, uint32_t f, uint32_t name) {
    uint32_t *gone = &m->gone[name % (FRAMES / 2 + 1)];
    m->lru[m->lrus++] = (int)f;
    m->mark[f] = 0;
    m->name[f] = name;
    m->came_back[f] = *gone == name;
    if (!m->came_back[f])
        return;
    *gone = 0;
    uint32_t age = m->victims - m->when[name % (FRAMES / 2 + 1)], room = (uint32_t)m->room;
    if (age < 2 * room && age < FRAMES - room && room < FRAMES - FRAMES / 8)
        m->room++;
}

static void step(struct model *m, struct random *r, enum replace_policy policy) {
    uint32_t f = random_below(r, FRAMES), dice = random_below(r, 10);
    bool here = links[f].list != REPLACE_NONE;
    if (dice < 3 && !here) {
        only[f] = random_below(r, 2);
        model_add(m, f, 1 + random_below(r, 3 * FRAMES));
        pages_replace_add(&replace, links, f, m->name[f]);
    } else if (dice < 5 && here) {
        use(f);
        m->mark[f] = 1;
    } else if (dice == 5) {
        only[f] = !only[f];
    } else if (dice == 6 && here && random_below(r, 3) == 0) {
        pages_replace_remove(&replace, links, f);
        model_remove(m, (int)f);
    } else if (m->lrus + m->fifos) {
        int expected =
            policy == REPLACE_LRU ? model_lru(m) : model_lru_fifo(m, FRAMES, policy == REPLACE_LRU_KEEP);
        m->victims++;
        int got = propose();
        expect_eq(got, expected);
        if (random_below(r, 3) && got >= 0) {
            pages_replace_remove(&replace, links, (uint32_t)got);
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
        struct model m = {.room = FRAMES / 2};
        begin((enum replace_policy)policy, FRAMES);
        for (int i = 0; i < 50000 && !test_failures; i++)
            step(&m, &r, (enum replace_policy)policy);
    }
}
