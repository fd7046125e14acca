/* window.c: windows with known contents. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

unsigned char pattern(int rank, size_t offset, int version) {
    uint32_t x =
        (uint32_t)rank * 0x9e3779b1u + (uint32_t)offset * 0x85ebca6bu + (uint32_t)version * 0xc2b2ae35u;
    x = (x ^ (x >> 15)) * 0x2c1b3ce5u;
    return (unsigned char)(x ^ (x >> 13) ^ (x >> 24));
}

void fill_pattern(void *to, size_t bytes, int rank, size_t offset, int version) {
    unsigned char *out = to;
    for (size_t i = 0; i < bytes; i++)
        out[i] = pattern(rank, offset + i, version);
}

void *aligned_bytes(size_t bytes) {
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return p;
}

MPI_Info make_info(const char *mode) {
    MPI_Info info;
    if (strcmp(test_config(), "off") == 0)
        mode = "off";
    if (!mode)
        return MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_mode", mode);
    return info;
}

struct window make_window(size_t bytes, const char *mode) {
    struct window w = {.bytes = (bytes + 63) / 64 * 64};
    MPI_Info info = make_info(mode);
    if (test_served())
        MPI_Win_allocate((MPI_Aint)w.bytes, 1, info, MPI_COMM_WORLD, &w.base, &w.win);
    else
        w.base = aligned_bytes(w.bytes);
    fill_pattern(w.base, w.bytes, test_rank, 0, 0);
    if (test_served())
        barrier();
    else
        MPI_Win_create(w.base, (MPI_Aint)w.bytes, 1, info, MPI_COMM_WORLD, &w.win);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return w;
}

void free_window(struct window *w) {
    CLAMPI_Stats s;
    if (stats(w->win, &s)) {
        expect(counts_add_up(&s));
        if (strcmp(test_config(), "off") == 0)
            expect_eq(s.bypassed, s.gets);
    }
    MPI_Win_free(&w->win);
    if (!test_served())
        free(w->base);
}

struct window open_window(size_t bytes, const char *mode) {
    struct window w = make_window(bytes, mode);
    MPI_Win_lock_all(0, w.win);
    return w;
}

void close_window(struct window *w) {
    barrier();
    MPI_Win_unlock_all(w->win);
    free_window(w);
}

void rewrite(struct window *w, int version) {
    barrier();
    fill_pattern(w->base, w->bytes, test_rank, 0, version);
    MPI_Win_sync(w->win);
    barrier();
}

void rewrite_locked(struct window *w, int version) {
    barrier();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, test_rank, 0, w->win);
    fill_pattern(w->base, w->bytes, test_rank, 0, version);
    MPI_Win_unlock(test_rank, w->win);
    barrier();
}

void barrier(void) {
    MPI_Barrier(MPI_COMM_WORLD);
}

int peer(void) {
    return (test_rank + 1) % test_size;
}

static bool same_as_pattern(const unsigned char *got, size_t bytes, int rank, size_t offset, int version) {
    for (size_t i = 0; i < bytes; i++)
        if (got[i] != pattern(rank, offset + i, version))
            return false;
    return true;
}

bool test_expect_pattern(const char *file, int line, const void *got, size_t bytes, int rank, size_t offset,
                         int version) {
    char text[128];
    if (same_as_pattern(got, bytes, rank, offset, version))
        return true;
    snprintf(text, sizeof text, "version %d of rank %d, %zu bytes at %zu", version, rank, bytes, offset);
    for (int v = version - 4; v < version + 4; v++)
        if (v >= 0 && same_as_pattern(got, bytes, rank, offset, v))
            snprintf(text, sizeof text, "version %d of rank %d, %zu bytes at %zu; it is version %d", version,
                     rank, bytes, offset, v);
    return test_expect(file, line, text, false);
}

void test_expect_hits(const char *file, int line, MPI_Win win, uint64_t at_least) {
    CLAMPI_Stats s;
    char text[128];
    if (!test_cached() || !stats(win, &s) || s.full_hits + s.partial_hits + s.pending_hits >= at_least)
        return;
    snprintf(text, sizeof text, "at least %llu hits: %llu full, %llu partial, %llu pending",
             (unsigned long long)at_least, (unsigned long long)s.full_hits,
             (unsigned long long)s.partial_hits, (unsigned long long)s.pending_hits);
    test_expect(file, line, text, false);
}
