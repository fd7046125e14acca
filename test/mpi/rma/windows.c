/* windows.c: tests that windows of every kind behave as without the cache: creation and freeing, attributes, name,
 * info, error handler, and the mapping of ranks. Cached data does not outlive its window or the memory that was
 * attached. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 256 };

static void free_info(MPI_Info *info) {
    if (*info != MPI_INFO_NULL)
        MPI_Info_free(info);
}

/* Reads `rounds` times from `target`, whose rank in MPI_COMM_WORLD is `who`. */
static void read_rounds(MPI_Win win, int target, int who, size_t disp, size_t offset, int version,
                        int rounds) {
    unsigned char got[BYTES];
    for (int i = 0; i < rounds; i++) {
        memset(got, 0, BYTES);
        MPI_Get(got, BYTES, MPI_BYTE, target, (MPI_Aint)disp, BYTES, MPI_BYTE, win);
        MPI_Win_flush(target, win);
        expect_pattern(got, BYTES, who, offset, version);
    }
}

static void read_in_epoch(MPI_Win win, int target, int who, int rounds) {
    MPI_Win_lock_all(0, win);
    read_rounds(win, target, who, 64, 64, 0, rounds);
    barrier();
    MPI_Win_unlock_all(win);
}

CASE(created_and_allocated) {
    MPI_Info info = make_info("always");
    MPI_Win created, allocated;
    unsigned char *mine = aligned_bytes(1024), *theirs;
    MPI_Win_create(mine, 1024, 1, info, MPI_COMM_WORLD, &created);
    MPI_Win_allocate(1024, 1, info, MPI_COMM_WORLD, &theirs, &allocated);
    fill_pattern(mine, 1024, test_rank, 0, 0);
    fill_pattern(theirs, 1024, test_rank, 0, 0);
    barrier();
    read_in_epoch(created, peer(), peer(), 4);
    read_in_epoch(allocated, peer(), peer(), 4);
    expect_hits(created, 3);
    expect_hits(allocated, 3);
    MPI_Win_free(&allocated);
    MPI_Win_free(&created);
    expect(created == MPI_WIN_NULL);
    expect(allocated == MPI_WIN_NULL);
    free_info(&info);
    free(mine);
}

/* Shared memory is never cached: other ranks load and store without an MPI call. */
CASE(allocated_shared) {
    MPI_Info info = make_info("always");
    MPI_Win win;
    MPI_Comm node;
    unsigned char *base, *next, got[BYTES];
    int rank, size, unit;
    MPI_Aint bytes;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    SKIP_IF(size < test_size || over_pt2pt() || !test_shared_windows(),
            (MPI_Comm_free(&node), "ranks do not share memory"));
    MPI_Win_allocate_shared(1024, 1, info, node, &base, &win);
    MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, &next);
    expect_eq(bytes, 1024);
    MPI_Win_lock_all(0, win);
    for (int version = 0; version < 4; version++) {
        barrier();
        fill_pattern(base, 1024, rank, 0, version);
        MPI_Win_sync(win);
        barrier();
        MPI_Win_sync(win);
        expect_pattern(next, 1024, (rank + 1) % size, 0, version);
        MPI_Get(got, BYTES, MPI_BYTE, (rank + 1) % size, 100, BYTES, MPI_BYTE, win);
        MPI_Win_flush((rank + 1) % size, win);
        expect_pattern(got, BYTES, (rank + 1) % size, 100, version);
    }
    barrier();
    MPI_Win_unlock_all(win);
    expect_stat(win, bypassed, 4);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    free_info(&info);
}

