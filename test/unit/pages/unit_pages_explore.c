/* unit_pages_explore.c: explores every state that a few caches and their home can reach, in every order of messages,
 * I/O and requests; pages_world.h defines a state and its invariants.
 *
 * asan: full; tsan: no, for it has one thread. The search is breadth first. Each state is stored once, with its zeros
 * compressed. In each state
 *
 *      no readable copy is stale; a writer has the only copy; the latest data exists somewhere;
 *      no message reaches a receiver that does not expect it; nothing allocates;
 *      if nothing is pending, the directory knows exactly which node has which copy, and every copy can be dropped.
 *
 * Steps are of two kinds: requests of a node (to read, to write, to drop), and internal steps: messages, I/O,
 * releasing pins, unmapping. By internal steps alone every path must end, and only in states with nothing pending. So
 * whatever has begun completes, in any order, without a new request.
 *
 * Then faults are injected, those of the paper and other likely ones, and the exploration must find each.
 *
 *      unit_pages_explore                setups that take seconds; in the quick tier without the largest of them, and
 *                                     without combinations whose parts others have
 *      unit_pages_explore large          setups that take minutes, with 1 GB of memory
 *      unit_pages_explore --nodes N --pages N --may BITS --coop 0|1 ...      one setup: see main */
#include <signal.h>

#include "base/clock.h"
#include "pages_world.h"

/* ---- no allocation ---- */

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) {
    if (in_machine)
        abort();
    return __real_malloc(bytes);
}

/* ---- visited states ---- */

enum { RAW = sizeof(struct world) };

struct origin {
    uint32_t from;
    uint16_t step;
};

static uint8_t *bytes; /* of all states, zeros compressed */
static size_t bytes_used, bytes_room;
static size_t *starts; /* of each state, and the end of the last */
static struct origin *origins;
static uint32_t states, states_room, *table, table_size;
static struct edge { uint32_t from, to; } * edges; /* internal steps */
static size_t edge_count, edge_room;

static void *grow(void *old, size_t size) {
    void *p = realloc(old, size);
    if (!p) {
        printf("FAIL pages_explore: no memory for %zu bytes\n", size);
        exit(1);
    }
    return p;
}

/* Eight bytes, or the last ones and zeros. */
static inline uint64_t word_at(const uint8_t *p, size_t size) {
    uint64_t word = 0;
    if (size >= sizeof word)
        memcpy(&word, p, sizeof word);
    else
        memcpy(&word, p, size);
    return word;
}

/* Each eight bytes become a mask that says which are not zero, and these, in order. Words of zeros become a zero and their number. There is
 * no branch for each byte: this and the hash take most of the test's time. */
static size_t pack(const uint8_t *raw, size_t size, uint8_t *packed) {
    size_t n = 0;
    for (size_t i = 0; i < size;) {
        uint64_t word = word_at(raw + i, size - i);
        unsigned mask = 0, words = 0;
        for (; i < size && words < 255 && !word_at(raw + i, size - i); i += 8)
            words++;
        if (words) {
            packed[n++] = 0;
            packed[n++] = (uint8_t)words;
            continue;
        }
        size_t at = n++;
        for (unsigned k = 0; k < 8; k++, word >>= 8) {
            bool some = (word & 255) != 0;
            packed[n] = (uint8_t)word;
            n += some;
            mask |= (unsigned)some << k;
        }
        packed[at] = (uint8_t)mask;
        i += 8;
    }
    return n;
}

static void unpack(uint32_t state) {
    uint8_t *raw = (uint8_t *)&now;
    memset(&now, 0, sizeof now);
    for (size_t i = starts[state]; i < starts[state + 1];) {
        unsigned mask = bytes[i++];
        if (!mask) {
            raw += 8 * bytes[i++];
            continue;
        }
        for (; mask; mask &= mask - 1)
            raw[__builtin_ctz(mask)] = bytes[i++];
        raw += 8;
    }
}

static uint64_t hash_of(const uint8_t *p, size_t size) {
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < size; i += 8) {
        h = (h ^ word_at(p + i, size - i)) * 0x9fb21c651e98df25u;
        h ^= h >> 32;
    }
    return h;
}

