/* top_column.c: the columns of the table: how each is computed from the counters of a process, and formatted. Each
 * column is one line of the array `columns`. */
#include <math.h>
#include <string.h>

#include "observe/live.h"
#include "top/top.h"

enum way {
    RATE,        /* of a, per second */
    BYTES,       /* a bytes, per second */
    PAGES,       /* a pages, in bytes per second */
    SHARE_NOW,   /* a / b, since the last sample */
    SHARE_EVER,  /* a / b, since the start */
    SHARE_LEVEL, /* a / b, now */
    SHARE_BOTH,  /* a / (a + b), since the last sample */
    LEVEL,       /* a */
    LOAD         /* of helper threads, as a fraction of a core */
};

struct column {
    const char *name, *help;
    enum way way;
    enum live_what a, b;
};

static const struct column columns[] = {
    {"GETS/s", "MPI_Get and MPI_Rget calls", RATE, LIVE_gets, 0},
    {"HIT%", "of these, served by the cache", SHARE_NOW, LIVE_hits, LIVE_gets},
    {"EVER%", "the same, since the program started", SHARE_EVER, LIVE_hits, LIVE_gets},
    {"CACHED/s", "bytes from the cache", BYTES, LIVE_bytes_served, 0},
    {"FETCH/s", "bytes of gets through MPI", BYTES, LIVE_bytes_fetched, 0},
    {"FILL%", "occupancy of the caches", SHARE_LEVEL, LIVE_used_bytes, LIVE_storage_bytes},
    {"ENTRIES", "entries in the caches", LEVEL, LIVE_entries, 0},
    {"SENT/s", "messages sent, with HEARTH_MATCH=1", RATE, LIVE_sent, 0},
    {"CAME/s", "messages that arrived", RATE, LIVE_arrived, 0},
    {"POSTED", "posted receives without a message", LEVEL, LIVE_posted, 0},
    {"UNEXPECT", "unexpected messages", LEVEL, LIVE_unexpected, 0},
    {"ARMCI/s", "ARMCI calls on memory of this node", RATE, LIVE_armci_near, 0},
    {"ARMCIF/s", "ARMCI calls on memory of other nodes", RATE, LIVE_armci_far, 0},
    {"ARMCIB/s", "bytes of ARMCI calls", BYTES, LIVE_armci_bytes, 0},
    {"BLOCKS/s", "blocks sent to helpers of other nodes", RATE, LIVE_blocks, 0},
    {"SERVED/s", "blocks that the helper served", RATE, LIVE_served, 0},
    {"HELPER%", "CPU time of the helper threads, of one core", LOAD, 0, 0},
    {"GAS/s", "vGASNet operations on this node", RATE, LIVE_gas_near, 0},
    {"GASF/s", "vGASNet operations on other nodes", RATE, LIVE_gas_far, 0},
    {"GASB/s", "bytes of vGASNet operations", BYTES, LIVE_gas_bytes, 0},
    {"PAGE%", "pages found in the node's memory", SHARE_BOTH, LIVE_page_hits, LIVE_page_misses},
    {"POOL%", "occupancy of the node's page pool", SHARE_LEVEL, LIVE_frames_used, LIVE_frames},
    {"REQUESTS", "pages in flight to this node", LEVEL, LIVE_page_requests, 0},
    {"PEERS/s", "bytes of pages from other nodes' memory", PAGES, LIVE_from_peers, 0},
    {"GIVEN/s", "bytes of pages to other nodes", PAGES, LIVE_served_peers, 0},
    {"NVMRD/s", "bytes read from NVM", PAGES, LIVE_nvm_reads, 0},
    {"NVMWR/s", "bytes written to NVM", PAGES, LIVE_nvm_writes, 0},
};

unsigned top_columns(void) {
    return sizeof columns / sizeof *columns;
}

const char *top_column_name(unsigned column) {
    return columns[column].name;
}

