/* stats.c: operation counters, per thread and without a lock, summed on request.
 *
 * The counters of threads that have ended are in `ended`. */
#include "gas/rma/stats.h"

#include <pthread.h>
#include <string.h>

#include "base/settings.h"
#include "gas/process/gas_comm.h"
#include "gas/memory/ask.h"
#include "observe/json.h"
#include "observe/live.h"
#include "observe/output.h"
#include "observe/output_part.h"

enum { NUMBERS = sizeof(struct stats_numbers) / sizeof(_Atomic uint64_t) };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* leaf lock, protects the list */
static struct stats_thread *threads;
static uint64_t ended[NUMBERS];

/* ---- threads ---- */

/* Publishes the counters for hearth top. */
static void stats_show(const struct stats_thread *t) {
#define SIZE(kind, i) LIVE_FIELD(gas_near, struct stats_thread, numbers.sizes[kind][i])
#define OF(kind)                                                                                             \
    SIZE(kind, 0), SIZE(kind, 1), SIZE(kind, 2), SIZE(kind, 3), SIZE(kind, 4), SIZE(kind, 5), SIZE(kind, 6), \
        SIZE(kind, 7), LIVE_FIELD_MINUS(gas_near, struct stats_thread, numbers.remote_calls[kind]),          \
        LIVE_FIELD(gas_far, struct stats_thread, numbers.remote_calls[kind]),                                \
        LIVE_FIELD(gas_bytes, struct stats_thread, numbers.bytes[kind][0]),                                  \
        LIVE_FIELD(gas_bytes, struct stats_thread, numbers.bytes[kind][1])
    static const struct live_field fields[] = {OF(STATS_GET), OF(STATS_PUT), OF(STATS_SET)};
#undef OF
#undef SIZE
    _Static_assert(STATS_SIZES == 8, "all of them");
    live_show(t, fields, sizeof fields / sizeof *fields);
}

void gas_stats_join(struct stats_thread *t) {
    stats_show(t);
    pthread_mutex_lock(&lock);
    t->previous = NULL;
    t->next = threads;
    if (threads)
        threads->previous = t;
    threads = t;
    pthread_mutex_unlock(&lock);
}

static void add_up(const struct stats_thread *t, uint64_t *sums) {
    const _Atomic uint64_t *numbers = (const _Atomic uint64_t *)&t->numbers;
    for (size_t i = 0; i < NUMBERS; i++)
        sums[i] += atomic_load_explicit(&numbers[i], memory_order_relaxed);
}

void gas_stats_leave(struct stats_thread *t) {
    live_hide(t);
    pthread_mutex_lock(&lock);
    add_up(t, ended);
    if (t->previous)
        t->previous->next = t->next;
    else
        threads = t->next;
    if (t->next)
        t->next->previous = t->previous;
    pthread_mutex_unlock(&lock);
}

/* Same layout as struct stats_numbers. */
struct sums {
    uint64_t sizes[STATS_KINDS][STATS_SIZES], bytes[STATS_KINDS][2], remote_calls[STATS_KINDS];
};
_Static_assert(sizeof(struct sums) == sizeof(struct stats_numbers), "the same numbers");

static void sum_up(struct sums *s) {
    pthread_mutex_lock(&lock);
    memcpy(s, ended, sizeof *s);
    for (const struct stats_thread *t = threads; t; t = t->next)
        add_up(t, (uint64_t *)s);
    pthread_mutex_unlock(&lock);
}

static uint64_t calls_of(const struct sums *s, enum stats_kind kind) {
    uint64_t calls = 0;
    for (int i = 0; i < STATS_SIZES; i++)
        calls += s->sizes[kind][i];
    return calls;
}

/* ---- for the program ---- */

static void tell_pages(const struct pages_counts *c, vgasnet_stats_t *s) {
    s->hits = c->hits;
    s->misses = c->misses;
    s->smalls = c->smalls;
    s->prefetched = c->prefetched;
    s->faults = c->faults;
    s->write_faults = c->write_faults;
    s->frames = c->frames;
    s->frames_used = c->frames_used;
    s->from_nvm = c->from_nvm;
    s->from_home = c->from_home;
    s->from_peers = c->from_peers;
    s->served_peers = c->served_peers;
    s->invalidated = c->invalidated;
    s->evicted = c->evicted;
    s->written_back = c->written_back;
    s->nvm_reads = c->nvm_reads;
    s->nvm_writes = c->nvm_writes;
    s->nvm_holes = c->nvm_holes;
    s->messages = c->messages;
    s->message_bytes = c->message_bytes;
    s->unmapped = c->unmapped;
}

