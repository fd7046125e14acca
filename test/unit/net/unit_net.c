/* unit_net.c: tests messages between processes of a node, through boxes and the queue. */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include "base/random.h"
#include "fail_memfile.h"
#include "net/node/node.h"
#include "net_help.h"

/* A header of 16 bytes: the number of the message among those of its sender, and the action. */
struct note {
    uint64_t number;
    uint32_t bytes;
    uint16_t hops, from;
};

enum { WORD = sizeof(uint64_t) };

static uint64_t word_of(int from, uint64_t number, size_t i) {
    return random_mix(number * 31 + (unsigned)from + (i << 32));
}

static size_t at_most_a_word(size_t bytes) {
    return bytes < WORD ? bytes : WORD;
}

static void fill(int from, uint64_t number, uint8_t *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i += WORD) {
        uint64_t word = word_of(from, number, i / WORD);
        memcpy(data + i, &word, at_most_a_word(bytes - i));
    }
}

static bool is_filled(int from, uint64_t number, const uint8_t *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i += WORD) {
        uint64_t word = word_of(from, number, i / WORD);
        if (memcmp(data + i, &word, at_most_a_word(bytes - i)) != 0)
            return false;
    }
    return true;
}

/* Per sender: the next number expected. */
struct inbox {
    uint64_t next[TEAM_MOST], all, wrong;
};

static void check(void *arg, int peer, const void *header, const void *payload, size_t bytes) {
    struct inbox *in = arg;
    const struct note *note = header;
    bool good = note->number == in->next[peer] && note->bytes == bytes && note->from == peer &&
                (uintptr_t)header % 8 == 0 && (uintptr_t)payload % 8 == 0;
    good = good && is_filled(peer, note->number, payload, bytes);
    in->next[peer] = note->number + 1;
    in->wrong += !good;
    in->all++;
}

static int try_send(struct net_node *node, int rank, int to, uint64_t number, size_t bytes) {
    static uint8_t data[64 << 10];
    struct note note = {.number = number, .bytes = (uint32_t)bytes, .from = (uint16_t)rank};
    fill(rank, number, data, bytes);
    return net_node_send(node, to, &note, data, bytes);
}

/* Waits for space; receives nothing meanwhile. */
static void send(struct net_node *node, int rank, int to, uint64_t number, size_t bytes) {
    int err;
    while ((err = try_send(node, rank, to, number, bytes)) == -EAGAIN)
        sched_yield();
    expect_eq(err, 0);
}

static void receive(struct net_node *node, struct inbox *in, uint64_t all) {
    while (in->all < all)
        if (!net_node_poll(node, check, in))
            sched_yield();
}

/* Sizes with corner cases: zero, up to a line, up to two, the largest. */
static size_t size_of(struct net_node *node, uint64_t number) {
    uint64_t dice = random_mix(number);
    switch (dice % 8) {
    case 0:
        return 0;
    case 1:
        return net_node_eager(node) - (dice >> 8) % 2;
    case 2:
        return (dice >> 8) % (net_node_eager(node) + 1);
    default:
        return (dice >> 8) % 130;
    }
}

/* ---- one to one, many to one, all to all ---- */

enum { MESSAGES = 3000 };

static void all_to_first(struct net_node *node, int rank) {
    struct inbox in = {.all = 0};
    for (uint64_t i = 0; rank && i < MESSAGES; i++)
        send(node, rank, 0, i, size_of(node, i));
    if (!rank)
        receive(node, &in, (uint64_t)(team->count - 1) * MESSAGES);
    expect_eq(in.wrong, 0);
    for (int i = 1; !rank && i < team->count; i++)
        expect_eq(in.next[i], MESSAGES);
    expect_eq(net_node_poll(node, check, &in), 0);
}

TEST(two_through_a_box)
{ run_team(2, 1 << 20, sizeof(struct note), all_to_first); }

TEST(two_through_the_queue_alone)
{ run_team(2, 16 << 10, sizeof(struct note), all_to_first); /* no space for a box */ }

TEST(six_through_boxes)
{ run_team(6, 1 << 20, sizeof(struct note), all_to_first); }

TEST(six_of_which_some_have_a_box)
{ run_team(6, 96 << 10, sizeof(struct note), all_to_first); }

