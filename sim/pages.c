/* pages.c: sim_pages simulates pages of one node's NVM, read and written by all nodes: Figs. 8 to 10 of the
 * vGASNet paper, at 1 to 42 nodes.
 *
 * As in Sect. IV-C all nodes get or put the segment of one of them, with one rank per node. The sizes are the
 * paper's: pools of 16 GB, pages of 4 MB. --scale divides pool and data alike, which keeps their ratio.
 *
 *      cc      nodes serve each other's misses (MOESI-F), whole pages, no read-ahead: the paper's
 *      nocc    all pages come from the home and go back there: the paper's "w/o CC"
 *      hearth  cc, with Hearth's extensions: read-ahead, and small operations executed at the page's owner
 *      gasnet  no pages: the home's memory, served by its NIC (only for data that fits there)
 *      bare    as gasnet, but the service threads handle the messages: a bare round trip
 *
 * Pattern `third`, always with three nodes, is not in the paper: how long a put of one byte takes if the page's home and its
 * owner are two other nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "pages_sim.h"

static struct option_entry options[] = {
    {"patterns", "seq,random,false",
     "access patterns: Figs. 8, 9 and 10; or mixed or third, which are not in the paper", NULL},
    {"modes", "cc,nocc,hearth,gasnet", "modes to run, see the head of sim/pages.c", NULL},
    {"nodes", "1,2,4,8,16,32,42", "numbers of nodes", NULL},
    {"data", "0.5,2,4", "size of the segment, in pools", NULL},
    {"pool", "16g", "pool of each node (Sect. IV-C)", NULL},
    {"page", "4m", "size of a page (Sect. IV-B)", NULL},
    {"scale", "1", "divisor of pool and segment", NULL},
    {"puts", "200", "puts of each node, for false sharing; of one node, for third; accesses, for mixed",
     NULL},
    {"meet", "1", "false sharing: a barrier of all nodes after each put; 0: none", NULL},
    {"put-us", "0.3", "time of a put into a local page", NULL},
    {"ahead", "8", "pages of read-ahead, for hearth (HEARTH_PAGES_AHEAD)", NULL},
    {"bandwidth", "6e9", "bytes/s of a NIC (InfiniBand 4X FDR: Sect. IV-A)", NULL},
    {"latency-us", "1.5", "latency of the network, one way", NULL},
    {"copy-bandwidth", "6e9", "bytes/s of a copy in memory", NULL},
    {"nvm-bandwidth", "450e6", "bytes/s of the NVM (a SATA SSD)", NULL},
    {"nvm-us", "80", "fixed time of a read or write", NULL},
    {"service-us", "2", "time of the service thread for a message", NULL},
    {"seed", "1", "seed of the random orders", NULL},
    {"csv", "", "file to which the rows are appended", NULL},
    {NULL, NULL, NULL, NULL},
};

static FILE *csv;
static const char *const pattern_names[] = {"seq", "random", "false", "mixed", "third"};
enum { CC, NOCC, HEARTH, GASNET, BARE };
static const char *const mode_names[] = {"cc", "nocc", "hearth", "gasnet", "bare", NULL};

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
            "pattern,data_in_pools,mode,nodes,pages,frames,page_bytes,seconds,mbps,operations_per_s,mean_us,"
            "longest_us,fairness,nvm_share,nvm_reads,nvm_writes,from_nvm,from_home,from_peers,hits,smalls,"
            "evicted,"
            "messages,bytes\n");
}

static struct machine machine_from_options(void) {
    double page = options_number(options, "page"), scale = options_number(options, "scale");
    struct machine m = {.latency_us = options_number(options, "latency-us"),
                        .bandwidth = options_number(options, "bandwidth"),
                        .copy_bandwidth = options_number(options, "copy-bandwidth"),
                        .nvm_bandwidth = options_number(options, "nvm-bandwidth"),
                        .nvm_us = options_number(options, "nvm-us"),
                        .service_us = options_number(options, "service-us"),
                        .put_us = options_number(options, "put-us"),
                        .page_bytes = (uint64_t)page,
                        .frames = (uint32_t)(options_number(options, "pool") / page / scale)};
    if (m.frames < 16) {
        fprintf(
            stderr,
            "sim: a pool of %u pages is too small: at least 16 are needed; see --pool, --page and --scale\n",
            m.frames);
        exit(2);
    }
    return m;
}

/* Returns the permanent copy of the name. */
static const char *set_mode(struct plan *p, const char *name) {
    unsigned i = 0;
    while (mode_names[i] && strcmp(mode_names[i], name))
        i++;
    if (!mode_names[i]) {
        fprintf(stderr, "sim: no mode %s: one of cc, nocc, hearth, gasnet, bare\n", name);
        exit(2);
    }
    bool hearth = i == HEARTH;
    p->coop = hearth || i == CC;
    p->raw = i == GASNET || i == BARE;
    p->served = i == BARE;
    p->small = hearth;
    p->ahead = hearth ? (unsigned)options_number(options, "ahead") : 0;
    return mode_names[i];
}

