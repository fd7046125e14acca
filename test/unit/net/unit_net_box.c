/* unit_net_box.c: tests one writer and one reader on a ring in ordinary memory, where ThreadSanitizer sees both. */
#include "test.h"

#include <pthread.h>
#include <sched.h>

#include "base/compiler.h"
#include "base/random.h"
#include "net/node/box.h"

enum { RING = 4096, HEADER = 24, MOST = RING / 2 };

static struct {
    struct box_shared shared;
    _Atomic uint16_t doorbell;
    _Alignas(CACHE_LINE) char ring[RING];
} box;
static struct box_writer writer;
static struct box_reader reader;

static void open_box(size_t bytes) {
    memset(&box, 0, sizeof box);
    atomic_store(&box.shared.owner, 3 + 1);
    net_box_write_open(&writer, &box.shared, box.ring, bytes, &box.doorbell);
    net_box_read_open(&reader, &box.shared, box.ring, bytes);
}

static uint8_t byte_of(uint64_t number, size_t i) {
    return (uint8_t)(random_mix(number + i / 8) >> i % 8 * 8);
}

static size_t size_of(uint64_t number) {
    uint64_t dice = random_mix(number);
    size_t most = net_box_most(writer.bytes) - sizeof(struct node_record) - HEADER;
    return dice % (dice >> 60 ? 100 : most + 1);
}

/* Returns false if there is no space. */
static bool put(uint64_t number, size_t bytes) {
    size_t size = net_record_size(HEADER, bytes);
    struct node_record *r = net_box_reserve(&writer, size);
    if (!r)
        return false;
    uint64_t header[HEADER / 8] = {number, bytes, ~number};
    net_record_copy_header(r->bytes, header, HEADER);
    for (size_t i = 0; i < bytes; i++)
        r->bytes[HEADER + i] = (char)byte_of(number, i);
    net_box_commit(&writer, r, size, (uint32_t)bytes + 1);
    return true;
}

static uint64_t received, wrong;

static void check(void *arg, int peer, const void *header, const void *payload, size_t bytes) {
    uint64_t h[HEADER / 8];
    memcpy(h, header, HEADER);
    bool good = peer == 3 && arg == &box && h[0] == received && h[1] == bytes && h[2] == ~received;
    for (size_t i = 0; good && i < bytes; i++)
        good = ((const uint8_t *)payload)[i] == byte_of(received, i);
    wrong += !good;
    received++;
}

static const struct delivery to = {.handler = check, .arg = &box, .header_room = HEADER};

static int get(int most) {
    return net_box_read(&reader, most, 8, &to);
}

TEST(messages_come_as_they_were_sent)
{
    open_box(RING);
    received = wrong = 0;
    expect_eq(get(9), 0);
    expect(!net_box_has_message(&reader));
    for (uint64_t i = 0; i < 5; i++)
        expect(put(i, i * 50));
    expect(net_box_has_message(&reader));
    expect_eq(atomic_load(&box.doorbell), 5);
    expect_eq(get(2), 2);
    expect_eq(get(9), 3);
    expect_eq(get(9), 0);
    expect_eq(received, 5);
    expect_eq(wrong, 0);
}

/* Random sizes, added until the ring is full, removed in random numbers: every offset, and every kind of end. */
TEST(nothing_is_lost_when_it_is_full_or_wraps)
{
    struct random dice;
    random_seed(&dice, 1);
    for (size_t bytes = 512; bytes <= RING; bytes += 192) {
        uint64_t sent = 0;
        open_box(bytes);
        received = wrong = 0;
        while (sent < 20000) {
            while (random_below(&dice, 50) && put(sent, size_of(sent)))
                sent++;
            get((int)random_below(&dice, 20));
        }
        while (get(1))
            continue;
        expect_eq(received, sent);
        expect_eq(wrong, 0);
    }
}

TEST(a_full_box_takes_more_once_it_was_read)
{
    uint64_t sent = 0;
    open_box(RING);
    received = wrong = 0;
    while (put(sent, 1))
        sent++;
    expect_eq(sent, RING / CACHE_LINE - 1); /* one line stays free */
    expect(!put(sent, 0));
    expect_eq(get(1), 1);
    expect(put(sent++, 1));
    expect(!put(sent, 1));
    expect_eq(get(1000), RING / CACHE_LINE - 1);
    expect_eq(received, sent);
    expect_eq(wrong, 0);
}

TEST(the_largest_fits_wherever_the_offset_stands)
{
    size_t most = net_box_most(RING) - sizeof(struct node_record) - HEADER;
    for (unsigned lines = 0; lines < RING / CACHE_LINE; lines++) {
        open_box(RING);
        received = wrong = 0;
        for (uint64_t i = 0; i < lines; i++) {
            expect(put(i, 0));
            get(1);
        }
        expect(put(lines, most));
        expect_eq(get(9), 1);
        expect_eq(wrong, 0);
    }
}