static void all_to_all(struct net_node *node, int rank) {
    struct inbox in = {.all = 0};
    uint64_t messages = MESSAGES / 10, all = messages * (uint64_t)team->count;
    for (uint64_t i = 0; i < messages; i++)
        for (int to = 0; to < team->count; to++)
            while (try_send(node, rank, to, i, size_of(node, i)) == -EAGAIN)
                if (!net_node_poll(node, check, &in))
                    sched_yield();
    receive(node, &in, all);
    expect_eq(in.wrong, 0);
    for (int i = 0; i < team->count; i++)
        expect_eq(in.next[i], messages);
}

TEST(all_to_all_and_to_oneself)
{
    for (size_t limit = 16 << 10; limit <= 1 << 20; limit *= 4)
        run_team(4, limit, sizeof(struct note), all_to_all);
}

TEST(alone)
{ run_team(1, 1 << 20, sizeof(struct note), all_to_all); }

/* ---- full buffers ---- */

static void fill_up(struct net_node *node, int rank) {
    struct inbox in = {.all = 0};
    if (rank) {
        uint64_t sent = 0;
        while (!try_send(node, rank, 0, sent, 40))
            sent++;
        expect_eq(try_send(node, rank, 0, sent, 40), -EAGAIN);
        expect(sent >= 30);
        team->board[rank][0] = sent;
    }
    meet();
    if (!rank) {
        while (net_node_poll(node, check, &in))
            continue;
        for (int i = 1; i < team->count; i++)
            expect_eq(in.next[i], team->board[i][0]);
    }
    meet();
    if (rank) /* there is space again */
        expect_eq(try_send(node, rank, 0, team->board[rank][0], 40), 0);
    meet();
    while (net_node_poll(node, check, &in))
        continue;
    expect_eq(in.wrong, 0);
    for (int i = 1; !rank && i < team->count; i++)
        expect_eq(in.next[i], team->board[i][0] + 1);
}

TEST(full_is_an_answer_and_nothing_is_lost)
{
    run_team(2, 1 << 20, sizeof(struct note), fill_up);
    run_team(2, 16 << 10, sizeof(struct note), fill_up);
    run_team(5, 1 << 20, sizeof(struct note), fill_up);
}

/* With boxes for some peers only, the first messages use the queue; a sender that continues gets a box, and no
 * message overtakes another. */
static void change_over(struct net_node *node, int rank) {
    struct inbox in = {.all = 0};
    uint64_t sent = 0;
    if (rank == 1) {
        while (!try_send(node, rank, 0, sent, 100))
            sent++;
        expect(!node->peers[0].box.ring); /* its messages fill the queue, and it waits */
        expect(node->peers[0].waits);
        team->board[1][0] = sent;
    }
    meet();
    if (rank == 0) {
        expect(net_node_poll(node, check, &in) > 0); /* only some of them */
        expect(in.next[1] < team->board[1][0]);
    }
    meet();
    if (rank == 1)
        expect_eq(try_send(node, rank, 0, sent, 100), -EAGAIN);
    meet();
    while (rank == 0 && net_node_poll(node, check, &in))
        continue;
    meet();
    if (rank == 1) {
        expect_eq(try_send(node, rank, 0, sent, 100), 0);
        expect(node->peers[0].box.ring != NULL);
    }
    meet();
    if (rank == 0) {
        expect_eq(net_node_poll(node, check, &in), 1);
        expect_eq(in.next[1], team->board[1][0] + 1);
    }
    expect_eq(in.wrong, 0);
}

TEST(from_the_queue_to_a_box_in_order)
{ run_team(6, 96 << 10, sizeof(struct note), change_over); }

/* ---- reserve and commit, handlers that send ---- */

static void in_place(struct net_node *node, int rank) {
    struct inbox in = {.all = 0};
    for (uint64_t i = 0; rank && i < 500; i++) {
        size_t bytes = size_of(node, i);
        struct note note = {.number = i, .bytes = (uint32_t)bytes, .from = (uint16_t)rank};
        void *place;
        int err;
        while ((err = net_node_reserve(node, 0, &note, bytes, &place)) == -EAGAIN)
            sched_yield();
        expect_eq(err, 0);
        fill(rank, i, place, bytes);
        net_node_commit(node);
    }
    receive(node, &in, rank ? 0 : 500 * (uint64_t)(team->count - 1));
    expect_eq(in.wrong, 0);
}

