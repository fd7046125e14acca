/* flow.c: sim_flow simulates flow control between one helper thread and many clients; Sect. 4.4 of the paper on
 * ARMCI at petascale.
 *
 * Credits and size hints (intimation) are src/net/rpc/flow.h itself; the network, the times of work and the two
 * schemes that ask first are models. The size of buffers follows from the number of clients, as in net/rpc/rpc_open.c:
 * as large as fit into a share of the node's memory, for all clients of the job, active or not.
 *
 *      one     one client, one operation after another, as the paper's microbenchmark (Figs. 6, 7, left)
 *      eight   eight of them at once
 *      all     all at once: the "many to one case" (Sect. 4.2)
 *      mix     eight stream at full speed, all others do 8 bytes occasionally: tests for starvation
 * */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "need.h"
#include "options.h"

#include "base/compiler.h"
#include "net/rpc/arena.h"
#include "net/rpc/rpc_engine.h"

static struct option_entry options[] = {
    {"clients", "8,1k,10k,180k", "clients: processes of the job that may send to the helper; k is 1000 here",
     NULL},
    {"schemes", "allocate,release,credits,intimation", "schemes to run", NULL},
    {"cases", "one,eight,all,mix", "workloads to run: which clients are active, see the head of sim/flow.c",
     NULL},
    {"bytes", "512,4k,32k,128k", "size of an operation, for one and eight", NULL},
    {"all-bytes", "4k", "size of an operation, for all and mix", NULL},
    {"operations", "20", "operations of each client, for one and eight", NULL},
    {"all-operations", "3", "operations of each client, for all", NULL},
    {"gets", "0", "1: gets instead of accumulates (credits and intimation only)", NULL},
    {"memory", "16g", "memory of a node (the paper's XT5: Sect. 3.1)", NULL},
    {"share", "0.05", "share of it for the helper's buffers (Sect. 4.4.1)", NULL},
    {"buffers", "4", "buffers of each client", NULL},
    {"size", "0", "size of such a buffer; 0: as large as fits, up to 64k", NULL},
    {"spares", "4", "buffers of the credit pool (Sect. 4.4.4)", NULL},
    {"spare-size", "32k", "size of such a buffer (Sect. 4.4.4)", NULL},
    {"pool-size", "128k", "size of a buffer of request-release", NULL},
    {"ranks", "12", "clients of a node, which share its NIC", NULL},
    {"bandwidth", "3e9", "bytes/s of a NIC (Sect. 4.3)", NULL},
    {"latency-us", "6", "latency of the network, one way", NULL},
    {"block-us", "0.5", "time of a client for a block", NULL},
    {"serve-us", "1", "time of the helper for a message", NULL},
    {"wake-us", "3", "time of the helper to wake up", NULL},
    {"work-bandwidth", "4e9", "bytes/s of packing and of accumulating", NULL},
    {"allocate-us", "1", "time of malloc; plus 0.25 us for each 4 KB that is touched for the first time",
     NULL},
    {"retry-us", "20", "initial delay until a client that was refused memory asks again", NULL},
    {"paper", "0", "1: only the claims in the paper's text, beside the simulated values", NULL},
    {"seed", "1", "seed of the pauses", NULL},
    {"csv", "", "file to which the rows are appended", NULL},
    {NULL, NULL, NULL, NULL},
};

/* ---- sizes ---- */

/* As net/rpc/rpc_open.c chooses them. */
static struct flow_limits limits_for(uint32_t clients, uint64_t budget) {
    struct flow_limits l = {.buffers = (uint32_t)options_number(options, "buffers"),
                            .pool_buffers = (uint32_t)options_number(options, "spares"),
                            .pool_buffer_bytes = (uint32_t)options_number(options, "spare-size")};
    uint32_t size = (uint32_t)round_up((uint64_t)options_number(options, "size"), 64);
    l.bytes =
        size ? size : net_arena_fitting(&l, clients, net_server_header(), net_server_record(&l), budget);
    net_arena_fit_pool(&l);
    return l;
}

