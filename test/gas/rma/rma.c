/* rma.c: tests every put, get and memset, to every node, with many sizes and addresses. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 8 << 20, PART = 2 << 20 /* of a segment, that one node writes */ };
TEST_SEGMENT(SEGMENT)

static const size_t sizes[] = {0,    1,    3,     8,     63,    64,      1000,
                               4096, 4097, 16384, 16385, 70000, 1 << 20, (1 << 20) + 13};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static char *at(int node, size_t offset) {
    return (char *)test_segments[node].addr + offset;
}

/* At most four parts, so that each node writes to its own. */
static char *my_part(int node, size_t offset) {
    return at(node, (size_t)(test_rank % 4) * PART + offset);
}

static char *buffer(void) {
    char *b = malloc(PART);
    if (!b)
        abort();
    return b;
}

/* ---- equivalent calls ---- */

static void put_by(int way, int node, void *to, const void *from, size_t bytes) {
    gasnet_node_t n = (gasnet_node_t)node;
    switch (way) {
    case 0:
        gasnet_put(n, to, from, bytes);
        break;
    case 1:
        gasnet_put_bulk(n, to, from, bytes);
        break;
    case 2:
        gasnet_wait_syncnb(gasnet_put_nb(n, to, from, bytes));
        break;
    case 3:
        gasnet_wait_syncnb_nopoll(gasnet_put_nb_bulk(n, to, from, bytes));
        break;
    case 4:
        gasnet_put_nbi(n, to, from, bytes);
        gasnet_wait_syncnbi_puts();
        break;
    default:
        gasnet_put_nbi_bulk(n, to, from, bytes);
        gasnet_wait_syncnbi_all();
    }
}

static void get_by(int way, void *to, int node, const void *from, size_t bytes) {
    gasnet_node_t n = (gasnet_node_t)node;
    switch (way) {
    case 0:
        gasnet_get(to, n, from, bytes);
        break;
    case 1:
        gasnet_get_bulk(to, n, from, bytes);
        break;
    case 2:
        gasnet_wait_syncnb(gasnet_get_nb(to, n, from, bytes));
        break;
    case 3: {
        gasnet_handle_t h = gasnet_get_nb_bulk(to, n, from, bytes);
        while (gasnet_try_syncnb_nopoll(h) != GASNET_OK)
            ;
        break;
    }
    case 4:
        gasnet_get_nbi(to, n, from, bytes);
        gasnet_wait_syncnbi_gets();
        break;
    default:
        gasnet_get_nbi_bulk(to, n, from, bytes);
        while (gasnet_try_syncnbi_all() != GASNET_OK)
            ;
    }
}
enum { WAYS = 6 };

static bool set_by(int way, int node, void *to, int value, size_t bytes) {
    gasnet_node_t n = (gasnet_node_t)node;
    if (way == 0)
        gasnet_memset(n, to, value, bytes);
    else if (way == 1)
        gasnet_wait_syncnb(gasnet_memset_nb(n, to, value, bytes));
    else
        gasnet_memset_nbi(n, to, value, bytes);
    gasnet_wait_syncnbi_puts();
    return way < 3;
}

/* ---- cases ---- */

/* A put writes its data and nothing beside it, and a get returns it. */
CASE(puts_and_gets_of_all_sizes) {
    char *sent = buffer(), *got = buffer();
    test_fill(sent, PART, test_rank, 1);
    for (int node = 0; node < test_size; node++)
        for (int i = 0; i < SIZES; i++) {
            size_t bytes = sizes[i], skip = (size_t)i % 9 + 8;
            gasnet_memset((gasnet_node_t)node, my_part(node, 0), 0x55, bytes + 64);
            put_by(i % WAYS, node, my_part(node, skip), sent + i, bytes);
            memset(got, 0x66, bytes + 64);
            get_by((i + node) % WAYS, got + skip, node, my_part(node, skip), bytes);
            expect_bytes(got + skip, sent + i, bytes);
            expect_eq(got[skip - 1], 0x66);
            expect_eq(got[skip + bytes], 0x66);
            gasnet_get(got, (gasnet_node_t)node, my_part(node, 0), bytes + 64);
            expect_eq(got[skip - 1], 0x55);
            expect_eq(got[skip + bytes], 0x55);
        }
    free(sent);
    free(got);
}

