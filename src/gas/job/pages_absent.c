/* pages_absent.c: stubs for a build without segments in pages: pages_open fails, and the other calls of pages.h are
 * never made. */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "gas/process/process.h"

int pages_open(const struct net_boot *boot, struct net_world *world, const void *comm, uint64_t bytes,
               const struct pages_events *events, struct pages **pages) {
    (void)world, (void)comm, (void)bytes, (void)events, (void)pages;
    if (boot->rank == 0)
        log_error("segments: HEARTH_NVM=on, but this build cannot keep them on NVM: build with xxHash "
                  "(libxxhash-dev), or unset HEARTH_NVM to keep them in memory");
    return -ENOSYS;
}

void pages_end(struct pages *p) {
    (void)p;
}

int pages_close(struct pages *p, const struct net_boot *boot, bool keep) {
    (void)p, (void)boot, (void)keep;
    return 0;
}

const char *pages_folder(void) {
    return "/";
}

char *pages_base(const struct pages *p, int rank) {
    (void)p, (void)rank;
    abort();
}

uint64_t pages_bytes(const struct pages *p, int rank) {
    (void)p, (void)rank;
    abort();
}

void pages_get(struct pages *p, void *to, int rank, const void *from, size_t bytes) {
    (void)p, (void)to, (void)rank, (void)from, (void)bytes;
    abort();
}

void pages_put(struct pages *p, int rank, void *to, const void *from, size_t bytes) {
    (void)p, (void)to, (void)rank, (void)from, (void)bytes;
    abort();
}

void pages_set(struct pages *p, int rank, void *to, int value, size_t bytes) {
    (void)p, (void)rank, (void)to, (void)value, (void)bytes;
    abort();
}

bool pages_begin_get(struct pages *p, struct pages_op *op, void *to, int rank, const void *from,
                     size_t bytes) {
    (void)p, (void)op, (void)to, (void)rank, (void)from, (void)bytes;
    abort();
}

bool pages_begin_put(struct pages *p, struct pages_op *op, int rank, void *to, const void *from,
                     size_t bytes) {
    (void)p, (void)op, (void)rank, (void)to, (void)from, (void)bytes;
    abort();
}

bool pages_begin_update(struct pages *p, struct pages_op *op, void *old, int rank, void *at,
                        const struct pages_update *u) {
    (void)p, (void)op, (void)old, (void)rank, (void)at, (void)u;
    abort();
}

bool pages_is_update(const struct pages_op *op) {
    (void)op;
    abort();
}

bool pages_try(struct pages *p, struct pages_op *op) {
    (void)p, (void)op;
    abort();
}

void pages_finish(struct pages *p, struct pages_op *op) {
    (void)p, (void)op;
    abort();
}

void pages_prefetch(struct pages *p, int rank, const void *from, size_t bytes) {
    (void)p, (void)rank, (void)from, (void)bytes;
    abort();
}

int pages_hint(struct pages *p, int rank, const void *from, size_t bytes, enum pages_hint hint) {
    (void)p, (void)rank, (void)from, (void)bytes, (void)hint;
    abort();
}

int pages_checkpoint(struct pages *p, const struct net_boot *boot, uint64_t *epoch) {
    (void)p, (void)boot, (void)epoch;
    abort();
}

void pages_choose_epoch(uint64_t epoch) {
    (void)epoch;
}

uint64_t pages_last_epoch(const struct pages *p) {
    (void)p;
    return 0;
}

uint64_t pages_epoch(const struct pages *p) {
    (void)p;
    abort();
}

void pages_count(const struct pages *p, struct pages_counts *c) {
    (void)p, (void)c;
    abort();
}
