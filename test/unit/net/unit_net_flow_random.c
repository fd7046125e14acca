/* unit_net_flow_random.c: runs random operations of random clients to one helper, over a network that keeps the order
 * of messages between two processes, or none at all.
 *
 * A model tracks every buffer: which client may send into it, what is in it, and what is pending for it. At each step
 *
 *      a buffer gets a block only if nothing is in it, pending for it, or being answered from it;
 *      pool buffers are granted only if they are free, to a client that asked, as many as it needs or are free, and to one
 *      that has some only if no other has any or was refused;
 *      blocks of a client are served in order, and a ready client waits for at most one turn of each other;
 *      an acknowledgement is sent if and only if the rule says so, or half of the pool can be granted again to the same
 *      client, the only one that wants any: a refusal costs nothing.
 *
 * In the end everything is delivered; then all operations must be complete and acknowledged, and all pool buffers
 * free. Other episodes send invalid messages to a helper, which must stay consistent.
 *
 * Options: --seconds N, --operations N, --seed N. The seed is printed first. Each episode has its own, and a failure
 * prints the command that replays it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "episodes.h"
#include "net/rpc/flow.h"

enum { EPISODE = 20000, CLIENTS = 24, MESSAGES = 1 << 13, RING = 2048 };

enum kind { BLOCK, NOTE, ACK };

struct message {
    enum kind kind;
    uint32_t client;
    struct flow_ticket ticket;
    struct flow_ack ack;
    uint64_t pool_buffers;
};

/* The true state of a pool buffer. */
enum pooled { FREE, GRANTED, LOADED /* a block or an answer */, RETURNING };

struct client {
    struct flow_client flow;
    bool busy, fetch; /* an operation is pending */
    bool asking;      /* the last block had a size hint */
    uint64_t left;
    uint32_t own_in_use; /* from taking the buffer until the block is served */
    bool own[FLOW_BUFFERS];
    /* The helper's side. */
    bool here[RING]; /* by number: it has arrived */
    uint32_t done, newest, undone, waiting, age;
    bool at_work, put_off, last_waits, refused;
    uint64_t asked, has,
        pooled; /* pool buffers: granted, for which no block has arrived; with an arrived block */
    struct flow_turn turn;
    uint64_t operations, own_blocks;
};

static struct random dice;
static struct flow_limits limits;
static struct flow_helper *helper;
static struct client clients[CLIENTS];
static enum pooled pool_buffers[FLOW_POOL];
static uint64_t leaving; /* answers not sent yet, whose block is served */
static struct message messages[MESSAGES];
static uint32_t count, message_count;
static bool ordered, stingy;
static unsigned fetches, patience, laziness;
static uint64_t episode_seed, operation, acks, blocks, granted, refused;
static uint64_t episode_count, all_blocks, all_acks, all_granted, all_refused;

static void fail(const char *what, int line) {
    printf("FAIL net_flow_random %s:%d: not so: %s (B %u, S %u, %u spares of %u, %u clients, operation %llu; "
           "replay with --seed %llu --operations 1)\n",
           __FILE__, line, what, limits.buffers, limits.bytes, limits.pool_buffers, limits.pool_buffer_bytes,
           count, (unsigned long long)operation, (unsigned long long)episode_seed);
    exit(1);
}

static uint32_t roll(uint32_t n) {
    return random_below(&dice, n);
}

static bool chance(unsigned percent) {
    return roll(100) < percent;
}

/* ---- the network ---- */

static void send_message(struct message m) {
    require(message_count < MESSAGES);
    messages[message_count++] = m;
}

/* Messages between two processes keep their order, or do not. Only in the first case do acknowledgements keep theirs. */
static bool is_first(uint32_t i) {
    for (uint32_t j = 0; ordered && j < i; j++)
        if (messages[j].client == messages[i].client &&
            (messages[j].kind == ACK) == (messages[i].kind == ACK))
            return false;
    return true;
}