CASE(every_way_to_every_node) {
    char *sent = buffer(), *got = buffer();
    for (int node = 0; node < test_size; node++)
        for (int way = 0; way < WAYS * WAYS; way++) {
            size_t bytes = way % 2 == 0 ? 24 : 20000;
            test_fill(sent, bytes, test_rank, way);
            put_by(way % WAYS, node, my_part(node, 128), sent, bytes);
            get_by(way / WAYS, got, node, my_part(node, 128), bytes);
            expect_bytes(got, sent, bytes);
        }
    free(sent);
    free(got);
}

CASE(sets) {
    char *got = buffer(), *wanted = buffer();
    for (int node = 0; node < test_size; node++)
        for (int i = 0; i < SIZES; i++) {
            set_by(0, node, my_part(node, 0), 0x11, sizes[i] + 32);
            /* As with memset, only the lowest byte of the value is used. */
            set_by(i % 3, node, my_part(node, 5), 0x180 + i, sizes[i]);
            memset(wanted, 0x11, sizes[i] + 32);
            memset(wanted + 5, 0x80 + i, sizes[i]);
            gasnet_get_bulk(got, (gasnet_node_t)node, my_part(node, 0), sizes[i] + 32);
            expect_bytes(got, wanted, sizes[i] + 32);
        }
    free(got);
    free(wanted);
}

/* The program may overwrite the source of a put without "bulk" when the call returns. */
CASE(sources_are_free_on_return) {
    enum { MANY = 64, BYTES = 30000 };
    char *source = buffer(), *got = buffer(), *wanted = buffer();
    for (size_t bytes = 8; bytes <= BYTES; bytes = bytes * 5 + 7) {
        int node = (test_rank + 1) % test_size;
        gasnet_handle_t handles[MANY];
        for (int i = 0; i < MANY; i++) {
            test_fill(source, bytes, test_rank, i);
            if (i % 2 == 0)
                handles[i] =
                    gasnet_put_nb((gasnet_node_t)node, my_part(node, (size_t)i * BYTES), source, bytes);
            else {
                gasnet_put_nbi((gasnet_node_t)node, my_part(node, (size_t)i * BYTES), source, bytes);
                handles[i] = GASNET_INVALID_HANDLE;
            }
            memset(source, 0, bytes);
        }
        gasnet_wait_syncnb_all(handles, MANY);
        gasnet_wait_syncnbi_puts();
        for (int i = 0; i < MANY; i++) {
            test_fill(wanted, bytes, test_rank, i);
            gasnet_get(got, (gasnet_node_t)node, my_part(node, (size_t)i * BYTES), bytes);
            expect_bytes(got, wanted, bytes);
        }
    }
    free(source);
    free(got);
    free(wanted);
}

/* Local memory may be in this node's own segment. */
CASE(from_segment_to_segment) {
    char *wanted = buffer();
    for (int node = 0; node < test_size; node++)
        for (int i = 0; i < SIZES; i++) {
            size_t bytes = sizes[i] / 2, half = PART / 2;
            char *mine = my_part(test_rank, 0), *theirs = my_part(node, half);
            test_fill(wanted, bytes, test_rank, i);
            memcpy(mine, wanted, bytes);
            put_by(i % WAYS, node, theirs, mine, bytes);
            memset(mine, 0, bytes);
            get_by((i + 1) % WAYS, mine, node, theirs, bytes);
            expect_bytes(mine, wanted, bytes);
        }
    free(wanted);
}

