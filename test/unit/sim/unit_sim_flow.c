/* unit_sim_flow.c: tests the simulation of flow control: the event queue, the network model, and small cases whose
 * times can be computed by hand. */
#include "test.h"

#include "base/random.h"
#include "flow.h"

/* ---- events ---- */

TEST(events_come_in_the_order_of_time_then_of_adding)
{
    static const uint64_t times[] = {5, 3, 5, 1, 3, 5, 0, 9};
    static const uint64_t expected[] = {6, 3, 1, 4, 0, 2, 5, 7};
    struct events q;
    struct event e;
    events_open(&q);
    for (uint64_t i = 0; i < 8; i++)
        events_add(&q, times[i], 0, 0, i);
    for (unsigned i = 0; i < 8; i++) {
        expect(events_next(&q, &e));
        expect_eq(e.what, expected[i]);
        expect_eq(q.now, times[expected[i]]);
    }
    expect(!events_next(&q, &e));
    events_close(&q);
}

TEST(many_events_are_sorted)
{
    struct events q;
    struct event e, last = {0};
    struct random r;
    unsigned count = 0;
    events_open(&q);
    random_seed(&r, 42);
    for (unsigned i = 0; i < 20000; i++) {
        events_add(&q, q.now + random_below(&r, 100), 0, 0, i);
        if (i % 3 == 0 && events_next(&q, &e)) {
            expect(e.at >= last.at && (e.at > last.at || e.order > last.order || !count));
            last = e;
            count++;
        }
    }
    while (events_next(&q, &e)) {
        expect(e.at > last.at || (e.at == last.at && e.order > last.order));
        last = e;
        count++;
    }
    expect_eq(count, 20000);
    events_close(&q);
}

/* ---- the network: 1 us, 1 byte per ns ---- */

TEST(a_message_takes_latency_and_its_bytes)
{
    struct network n;
    network_open(&n, 3, 1, 1e9, 2e9);
    uint64_t head = network_send(&n, 100, 0, 1, 500);
    expect_eq(head, 1100);
    expect_eq(network_receive(&n, head, 0, 1, 500), 1600);
    expect_eq(network_send(&n, 100, 2, 2, 1000), 100 + 200 + 500); /* to itself: a copy */
    network_close(&n);
}

TEST(messages_wait_for_each_other_at_both_ends)
{
    struct network n;
    network_open(&n, 3, 1, 1e9, 1e9);
    expect_eq(network_send(&n, 0, 0, 1, 500), 1000);
    expect_eq(network_send(&n, 0, 0, 1, 500), 1500); /* the same sender */
    expect_eq(network_send(&n, 0, 2, 1, 500), 1000); /* another one */
    expect_eq(network_receive(&n, 1000, 0, 1, 500), 1500);
    expect_eq(network_receive(&n, 1000, 2, 1, 500), 2000); /* the same receiver */
    expect_eq(network_receive(&n, 1500, 0, 1, 500), 2500);
    n.slip = 100;
    expect_eq(network_receive(&n, 1500, 0, 1, 100), 1600); /* fits in between, and delays the next */
    expect_eq(network_receive(&n, 1500, 0, 1, 500), 3100);
    network_close(&n);
}

/* ---- one client: block 500 ns, 0.25 ns per byte; 3 bytes per ns, 6 us; serve 1 us, wake 3 us ---- */

static struct setup setup_of(uint32_t clients, uint32_t buffers, uint32_t bytes, uint32_t pool_buffers) {
    return (struct setup){.clients = clients,
                          .ranks_per_node = 1,
                          .limits = {.buffers = buffers,
                                     .bytes = bytes,
                                     .pool_buffers = pool_buffers,
                                     .pool_buffer_bytes = 256},
                          .budget = 1 << 20,
                          .pool_bytes = 4096,
                          .costs = {.block = 500,
                                    .pack_per_byte = 0.25,
                                    .serve = 1000,
                                    .do_per_byte = 0.25,
                                    .wake = 3000,
                                    .allocate = 1000,
                                    .fault_per_byte = 250.0 / 4096,
                                    .retry = 20000},
                          .latency_us = 6,
                          .bandwidth = 3e9,
                          .seed = 1};
}