static struct message take_message(uint32_t i) {
    struct message m = messages[i];
    message_count--;
    if (ordered)
        memmove(&messages[i], &messages[i + 1], (message_count - i) * sizeof m);
    else
        messages[i] = messages[message_count];
    return m;
}

/* ---- pool buffers in the model ---- */

static void move_spares(uint64_t set, enum pooled from, enum pooled to) {
    for (unsigned i = 0; i < FLOW_POOL; i++)
        if (set >> i & 1) {
            require(i < limits.pool_buffers && pool_buffers[i] == from);
            pool_buffers[i] = to;
        }
}

static uint64_t count_spares(enum pooled state) {
    uint64_t n = 0;
    for (unsigned i = 0; i < limits.pool_buffers; i++)
        n += pool_buffers[i] == state;
    return n;
}

/* ---- a client's steps ---- */

static uint64_t random_left(void) {
    uint64_t unit = limits.pool_buffers && chance(50) ? limits.pool_buffer_bytes : limits.bytes;
    switch (roll(6)) {
    case 0:
        return roll(3);
    case 1:
        return roll(limits.bytes) + 1;
    case 2:
        return unit * (1 + roll(8)); /* ends exactly at the end of a buffer */
    case 3:
        return unit * (1 + roll(8)) + limits.bytes * roll(limits.buffers + 1);
    case 4:
        return unit * (1 + roll(20)) + roll(3) - 1;
    default:
        return unit * roll(100) + roll(limits.bytes);
    }
}

static void check_ticket(const struct client *c, const struct flow_ticket *t, uint64_t grant, size_t room) {
    bool own = t->flags & FLOW_OWN;
    require(own == (c->fetch || !grant));
    require(room == (!grant     ? limits.bytes
                     : c->fetch ? (size_t)__builtin_popcountll(grant) * limits.pool_buffer_bytes
                                : limits.pool_buffer_bytes));
    require((t->pool_buffers & ~grant) == 0 && (t->pool_buffers != 0) == (grant != 0));
    require(c->fetch || !grant || !(c->left <= room) || t->flags & FLOW_LAST);
    require(!t->following || (limits.size_hint && limits.pool_buffers && t->following < c->left));
}

static void load(struct client *c, const struct flow_ticket *t) {
    if (t->flags & FLOW_OWN) {
        require(t->own < limits.buffers && !c->own[t->own]);
        c->own[t->own] = true;
        c->own_in_use++;
        c->own_blocks++;
        require(c->own_in_use <= limits.buffers);
        move_spares(t->pool_buffers, GRANTED, LOADED);
    } else if (t->pool_buffers) {
        uint64_t landing = t->pool_buffers & (~t->pool_buffers + 1);
        move_spares(landing, GRANTED, LOADED);
        move_spares(t->pool_buffers & ~landing, GRANTED, RETURNING);
    }
}

/* Sends the next block of the operation, if there is a buffer for it. */
static bool send_block(uint32_t who) {
    struct client *c = &clients[who];
    struct message m = {.kind = BLOCK, .client = who};
    uint64_t grant = c->flow.grant;
    uint32_t number = c->flow.sent;
    size_t room = 0;
    if (!net_flow_take(&c->flow, c->fetch, c->left, &m.ticket, &room)) {
        uint32_t pooled = c->flow.sent - c->flow.done - (limits.buffers - c->flow.credits);
        bool expects = !c->fetch && c->asking && pooled && c->left > limits.bytes;
        require((c->flow.credits == 0 || expects) && (c->fetch || !grant) && c->flow.grant == grant);
        return false;
    }
    require(m.ticket.number == number && c->flow.sent - c->flow.done <= limits.buffers + limits.pool_buffers);
    check_ticket(c, &m.ticket, grant, room);
    c->asking = m.ticket.following > 0;
    load(c, &m.ticket);
    send_message(m);
    uint64_t covered = c->left < room ? c->left : room;
    if (stingy && covered > 1)
        covered = 1 + roll((uint32_t)covered);
    c->left -= covered;
    if (!c->left) {
        c->busy = false;
        c->operations++;
    }
    return true;
}