static void insert(uint32_t state) {
    uint64_t h = hash_of(bytes + starts[state], starts[state + 1] - starts[state]);
    uint32_t i = (uint32_t)h & (table_size - 1);
    while (table[i])
        i = (i + 1) & (table_size - 1);
    table[i] = state + 1;
}

static void make_room(void) {
    if (bytes_used + 2 * RAW > bytes_room)
        bytes = grow(bytes, bytes_room = 2 * bytes_room + 4 * RAW);
    if (states + 2 > states_room) {
        states_room = states_room * 2 + 1024;
        starts = grow(starts, states_room * sizeof *starts);
        origins = grow(origins, states_room * sizeof *origins);
    }
    if (2 * (states + 1) <= table_size)
        return;
    free(table);
    table = grow(NULL, (table_size = table_size ? table_size * 2 : 4096) * sizeof *table);
    memset(table, 0, table_size * sizeof *table);
    for (uint32_t i = 0; i < states; i++)
        insert(i);
}

/* Returns its number; a new state increments `states`. */
static uint32_t remember(uint32_t from, unsigned step) {
    make_room();
    starts[states] = bytes_used;
    size_t raw = offsetof(struct world, flight) + now.flights * sizeof now.flight[0];
    size_t size = pack((const uint8_t *)&now, raw, bytes + bytes_used);
    uint32_t i = (uint32_t)hash_of(bytes + bytes_used, size) & (table_size - 1);
    for (; table[i]; i = (i + 1) & (table_size - 1)) {
        uint32_t other = table[i] - 1;
        if (starts[other + 1] - starts[other] == size &&
            !memcmp(bytes + starts[other], bytes + bytes_used, size))
            return other;
    }
    table[i] = states + 1;
    origins[states] = (struct origin){.from = from, .step = (uint16_t)step};
    bytes_used += size;
    starts[states + 1] = bytes_used;
    return states++;
}

static void note_edge(uint32_t from, uint32_t to) {
    if (edge_count == edge_room)
        edges = grow(edges, (edge_room = edge_room * 2 + 4096) * sizeof *edges);
    edges[edge_count++] = (struct edge){from, to};
}

static void forget_all(void) {
    free(bytes);
    free(starts);
    free(origins);
    free(table);
    free(edges);
    bytes = NULL, starts = NULL, origins = NULL, table = NULL, edges = NULL;
    bytes_used = bytes_room = edge_count = edge_room = 0;
    states = states_room = table_size = 0;
}

/* ---- steps ---- */

/* A step is a number: what * 64 + which. The internal steps come first. */
enum what {
    DELIVER,
    START,
    FINISH,
    RELEASE,
    RELEASE_MAPPED,
    UNMAPPED,
    WISHES,
    READ = WISHES,
    WRITE,
    OVERWRITE,
    PREFETCH,
    EVICT,
    SMALL_GET,
    SMALL_PUT,
    STORE,
    WHATS
};
static const char *const what_names[] = {"deliver",  "begin",     "I/O done",  "let go",    "let go, mapped",
                                         "unmapped", "read",      "write",     "overwrite", "prefetch",
                                         "drop",     "small get", "small put", "store"};
static const char *const kind_names[PAGES_KINDS] = {
    "-",     "GETS",           "GETX",     "PUT",      "SMALL", "FWD_S", "FWD_X",   "FWD_SMALL", "INV",
    "OWN",   "WRITEBACK_REQ",  "RECALL_S", "RECALL_X", "DATA",  "GRANT", "PUT_ACK", "ANSWER",    "IACK",
    "OWNED", "WRITEBACK_DATA", "APPLIED",  "UNBLOCK"};

static bool wish(enum what what, uint32_t page, uint32_t node) {
    static const unsigned may[WHATS] = {
        [READ] = MAY_READ,         [WRITE] = MAY_WRITE,         [OVERWRITE] = MAY_OVERWRITE,
        [PREFETCH] = MAY_PREFETCH, [EVICT] = MAY_EVICT,         [SMALL_GET] = MAY_SMALL_GET,
        [STORE] = MAY_MAP,         [SMALL_PUT] = MAY_SMALL_PUT,
    };
    if (!(setup.may & may[what]))
        return false;
    switch (what) {
    case READ:
        return acquire(page, node, TO_READ);
    case WRITE:
        return acquire(page, node, TO_WRITE);
    case OVERWRITE:
        return acquire(page, node, TO_OVERWRITE);
    case PREFETCH:
        return prefetch(page, node);
    case EVICT:
        return evict(page, node);
    case STORE:
        return store(page, node);
    default:
        return ask_small(page, node, what == SMALL_PUT);
    }
}

