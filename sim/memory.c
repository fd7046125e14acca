/* memory.c: sim_memory prints the memory that each part of Hearth needs per rank, against the number of ranks.
 *
 * The last column distinguishes three sources of a number:
 *
 *      allocated   the real structures are opened for that many ranks, and the bytes from malloc are counted
 *      by size     a size function of the library, or the size of a structure times the number of structures
 *      constant    does not depend on the number of ranks
 *
 * Memory that a node needs once is divided by its ranks. "contacted": a rank has records of the ranks with
 * which it has exchanged messages, which may be few (--peers) or all. */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "scale/scale.h"

static struct option_entry options[] = {
    {"ranks", "1000,10000,100000,1000000", "numbers of ranks", NULL},
    {"per-node", "16", "ranks of a node", NULL},
    {"peers", "64", "ranks with which a rank communicates; 0: all", NULL},
    {"memory", "16g", "memory of a node", NULL},
    {"page", "64k", "size of a page (HEARTH_PAGE_SIZE)", NULL},
    {"csv", "", "file to which the rows are appended", NULL},
    {NULL, NULL, NULL, NULL},
};

/* ---- printing ---- */

enum { COLUMNS = 16 };

static void print_bytes(double bytes) {
    if (bytes < 10000)
        printf(" %.0f B |", bytes);
    else if (bytes < 1e7)
        printf(" %.1f KB |", bytes / 1e3);
    else
        printf(" %.1f MB |", bytes / 1e6);
}

static void print_item(const struct scale_item *item, const struct scale_job *jobs, unsigned count,
                       FILE *csv) {
    static const char *const owners[] = {"", ", once per node", ", meanwhile", ", once per node, meanwhile",
                                         ""};
    bool share = item->owner == SCALE_SHARE;
    printf("| %s | %s%s | %s |", item->system, item->what, owners[item->owner], item->grows);
    for (unsigned i = 0; i < count; i++) {
        double value = item->bytes(&jobs[i]) /
                       (item->owner == SCALE_NODE || item->owner == SCALE_MAKE ? jobs[i].per_node : 1);
        if (isnan(value))
            printf(" too many nodes |");
        else if (share)
            printf(" %.3f %% |", 100 * value);
        else
            print_bytes(value);
        if (csv && !isnan(value))
            fprintf(csv, "%s,%s,%.0f,%.0f,\"%s\"\n", item->system, share ? "millionths" : "bytes per rank",
                    jobs[i].ranks, share ? 1e6 * value : value, item->what);
        progress(item->what, (double)i / count);
    }
    printf(" %s |\n", item->basis);
    fflush(stdout);
}

static struct scale_job job_of(double ranks) {
    struct scale_job j = {.memory = options_number(options, "memory"),
                          .page = options_number(options, "page")};
    double per_node = options_number(options, "per-node");
    if (ranks < 1 || ranks > 1e8 || per_node < 1) {
        fprintf(stderr, "sim: --ranks: 1 to 100 000 000; --per-node: at least 1\n");
        exit(2);
    }
    scale_job_fill(&j, ranks, per_node, options_number(options, "peers"));
    return j;
}

int main(int argc, char **argv) {
    struct scale_job jobs[COLUMNS];
    unsigned count = 0;
    char word[32];
    options_read(options, argc, argv,
                 "sim_memory: memory that each part needs per rank, against the number of ranks.");
    const char *path = options_word(options, "csv");
    FILE *csv = *path ? fopen(path, "a") : NULL;
    if (*path && !csv) {
        perror(path);
        return 1;
    }
    if (csv && ftell(csv) == 0)
        fprintf(csv, "system,unit,ranks,value,what\n");
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* all from one heap, so that everything is counted in the same way */
    for (const char *at = options_word(options, "ranks");
         count < COLUMNS && options_next(&at, word, sizeof word);)
        jobs[count++] = job_of(options_parse("ranks", word));
    printf("bytes per rank; %s ranks per node; each communicates with %s others\n\n| system | what | grows "
           "with |",
           options_word(options, "per-node"),
           options_number(options, "peers") > 0 ? options_word(options, "peers") : "all");
    for (unsigned i = 0; i < count; i++)
        printf(" %.0f ranks |", jobs[i].ranks);
    printf(" source |\n|---|---|---|");
    for (unsigned i = 0; i < count; i++)
        printf("---|");
    printf("---|\n");
    for (size_t i = 0; i < scale_item_count; i++)
        print_item(&scale_items[i], jobs, count, csv);
    progress_end();
    if (csv)
        fclose(csv);
    return 0;
}