static void write_row(const struct plan *p, const char *mode, double data, const struct pages_result *r) {
    if (!csv)
        return;
    fprintf(csv, "%s,%g,%s,%u,%u,%u,%llu,%.9f,%.3f,%.3f,%.3f,%.3f,%.6f,%.4f,", pattern_names[p->pattern],
            data, mode, p->nodes, p->pages, p->machine.frames, (unsigned long long)p->machine.page_bytes,
            r->seconds, r->bandwidth / 1e6, r->operations_per_second, r->mean_us, r->longest_us, r->fairness,
            r->disk_share);
    fprintf(csv, "%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n", (unsigned long long)r->nvm_reads,
            (unsigned long long)r->nvm_writes, (unsigned long long)r->from_nvm,
            (unsigned long long)r->from_home, (unsigned long long)r->from_peers, (unsigned long long)r->hits,
            (unsigned long long)r->smalls, (unsigned long long)r->evicted, (unsigned long long)r->messages,
            (unsigned long long)r->bytes);
}

/* ---- results, kept for the comparison with the paper ---- */

struct kept {
    enum pattern pattern;
    const char *mode; /* one of mode_names */
    double data, value;
    uint32_t nodes;
};
static struct kept kept[4096];
static unsigned kept_count;

static void keep(const struct plan *p, const char *mode, double data, double value) {
    if (kept_count == sizeof kept / sizeof *kept)
        return;
    kept[kept_count++] =
        (struct kept){.pattern = p->pattern, .mode = mode, .data = data, .value = value, .nodes = p->nodes};
}

static double find(enum pattern pattern, const char *mode, double data, uint32_t nodes) {
    for (unsigned i = 0; i < kept_count; i++)
        if (kept[i].pattern == pattern && kept[i].data == data && kept[i].nodes == nodes &&
            !strcmp(kept[i].mode, mode))
            return kept[i].value;
    return 0;
}

/* The minimum and maximum of a ratio over all runs. */
struct range {
    double low, high;
};

static void stretch(struct range *r, double above, double below) {
    if (above <= 0 || below <= 0)
        return;
    double x = above / below;
    r->low = !r->high || x < r->low ? x : r->low;
    r->high = x > r->high ? x : r->high;
}

static void claim(const char *what, const char *section, const char *paper, struct range r) {
    static bool begun;
    if (r.high <= 0)
        return;
    if (!begun)
        printf("\n| what | section | paper | simulated |\n|---|---|---|---|\n");
    begun = true;
    printf("| %s | %s | %s | %.3g to %.3g |\n", what, section, paper, r.low, r.high);
}

static void print_paper(void) {
    struct range grows = {0}, grows_ours = {0}, above = {0}, below = {0}, random = {0}, shared = {0},
                 raw = {0}, ours = {0};
    for (unsigned i = 0; i < kept_count; i++) {
        const struct kept *k = &kept[i];
        bool cc = !strcmp(k->mode, "cc"), hearth = !strcmp(k->mode, "hearth");
        double nocc = find(k->pattern, "nocc", k->data, k->nodes),
               gasnet = find(k->pattern, "gasnet", k->data, k->nodes);
        if (k->pattern == FALSE_SHARING && k->nodes > 1) {
            stretch(&shared, cc ? k->value : 0, nocc);
            stretch(&raw, gasnet, cc ? k->value : 0);
            stretch(&ours, gasnet, hearth ? k->value : 0);
        } else if (k->pattern == SEQUENTIAL) {
            if (k->nodes == 32)
                stretch(cc ? &grows : &grows_ours, cc || hearth ? k->value : 0,
                        find(k->pattern, k->mode, k->data, 1));
            if (k->nodes > 1)
                stretch(k->data > 1 ? &above : &below, cc ? k->value : 0, nocc);
            if (k->nodes > 1)
                stretch(&random, cc ? find(RANDOM, k->mode, k->data, k->nodes) : 0, k->value);
        }
    }
    claim("sequential, 32 nodes against 1, cc", "IV-C2", "3.23 to 11.1", grows);
    claim("the same, hearth", "IV-C2", "not given", grows_ours);
    claim("sequential, cc against nocc, data larger than the pool", "IV-C2", "1.34 to 1.92", above);
    claim("the same, data that fits into the pool", "IV-C2", "less than 1", below);
    claim("random against sequential, cc, several nodes", "IV-C3", "more than 1", random);
    claim("false sharing, cc against nocc, several nodes", "IV-C4", "23.5 to 33.7", shared);
    claim("false sharing, gasnet against cc", "IV-C4", "138", raw);
    claim("false sharing, gasnet against hearth", "IV-C4", "not given", ours);
}

