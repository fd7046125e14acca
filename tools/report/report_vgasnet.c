/* report_vgasnet.c: what a program did through libvgasnet: its calls, and the pages of its segments. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json_read.h"
#include "report/read/report_read.h"
#include "report/report_table.h"
#include "tools.h"

static const char *const kinds[VGASNET_KINDS] = {"get", "put", "memset"};
static const char *const page_names[VGASNET_PAGES] = {
#define X(name, meaning) #name,
    REPORT_PAGES(X)
#undef X
};
static const char *const page_meanings[VGASNET_PAGES] = {
#define X(name, meaning) meaning,
    REPORT_PAGES(X)
#undef X
};

void report_vgasnet_read(struct trouble *t, struct run *run) {
    const struct json_value *in = json_member(json_member(run->root, "parts"), "vgasnet");
    struct vgasnet_sum *v = &run->vgasnet;
    if (!in)
        return;
    v->is_there = true;
    v->nodes = read_count(t, in, "nodes");
    for (int i = 0; i < VGASNET_KINDS; i++)
        report_calls_read(t, in, kinds[i], &v->calls[i]);
    const struct json_value *pages = read_part(t, in, "pages", JSON_OBJECT);
    if (!pages->size)
        return;
    v->has_pages = true;
    v->page_bytes = read_count(t, pages, "page_bytes");
    for (int i = 0; i < VGASNET_PAGES; i++)
        v->pages[i] = read_count(t, pages, page_names[i]);
}

static uint64_t page_count(const struct vgasnet_sum *v, const char *name) {
    for (int i = 0; i < VGASNET_PAGES; i++)
        if (!strcmp(page_names[i], name))
            return v->pages[i];
    return 0;
}

static void page_table(const struct vgasnet_sum *v, struct tables *tables) {
    struct table *t = tables_add(tables, "vGASNet: pages", 2);
    uint64_t hits = page_count(v, "hits"), misses = page_count(v, "misses"), frames = page_count(v, "frames");
    table_row(t, "What", "Count");
    for (int i = 0; i < VGASNET_PAGES; i++)
        if (v->pages[i])
            table_row(t, page_meanings[i], say_count(v->pages[i]));
    if (hits + misses)
        table_note(t, "%s of %s accesses to pages found them in the pool of their node.",
                   say_percent(share(hits, hits + misses)), say_count(hits + misses));
    table_note(t, "Pages have %s; the pools have %s in all, %s of them used.", say_bytes(v->page_bytes),
               say_bytes(frames * v->page_bytes), say_percent(share(page_count(v, "frames_used"), frames)));
    table_note(t, "NVM: %s read, %s written; messages between nodes: %s.",
               say_bytes(page_count(v, "nvm_reads") * v->page_bytes),
               say_bytes(page_count(v, "nvm_writes") * v->page_bytes),
               say_bytes(page_count(v, "message_bytes")));
}

void report_vgasnet_tables(const struct run *run, struct tables *tables) {
    const struct vgasnet_sum *v = &run->vgasnet;
    if (!v->is_there)
        return;
    struct table *t = tables_add(tables, "vGASNet: calls", 5);
    table_row(t, "Call", "On its node", "To others", "Bytes", "Mean size");
    for (int i = 0; i < VGASNET_KINDS; i++)
        report_calls_row(t, kinds[i], &v->calls[i]);
    table_note(t, "%s node%s, segments in %s.", say_count(v->nodes), v->nodes == 1 ? "" : "s",
               v->has_pages ? "pages" : "memory");
    if (v->has_pages)
        page_table(v, tables);
}