static bool give_back(uint32_t who) {
    struct client *c = &clients[who];
    uint64_t unused = net_flow_give_back(&c->flow);
    if (!unused)
        return false;
    move_spares(unused, GRANTED, RETURNING);
    send_message((struct message){.kind = NOTE, .client = who, .pool_buffers = unused});
    return true;
}

static void act(uint32_t who) {
    struct client *c = &clients[who];
    if (!c->busy) {
        if (chance(laziness)) {
            give_back(who);
            return;
        }
        c->busy = true;
        c->fetch = chance(fetches);
        c->left = random_left();
    }
    for (unsigned i = 1 + roll(limits.buffers + limits.pool_buffers); i && c->busy && send_block(who); i--)
        ;
}

/* ---- a helper's steps ---- */

static bool is_ready(const struct client *c) {
    return c->here[c->done % RING] && !c->at_work && !c->put_off;
}

static void ask(struct client *c, uint64_t bytes) {
    c->asked = bytes;
    c->refused = c->refused && bytes;
}

static void block_comes(const struct message *m) {
    struct client *c = &clients[m->client];
    struct flow_place place;
    require(net_flow_arrive(helper, m->client, &m->ticket, &place) == 0);
    require(place.pooled == !(m->ticket.flags & FLOW_OWN));
    require(place.index ==
            (place.pooled ? (uint32_t)__builtin_ctzll(m->ticket.pool_buffers) : (uint32_t)m->ticket.own));
    require(net_flow_arrive(helper, m->client, &m->ticket, &place) == -EPROTO);
    c->here[m->ticket.number % RING] = true;
    c->undone++;
    c->has &= ~m->ticket.pool_buffers;
    if (place.pooled) {
        uint64_t landing = UINT64_C(1) << place.index;
        c->pooled |= landing;
        move_spares(m->ticket.pool_buffers & ~landing, RETURNING, FREE);
    }
    if ((int32_t)(m->ticket.number - c->newest) >= 0) {
        c->newest = m->ticket.number + 1;
        ask(c, m->ticket.following);
    }
}

static void note_comes(const struct message *m) {
    struct client *c = &clients[m->client];
    require(net_flow_returned(helper, m->client, m->pool_buffers) == 0);
    move_spares(m->pool_buffers, RETURNING, FREE);
    c->has &= ~m->pool_buffers;
    ask(c, 0);
}

static void deliver(uint32_t i) {
    struct message m = take_message(i);
    if (m.kind == BLOCK)
        block_comes(&m);
    else if (m.kind == NOTE)
        note_comes(&m);
    else
        require(net_flow_acknowledge(&clients[m.client].flow, &m.ack) == 0);
}

static bool deliver_some(void) {
    if (!message_count)
        return false;
    uint32_t i = roll(message_count);
    while (!is_first(i))
        i = roll(i); /* an earlier one of the same kind */
    deliver(i);
    return true;
}

/* No ready client sees more turns of others than there are others. */
static void count_ages(uint32_t served) {
    for (uint32_t i = 0; i < count; i++) {
        clients[i].age = i != served && is_ready(&clients[i]) ? clients[i].age + 1 : 0;
        require(clients[i].age < count);
    }
}

static bool give_turn(void) {
    struct flow_turn turn;
    bool any = false;
    for (uint32_t i = 0; i < count && !any; i++)
        any = is_ready(&clients[i]);
    require(net_flow_turn(helper, &turn) == any);
    if (!any)
        return false;
    struct client *c = &clients[turn.client];
    require(turn.client < count && is_ready(c) && turn.ticket.number == c->done);
    require(turn.place.pooled == !(turn.ticket.flags & FLOW_OWN));
    count_ages(turn.client);
    c->at_work = true;
    c->turn = turn;
    return true;
}

/* The rule without grants. */
static bool is_due(const struct client *c) {
    if (!c->waiting && !c->last_waits)
        return false;
    if (limits.buffers < 4 && !c->waiting)
        return !c->pooled;
    return limits.buffers < 4 || !c->undone || c->waiting >= (limits.buffers + 1) / 2;
}