static struct costs costs_from_options(void) {
    double per_byte = 1e9 / options_number(options, "work-bandwidth");
    return (struct costs){.block = 1e3 * options_number(options, "block-us"),
                          .pack_per_byte = per_byte,
                          .serve = 1e3 * options_number(options, "serve-us"),
                          .do_per_byte = per_byte,
                          .wake = 1e3 * options_number(options, "wake-us"),
                          .allocate = 1e3 * options_number(options, "allocate-us"),
                          .fault_per_byte = 250.0 / 4096,
                          .retry = 1e3 * options_number(options, "retry-us")};
}

static struct setup setup_for(uint32_t clients) {
    struct setup s = {.clients = clients,
                      .ranks_per_node = (uint32_t)options_number(options, "ranks"),
                      .budget =
                          (uint64_t)(options_number(options, "memory") * options_number(options, "share")),
                      .pool_bytes = (uint64_t)options_number(options, "pool-size"),
                      .gets = options_number(options, "gets") > 0,
                      .costs = costs_from_options(),
                      .latency_us = options_number(options, "latency-us"),
                      .bandwidth = options_number(options, "bandwidth"),
                      .seed = (uint64_t)options_number(options, "seed")};
    s.limits = limits_for(clients, s.budget);
    return s;
}

/* ---- workloads ---- */

enum { STREAMS = 8 };

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void plan(struct world *w, const char *name, uint64_t bytes) {
    uint32_t clients = w->setup.clients, operations = (uint32_t)options_number(options, "operations");
    uint32_t streams = !strcmp(name, "one") ? 1 : least(STREAMS, clients);
    if (!strcmp(name, "all")) {
        streams = clients;
        operations = (uint32_t)options_number(options, "all-operations");
    }
    if (!strcmp(name, "mix"))
        operations *= 20;
    /* far apart, so that they do not share a NIC */
    for (uint32_t i = 0; i < streams; i++)
        world_plan(w, (uint32_t)((uint64_t)i * clients / streams), operations, bytes, 0);
    if (strcmp(name, "mix"))
        return;
    /* together they use a tenth of the helper's time */
    uint64_t pause = (uint64_t)(10 * clients * w->setup.costs.serve);
    for (uint32_t i = 0; i < clients; i++)
        if (!w->clients[i].bytes)
            world_plan(w, i, 2, 8, pause);
}

/* ---- output ---- */

static const struct scheme *const schemes[] = {&flow_allocate, &flow_release_, &flow_credits,
                                               &flow_intimation};

static const struct scheme *scheme_named(const char *name) {
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (!strcmp(schemes[i]->name, name))
            return schemes[i];
    fprintf(stderr, "sim: no scheme %s: one of allocate, release, credits, intimation\n", name);
    exit(2);
}

static FILE *csv;

static void open_csv(void) {
    const char *path = options_word(options, "csv");
    if (!*path)
        return;
    csv = fopen(path, "a");
    if (!csv) {
        perror(path);
        exit(1);
    }
    if (ftell(csv) == 0)
        fprintf(
            csv,
            "clients,case,kind,bytes,scheme,buffers,buffer_bytes,spares,spare_bytes,operations,seconds,mbps,"
            "fairness,half_fairness,mean_us,longest_us,small_longest_us,helper_busy,messages,acks,granted,"
            "refused,retries,buffer_memory,other_memory,memory_share\n");
}

static double share_of_node(const struct flow_result *r) {
    return (double)(r->fixed + r->most) / options_number(options, "memory");
}

