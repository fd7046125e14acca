/* unit_net_queue.c: tests many writers and one reader on a ring in ordinary memory, where ThreadSanitizer sees all of
 * them. */
#include "test.h"

#include <pthread.h>
#include <sched.h>

#include "base/compiler.h"
#include "base/random.h"
#include "net/node/queue.h"

enum { RING = 4096, HEADER = 16, WRITERS = 4 };

static struct {
    struct queue_shared shared;
    _Alignas(CACHE_LINE) char ring[RING];
} queue;
static struct queue_writer writers[WRITERS];
static struct queue_reader reader;
static uint64_t sent[WRITERS], received[WRITERS], wrong;

static void open_queue(void) {
    memset(&queue, 0, sizeof queue);
    memset(sent, 0, sizeof sent);
    memset(received, 0, sizeof received);
    wrong = 0;
    for (int i = 0; i < WRITERS; i++)
        net_queue_write_open(&writers[i], &queue.shared, queue.ring, RING);
    net_queue_read_open(&reader, &queue.shared, queue.ring, RING);
}

static uint8_t byte_of(int from, uint64_t number, size_t i) {
    return (uint8_t)(random_mix(number * WRITERS + (unsigned)from + (i / 8 << 40)) >> i % 8 * 8);
}

static struct node_record *reserve(int from, size_t bytes) {
    struct node_record *r = net_queue_reserve(&writers[from], net_record_size(HEADER, bytes));
    if (!r)
        return NULL;
    uint64_t header[HEADER / 8] = {sent[from], bytes};
    net_record_copy_header(r->bytes, header, HEADER);
    for (size_t i = 0; i < bytes; i++)
        r->bytes[HEADER + i] = (char)byte_of(from, sent[from], i);
    sent[from]++;
    return r;
}

static bool put(int from, size_t bytes) {
    struct node_record *r = reserve(from, bytes);
    if (r)
        net_queue_commit(r, from, (uint32_t)bytes + 1);
    return r != NULL;
}

static void check(void *arg, int peer, const void *header, const void *payload, size_t bytes) {
    uint64_t h[HEADER / 8];
    memcpy(h, header, HEADER);
    bool good = peer >= 0 && peer < WRITERS && h[0] == received[peer] && h[1] == bytes;
    for (size_t i = 0; good && i < bytes; i++)
        good = ((const uint8_t *)payload)[i] == byte_of(peer, h[0], i);
    if (good)
        received[peer]++;
    wrong += !good;
}

static const struct delivery to = {.handler = check, .header_room = HEADER};

static int get(void) {
    return net_queue_has_message(&reader) ? net_queue_read(&reader, WRITERS, &to) : 0;
}

static void expect_all_received(void) {
    for (int i = 0; i < WRITERS; i++)
        expect_eq(received[i], sent[i]);
    expect_eq(wrong, 0);
    for (size_t i = 0; i < RING; i += CACHE_LINE) /* the invariant */
        expect_eq(atomic_load(&net_record_at(queue.ring, i)->word), 0);
    for (int i = 0; i < WRITERS; i++)
        expect(net_queue_is_drained(&writers[i]));
}

TEST(messages_of_all_come_as_they_were_sent)
{
    open_queue();
    expect_eq(get(), 0);
    for (int i = 0; i < 12; i++)
        expect(put(i % WRITERS, (size_t)i * 10));
    expect(!net_queue_is_drained(&writers[0]));
    expect_eq(get(), 12);
    expect_eq(get(), 0);
    expect_all_received();
}

TEST(nothing_is_lost_when_it_is_full_or_wraps)
{
    struct random dice;
    open_queue();
    random_seed(&dice, 2);
    for (int i = 0; i < 200000; i++) {
        bool large = !random_below(&dice, 8);
        size_t most = large ? net_queue_most(RING) - sizeof(struct node_record) - HEADER : 100;
        if (!put((int)random_below(&dice, WRITERS), random_below(&dice, (uint32_t)most + 1)) ||
            !random_below(&dice, 30))
            get();
    }
    while (get())
        continue;
    expect_all_received();
}

TEST(the_largest_fits_wherever_the_tail_stands)
{
    size_t most = net_queue_most(RING) - sizeof(struct node_record) - HEADER;
    for (unsigned lines = 0; lines < RING / CACHE_LINE; lines++) {
        open_queue();
        for (unsigned i = 0; i < lines; i++) {
            expect(put(0, 0));
            expect_eq(get(), 1);
        }
        expect(put(1, most));
        expect_eq(get(), 1);
        expect_all_received();
    }
}

TEST(a_full_queue_takes_more_once_it_was_read)
{
    open_queue();
    while (put(0, 1))
        continue;
    expect_eq(sent[0], RING / CACHE_LINE);
    expect(!put(1, 1));
    expect_eq(get(), RING / CACHE_LINE);
    expect(put(1, 1));
    expect_eq(get(), 1);
    expect_all_received();
}

/* As if the writer's process had been killed: the others find no space, and none of them blocks. */
TEST(a_writer_that_never_commits_stops_the_queue_but_nobody)
{
    open_queue();
    expect(put(0, 10));
    struct node_record *r = reserve(1, 10);
    expect(put(2, 10));
    expect_eq(get(), 1);
    expect_eq(get(), 0);
    while (put(3, 10))
        continue;
    expect_eq(get(), 0);
    expect(!put(2, 10));
    net_queue_commit(r, 1, 11); /* as if it were alive after all */
    while (get())
        continue;
    expect_all_received();
}

TEST(what_cannot_be_ends_the_reading)
{
    open_queue();
    struct node_record *r = reserve(0, 10);
    net_queue_commit(r, 0, RING);
    expect_eq(get(), 0);
    expect(reader.broken);
    open_queue();
    r = reserve(0, 10);
    net_queue_commit(r, WRITERS, 11);
    expect_eq(get(), 0);
    expect(reader.broken);
    expect_eq(get(), 0);
    open_queue();
    while (put(0, 10))
        continue;
    atomic_store(&queue.shared.head, RING + CACHE_LINE); /* ahead of the tail: not free space */
    expect(!put(0, 10));
}

enum { STREAM = 30000 };

static void *send_stream(void *arg) {
    int me = (int)(intptr_t)arg;
    struct random dice;
    random_seed(&dice, (uint64_t)me);
    while (sent[me] < STREAM)
        if (!put(me, random_below(&dice, 300)))
            sched_yield();
    return NULL;
}

TEST(many_threads)
{
    pthread_t threads[WRITERS];
    int n = 0;
    open_queue();
    for (intptr_t i = 0; i < WRITERS; i++)
        expect_eq(pthread_create(&threads[i], NULL, send_stream, (void *)i), 0);
    while (n < WRITERS * STREAM && !wrong) {
        int got = get();
        n += got;
        if (!got)
            sched_yield();
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    expect_all_received();
}