/* How many pool buffers the client should get, if they are free. */
static uint64_t wanted_by(const struct client *c) {
    uint64_t wanted = c->asked / limits.pool_buffer_bytes + (c->asked % limits.pool_buffer_bytes != 0);
    uint64_t has = (uint64_t)__builtin_popcountll(c->has);
    return limits.pool_buffers && wanted > has ? wanted - has : 0;
}

static bool is_contended(const struct client *c) {
    bool refused_others = false;
    for (uint32_t i = 0; i < count; i++)
        refused_others |= &clients[i] != c && clients[i].refused;
    uint64_t used_by_others =
        limits.pool_buffers - count_spares(FREE) - (uint64_t)__builtin_popcountll(c->has | c->pooled);
    return refused_others || used_by_others;
}

static bool is_grant_due(const struct client *c) {
    uint64_t wanted = wanted_by(c), free = count_spares(FREE);
    if (is_contended(c) || !wanted || !free)
        return false;
    return free >= wanted || free >= (limits.pool_buffers + 1) / 2 || !c->undone;
}

static void check_grant(struct client *c, uint64_t spares_granted) {
    uint64_t free = count_spares(FREE), wanted = (c->has | c->pooled) && is_contended(c) ? 0 : wanted_by(c);
    require((uint64_t)__builtin_popcountll(spares_granted) == (wanted < free ? wanted : free));
    if (!wanted)
        return;
    *(free ? &granted : &refused) += 1;
    c->refused = !free;
    move_spares(spares_granted, FREE, GRANTED);
    c->has |= spares_granted;
}

static void unload(struct client *c, const struct flow_turn *turn) {
    if (turn->place.pooled) {
        move_spares(UINT64_C(1) << turn->place.index, LOADED, FREE);
        c->pooled &= ~(UINT64_C(1) << turn->place.index);
    } else {
        require(c->own[turn->place.index]);
        c->own[turn->place.index] = false;
        c->own_in_use--;
        c->waiting++;
        leaving |= turn->ticket.pool_buffers;
    }
    c->last_waits |= (turn->ticket.flags & FLOW_LAST) != 0;
}

static void finish(uint32_t who, bool reply) {
    struct client *c = &clients[who];
    c->at_work = false;
    c->here[c->done++ % RING] = false;
    c->undone--;
    blocks++;
    unload(c, &c->turn);
    bool due = is_due(c) || (c->turn.place.pooled && is_grant_due(c));
    acks += due && !reply;
    struct message m = {.kind = ACK, .client = who};
    require(net_flow_done(helper, who, reply, &m.ack) == (due || reply));
    if (!due && !reply)
        return;
    require(m.ack.done == c->done);
    c->waiting = 0;
    c->last_waits = false;
    check_grant(c, m.ack.granted);
    send_message(m);
}

/* Finishes a client that has the turn: served, or put off. */
static void finish_some(bool may_put_off) {
    uint32_t who = roll(count), tries = count;
    while (tries-- && !clients[who].at_work)
        who = (who + 1) % count;
    struct client *c = &clients[who];
    if (!c->at_work)
        return;
    if (may_put_off && chance(patience)) {
        c->at_work = false;
        c->put_off = true;
        net_flow_later(helper, who);
        return;
    }
    bool answers = c->turn.ticket.pool_buffers && c->turn.ticket.flags & FLOW_OWN;
    finish(who, answers || chance(fetches));
}

static void retry(void) {
    uint32_t expected = 0;
    for (uint32_t i = 0; i < count; i++) {
        expected += clients[i].put_off;
        clients[i].put_off = false;
    }
    require(net_flow_retry(helper) == expected);
}

static void release(uint64_t which) {
    which &= leaving;
    if (!which)
        return;
    move_spares(which, LOADED, FREE);
    leaving &= ~which;
    net_flow_release(helper, which);
}

/* ---- episodes ---- */