TEST(written_where_it_will_be_read)
{
    run_team(3, 1 << 20, sizeof(struct note), in_place);
    run_team(3, 16 << 10, sizeof(struct note), in_place);
}

static void not_yet(struct net_node *node, int rank) {
    struct inbox in = {.all = 0};
    struct note note = {.bytes = 3, .from = 1};
    void *place;
    if (rank == 1)
        expect_eq(net_node_reserve(node, 0, &note, 3, &place), 0);
    meet();
    expect_eq(net_node_poll(node, check, &in), 0);
    meet();
    if (rank == 1) {
        fill(1, 0, place, 3);
        net_node_commit(node);
    }
    meet();
    if (rank == 0)
        expect_eq(net_node_poll(node, check, &in), 1);
    expect_eq(in.wrong, 0);
}

TEST(what_is_not_committed_is_not_seen)
{
    run_team(2, 1 << 20, sizeof(struct note), not_yet);
    run_team(2, 16 << 10, sizeof(struct note), not_yet);
}

struct relay {
    struct net_node *node;
    int rank;
    uint64_t ended, failed;
};

enum { HOPS = 2000, TOKENS = 8 };

static void pass_on(void *arg, int peer, const void *header, const void *payload, size_t bytes) {
    struct relay *r = arg;
    struct note note = *(const struct note *)header;
    if (!note.hops--) {
        r->ended++;
        return;
    }
    int to = (int)((note.number + note.hops) % (unsigned)team->count); /* sometimes itself */
    r->failed += net_node_send(r->node, to, &note, payload, bytes) != 0 || bytes != note.bytes;
}

static void relay(struct net_node *node, int rank) {
    struct relay r = {.node = node, .rank = rank};
    uint8_t data[300] = {0};
    for (uint64_t i = 0; i < TOKENS; i++) {
        struct note note = {.number = i, .bytes = (uint32_t)(37 * i), .hops = HOPS};
        expect_eq(net_node_send(node, rank, &note, data, note.bytes), 0);
    }
    _Atomic uint64_t *all = (_Atomic uint64_t *)&team->board[0][0];
    while (atomic_load(all) < (uint64_t)team->count * TOKENS) {
        uint64_t before = r.ended;
        if (!net_node_poll(node, pass_on, &r))
            sched_yield();
        atomic_fetch_add(all, r.ended - before);
    }
    expect_eq(r.failed, 0);
}

TEST(handlers_send)
{
    run_team(3, 1 << 20, sizeof(struct note), relay);
    run_team(3, 64 << 10, sizeof(struct note), relay);
}

/* ---- sizes ---- */

static void largest(struct net_node *node, int rank) {
    static uint8_t data[128 << 10];
    struct note note = {.number = 0};
    struct inbox in = {.all = 0};
    size_t eager = net_node_eager(node);
    expect((eager & (eager - 1)) == 0 && eager >= 1024);
    if (rank) {
        expect_eq(net_node_send(node, 0, &note, data, eager + 1), -EMSGSIZE);
        expect_eq(net_node_send(node, 0, &note, data, SIZE_MAX), -EMSGSIZE);
        for (uint64_t i = 0; i < 50; i++)
            send(node, rank, 0, i, eager);
    }
    receive(node, &in, rank ? 0 : 50 * (uint64_t)(team->count - 1));
    expect_eq(in.wrong, 0);
}

TEST(the_largest_goes_through_and_more_does_not)
{
    run_team(2, 1 << 20, sizeof(struct note), largest);
    run_team(2, 16 << 10, sizeof(struct note), largest);
    run_team(5, 128 << 10, sizeof(struct note), largest);
}

static size_t header_bytes;

static void check_header(void *arg, int peer, const void *header, const void *payload, size_t bytes) {
    uint64_t *state = arg; /* received, wrong */
    for (size_t i = 0; i < header_bytes; i++)
        state[1] += ((const uint8_t *)header)[i] != (uint8_t)(state[0] + i);
    state[1] += bytes != 5 || memcmp(payload, "abcde", 5) != 0;
    state[0]++;
}

