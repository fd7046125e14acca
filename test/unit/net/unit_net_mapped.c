/* unit_net_mapped.c: tests the lookup of addresses while the list changes. */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/random.h"
#include "net/shm/mapped.h"

TEST(edges)
{
    struct mapped found = {0};
    expect_eq(net_mapped_find(MAPPED_SHARED, 5, 1, &found), -EFAULT); /* the list is empty */
    expect_eq(net_mapped_add(MAPPED_SHARED, 8192, 4096, NULL), 0);
    expect_eq(net_mapped_add(MAPPED_SHARED, 4096, 1000, NULL), 0);
    expect_eq(net_mapped_find(MAPPED_SHARED, 8192, 4096, &found), 0);
    expect(found.base == 8192 && found.bytes == 4096);
    expect_eq(net_mapped_find(MAPPED_SHARED, 5095, 1, &found), 0);
    expect(found.base == 4096 && found.bytes == 1000);
    expect_eq(net_mapped_find(MAPPED_SHARED, 5096, 1, &found), -EFAULT);
    expect_eq(net_mapped_find(MAPPED_SHARED, 5096, 0, &found), 0); /* an empty range at its end is inside */
    expect_eq(net_mapped_find(MAPPED_SHARED, 4095, 2, &found), -EFAULT);
    expect_eq(net_mapped_find(MAPPED_SHARED, 8200, UINT64_MAX, &found), -EFAULT);
    expect_eq(net_mapped_find(MAPPED_SHARED, 12288, 1, &found), -EFAULT);
    net_mapped_remove(MAPPED_SHARED, 8192);
    expect_eq(net_mapped_find(MAPPED_SHARED, 8192, 1, &found), -EFAULT);
    net_mapped_remove(MAPPED_SHARED, 8192); /* not in the list */
    expect_eq(net_mapped_find(MAPPED_SHARED, 4096, 1, &found), 0);
    net_mapped_remove(MAPPED_SHARED, 4096);
}

enum { SPAN = 4096, SPANS = 64, CHANGES = 100000 };

static _Atomic int looking;

/* Odd spans stay, even ones are added and removed: each change moves the odd ones to other places in the list. */
static uint64_t span_base(unsigned n) {
    return (uint64_t)(n + 1) << 20;
}

static void *look_up(void *arg) {
    uint64_t *counts = arg; /* found, looked up again */
    for (unsigned i = 1; atomic_load(&looking); i = (i + 14) % SPANS) {
        struct mapped found = {0};
        int err = net_mapped_find(MAPPED_SHARED, span_base(i) + 10, 100, &found);
        expect(err == -EAGAIN || (err == 0 && found.base == span_base(i) && found.bytes == SPAN + i));
        counts[err != 0]++;
        err = net_mapped_find(MAPPED_SHARED, span_base(i) - 100, 50, &found);
        expect(err == -EAGAIN || err == -EFAULT);
        if (counts[0] % 64 == 0)
            sched_yield();
    }
    return NULL;
}

TEST(another_thread_looks_up_meanwhile)
{
    uint64_t counts[2] = {0};
    pthread_t thread;
    bool is_in[SPANS] = {false};
    struct random r;
    random_seed(&r, 3);
    for (unsigned i = 1; i < SPANS; i += 2)
        expect_eq(net_mapped_add(MAPPED_SHARED, span_base(i), SPAN + i, NULL), 0);
    atomic_store(&looking, 1);
    expect_eq(pthread_create(&thread, NULL, look_up, counts), 0);
    for (unsigned change = 0; change < CHANGES; change++) {
        unsigned i = 2 * random_below(&r, SPANS / 2);
        if (is_in[i])
            net_mapped_remove(MAPPED_SHARED, span_base(i));
        else
            expect_eq(net_mapped_add(MAPPED_SHARED, span_base(i), SPAN + i, NULL), 0);
        is_in[i] = !is_in[i];
        if (change % 256 == 0)
            usleep(10); /* so that the other thread runs between two changes */
    }
    atomic_store(&looking, 0);
    pthread_join(thread, NULL);
    printf("%llu found, %llu asked again\n", (unsigned long long)counts[0], (unsigned long long)counts[1]);
    expect(counts[0] > 0);
    for (unsigned i = 0; i < SPANS; i++)
        net_mapped_remove(MAPPED_SHARED, span_base(i));
    struct mapped found;
    for (unsigned i = 0; i < SPANS; i++)
        expect_eq(net_mapped_find(MAPPED_SHARED, span_base(i), 1, &found), -EFAULT);
}
