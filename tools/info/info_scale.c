/* info_scale.c: prints the memory that a rank and a node need in a large job. The numbers come from the libraries' own structures
 * (scale/scale.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/settings.h"
#include "info/info.h"
#include "scale/scale.h"
#include "tools.h"

enum { PEERS = 64 };

#define MOST_RANKS 100000000ul

/* RANKS or RANKS:PER_NODE. */
int info_scale_parse(const char *text, struct info_scale *s) {
    char *end;
    bool ok = *text >= '0' && *text <= '9';
    s->ranks = strtoul(text, &end, 10);
    s->per_node = 0;
    if (ok && *end == ':') {
        ok = end[1] >= '0' && end[1] <= '9';
        s->per_node = strtoul(end + 1, &end, 10);
        ok = ok && s->per_node && s->per_node <= s->ranks;
    }
    if (ok && !*end && s->ranks && s->ranks <= MOST_RANKS)
        return 0;
    return refuse("--scale %s is not RANKS or RANKS:PER_NODE, with 1 to %lu ranks", text, MOST_RANKS);
}

static const char *scale_bytes(double bytes, char text[32]) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    int i = 0;
    for (; i < 4 && bytes >= 10000; i++)
        bytes /= 1000;
    snprintf(text, 32, i ? "%.1f %s" : "%.0f %s", bytes, units[i]);
    return text;
}

static void scale_print(const struct scale_item *item, const struct scale_job *j) {
    char rank[32] = "-", once[32] = "-", all[32] = "-";
    double bytes = item->bytes(j);
    bool passing = item->owner == SCALE_START || item->owner == SCALE_MAKE;
    if (isnan(bytes)) {
        printf("%-9s %-54s %37s\n", item->system, item->what, "too many nodes");
        return;
    }
    switch (item->owner) {
    case SCALE_RANK:
    case SCALE_START:
        scale_bytes(bytes, rank);
        scale_bytes(bytes * j->per_node, all);
        break;
    case SCALE_NODE:
    case SCALE_MAKE:
        scale_bytes(bytes, once);
        scale_bytes(bytes, all);
        break;
    case SCALE_SHARE:
        snprintf(once, sizeof once, "%.3f %%", 100 * bytes);
    }
    printf("%-9s %-54s %10s %12s %13s%s\n", item->system, item->what, rank, once, all,
           passing ? "  meanwhile" : "");
}

void info_scale(const struct info_scale *s) {
    const struct settings *set = settings_get();
    struct scale_job j = {.memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
                          .page = (double)set->page_size};
    unsigned long cores = (unsigned long)sysconf(_SC_NPROCESSORS_ONLN), per_node = s->per_node ? s->per_node
                                                                                   : cores < s->ranks
                                                                                       ? cores
                                                                                       : s->ranks;
    scale_job_fill(&j, (double)s->ranks, (double)per_node, PEERS);
    printf("%.0f ranks on %.0f nodes of %.0f; each uses %.0f others\n\n", j.ranks, j.nodes, j.per_node,
           j.peers);
    printf("%-9s %-54s %10s %12s %13s\n", "part", "memory for", "a rank", "a node, once", "a node in all");
    for (size_t i = 0; i < scale_item_count; i++)
        scale_print(&scale_items[i], &j);
}