static void send_headers(struct net_node *node, int rank) {
    uint64_t state[2] = {0};
    uint8_t *header = malloc(header_bytes + 1); /* exact size, so that reads beyond it are detected */
    for (unsigned n = 0; rank && n < 100; n++) {
        for (size_t i = 0; i < header_bytes; i++)
            header[i] = (uint8_t)(n + i);
        while (net_node_send(node, 0, header, "abcde", 5))
            sched_yield();
    }
    while (!rank && state[0] < 100)
        net_node_poll(node, check_header, state);
    expect_eq(state[1], 0);
    free(header);
}

TEST(headers_of_any_size)
{
    for (header_bytes = 0; header_bytes <= 64; header_bytes += 1 + header_bytes / 4)
        run_team(2, 128 << 10, header_bytes, send_headers);
}

/* ---- beside messages ---- */

static void marks(struct net_node *node, int rank) {
    expect(!net_node_is_inside(node, 0) && !net_node_is_inside(node, 1));
    meet();
    if (rank)
        net_node_inside(node, true);
    meet();
    expect(!net_node_is_inside(node, 0) && net_node_is_inside(node, 1));
    meet();
    if (rank)
        net_node_inside(node, false);
    meet();
    expect(!net_node_is_inside(node, 1));
}

TEST(inside)
{ run_team(2, 1 << 20, 8, marks); }

/* A sleeping process finds the message that was sent before the wakeup in its first poll. */
static void wake_for_each(struct net_node *node, int rank) {
    struct inbox in = {.all = 0};
    for (uint64_t i = 0; i < 2000; i++) {
        if ((unsigned)rank == i % 2) {
            send(node, rank, 1 - rank, i / 2, 10);
            net_node_wake(node, 1 - rank);
        } else {
            expect(net_node_sleep(node, UINT64_MAX));
            expect_eq(net_node_poll(node, check, &in), 1);
        }
    }
    expect_eq(in.wrong, 0);
    expect_eq(in.all, 1000);
    expect(!net_node_sleep(node, 100));
}

TEST(wake_and_sleep)
{
    run_team(2, 1 << 20, sizeof(struct note), wake_for_each);
    run_team(2, 16 << 10, sizeof(struct note), wake_for_each);
}

/* ---- open, close, failures ---- */

static void nothing(struct net_node *node, int rank) {
}

TEST(nothing_is_left_open)
{
    unsigned files = count_files();
    for (int i = 0; i < 30; i++)
        run_team(1 + i % 4, 1 << 20, 16, nothing);
    expect_eq(count_files(), files);
    expect_eq(count_maps(), 0);
    net_node_close(NULL);
}

static int open_some(int count, struct net_node *nodes[], struct net_address addresses[]) {
    struct net_options o = {.count = count, .limit = 1 << 20, .header_bytes = sizeof(struct note)};
    int err = 0;
    for (int i = 0; i < count; i++)
        nodes[i] = NULL;
    for (o.rank = 0; o.rank < count && !err; o.rank++)
        err = net_node_open(&o, &nodes[o.rank], &addresses[o.rank]);
    for (int i = 0; i < count && !err; i++)
        err = net_node_connect(nodes[i], addresses);
    return err;
}

static void close_some(int count, struct net_node *nodes[]) {
    for (int i = 0; i < count; i++)
        net_node_close(nodes[i]);
}

TEST(whatever_fails_leaves_nothing_behind)
{
    struct net_node *nodes[2];
    struct net_address addresses[2];
    unsigned files = count_files(), failed = 0;
    for (int err = -1; err && failed < 100; failed += err != 0) {
        fail_memfile_at(failed + 1);
        err = open_some(2, nodes, addresses);
        close_some(2, nodes);
        expect_eq(count_files(), files);
        expect_eq(count_maps(), 0);
    }
    fail_memfile_at(0);
    expect_eq(failed, 2 * 6 + 2 * 3);
}

TEST(a_peer_that_has_closed_or_differs_is_refused)
{
    struct net_options a = {.rank = 0, .count = 2, .limit = 1 << 20, .header_bytes = 16}, b = a;
    struct net_node *nodes[2];
    struct net_address addresses[2];
    b.rank = 1;
    b.header_bytes = 24;
    expect_eq(net_node_open(&a, &nodes[0], &addresses[0]), 0);
    expect_eq(net_node_open(&b, &nodes[1], &addresses[1]), 0);
    expect_eq(net_node_connect(nodes[0], addresses), -EPROTO);
    net_node_close(nodes[1]);
    net_node_close(nodes[0]);
    expect_eq(net_node_open(&a, &nodes[0], &addresses[0]), 0);
    int err = net_node_connect(nodes[0], addresses);
    expect(err == -ENOENT || err == -ESTALE);
    net_node_close(nodes[0]);
}