/* Source and destination on this node overlap. */
CASE(overlapping_on_oneself) {
    enum { BYTES = 20000 };
    char *wanted = buffer(), *mine = my_part(test_rank, 0);
    for (int way = 0; way < WAYS; way++)
        for (int forward = 0; forward < 2; forward++) {
            size_t from = forward ? 0 : 777, to = forward ? 777 : 0;
            test_fill(mine, BYTES, test_rank, way);
            test_fill(wanted, BYTES, test_rank, way);
            memmove(wanted + to, wanted + from, BYTES - 777);
            if (way % 2 == 0)
                put_by(way, test_rank, mine + to, mine + from, BYTES - 777);
            else
                get_by(way, mine + to, test_rank, mine + from, BYTES - 777);
            expect_bytes(mine, wanted, BYTES);
        }
    free(wanted);
}

/* GASNet's loopback is a memcpy: programs use it with any local memory. */
CASE(own_memory_outside_of_the_segment) {
    char a[100], b[100], c[100];
    gasnet_node_t me = (gasnet_node_t)test_rank;
    test_fill(a, sizeof a, test_rank, 1);
    gasnet_put(me, b, a, sizeof b);
    gasnet_get(c, me, b, sizeof c);
    expect_bytes(c, a, sizeof c);
    gasnet_wait_syncnb(gasnet_memset_nb(me, b, 7, sizeof b));
    expect_eq(b[99], 7);
    expect_eq(gasnet_get_val(me, b, 2), 0x0707);
}

/* The ends of the segment are part of it, and so is an empty transfer at its end. */
CASE(ends_of_segments) {
    char byte = (char)(test_rank + 1), got = 0;
    int node = (test_rank + 1) % test_size;
    gasnet_node_t n = (gasnet_node_t)node;
    uintptr_t size = test_segments[node].size;
    expect(size >= SEGMENT);
    gasnet_put(n, at(node, size - 1), &byte, 1);
    gasnet_get(&got, n, at(node, size - 1), 1);
    expect_eq(got, byte);
    gasnet_put(n, at(node, size), &byte, 0);
    gasnet_get(&got, n, at(node, size), 0);
    gasnet_memset(n, at(node, size), 0, 0);
    expect(gasnet_put_nb(n, at(node, 0), &byte, 0) == GASNET_INVALID_HANDLE);
}

/* The target loads what was put, and gets return what it stores. */
CASE(loads_and_stores_at_the_target) {
    enum { BYTES = 50000 };
    char *data = buffer(), *wanted = buffer();
    int next = (test_rank + 1) % test_size, previous = (test_rank + test_size - 1) % test_size;
    for (int round = 0; round < 10; round++) {
        test_fill(data, BYTES, test_rank, round);
        gasnet_put_bulk((gasnet_node_t)next, my_part(next, 0), data, BYTES);
        test_barrier();
        char *theirs = at(test_rank, (size_t)(previous % 4) * PART);
        test_fill(wanted, BYTES, previous, round);
        expect_bytes(theirs, wanted, BYTES);
        for (int i = 0; i < BYTES; i += 1000)
            theirs[i] = (char)(round + i / 1000);
        test_barrier();
        gasnet_get_bulk(data, (gasnet_node_t)next, my_part(next, 0), BYTES);
        test_fill(wanted, BYTES, test_rank, round);
        for (int i = 0; i < BYTES; i += 1000)
            wanted[i] = (char)(round + i / 1000);
        expect_bytes(data, wanted, BYTES);
        test_barrier();
    }
    free(data);
    free(wanted);
}

/* ---- errors: each ends the job, see test_fail.sh ---- */

ON_CALL(put_outside_of_the_segment) {
    int node = (test_rank + 1) % test_size;
    gasnet_put((gasnet_node_t)node, at(node, test_segments[node].size - 4), "12345678", 8);
}

ON_CALL(get_outside_of_the_segment) {
    char to[8];
    int node = (test_rank + 1) % test_size;
    gasnet_get_nbi(to, (gasnet_node_t)node, at(node, 0) - 1, 8);
}

ON_CALL(node_that_is_not_there) {
    gasnet_memset((gasnet_node_t)test_size, at(0, 0), 0, 1);
}