const char *top_column_help(unsigned column) {
    return columns[column].help;
}

/* ---- values ---- */

static double per_second(const struct top_row *r, double amount) {
    return r->seconds > 0 ? amount / r->seconds : NAN;
}

/* At most 1: the two numbers are not read at the same moment. */
static double column_share(uint64_t part, uint64_t whole) {
    if (!whole)
        return NAN;
    return part < whole ? (double)part / (double)whole : 1;
}

static double column_load(const struct top_row *r) {
    double busy = 0;
    unsigned threads = 0;
    for (int i = 0; i < LIVE_ROLES; i++) {
        busy += r->busy[i];
        threads += r->threads[i];
    }
    return threads ? per_second(r, busy) : NAN;
}

double top_column_value(unsigned column, const struct top_row *r) {
    const struct column *c = &columns[column];
    switch (c->way) {
    case RATE:
    case BYTES:
        return per_second(r, (double)r->deltas[c->a]);
    case PAGES:
        return per_second(r, (double)r->deltas[c->a] * (double)r->values[LIVE_page_bytes]);
    case SHARE_NOW:
        return column_share(r->deltas[c->a], r->deltas[c->b]);
    case SHARE_EVER:
    case SHARE_LEVEL:
        return column_share(r->values[c->a], r->values[c->b]);
    case SHARE_BOTH:
        return column_share(r->deltas[c->a], r->deltas[c->a] + r->deltas[c->b]);
    case LEVEL:
        return (double)r->values[c->a];
    case LOAD:
        return column_load(r);
    }
    return NAN;
}

static bool is_used_by(const struct column *c, const struct top_row *r) {
    unsigned threads = 0;
    for (int i = 0; i < LIVE_ROLES; i++)
        threads += r->threads[i];
    return c->way == LOAD ? threads > 0 : r->values[c->a] || (c->b && r->values[c->b]);
}

/* A queue that is empty now still counts as used. */
bool top_column_is_used(unsigned column, const struct top_jobs *jobs) {
    const struct column *c = &columns[column];
    bool is_queue = c->a == LIVE_posted || c->a == LIVE_unexpected, is_pages = c->a == LIVE_page_requests;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct top_row *r = &jobs->of[i].sum;
        if (is_used_by(c, r) || (is_queue && r->values[LIVE_arrived]) || (is_pages && r->values[LIVE_frames]))
            return true;
    }
    return false;
}

/* ---- formatting ---- */

/* At most 6 characters: 12, 1234, 12.3k, 123k. */
static void column_print_short(char *text, size_t room, double value, double unit) {
    static const char suffixes[] = " kMGTPE";
    int i = 0;
    if (value < 9999.5) {
        snprintf(text, room, value >= 99.5 || value == floor(value) ? "%.0f" : "%.1f", value);
        return;
    }
    for (; value >= unit * 0.9995 && i < 6; i++)
        value /= unit;
    snprintf(text, room,
             value >= 99.95   ? "%.0f%c"
             : value >= 9.995 ? "%.1f%c"
                              : "%.2f%c",
             value, suffixes[i]);
}

void top_column_print(unsigned column, const struct top_row *r, char text[TOP_COLUMN_WIDTH + 1]) {
    double value = top_column_value(column, r);
    enum way way = columns[column].way;
    bool is_share =
        way == SHARE_NOW || way == SHARE_EVER || way == SHARE_LEVEL || way == SHARE_BOTH || way == LOAD;
    char word[TOP_COLUMN_WIDTH + 1];
    if (isnan(value))
        strcpy(word, "-");
    else if (is_share)
        snprintf(word, sizeof word, "%.1f", 100 * value);
    else
        column_print_short(word, sizeof word, value, way == BYTES || way == PAGES ? 1024 : 1000);
    snprintf(text, TOP_COLUMN_WIDTH + 1, "%*s", TOP_COLUMN_WIDTH, word);
}