/* Not under sanitizers, which need unlimited address space. */
TEST(no_memory_is_an_error)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    pid_t child = team_fork();
    if (!child) {
        struct net_options o = {.count = 65536, .limit = 1 << 20};
        struct net_node *node = NULL;
        struct net_address address;
        struct rlimit limit = {8 << 20, 8 << 20};
        expect_eq(setrlimit(RLIMIT_AS, &limit), 0);
        expect_eq(net_node_open(&o, &node, &address), -ENOMEM);
        expect(!node && count_maps() == 0);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    expect(team_join(child));
#endif
}

/* With different limits, each sends what the smaller one accepts. */
TEST(limits_may_differ)
{
    struct net_options a = {.rank = 0, .count = 2, .limit = 1 << 20, .header_bytes = 16}, b = a;
    struct net_node *nodes[2];
    struct net_address addresses[2];
    b.rank = 1;
    b.limit = 16 << 10;
    expect_eq(net_node_open(&a, &nodes[0], &addresses[0]), 0);
    expect_eq(net_node_open(&b, &nodes[1], &addresses[1]), 0);
    for (int i = 0; i < 2; i++)
        expect_eq(net_node_connect(nodes[i], addresses), 0);
    expect_eq(net_node_eager(nodes[0]), net_node_eager(nodes[1]));
    for (int i = 0; i < 2; i++) {
        struct inbox in = {.all = 0};
        expect_eq(try_send(nodes[i], i, 1 - i, 0, net_node_eager(nodes[i])), 0);
        expect_eq(net_node_poll(nodes[1 - i], check, &in), 1);
        expect_eq(in.wrong, 0);
    }
    net_node_close(nodes[0]);
    net_node_close(nodes[1]);
}

/* One process is killed while it sends. The others send until the buffers are full, read the complete messages, and
 * close. */
static void lose_one(struct net_node *node, int rank) {
    struct inbox in = {.all = 0};
    struct note note = {.number = 20, .from = 1};
    void *place;
    if (rank == 1) {
        for (uint64_t i = 0; i < 20; i++)
            send(node, rank, 0, i, 30);
        expect_eq(net_node_reserve(node, 0, &note, 30, &place), 0);
        atomic_store((_Atomic uint64_t *)&team->board[1][0], 1);
        raise(SIGKILL);
    }
    while (!atomic_load((_Atomic uint64_t *)&team->board[1][0]) || !kill(team->processes[1], 0))
        if (rank == 2)
            sched_yield();
        else if (waitpid(team->processes[1], NULL, WNOHANG) == team->processes[1])
            break;
    uint64_t sent = 0;
    while (rank == 2 && sent < 100000 && !try_send(node, rank, 0, sent, 30))
        sent++;
    expect(sent < 100000);
    while (!try_send(node, rank, 1, 0, 100)) /* to the dead process, until its buffer is full */
        continue;
    net_node_wake(node, 1);
    expect(!net_node_is_inside(node, 1));
    team->board[2][0] = rank == 2 ? sent : team->board[2][0];
    expect_eq(net_node_pull(node, 1, 4096, &note, 8), -ESRCH);
    if (rank == 0) {
        while (net_node_poll(node, check, &in))
            continue;
        expect_eq(in.next[1], 20);
    }
    expect_eq(in.wrong, 0);
}

static void be_survivor(struct net_options *o) {
    struct net_node *node = NULL;
    team->processes[o->rank] = getpid();
    expect_eq(net_node_open(o, &node, &team->addresses[o->rank]), 0);
    meet();
    expect_eq(net_node_connect(node, team->addresses), 0);
    meet();
    lose_one(node, o->rank);
    net_node_close(node);
}