/* Sends records, of which `behind` are not read yet. Returns the largest offset. */
static size_t reach(uint64_t behind) {
    size_t most = 0;
    open_box(RING);
    received = wrong = 0;
    for (uint64_t i = 0; i < 500; i++) {
        expect(put(i, i % 100));
        if (i >= behind)
            expect_eq(get(1), 1);
        most = writer.offset > most ? writer.offset : most;
    }
    expect_eq(get(9), (int)behind);
    expect_eq(wrong, 0);
    return most;
}

TEST(a_writer_whose_reader_keeps_up_stays_at_the_start)
{
    expect(reach(0) < RING / 4 + 3 * CACHE_LINE);
    expect(reach(1) > RING - 4 * CACHE_LINE);
}

/* The writer is about to return to the start, where a record of half of the ring has no room. */
TEST(a_large_record_does_not_return_to_the_start)
{
    size_t most = net_box_most(RING) - sizeof(struct node_record) - HEADER;
    open_box(RING);
    received = wrong = 0;
    for (uint64_t i = 0; i < RING / 4 / CACHE_LINE; i++) {
        expect(put(i, 0));
        expect_eq(get(1), 1);
    }
    expect(put(received, most));
    expect_eq(get(1), 1);
    expect_eq(wrong, 0);
}

static unsigned calls;

static void count_call(void *arg, int peer, const void *header, const void *payload, size_t bytes) {
    calls++;
}

/* Bytes left from the round before look like a record at every line; none may be read as one. */
TEST(stale_bytes_are_not_read)
{
    const struct delivery counting = {.handler = count_call, .header_room = HEADER};
    open_box(RING);
    calls = 0;
    for (unsigned i = 0; i < 1000; i++) {
        size_t bytes = i % 7 ? i % 7 : 1000, size = net_record_size(HEADER, bytes);
        struct node_record *r = net_box_reserve(&writer, size);
        expect(r != NULL);
        for (size_t at = sizeof *r; at < size; at += 4) /* a length, at every place that could hold one */
            memcpy((char *)r + at, &(uint32_t){9}, 4);
        net_box_commit(&writer, r, size, (uint32_t)bytes + 1);
        expect_eq(net_box_read(&reader, 9, 8, &counting), 1);
    }
    expect_eq(calls, 1000);
}

TEST(a_length_that_cannot_be_ends_the_reading)
{
    open_box(RING);
    received = wrong = 0;
    expect(put(0, 8) && put(1, 8));
    expect_eq(get(1), 1);
    atomic_store(&net_record_at(box.ring, reader.offset)->word, RING);
    expect_eq(get(9), 0);
    expect(reader.broken);
    expect_eq(get(9), 0);
    expect_eq(received, 1);
    open_box(RING);
    expect(put(0, 8));
    atomic_store(&net_record_at(box.ring, 0)->word, RECORD_SKIP);
    atomic_store(&box.shared.owner, 1);
    for (int i = 0; i < 3 && !reader.broken; i++)
        get(9);
    expect(reader.broken);
}

TEST(an_owner_that_cannot_be_ends_the_reading)
{
    for (uint32_t owner = 0; owner < 10; owner += 9) {
        open_box(RING);
        received = 0;
        atomic_store(&box.shared.owner, owner);
        expect(put(0, 8));
        expect_eq(get(9), 0);
        expect(reader.broken);
        expect_eq(received, 0);
    }
}

/* An invalid head must not make the writer see space that does not exist. */
TEST(a_head_that_cannot_be_is_not_believed)
{
    open_box(RING);
    for (uint64_t i = 0; put(i, 100); i++)
        continue;
    atomic_store(&box.shared.head, writer.tail + 640);
    expect(!put(0, 100));
    atomic_store(&box.shared.head, (uint64_t)-64);
    expect(!put(0, 100));
    atomic_store(&box.shared.head, writer.tail);
    expect(put(0, 100));
}

enum { STREAM = 100000 };

static void *send_stream(void *arg) {
    for (uint64_t i = 0; i < STREAM;)
        if (put(i, size_of(i) % 200))
            i++;
        else
            sched_yield();
    return NULL;
}

TEST(two_threads)
{
    pthread_t thread;
    open_box(RING);
    received = wrong = 0;
    expect_eq(pthread_create(&thread, NULL, send_stream, NULL), 0);
    while (received < STREAM)
        if (!get(16))
            sched_yield();
    pthread_join(thread, NULL);
    expect_eq(get(9), 0);
    expect_eq(received, STREAM);
    expect_eq(wrong, 0);
    expect_eq(atomic_load(&box.doorbell), STREAM & 0xffff);
}