static void check_all(void) {
    net_flow_helper_check(helper);
    for (uint32_t i = 0; i < count; i++)
        net_flow_client_check(&clients[i].flow);
    struct flow_counts c = net_flow_helper_counts(helper);
    require(c.acks == acks && c.acks + c.coalesced == blocks);
    require(c.granted == granted && c.refused == refused);
}

static void step(void) {
    unsigned n = roll(100);
    if (n < 30)
        act(roll(count));
    else if (n < 60)
        deliver_some();
    else if (n < 77)
        give_turn();
    else if (n < 94)
        finish_some(true);
    else if (n < 97)
        release(random_next(&dice));
    else if (n < 99)
        retry();
    else if (roll(10) == 0)
        check_all();
}

/* Everything pending proceeds until nothing is left. */
static bool settle(void) {
    bool went_on = message_count != 0;
    while (deliver_some())
        ;
    retry();
    while (give_turn()) {
        finish_some(false);
        went_on = true;
    }
    for (uint32_t i = 0; i < count; i++)
        while (clients[i].at_work) {
            finish_some(false);
            went_on = true;
        }
    release(UINT64_MAX);
    return went_on;
}

static void drain(void) {
    for (bool went_on = true; went_on;) {
        went_on = settle();
        for (uint32_t i = 0; i < count; i++)
            if (clients[i].busy)
                while (clients[i].busy && send_block(i))
                    went_on = true;
            else
                went_on |= give_back(i);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct client *c = &clients[i];
        require(!c->busy && net_flow_is_idle(&c->flow) && !c->own_in_use && !c->flow.grant);
        require(c->flow.credits == limits.buffers);
    }
    require(count_spares(FREE) == limits.pool_buffers);
    check_all();
}

static void choose(void) {
    static const uint32_t few[] = {1, 1, 2, 2, 3, 4, 4, 5, 7, 8, 16, 100, FLOW_BUFFERS};
    static const uint32_t spare_counts[] = {0, 1, 2, 4, 4, 5, 31, 63, 64};
    static const unsigned percents[] = {0, 10, 50, 100};
    limits = (struct flow_limits){.buffers = few[roll(13)],
                                  .bytes = 64 * (chance(50) ? 1 : 1 + roll(50)),
                                  .pool_buffers = spare_counts[roll(9)],
                                  .size_hint = chance(85)};
    limits.pool_buffer_bytes = limits.bytes * (chance(30) ? 1 : 1 + roll(16)) + 64 * roll(3);
    count = chance(20) ? 1 : chance(50) ? 2 + roll(3) : 1 + roll(CLIENTS);
    /* Limits the number of messages, as the model searches all of them. */
    while (count > 1 && count * (limits.buffers + limits.pool_buffers) > MESSAGES / 4)
        count--;
    ordered = chance(50);
    stingy = chance(20);
    fetches = percents[roll(4)];
    patience = chance(50) ? 0 : roll(60);
    laziness = chance(50) ? 0 : roll(60);
}

static void open_episode(void) {
    uint32_t first = chance(60) ? UINT32_MAX - roll(3000) : chance(50) ? 0 : (uint32_t)random_next(&dice);
    memset(clients, 0, sizeof clients);
    memset(pool_buffers, FREE, sizeof pool_buffers);
    message_count = 0;
    leaving = acks = blocks = granted = refused = 0;
    limits.first = first;
    require(net_flow_helper_open(&limits, count, &helper) == 0);
    for (uint32_t i = 0; i < count; i++) {
        require(net_flow_client_open(&clients[i].flow, &limits) == 0);
        clients[i].done = clients[i].newest = first;
    }
}

static void close_episode(void) {
    for (uint32_t i = 0; i < count; i++)
        net_flow_client_close(&clients[i].flow);
    net_flow_helper_close(helper);
}

static void check_totals(void) {
    uint64_t own = 0, operations = 0;
    for (uint32_t i = 0; i < count; i++) {
        own += clients[i].own_blocks;
        operations += clients[i].operations;
    }
    require(blocks >= operations);
    if (limits.buffers < 4 && !fetches && !granted)
        require(acks == own && own == blocks);
    if (limits.buffers >= 4) {
        all_blocks += blocks;
        all_acks += acks;
    }
    all_granted += granted;
    all_refused += refused;
}

