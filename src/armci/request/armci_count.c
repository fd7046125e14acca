/* armci_count.c: the report at the end: operations, their sizes, and the load of the helpers; summed over all ranks,
 * unless each rank writes its own. */
#include "armci/request/armci_count.h"

#include <string.h>

#include "armci/job/armci_internal.h"
#include "observe/json.h"
#include "observe/output.h"
#include "observe/output_part.h"

_Alignas(LIVE_ALONE) union counted armci_counters;

static const char *const kind_names[COUNT_KINDS] = {"put",  "get",   "accumulate", "read-modify-write",
                                                    "lock", "fence", "barrier"};
static const char *const size_names[COUNT_SIZES] = {"8 B",   "64 B",   "512 B", "4 KB",
                                                    "32 KB", "256 KB", "2 MB",  "more"};

/* Two fields for the calls of each kind, and two for its bytes. */
void armci_count_show(void) {
    static struct live_field fields[4 * COUNT_KINDS];
    for (unsigned i = 0; i < COUNT_KINDS; i++) {
        uint32_t calls = (uint32_t)offsetof(struct counts, calls[i]),
                 bytes = (uint32_t)offsetof(struct counts, bytes[i]);
        fields[4 * i] = (struct live_field){LIVE_armci_near, 8, 1, calls};
        fields[4 * i + 1] = (struct live_field){LIVE_armci_far, 8, 1, calls + 8};
        fields[4 * i + 2] = (struct live_field){LIVE_armci_bytes, 8, 1, bytes};
        fields[4 * i + 3] = (struct live_field){LIVE_armci_bytes, 8, 1, bytes + 8};
    }
    live_adopt(&armci_counters, sizeof armci_counters);
    live_show(&armci_counters, fields, sizeof fields / sizeof *fields);
}

/* As arrays of one type each, for MPI_Reduce. */
struct sums {
    struct counts done;
    uint64_t net[16];
    double seconds[2];
};

static struct sums count_gather(const struct net_counts *n, bool apart) {
    struct sums mine = {.done = armci_counters.of,
                        .net = {n->blocks, n->bytes, n->waits, n->size_hints, n->grants, n->served,
                                n->served_bytes, n->local, n->granted, n->refused, n->retried, n->wakes,
                                n->moves, n->arena_bytes},
                        .seconds = {n->busy_seconds, n->seconds}},
                all = mine;
    if (apart)
        return mine;
    MPI_Reduce(&mine, &all, (int)(offsetof(struct sums, seconds) / sizeof(uint64_t)), MPI_UINT64_T, MPI_SUM,
               0, armci_job.comm);
    MPI_Reduce(mine.seconds, all.seconds, 2, MPI_DOUBLE, MPI_SUM, 0, armci_job.comm);
    return all;
}

static void count_json_kind(struct json *j, const struct counts *c, int kind) {
    json_open(j, kind_names[kind], '{');
    json_count(j, "near", c->calls[kind][0]);
    json_count(j, "far", c->calls[kind][1]);
    json_count(j, "near_bytes", c->bytes[kind][0]);
    json_count(j, "far_bytes", c->bytes[kind][1]);
    json_open(j, "sizes", '{');
    for (int i = 0; i < COUNT_SIZES; i++)
        json_count(j, size_names[i], c->sizes[kind][i]);
    json_close(j, '}');
    json_close(j, '}');
}

struct count_part {
    const struct sums *sums;
    const struct net_counts *net;
};

static void count_write_json(struct json *j, const void *arg) {
    static const char *const names[] = {"blocks",  "bytes",        "waits", "intimations", "grants",
                                        "served",  "served_bytes", "near",  "granted",     "refused",
                                        "retried", "wakes",        "moves", "arena_bytes"};
    const struct count_part *p = arg;
    json_count(j, "nodes", (uint64_t)armci_job.world->nodes);
    for (int kind = 0; kind < COUNT_KINDS; kind++)
        count_json_kind(j, &p->sums->done, kind);
    json_open(j, "net", '{');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        json_count(j, names[i], p->sums->net[i]);
    json_count(j, "buffers", p->net->buffers);
    json_count(j, "buffer_bytes", p->net->buffer_bytes);
    json_count(j, "spares", p->net->pool_buffers);
    json_count(j, "spare_bytes", p->net->pool_buffer_bytes);
    json_number(j, "busy_seconds", p->sums->seconds[0]);
    json_number(j, "seconds", p->sums->seconds[1]);
    json_close(j, '}');
}

static void count_report_json(const struct count_part *p, int ranks) {
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(mpi, &length);
    output_part("armci", armci_job.rank, ranks, mpi, count_write_json, p);
}

void armci_count_report(const struct net_counts *net) {
    if (!output_is_wanted())
        return;
    bool apart = output_is_apart();
    int ranks = apart ? 1 : armci_job.size;
    struct sums all = count_gather(net, apart);
    if (!apart && armci_job.rank != 0)
        return;
    count_report_json(&(struct count_part){&all, net}, ranks);
}