/* ---- the runs ---- */

static void run(const struct plan *p, const char *mode, double data) {
    struct pages_result r;
    char title[80];
    bool puts = p->pattern >= FALSE_SHARING;
    snprintf(title, sizeof title, "%s, %g pools, %s, %u nodes", pattern_names[p->pattern], data, mode,
             p->nodes);
    pages_run(p, title, &r);
    keep(p, mode, data, r.operations_per_second);
    printf("%-7s %5g  %-7s %5u  %10.1f %s %10.1f %12.1f %6.3f %5.0f%% %8llu %8llu %8llu %8llu\n",
           pattern_names[p->pattern], data, mode, p->nodes,
           puts ? r.operations_per_second : r.bandwidth / 1e6, puts ? "op/s" : "MB/s", r.mean_us,
           r.longest_us, r.fairness, 100 * r.disk_share, (unsigned long long)r.nvm_reads,
           (unsigned long long)r.nvm_writes, (unsigned long long)r.from_peers, (unsigned long long)r.smalls);
    fflush(stdout);
    write_row(p, mode, data, &r);
}

static void run_nodes(struct plan *p, const char *mode, double data) {
    char word[32];
    if (p->raw && data > 1)
        return; /* does not fit into memory */
    if (p->pattern == THIRD) {
        p->nodes = 3;
        run(p, mode, data);
        return;
    }
    for (const char *at = options_word(options, "nodes"); options_next(&at, word, sizeof word);) {
        p->nodes = (uint32_t)options_parse("nodes", word);
        if (p->nodes < 1 || p->nodes > 4096) {
            fprintf(stderr, "sim: --nodes: 1 to 4096\n");
            exit(2);
        }
        run(p, mode, data);
    }
}

static void run_modes(struct plan *p, double data) {
    char word[32];
    for (const char *at = options_word(options, "modes"); options_next(&at, word, sizeof word);) {
        const char *mode = set_mode(p, word);
        run_nodes(p, mode, data);
    }
}

/* Each put of the pattern needs a page of its own that another node holds: evictions would be measured instead. */
static void refuse_beyond_pool(const struct plan *p) {
    if (p->puts <= p->machine.frames)
        return;
    fprintf(stderr,
            "sim: --patterns third puts to as many pages as --puts says, %u, but a pool holds %u: fewer "
            "puts, or a larger --pool\n",
            p->puts, p->machine.frames);
    exit(2);
}

static void run_pattern(struct plan *p, const char *name) {
    char word[32];
    for (unsigned i = 0; i <= THIRD; i++)
        if (!strcmp(pattern_names[i], name)) {
            p->pattern = (enum pattern)i;
            p->pages = i == THIRD ? p->puts : 1;
            if (i == THIRD)
                refuse_beyond_pool(p);
            if (i == FALSE_SHARING || i == THIRD) {
                run_modes(p, 0);
                return;
            }
            for (const char *at = options_word(options, "data"); options_next(&at, word, sizeof word);) {
                double data = options_parse("data", word);
                p->pages = (uint32_t)(data * p->machine.frames + 0.5);
                run_modes(p, data);
            }
            return;
        }
    fprintf(stderr, "sim: no pattern %s: one of seq, random, false, mixed, third\n", name);
    exit(2);
}

int main(int argc, char **argv) {
    char word[32];
    options_read(options, argc, argv,
                 "sim_pages: the directory and the caches of src/pages over models of a network and of NVM.");
    struct plan p = {.machine = machine_from_options(),
                     .puts = (uint32_t)options_number(options, "puts"),
                     .meet = options_number(options, "meet") > 0,
                     .seed = (uint64_t)options_number(options, "seed")};
    open_csv();
    printf("simulated; pools of %u pages of %llu bytes (1/%s of the paper's); network %s bytes/s, NVM %s "
           "bytes/s; seed %s\n",
           p.machine.frames, (unsigned long long)p.machine.page_bytes, options_word(options, "scale"),
           options_word(options, "bandwidth"), options_word(options, "nvm-bandwidth"),
           options_word(options, "seed"));
    printf("pattern  data  mode    nodes  throughput         mean us   longest us   fair   NVM    reads   "
           "writes    peers   "
           "smalls\n");
    for (const char *at = options_word(options, "patterns"); options_next(&at, word, sizeof word);)
        run_pattern(&p, word);
    print_paper();
    if (csv)
        fclose(csv);
    return 0;
}