static void print(const struct world *w, const char *name, uint64_t bytes, const struct flow_result *r) {
    const struct flow_limits *l = &w->setup.limits;
    printf("%7u  %-5s %7llu  %-10s %8.1f %6.3f %6.3f %10.1f %12.1f %12.1f %5.0f%% %10llu %8.2f%%\n",
           w->setup.clients, name, (unsigned long long)bytes, w->scheme->name, r->bandwidth / 1e6,
           r->fairness, r->half_fairness, r->mean_us, r->longest_us, r->small_longest_us, 100 * r->busy,
           (unsigned long long)r->messages, 100 * share_of_node(r));
    fflush(stdout);
    if (!csv)
        return;
    fprintf(csv, "%u,%s,%s,%llu,%s,%u,%u,%u,%u,%llu,%.9f,%.3f,%.6f,%.6f,%.3f,%.3f,%.3f,%.4f,",
            w->setup.clients, name, w->setup.gets ? "get" : "acc", (unsigned long long)bytes, w->scheme->name,
            l->buffers, l->bytes, l->pool_buffers, l->pool_buffer_bytes, (unsigned long long)r->operations,
            r->seconds, r->bandwidth / 1e6, r->fairness, r->half_fairness, r->mean_us, r->longest_us,
            r->small_longest_us, r->busy);
    fprintf(csv, "%llu,%llu,%llu,%llu,%llu,%llu,%llu,%.6f\n", (unsigned long long)r->messages,
            (unsigned long long)r->acks, (unsigned long long)r->granted, (unsigned long long)r->refused,
            (unsigned long long)r->retries, (unsigned long long)r->fixed, (unsigned long long)r->most,
            share_of_node(r));
}

/* ---- comparison with the paper ---- */

static struct flow_result one_client(uint32_t clients, uint32_t buffers, uint32_t size,
                                     const struct scheme *scheme, uint64_t bytes) {
    struct setup setup = setup_for(clients);
    struct flow_result result;
    struct world w;
    setup.limits.buffers = buffers;
    setup.limits.bytes = size;
    if (setup.limits.pool_buffer_bytes < size)
        setup.limits.pool_buffer_bytes = size;
    world_open(&w, &setup, scheme);
    plan(&w, "one", bytes);
    world_run(&w, "the paper's words", &result);
    world_close(&w);
    return result;
}

static void claim(const char *section, const char *what, const char *paper, double ours, const char *unit) {
    printf("| %s | %s | %s | %.3g%s |\n", section, what, paper, ours, unit);
}

static void print_paper(void) {
    enum { CLIENTS = 150000, K = 1024 };
    struct flow_result plain = one_client(CLIENTS, 2, 3 * K, &flow_credits, 128 * K);
    struct flow_result told = one_client(CLIENTS, 2, 3 * K, &flow_intimation, 128 * K);
    struct flow_result plain32 = one_client(CLIENTS, 2, 3 * K, &flow_credits, 32 * K);
    struct flow_result told32 = one_client(CLIENTS, 2, 3 * K, &flow_intimation, 32 * K);
    struct flow_result small = one_client(CLIENTS, 2, 4 * K, &flow_credits, 128 * K);
    struct flow_result large = one_client(CLIENTS, 4, 128 * K, &flow_credits, 128 * K);
    struct flow_result ask = one_client(CLIENTS, 2, 3 * K, &flow_allocate, 512);
    struct flow_result pool = one_client(CLIENTS, 2, 3 * K, &flow_release_, 512);
    struct flow_result credit = one_client(CLIENTS, 2, 3 * K, &flow_credits, 512);
    double trip = 2 * options_number(options, "latency-us");
    printf("| section | what, for one client of %d | paper | simulated |\n|---|---|---|---|\n", CLIENTS);
    claim("4.4.4", "2 x 3 KB with a pool of 4 x 32 KB against without: bandwidth, 128 KB", "3x",
          told.bandwidth / plain.bandwidth, "x");
    claim("4.4.4", "the same, 32 KB", "3x", told32.bandwidth / plain32.bandwidth, "x");
    claim("4.4.4", "the same against 4 x 128 KB, 128 KB (the paper: of the application)", "as well as",
          told.bandwidth / large.bandwidth, "x");
    claim("4.4.1", "4 x 128 KB against 2 x 4 KB: bandwidth, 128 KB", "2x, in some cases",
          large.bandwidth / small.bandwidth, "x");
    claim("4.4.2", "memory of 4 x 128 KB for all of them", "about 72 GB", (double)large.fixed / (1u << 30),
          " GiB");
    claim("4.4.2",
          "request-allocate, 512 B: extra time in round trips of the network, including the helper's work",
          "1", (ask.mean_us - credit.mean_us) / trip, "");
    claim("4.4.2",
          "request-release, 512 B: extra time in round trips of the network, including the helper's work",
          "1", (pool.mean_us - credit.mean_us) / trip, "");
}