/* The address of the peer's memory, in the form that dynamic windows take. */
static MPI_Aint address_of_peer(void *mine) {
    MPI_Aint own, theirs;
    int previous = (test_rank + test_size - 1) % test_size;
    MPI_Get_address(mine, &own);
    MPI_Sendrecv(&own, 1, MPI_AINT, previous, 0, &theirs, 1, MPI_AINT, peer(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    return theirs;
}

CASE(dynamic) {
    MPI_Info info = make_info("always");
    MPI_Win win;
    unsigned char *one = aligned_bytes(1024), *two = aligned_bytes(1024);
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    fill_pattern(one, 1024, test_rank, 0, 0);
    fill_pattern(two, 1024, test_rank, 5000, 0);
    MPI_Win_attach(win, one, 1024);
    MPI_Win_attach(win, two, 1024);
    MPI_Aint first = address_of_peer(one), second = address_of_peer(two);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 3; i++) {
        read_rounds(win, peer(), peer(), (size_t)first + 64, 64, 0, 1);
        read_rounds(win, peer(), peer(), (size_t)second + 64, 5064, 0, 1);
    }
    expect_hits(win, 4);
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_detach(win, one); /* the older one first */
    MPI_Win_detach(win, two);
    MPI_Win_free(&win);
    free_info(&info);
    free(one);
    free(two);
}

/* The target attaches the same memory again with other data: in transparent mode the reader sees it. */
static void expect_reattached(const char *mode) {
    MPI_Info info = make_info(mode);
    MPI_Win win;
    unsigned char *mine = aligned_bytes(4096);
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    for (int version = 0; version < 4; version++) {
        fill_pattern(mine, 4096, test_rank, 0, version);
        MPI_Win_attach(win, mine, 4096);
        MPI_Aint there = address_of_peer(mine);
        barrier();
        MPI_Win_lock_all(0, win);
        read_rounds(win, peer(), peer(), (size_t)there + 128, 128, version, 2);
        barrier();
        MPI_Win_unlock_all(win);
        MPI_Win_detach(win, mine);
        barrier();
    }
    MPI_Win_free(&win);
    free_info(&info);
    free(mine);
}

CASE(detach_and_attach_again) {
    expect_reattached("transparent");
    expect_reattached("off");
}

/* Detaching memory invalidates the entries of this rank's own memory: the same addresses may be attached again with
 * other data. */
CASE(detach_drops_what_it_covered) {
    MPI_Info info = make_info("always");
    MPI_Win win;
    unsigned char *mine = aligned_bytes(1024), *other = aligned_bytes(1024);
    MPI_Aint here, beside;
    MPI_Get_address(mine, &here);
    MPI_Get_address(other, &beside);
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    fill_pattern(other, 1024, test_rank, 0, 0);
    MPI_Win_attach(win, other, 1024);
    for (int version = 0; version < 3; version++) {
        fill_pattern(mine, 1024, test_rank, 0, version);
        MPI_Win_attach(win, mine, 1024);
        MPI_Win_lock(MPI_LOCK_SHARED, test_rank, 0, win);
        read_rounds(win, test_rank, test_rank, (size_t)here, 0, version, 2);
        read_rounds(win, test_rank, test_rank, (size_t)beside, 0, 0, 2);
        MPI_Win_unlock(test_rank, win);
        MPI_Win_detach(win, mine);
    }
    expect_hits(win, 8); /* 3 of `mine`, which was detached each time, 5 of `other` */
    barrier();
    MPI_Win_detach(win, other);
    MPI_Win_free(&win);
    free_info(&info);
    free(mine);
    free(other);
}

CASE(puts_into_dynamic) {
    MPI_Info info = make_info("always");
    MPI_Win win;
    unsigned char *mine = aligned_bytes(1024), put[BYTES];
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    fill_pattern(mine, 1024, test_rank, 0, 0);
    MPI_Win_attach(win, mine, 1024);
    MPI_Aint there = address_of_peer(mine);
    MPI_Win_lock_all(0, win);
    read_rounds(win, peer(), peer(), (size_t)there, 0, 0, 2);
    for (int version = 1; version < 4; version++) {
        fill_pattern(put, BYTES, peer(), 0, version);
        MPI_Put(put, BYTES, MPI_BYTE, peer(), there, BYTES, MPI_BYTE, win);
        MPI_Win_flush(peer(), win);
        read_rounds(win, peer(), peer(), (size_t)there, 0, version, 2);
    }
    expect_hits(win, 4);
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_detach(win, mine);
    MPI_Win_free(&win);
    free_info(&info);
    free(mine);
}

CASE(attributes) {
    struct window w = make_window(1024, "always");
    void *base;
    MPI_Aint *bytes;
    int *unit, *flavor, *model, flag;
    MPI_Win_get_attr(w.win, MPI_WIN_BASE, &base, &flag);
    expect(flag && base == w.base);
    MPI_Win_get_attr(w.win, MPI_WIN_SIZE, &bytes, &flag);
    expect(flag && *bytes == 1024);
    MPI_Win_get_attr(w.win, MPI_WIN_DISP_UNIT, &unit, &flag);
    expect(flag && *unit == 1);
    MPI_Win_get_attr(w.win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    expect(flag && *flavor == (test_served() ? MPI_WIN_FLAVOR_ALLOCATE : MPI_WIN_FLAVOR_CREATE));
    MPI_Win_get_attr(w.win, MPI_WIN_MODEL, &model, &flag);
    expect(flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE));
    free_window(&w);
}

static int deleted;

static int count_deletion(MPI_Win win, int keyval, void *value, void *state) {
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

CASE(own_attributes) {
    struct window w = make_window(1024, "always");
    int keyval, value = 7, *found, flag;
    deleted = 0;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deletion, &keyval, NULL);
    MPI_Win_set_attr(w.win, keyval, &value);
    MPI_Win_get_attr(w.win, keyval, &found, &flag);
    expect(flag && found == &value);
    free_window(&w);
    expect_eq(deleted, 7);
    MPI_Win_free_keyval(&keyval);
}

CASE(name_group_and_info) {
    struct window w = make_window(1024, "always");
    char name[MPI_MAX_OBJECT_NAME];
    int length, size;
    MPI_Group group;
    MPI_Info info;
    MPI_Win_set_name(w.win, "the window");
    MPI_Win_get_name(w.win, name, &length);
    expect(strcmp(name, "the window") == 0);
    MPI_Win_get_group(w.win, &group);
    MPI_Group_size(group, &size);
    expect_eq(size, test_size);
    MPI_Group_free(&group);
    MPI_Win_get_info(w.win, &info);
    expect(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    free_window(&w);
}

static int handled;

static void handle(MPI_Win *win, int *code, ...) {
    handled++;
}

CASE(error_handlers) {
    struct window w = make_window(1024, "always");
    MPI_Errhandler ours, found;
    MPI_Win_create_errhandler(handle, &ours);
    MPI_Win_set_errhandler(w.win, ours);
    MPI_Win_get_errhandler(w.win, &found);
    expect(found == ours);
    handled = 0;
    MPI_Win_call_errhandler(w.win, MPI_ERR_OTHER);
    expect_eq(handled, 1);
    read_in_epoch(w.win, peer(), peer(), 3);
    expect_eq(handled, 1);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_free(&ours);
    free_window(&w);
}

/* The window's communicator has the ranks in reverse order. */
CASE(other_rank_order) {
    MPI_Info info = make_info("always");
    MPI_Comm reversed;
    MPI_Win win;
    unsigned char *mine = aligned_bytes(1024);
    int rank;
    MPI_Comm_split(MPI_COMM_WORLD, 0, test_size - test_rank, &reversed);
    MPI_Comm_rank(reversed, &rank);
    expect_eq(rank, test_size - 1 - test_rank);
    fill_pattern(mine, 1024, test_rank, 0, 0);
    MPI_Win_create(mine, 1024, 1, info, reversed, &win);
    for (int target = 0; target < test_size; target++)
        read_in_epoch(win, target, test_size - 1 - target, 3);
    expect_hits(win, (uint64_t)(test_size - 1) * 2);
    MPI_Win_free(&win);
    MPI_Comm_free(&reversed);
    free_info(&info);
    free(mine);
}

/* Only the even ranks have windows, of different sizes. The odd ones must not create any at the same time: Open MPI
 * 4.1 gives the shared memory of both windows the same name. */
static void read_among(MPI_Comm evens) {
    MPI_Info info = make_info("always");
    MPI_Win win;
    size_t bytes = 1024u + 64u * (unsigned)test_rank;
    unsigned char *mine = aligned_bytes(bytes);
    int rank, size;
    MPI_Comm_rank(evens, &rank);
    MPI_Comm_size(evens, &size);
    fill_pattern(mine, bytes, test_rank, 0, 0);
    MPI_Win_create(mine, (MPI_Aint)bytes, 1, info, evens, &win);
    MPI_Win_lock_all(0, win);
    read_rounds(win, (rank + 1) % size, 2 * ((rank + 1) % size), 64, 64, 0, 3);
    MPI_Barrier(evens);
    MPI_Win_unlock_all(win);
    expect_hits(win, 2);
    MPI_Win_free(&win);
    free_info(&info);
    free(mine);
}

CASE(parts_of_the_world) {
    MPI_Comm half;
    SKIP_IF(test_size < 4, "needs 4 ranks");
    MPI_Comm_split(MPI_COMM_WORLD, test_rank % 2, test_rank, &half);
    if (test_rank % 2 == 0)
        read_among(half);
    MPI_Comm_free(&half);
}

CASE(alone) {
    SKIP_IF(test_open_mpi(), "Open MPI makes no window on one process");
    unsigned char *mine = aligned_bytes(1024);
    MPI_Win win;
    fill_pattern(mine, 1024, test_rank, 0, 0);
    MPI_Win_create(mine, 1024, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    read_in_epoch(win, 0, test_rank, 3);
    MPI_Win_free(&win);
    free(mine);
}

/* Some ranks expose no memory. */
CASE(empty_parts) {
    MPI_Info info = make_info("always");
    MPI_Win win;
    unsigned char *mine = test_rank == 0 ? aligned_bytes(1024) : NULL;
    if (mine)
        fill_pattern(mine, 1024, 0, 0, 0);
    MPI_Win_create(mine, mine ? 1024 : 0, 1, info, MPI_COMM_WORLD, &win);
    read_in_epoch(win, 0, 0, 4);
    if (test_rank)
        expect_hits(win, 3);
    MPI_Win_free(&win);
    free_info(&info);
    free(mine);
}

/* Windows follow each other over the same memory with changing contents. No data of a freed window remains. */
CASE(many_windows) {
    MPI_Info info = make_info("always");
    unsigned char *mine = aligned_bytes(1024);
    int rounds = test_size > 2 ? 10 : test_seconds > 1 ? 200 : 25;
    for (int i = 0; i < rounds; i++) {
        MPI_Win win;
        fill_pattern(mine, 1024, test_rank, 0, i);
        MPI_Win_create(mine, 1024, 1, info, MPI_COMM_WORLD, &win);
        MPI_Win_lock_all(0, win);
        read_rounds(win, peer(), peer(), 64, 64, i, 2);
        MPI_Win_unlock_all(win);
        expect_hits(win, 1);
        MPI_Win_free(&win);
    }
    free_info(&info);
    free(mine);
}

/* All windows exist at the same time, more than there is memory for, so that the last ones have no cache. */
CASE(many_windows_at_once) {
    struct window w[40];
    int many = test_size > 2 ? 8 : 40;
    for (int i = 0; i < many; i++) {
        w[i] = make_window(1024, i % 2 ? "always" : "transparent");
        MPI_Win_lock_all(0, w[i].win);
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < many; i++)
            read_rounds(w[i].win, peer(), peer(), 64, 64, 0, 1);
    barrier();
    expect_hits(w[1].win, 2);
    for (int i = 0; i < many; i++) {
        MPI_Win_unlock_all(w[i].win);
        free_window(&w[i]);
    }
}