static struct flow_result run(struct setup s, const struct scheme *scheme, uint32_t operations,
                              uint64_t bytes) {
    struct flow_result r;
    struct world w;
    world_open(&w, &s, scheme);
    for (uint32_t i = 0; i < s.clients; i++)
        world_plan(&w, i, operations, bytes, 0);
    world_run(&w, "", &r);
    world_close(&w);
    return r;
}

/* ns: pack 628; send 6000 + (512 + 64) / 3; wake, serve and execute 4128; answer 6000 + 64 / 3 */
TEST(an_accumulate_with_credits_takes_what_its_parts_take)
{
    struct flow_result r = run(setup_of(1, 1, 512, 0), &flow_credits, 1, 512);
    expect_eq((long long)(r.longest_us * 1000 + 0.5), 628 + 6192 + 4128 + 6021);
    expect_eq(r.messages, 2);
    expect_eq(r.acks, 1);
}

/* A request, 1031 ns for the memory, an answer, and then as above. */
TEST(request_allocate_takes_a_round_trip_more)
{
    struct flow_result r = run(setup_of(1, 1, 512, 0), &flow_allocate, 1, 512);
    expect_eq((long long)(r.longest_us * 1000 + 0.5), 6021 + 5031 + 6021 + 628 + 6192 + 4128 + 6021);
    expect_eq(r.messages, 4);
    expect_eq(r.most, 512);
}

TEST(request_release_takes_a_round_trip_more)
{
    struct flow_result r = run(setup_of(1, 1, 512, 0), &flow_release_, 1, 512);
    expect_eq((long long)(r.longest_us * 1000 + 0.5), 6021 + 4000 + 6021 + 628 + 6192 + 4128 + 6021);
    expect_eq(r.messages, 5);
    expect_eq(r.most, 4096);
}

/* 320 bytes: without pool buffers five blocks of 64, each acknowledged; with one pool buffer of 256 two */
TEST(intimation_saves_messages)
{
    struct flow_result plain = run(setup_of(1, 1, 64, 1), &flow_credits, 1, 320);
    struct flow_result told = run(setup_of(1, 1, 64, 1), &flow_intimation, 1, 320);
    expect_eq(plain.messages, 10);
    expect_eq(plain.granted, 0);
    expect_eq(told.messages, 4);
    expect_eq(told.granted, 1);
    expect(told.longest_us < plain.longest_us / 2);
}

TEST(who_is_refused_memory_asks_again)
{
    struct setup s = setup_of(8, 1, 64, 0);
    s.pool_bytes = 512;
    s.budget = 8 * HEADER + 2 * 512; /* for two at a time */
    struct flow_result ask = run(s, &flow_allocate, 4, 512), pool = run(s, &flow_release_, 4, 512);
    expect(ask.refused > 0 && ask.retries == ask.refused);
    expect_eq(ask.most, 1024);
    expect_eq(ask.operations, 32);
    expect_eq(pool.refused, 0);
    expect_eq(pool.most, 1024);
    expect_eq(pool.operations, 32);
}

TEST(equal_clients_are_served_equally)
{
    struct flow_result r = run(setup_of(16, 2, 64, 0), &flow_credits, 50, 1000);
    expect(r.fairness > 0.999 && r.fairness < 1.000001);
    expect(r.half_fairness > 0.99);
    expect_eq(r.operations, 800);
}

TEST(gets_come_through_own_buffers_and_through_spares)
{
    struct setup s = setup_of(3, 2, 64, 4);
    s.gets = true;
    struct flow_result plain = run(s, &flow_credits, 5, 1500), told = run(s, &flow_intimation, 5, 1500);
    expect_eq(plain.operations, 15);
    expect_eq(told.operations, 15);
    expect_eq(plain.messages, 2 * 15 * 24); /* a request and an answer for each 64 bytes */
    expect(told.granted > 0 && told.messages < plain.messages);
}

TEST(the_same_run_gives_the_same_numbers)
{
    struct flow_result a = run(setup_of(50, 4, 128, 4), &flow_intimation, 3, 5000);
    struct flow_result b = run(setup_of(50, 4, 128, 4), &flow_intimation, 3, 5000);
    expect(a.seconds == b.seconds && a.longest_us == b.longest_us && a.messages == b.messages);
}