static void run(const struct setup *setup, const char *name, const struct scheme *scheme, uint64_t bytes) {
    struct world w;
    struct flow_result result;
    char title[80];
    snprintf(title, sizeof title, "%u clients, %s, %s, %llu bytes", setup->clients, name, scheme->name,
             (unsigned long long)bytes);
    world_open(&w, setup, scheme);
    plan(&w, name, bytes);
    world_run(&w, title, &result);
    print(&w, name, bytes, &result);
    world_close(&w);
}

static void run_schemes(const struct setup *setup, const char *name, uint64_t bytes) {
    char word[32];
    for (const char *at = options_word(options, "schemes"); options_next(&at, word, sizeof word);)
        run(setup, name, scheme_named(word), bytes);
}

static void run_case(const struct setup *setup, const char *name) {
    char word[32];
    bool everybody = !strcmp(name, "all") || !strcmp(name, "mix");
    const char *at = options_word(options, everybody ? "all-bytes" : "bytes");
    if (strcmp(name, "one") && strcmp(name, "eight") && !everybody) {
        fprintf(stderr, "sim: no case %s: one of one, eight, all, mix\n", name);
        exit(2);
    }
    while (options_next(&at, word, sizeof word))
        run_schemes(setup, name, (uint64_t)options_parse("bytes", word));
}

/* 180k clients are 180 000. */
static uint32_t parse_clients(char *word) {
    size_t length = strlen(word);
    bool thousands = length && word[length - 1] == 'k';
    if (thousands)
        word[length - 1] = 0;
    double clients = options_parse("clients", word) * (thousands ? 1000 : 1);
    if (clients < 1 || clients > 1e8) {
        fprintf(stderr, "sim: --clients: 1 to 100 000 000\n");
        exit(2);
    }
    return (uint32_t)clients;
}

static void run_clients(uint32_t clients) {
    struct setup setup = setup_for(clients);
    char word[32];
    printf(
        "-- %u clients: %u buffers of %u bytes each, a pool of %u of %u; %.1f MB of buffers, %.2f %% of the "
        "node\n",
        clients, setup.limits.buffers, setup.limits.bytes, setup.limits.pool_buffers,
        setup.limits.pool_buffer_bytes,
        (double)net_arena_bytes(&setup.limits, clients, net_server_header()) / 1e6,
        100.0 * (double)net_arena_bytes(&setup.limits, clients, net_server_header()) /
            options_number(options, "memory"));
    for (const char *at = options_word(options, "cases"); options_next(&at, word, sizeof word);)
        run_case(&setup, word);
}

int main(int argc, char **argv) {
    char word[32];
    options_read(
        options, argc, argv,
        "sim_flow: one helper thread and many clients; src/net/rpc/flow.h over a model of a network.");
    open_csv();
    printf("simulated; network %s bytes/s, %s us; seed %s\n", options_word(options, "bandwidth"),
           options_word(options, "latency-us"), options_word(options, "seed"));
    if (options_number(options, "paper") > 0) {
        print_paper();
        return 0;
    }
    printf("clients  case    bytes  scheme         MB/s   fair   half    mean us   longest us  small's "
           "longest  busy   "
           "messages   memory\n");
    for (const char *at = options_word(options, "clients"); options_next(&at, word, sizeof word);)
        run_clients(parse_clients(word));
    if (csv)
        fclose(csv);
    return 0;
}
