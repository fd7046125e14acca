/* report_served.c: one-sided operations that took far longer than usual, and those that Hearth executed itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json_read.h"
#include "report/read/report_read.h"
#include "report/report_table.h"
#include "tools.h"

void report_served_read_process(struct trouble *t, const struct json_value *process, struct run *run) {
    static const char *const names[SERVED_WAYS] = {"shared", "kernel", "helper"};
    const struct json_value *in = json_member(process, "served");
    for (int i = 0; in && i < SERVED_WAYS; i++)
        run->served[i] += read_count(t, in, names[i]);
}

static void late_table(const struct run *run, struct tables *tables) {
    struct table *t =
        tables_add(tables, "One-sided calls that took at least 16 times as long as usual, and 100 us", 5);
    table_row(t, "Call", "Count", "Late", "Time lost", "Longest");
    for (size_t i = 0; i < run->call_count; i++) {
        const struct call_sum *c = &run->calls[i];
        if (c->late && report_is_onesided(c))
            table_row(t, say_cut(c->name, 60), say_count(c->count), say_count(c->late),
                      say_seconds(c->late_seconds), say_seconds(c->longest));
    }
    table_note(t, "All ranks together; estimates from a sample. Usual is the time of the function's fastest "
                  "tenth; lost is the time "
                  "beyond it. MPI may execute such a call only when its target calls MPI; a large transfer "
                  "is also late.");
}

static void served_table(const struct run *run, uint64_t all, struct tables *tables) {
    static const char *const ways[SERVED_WAYS] = {"shared memory", "through the kernel (process_vm_readv)",
                                                  "by the helper of the target's node"};
    struct table *t = tables_add(tables, "Served windows: operations that Hearth executed", 3);
    size_t windows = 0;
    for (size_t i = 0; i < run->window_count; i++)
        windows += run->windows[i].is_served;
    table_row(t, "Way", "Operations", "Share");
    for (int i = 0; i < SERVED_WAYS; i++)
        if (run->served[i])
            table_row(t, ways[i], say_count(run->served[i]), say_percent(share(run->served[i], all)));
    table_note(t, "%zu window%s %s served. Gets that a cache served are not among the operations.", windows,
               windows == 1 ? "" : "s", windows == 1 ? "was" : "were");
}

void report_served_tables(const struct run *run, struct tables *tables) {
    uint64_t all = run->served[0] + run->served[1] + run->served[2];
    if (report_late(run).late && report_late_seconds(run) >= 0.01 * run->seconds)
        late_table(run, tables);
    if (all)
        served_table(run, all, tables);
}