/* Returns false if the step is not possible in this state. */
static bool take_step(unsigned step) {
    enum what what = (enum what)(step / 64);
    uint32_t which = step % 64, page = which / WORLD_NODES, node = which % WORLD_NODES;
    if (what == DELIVER) {
        if (which >= now.flights ||
            (which && !memcmp(&now.flight[which], &now.flight[which - 1], sizeof now.flight[0])))
            return false;
        deliver(which);
        return true;
    }
    if (what == START)
        return !which && setup.late && start_one();
    if (page >= setup.pages || node >= setup.nodes)
        return false;
    const struct pages_control *c = &now.control[page][node];
    switch (what) {
    case FINISH:
        if (node || !now.io[page])
            return false;
        finish_io(page);
        return true;
    case RELEASE:
    case RELEASE_MAPPED:
        if ((!c->readers && !c->writers) ||
            (what == RELEASE_MAPPED && (!(setup.may & MAY_MAP) || is_filling(c))))
            return false;
        release(page, node, what == RELEASE_MAPPED);
        return true;
    case UNMAPPED:
        if (!now.lowering[page][node])
            return false;
        unmapped(page, node, (enum pages_level)(now.lowering[page][node] - 1));
        return true;
    default:
        return wish(what, page, node);
    }
}

static unsigned last_of(enum what what) {
    return what == DELIVER ? now.flights : setup.pages * WORLD_NODES;
}

/* ---- errors ---- */

static uint32_t at_state;
static unsigned at_step;

static void describe(unsigned step) {
    uint32_t which = step % 64;
    if (step / 64 != DELIVER) {
        printf("    %s: page %u, node %u\n", what_names[step / 64], which / WORLD_NODES, which % WORLD_NODES);
        return;
    }
    const struct pages_message *m = &now.flight[which].m;
    printf("    %s: page %u, from %u to %u%s, for %u, flags %u\n", kind_names[m->kind], m->page, m->from,
           m->to, pages_is_for_home((enum pages_kind)m->kind) ? " (home)" : "", m->peer, m->flags);
}

static void print_path(void) {
    static uint32_t path[4096];
    uint32_t length = 0;
    for (uint32_t s = at_state; s && length < 4096; s = origins[s].from)
        path[length++] = s;
    while (length--) {
        unpack(origins[path[length]].from);
        describe(origins[path[length]].step);
    }
    unpack(at_state);
    describe(at_step);
}

static void report(void) {
    printf("FAIL pages_explore: %s, in state %u of %u nodes, %u pages:\n", violation, at_state, setup.nodes,
           setup.pages);
    print_path();
}

/* A check in the code under test has failed. */
static void on_abort(int signal_number) {
    violation = "an invariant of a machine";
    report();
    fflush(stdout);
    _Exit(1);
}

/* ---- exploration ---- */

/* One step from `here`, if it is possible: `now` equals `here` before and after. */
static struct world here;

static void restore(void) { /* messages beyond the last are never read */
    memcpy(&now, &here, offsetof(struct world, flight) + here.flights * sizeof here.flight[0]);
}

static bool try_step(void) {
    if (!take_step(at_step))
        return false;
    check_world();
    uint32_t to = remember(at_state, at_step);
    /* RELEASE_MAPPED is not counted: RELEASE is possible in the same state, so every path can end without a mapping. */
    if (at_step / 64 < WISHES && at_step / 64 != RELEASE_MAPPED)
        note_edge(at_state, to);
    restore();
    return true;
}

/* When nothing is pending, every copy can be dropped, so that a node can use the frame for another page. */
static bool must_be_dropped(unsigned what, unsigned which) {
    uint32_t page = which / WORLD_NODES, node = which % WORLD_NODES;
    return what == EVICT && setup.may & MAY_EVICT && page < setup.pages && node < setup.nodes &&
           now.control[page][node].state != PAGES_I && is_quiet();
}