void vgasnet_stats(vgasnet_stats_t *stats) {
    struct sums s;
    gas_need("vgasnet_stats", 0);
    sum_up(&s);
    *stats = (vgasnet_stats_t){.gets = calls_of(&s, STATS_GET),
                               .puts = calls_of(&s, STATS_PUT),
                               .memsets = calls_of(&s, STATS_SET),
                               .get_bytes = s.bytes[STATS_GET][0] + s.bytes[STATS_GET][1],
                               .put_bytes = s.bytes[STATS_PUT][0] + s.bytes[STATS_PUT][1],
                               .memset_bytes = s.bytes[STATS_SET][0] + s.bytes[STATS_SET][1],
                               .far_gets = s.remote_calls[STATS_GET],
                               .far_puts = s.remote_calls[STATS_PUT],
                               .far_memsets = s.remote_calls[STATS_SET],
                               .far_get_bytes = s.bytes[STATS_GET][1],
                               .far_put_bytes = s.bytes[STATS_PUT][1],
                               .far_memset_bytes = s.bytes[STATS_SET][1]};
    if (gas_job.pages) {
        struct pages_counts c;
        pages_count(gas_job.pages, &c);
        tell_pages(&c, stats);
    }
}

/* ---- the report at the end ---- */

static const char *const kind_names[STATS_KINDS] = {"get", "put", "memset"};
static const char *const size_names[STATS_SIZES] = {"8 B",   "64 B",   "512 B", "4 KB",
                                                    "32 KB", "256 KB", "2 MB",  "more"};

enum { OF_PROCESS = 6, OF_NODE = 15, OF_PAGES = OF_PROCESS + OF_NODE };
static const char *const page_names[OF_PAGES] = {
    "hits",         "misses",    "smalls",     "prefetched", "faults",       "write_faults",  "frames",
    "frames_used",  "from_nvm",  "from_home",  "from_peers", "served_peers", "invalidated",   "evicted",
    "written_back", "nvm_reads", "nvm_writes", "nvm_holes",  "messages",     "message_bytes", "unmapped"};

struct report {
    struct sums done;
    uint64_t pages[OF_PAGES];
};

/* Where the counters of all ranks are summed, only the leader of a node contributes those of the node. */
static void collect_pages(bool apart, uint64_t *numbers) {
    struct pages_counts c;
    if (!gas_job.pages)
        return;
    pages_count(gas_job.pages, &c);
    const uint64_t all[OF_PAGES] = {
        c.hits,         c.misses,    c.smalls,     c.prefetched, c.faults,       c.write_faults,  c.frames,
        c.frames_used,  c.from_nvm,  c.from_home,  c.from_peers, c.served_peers, c.invalidated,   c.evicted,
        c.written_back, c.nvm_reads, c.nvm_writes, c.nvm_holes,  c.messages,     c.message_bytes, c.unmapped};
    bool leads = net_world_leader(gas_job.world, gas_job.world->node) == gas_job.rank;
    for (int i = 0; i < OF_PAGES; i++)
        numbers[i] = i < OF_PROCESS || leads || apart ? all[i] : 0;
}

static void stats_collect(bool apart, struct report *all) {
    struct report mine = {0};
    sum_up(&mine.done);
    collect_pages(apart, mine.pages);
    *all = mine;
    if (!apart)
        MPI_Reduce(&mine, all, (int)(sizeof mine / sizeof(uint64_t)), MPI_UINT64_T, MPI_SUM, 0, gas_comm.all);
}

static void stats_json_kind(struct json *j, const struct sums *s, int kind) {
    json_open(j, kind_names[kind], '{');
    json_count(j, "near", calls_of(s, (enum stats_kind)kind) - s->remote_calls[kind]);
    json_count(j, "far", s->remote_calls[kind]);
    json_count(j, "near_bytes", s->bytes[kind][0]);
    json_count(j, "far_bytes", s->bytes[kind][1]);
    json_open(j, "sizes", '{');
    for (int i = 0; i < STATS_SIZES; i++)
        json_count(j, size_names[i], s->sizes[kind][i]);
    json_close(j, '}');
    json_close(j, '}');
}

static void stats_write_json(struct json *j, const void *arg) {
    const struct report *r = arg;
    json_count(j, "nodes", (uint64_t)gas_job.world->nodes);
    for (int kind = 0; kind < STATS_KINDS; kind++)
        stats_json_kind(j, &r->done, kind);
    json_open(j, "pages", '{');
    if (gas_job.pages)
        json_count(j, "page_bytes", settings_get()->page_size);
    for (int i = 0; gas_job.pages && i < OF_PAGES; i++)
        json_count(j, page_names[i], r->pages[i]);
    json_close(j, '}');
}

static void stats_report_json(const struct report *r, int ranks) {
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(mpi, &length);
    output_part("vgasnet", gas_job.rank, ranks, mpi, stats_write_json, r);
}

void gas_stats_report(void) {
    if (!output_is_wanted())
        return;
    bool apart = output_is_apart();
    int ranks = apart ? 1 : gas_job.size;
    struct report all;
    stats_collect(apart, &all);
    if (!apart && gas_job.rank != 0)
        return;
    stats_report_json(&all, ranks);
}
