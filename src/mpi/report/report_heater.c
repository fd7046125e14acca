/* report_heater.c: heater statistics per rank. The counters of a process are few and of fixed size, so they are
 * gathered separately from the records of windows. */
#include "mpi/report/report_sections.h"

#include <inttypes.h>

#include "heater/heater.h"
#include "mpi/observe/records.h"

struct record {
    int rank;
    struct heater_counters did;
};

static struct record own, *records;
static int record_count;

void report_heaters_collect(int rank, int ranks) {
    own.rank = rank;
    heater_counters(&own.did);
    records = &own;
    record_count = 1;
    if (ranks == 1)
        return;
    struct record *all = records_gather(&own, sizeof own, rank, ranks);
    if (all) {
        records = all;
        record_count = ranks;
    }
}

void report_heaters_json(struct json *j) {
    json_open(j, "heaters", '[');
    for (const struct record *r = records; r < records + record_count; r++) {
        json_open(j, NULL, '{');
        json_count(j, "rank", (uint64_t)r->rank);
        json_count(j, "rounds", r->did.rounds);
        json_count(j, "lines", r->did.lines);
        json_count(j, "bytes", r->did.bytes);
        json_number(j, "core", r->did.core); /* -1: not running */
        json_close(j, '}');
    }
    json_close(j, ']');
}