/* All steps from this state. */
static void expand(void) {
    bool goes_on = false;
    for (unsigned what = 0; what < WHATS; what++)
        for (unsigned which = 0; which < last_of((enum what)what); which++) {
            bool must = must_be_dropped(what, which);
            at_step = what * 64 + which;
            bool taken = try_step();
            must_hold(taken || !must, "a copy cannot be dropped, though nothing is under way");
            goes_on |= taken && what < WISHES;
        }
    at_step = 0;
    must_hold(goes_on || is_quiet(), "nothing goes on, though something is under way");
}

/* Returns false if an invariant is violated. */
static bool expand_state(uint32_t state) {
    at_state = state;
    unpack(state);
    here = now;
    if (setjmp(broken))
        return in_machine = false;
    expand();
    return true;
}

/* Repeatedly removes states without an internal step to a remaining state. The states that remain are on or before a cycle. */
static bool ends_everywhere(void) {
    uint32_t *degree = grow(NULL, (states + 1) * sizeof *degree), *stack = grow(NULL, (states + 1) * 4ul);
    size_t *first = grow(NULL, (states + 2ul) * sizeof *first);
    uint32_t *into = grow(NULL, (edge_count + 1) * sizeof *into), depth = 0, left = states;
    memset(degree, 0, states * sizeof *degree);
    memset(first, 0, (states + 2ul) * sizeof *first);
    for (size_t i = 0; i < edge_count; i++) {
        degree[edges[i].from]++;
        first[edges[i].to + 2]++;
    }
    for (uint32_t i = 0; i < states; i++)
        first[i + 2] += first[i + 1];
    for (size_t i = 0; i < edge_count; i++)
        into[first[edges[i].to + 1]++] = edges[i].from;
    for (uint32_t i = 0; i < states; i++)
        if (!degree[i])
            stack[depth++] = i;
    while (depth) {
        uint32_t s = stack[--depth];
        left--;
        for (size_t i = first[s]; i < first[s + 1]; i++)
            if (!--degree[into[i]])
                stack[depth++] = into[i];
    }
    free(degree);
    free(first);
    free(into);
    free(stack);
    violation = "something goes round in circles";
    return !left;
}

/* Returns whether all invariants hold in all states, or in the first `most`. */
static bool explore(uint32_t most) {
    forget_all();
    open_world();
    remember(0, 0);
    uint32_t done = 0;
    for (; done < states && done < most; done++)
        if (!expand_state(done))
            return false;
    return done < states || ends_everywhere();
}

static const char *describe_setup(void) {
    static char text[160];
    snprintf(text, sizeof text, "%u nodes, %u page%s%s, may %u%s%s%s%s", setup.nodes, setup.pages,
             setup.pages > 1 ? "s" : "", setup.frames ? " in fewer frames" : "", setup.may,
             setup.late ? ", begun late" : "", setup.many_smalls ? ", many small ones" : "",
             setup.coop ? "" : ", each for itself", setup.coop && !setup.hand_over ? ", written back" : "");
    return text;
}

static unsigned passed, failed;

static void must_hold_in(struct setup s, uint32_t most) {
    uint64_t start = clock_ns();
    setup = s;
    if (!explore(most)) {
        report();
        printf("%u passed, 1 failed\n", passed);
        exit(1);
    }
    printf("ok %s: %u states%s, %.1f s\n", describe_setup(), states,
           states > most ? ", as far as this goes" : " and no more", (double)(clock_ns() - start) / 1e9);
    fflush(stdout);
    passed++;
}

static void must_be_noticed(enum fault fault, const char *what, struct setup s) {
    s.fault = fault;
    setup = s;
    if (explore(3000000)) {
        printf("FAIL pages_explore: not noticed in %u states: %s\n", states, what);
        failed++;
        return;
    }
    printf("ok noticed: %s: %s\n", what, violation);
    passed++;
}

enum { PLAIN = MAY_READ | MAY_WRITE | MAY_EVICT, SMALL = MAY_SMALL_GET | MAY_SMALL_PUT };

