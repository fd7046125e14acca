/* report_armci.c: what a program did through libarmci: its calls, and the helpers that execute those for other nodes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json_read.h"
#include "report/read/report_read.h"
#include "report/report_table.h"
#include "tools.h"

static const char *const kinds[ARMCI_KINDS] = {"put",  "get",   "accumulate", "read-modify-write",
                                               "lock", "fence", "barrier"};

void report_calls_read(struct trouble *t, const struct json_value *in, const char *kind,
                       struct calls_sum *c) {
    const struct json_value *calls = read_part(t, in, kind, JSON_OBJECT);
    c->local = read_count(t, calls, "near");
    c->remote = read_count(t, calls, "far");
    c->bytes = read_count(t, calls, "near_bytes") + read_count(t, calls, "far_bytes");
}

void report_calls_row(struct table *t, const char *kind, const struct calls_sum *c) {
    if (c->local + c->remote)
        table_row(t, kind, say_count(c->local), say_count(c->remote), say_bytes(c->bytes),
                  say_bytes(c->bytes / (c->local + c->remote)));
}

void report_armci_read(struct trouble *t, struct run *run) {
    const struct json_value *in = json_member(json_member(run->root, "parts"), "armci");
    struct armci_sum *a = &run->armci;
    if (!in)
        return;
    a->is_there = true;
    a->nodes = read_count(t, in, "nodes");
    for (int i = 0; i < ARMCI_KINDS; i++)
        report_calls_read(t, in, kinds[i], &a->calls[i]);
    const struct json_value *net = read_part(t, in, "net", JSON_OBJECT);
    a->blocks = read_count(t, net, "blocks");
    a->block_bytes = read_count(t, net, "bytes");
    a->waits = read_count(t, net, "waits");
    a->size_hints = read_count(t, net, "intimations");
    a->grants = read_count(t, net, "grants");
    a->refused = read_count(t, net, "refused");
    a->wakes = read_count(t, net, "wakes");
    a->buffers = read_count(t, net, "buffers");
    a->buffer_bytes = read_count(t, net, "buffer_bytes");
    a->pool_buffers = read_count(t, net, "spares");
    a->pool_buffer_bytes = read_count(t, net, "spare_bytes");
    a->busy_seconds = read_number(t, net, "busy_seconds");
    a->seconds = read_number(t, net, "seconds");
}

static void helper_table(const struct armci_sum *a, struct tables *tables) {
    struct table *t = tables_add(tables, "ARMCI: blocks to the helpers of other nodes", 2);
    table_row(t, "What", "Count");
    table_row(t, "blocks", say_count(a->blocks));
    table_row(t, "bytes in them", say_bytes(a->block_bytes));
    table_row(t, "waits for a buffer", say_count(a->waits));
    table_row(t, "size hints", say_count(a->size_hints));
    table_row(t, "grants of pool buffers", say_count(a->grants));
    table_row(t, "hints that were refused", say_count(a->refused));
    table_note(t,
               "Each rank has %s buffers of %s at each helper; a helper grants from %s pool buffers of %s.",
               say_count(a->buffers), say_bytes(a->buffer_bytes), say_count(a->pool_buffers),
               say_bytes(a->pool_buffer_bytes));
    if (a->waits > a->blocks / 4)
        table_note(t, "%s of the blocks waited for a buffer: try a larger HEARTH_BUFFERS.",
                   say_percent(share(a->waits, a->blocks)));
}

void report_armci_tables(const struct run *run, struct tables *tables) {
    const struct armci_sum *a = &run->armci;
    if (!a->is_there)
        return;
    struct table *t = tables_add(tables, "ARMCI: calls", 5);
    table_row(t, "Call", "On its node", "To others", "Bytes", "Mean size");
    for (int i = 0; i < ARMCI_KINDS; i++)
        report_calls_row(t, kinds[i], &a->calls[i]);
    table_note(
        t, "%s node%s. The helpers computed for %s of %s (%s of one core each), and were woken %s times.",
        say_count(a->nodes), a->nodes == 1 ? "" : "s", say_seconds(a->busy_seconds), say_seconds(a->seconds),
        say_percent(a->seconds > 0 ? a->busy_seconds / a->seconds : 0), say_count(a->wakes));
    if (a->blocks)
        helper_table(a, tables);
}