static void run_protocol(void) {
    choose();
    open_episode();
    for (operation = 0; operation < EPISODE && message_count < MESSAGES / 4; operation++)
        step();
    drain();
    check_totals();
    close_episode();
}

/* ---- invalid messages ---- */

static struct flow_ticket random_ticket(uint32_t number) {
    uint64_t one = UINT64_C(1) << roll(64), some = random_next(&dice) & random_next(&dice);
    return (struct flow_ticket){.number = chance(95)
                                              ? number + roll(limits.buffers + limits.pool_buffers + 2) - 1
                                              : (uint32_t)random_next(&dice),
                                .own = (uint16_t)(chance(95) ? roll(limits.buffers + 1) : roll(65536)),
                                .flags = (uint16_t)(chance(98) ? roll(4) : roll(65536)),
                                .pool_buffers = chance(40)   ? 0
                                                : chance(70) ? one
                                                             : some,
                                .following = chance(50) ? 0 : random_next(&dice) >> roll(64)};
}

/* Whatever arrives: the helper stays consistent, and a turn has its block. Granted buffers are sometimes used, so
 * that the test reaches deeper states. */
static void run_nonsense(void) {
    uint64_t grants[CLIENTS] = {0}, answering = 0;
    choose();
    open_episode();
    for (operation = 0; operation < EPISODE / 4; operation++) {
        uint32_t who = roll(count);
        struct flow_ticket t = random_ticket(clients[who].done);
        struct flow_place place;
        struct flow_turn turn;
        struct flow_ack ack;
        if (grants[who] && chance(50))
            t.pool_buffers = chance(50) ? grants[who] : grants[who] & (~grants[who] + 1);
        int err = net_flow_arrive(helper, chance(99) ? who : roll(UINT32_MAX), &t, &place);
        require(err == 0 || err == -EPROTO);
        if (!err) {
            require(!(t.flags & ~3) && place.index < (place.pooled ? limits.pool_buffers : limits.buffers));
            answering |= t.flags & FLOW_OWN ? t.pool_buffers : 0;
        }
        if (chance(5))
            net_flow_returned(helper, who, chance(80) ? grants[who] : random_next(&dice));
        if (chance(50) && net_flow_turn(helper, &turn)) {
            require(turn.client < count && turn.ticket.number == clients[turn.client].done++);
            if (net_flow_done(helper, turn.client, chance(50), &ack) && ack.granted)
                grants[turn.client] |= ack.granted;
        }
        if (chance(10)) {
            net_flow_release(helper, answering);
            answering = 0;
        }
        if (roll(16) == 0)
            net_flow_helper_check(helper);
        struct flow_ack nonsense = {.done = clients[who].flow.done + roll(5) - 2,
                                    .granted = chance(50) ? 0 : random_next(&dice)};
        size_t room;
        net_flow_take(&clients[who].flow, chance(50), random_left(), &t, &room);
        net_flow_acknowledge(&clients[who].flow, &nonsense);
        if (roll(16) == 0)
            net_flow_client_check(&clients[who].flow);
    }
    close_episode();
}

/* Returns how many operations it was. */
static uint64_t episode(uint64_t seed) {
    episode_count++;
    episode_seed = seed;
    random_seed(&dice, seed);
    if (chance(15))
        run_nonsense();
    else
        run_protocol();
    return operation;
}

int main(int argc, char **argv) {
    struct episodes all = {
        .name = "net_flow_random", .operations = "operations in", .things = "episodes", .run = episode};
    int status = episodes_run(all, argc, argv);
    if (episode_count > 100) /* enough of each kind */
        require(all_granted && all_refused && all_acks < all_blocks / 2);
    printf("with 4 buffers and more %llu blocks and %llu acknowledgements; %llu grants, %llu refused\n",
           (unsigned long long)all_blocks, (unsigned long long)all_acks, (unsigned long long)all_granted,
           (unsigned long long)all_refused);
    return status;
}