TEST(a_killed_peer_holds_up_nobody)
{
    for (size_t limit = 16 << 10; limit <= 1 << 20; limit *= 64) {
        struct net_options o = {.count = 3, .limit = limit, .header_bytes = sizeof(struct note)};
        pid_t children[3];
        team_open(3);
        for (o.rank = 1; o.rank < 3; o.rank++)
            if (!(children[o.rank] = team_fork())) {
                be_survivor(&o);
                fflush(stdout);
                _exit(test_failures != 0);
            }
        o.rank = 0;
        be_survivor(&o);
        expect(team_join(children[2]));
        team_close();
    }
    expect_eq(count_maps(), 0);
}

/* ---- several nodes in one process ---- */

/* Through the box that was read last, and through the doorbells, which wrap around to 0. */
TEST(the_bells_are_counted_right)
{
    struct net_node *nodes[2];
    struct net_address addresses[2];
    struct inbox in = {.all = 0};
    struct random dice;
    random_seed(&dice, 3);
    expect_eq(open_some(2, nodes, addresses), 0);
    for (uint64_t sent = 0; sent < 100000;) {
        for (unsigned burst = 1 + random_below(&dice, 3); burst; burst--, sent++)
            expect_eq(try_send(nodes[1], 1, 0, sent, 1), 0);
        while (in.all < sent)
            expect(net_node_poll(nodes[0], check, &in) > 0);
        for (unsigned empty = random_below(&dice, 5); empty; empty--)
            expect_eq(net_node_poll(nodes[0], check, &in), 0);
        expect_eq(nodes[0]->seen[0], atomic_load(&nodes[0]->doorbells[0]));
    }
    expect_eq(in.wrong, 0);
    close_some(2, nodes);
}

/* A process that sends much starves neither the other senders nor the caller. */
TEST(one_poll_looks_at_all)
{
    struct net_node *nodes[4];
    struct net_address addresses[4];
    struct inbox in = {.all = 0};
    expect_eq(open_some(4, nodes, addresses), 0);
    for (uint64_t i = 0; !try_send(nodes[1], 1, 0, i, 1); i++)
        continue;
    expect_eq(try_send(nodes[3], 3, 0, 0, 1), 0);
    expect_eq(try_send(nodes[0], 0, 0, 0, 1), 0); /* through the queue */
    expect_eq(net_node_poll(nodes[0], check, &in), RECORD_BATCH + 2);
    expect(in.next[0] == 1 && in.next[1] == RECORD_BATCH && in.next[3] == 1);
    while (net_node_poll(nodes[0], check, &in))
        continue;
    for (int i = 0; i < 5; i++)
        expect_eq(net_node_poll(nodes[0], check, &in), 0);
    expect_eq(try_send(nodes[1], 1, 0, in.next[1], 1), 0); /* now this box is polled first */
    expect_eq(try_send(nodes[3], 3, 0, 1, 1), 0);
    expect(net_node_poll(nodes[0], check, &in) > 0);
    net_node_poll(nodes[0], check, &in);
    expect_eq(in.next[3], 2);
    expect_eq(in.wrong, 0);
    close_some(4, nodes);
}

enum { IN_THREADS = 20000 };

static struct net_node *pair[2];

static void *exchange(void *arg) {
    int rank = (int)(intptr_t)arg;
    struct net_node *node = pair[rank];
    struct inbox *in = calloc(1, sizeof *in);
    struct note note = {.from = (uint16_t)rank};
    uint8_t data[200];
    for (uint64_t i = 0; i < IN_THREADS;) {
        note.number = i;
        note.bytes = (uint32_t)(random_mix(i) % sizeof data);
        fill(rank, i, data, note.bytes);
        int err = net_node_send(node, 1 - rank, &note, data, note.bytes);
        i += !err;
        if (i % 16 == 0 || err)
            net_node_poll(node, check, in);
        if (err)
            sched_yield();
    }
    receive(node, in, IN_THREADS);
    uint64_t wrong = in->wrong;
    free(in);
    return (void *)(uintptr_t)wrong;
}

TEST(two_nodes_in_two_threads)
{
    struct net_address addresses[2];
    pthread_t threads[2];
    expect_eq(open_some(2, pair, addresses), 0);
    for (intptr_t i = 0; i < 2; i++)
        expect_eq(pthread_create(&threads[i], NULL, exchange, (void *)i), 0);
    for (int i = 0; i < 2; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        expect(!wrong);
    }
    close_some(2, pair);
}