static void notice_faults(void) {
    struct setup two = {.nodes = 2, .pages = 1, .may = PLAIN, .coop = true};
    struct setup three = {.nodes = 3, .pages = 1, .may = PLAIN, .coop = true};
    must_be_noticed(OWNED_NOT_WRITTEN, "an Owned page is not written back", two);
    must_be_noticed(SHARED_SILENT, "a Shared page is dropped silently", two);
    must_be_noticed(GRANTED_EARLY, "a write is granted before all have acknowledged", three);
    must_be_noticed(EXCLUSIVE_STORE, "a store into E that nobody hears of",
                    (struct setup){.nodes = 2, .pages = 1, .may = MAY_ALL, .coop = true});
    must_be_noticed(FROZEN_READ, "a copy is read while it is being dropped", two);
}

/* The quick tier leaves out the largest setup of the first variant, all requests and small operations on pages that are also overwritten, and those
 * of the later variants, which differ from the first in what happens to a page that is dropped: unit_pages_random.c has small operations in all of
 * them, and other setups of two nodes have overwritten pages. */
static void explore_quickly(void) {
    const char *tier = getenv("HEARTH_TEST_TIER");
    bool all = !tier || strcmp(tier, "quick");
    for (int variant = 0; variant < 3; variant++) {
        struct setup s = {
            .nodes = 2, .pages = 1, .may = MAY_ALL, .coop = variant < 2, .hand_over = variant < 1};
        s.may &= variant || !all ? ~(unsigned)MAY_OVERWRITE : MAY_ALL;
        if (all || variant != 1)
            must_hold_in(s, UINT32_MAX);
        s.nodes = 3;
        s.may = PLAIN;
        must_hold_in(s, UINT32_MAX);
        s.may = MAY_READ | MAY_OVERWRITE | MAY_EVICT;
        if (all || variant == 0)
            must_hold_in(s, UINT32_MAX);
        s.nodes = 2;
        s.may = PLAIN | MAY_OVERWRITE;
        s.late = true;
        must_hold_in(s, UINT32_MAX);
        s.late = false;
        s.pages = 2;
        s.frames = 1;
        if (all || variant != 1)
            must_hold_in(s, UINT32_MAX);
    }
    notice_faults();
}

static void explore_at_length(void) {
    for (int variant = 0; variant < 3; variant++) {
        struct setup s = {.nodes = 3, .pages = 1, .coop = variant < 2, .hand_over = variant < 1};
        s.may = MAY_ALL & ~(unsigned)SMALL;
        must_hold_in(s, UINT32_MAX);
        s.may = PLAIN | SMALL;
        must_hold_in(s, 6000000);
        s.late = true;
        s.may = PLAIN;
        must_hold_in(s, UINT32_MAX);
        s.nodes = 2;
        s.late = false;
        s.may = MAY_ALL;
        s.many_smalls = true;
        must_hold_in(s, UINT32_MAX);
        s.pages = 2; /* two pages, independent of each other */
        s.may = PLAIN;
        must_hold_in(s, 2000000);
    }
}

int main(int argc, char **argv) {
    struct setup s = {.nodes = 2, .pages = 1, .may = MAY_ALL, .coop = true, .hand_over = true};
    uint32_t most = 10000000;
    signal(SIGABRT, on_abort);
    bool large = argc == 2 && !strcmp(argv[1], "large");
    for (int i = 1; i + 1 < argc; i += 2) {
        uint32_t n = (uint32_t)strtoul(argv[i + 1], NULL, 0);
        if (!strcmp(argv[i], "--nodes"))
            s.nodes = n;
        else if (!strcmp(argv[i], "--pages"))
            s.pages = n;
        else if (!strcmp(argv[i], "--frames"))
            s.frames = n;
        else if (!strcmp(argv[i], "--may"))
            s.may = n;
        else if (!strcmp(argv[i], "--coop"))
            s.coop = n;
        else if (!strcmp(argv[i], "--hand-over"))
            s.hand_over = n;
        else if (!strcmp(argv[i], "--fault"))
            s.fault = (enum fault)n;
        else if (!strcmp(argv[i], "--late"))
            s.late = n;
        else if (!strcmp(argv[i], "--many-smalls"))
            s.many_smalls = n;
        else if (!strcmp(argv[i], "--most"))
            most = n;
    }
    if (argc > 2)
        must_hold_in(s, most);
    else if (large)
        explore_at_length();
    else
        explore_quickly();
    forget_all();
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
