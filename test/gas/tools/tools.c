/* tools.c: tests gasnet_tools.h and gasnet_handler.h: time, atomics, threads, the environment, handlers with
 * pointers. configs: off off1 */
#include "test.h"

#include <gasnet_handler.h>
#include <gasnet_tools.h>
#include <unistd.h>

/* ---- handlers with pointers ---- */

enum { _hidx_store = 155, _hidx_store_data, _hidx_stored };

static int stored;

GASNETT_INLINE(store_inner)
void store_inner(gasnet_token_t token, int *where, gasnet_handlerarg_t value, void *back) {
    *where = value;
    expect_eq(SHORT_REP(1, 2, (token, gasneti_handleridx(stored), PACK(back))), GASNET_OK);
}
SHORT_HANDLER(store, 3, 5, (token, UNPACK(a0), a1, UNPACK(a2)),
              (token, (int *)UNPACK2(a0, a1), a2, UNPACK2(a3, a4)));

GASNETT_INLINE(store_data_inner)
void store_data_inner(gasnet_token_t token, void *addr, size_t nbytes, char *where, void *back) {
    memcpy(where, addr, nbytes);
    expect_eq(SHORT_REP(1, 2, (token, gasneti_handleridx(stored), PACK(back))), GASNET_OK);
}
MEDIUM_HANDLER(store_data, 2, 4, (token, addr, nbytes, UNPACK(a0), UNPACK(a1)),
               (token, addr, nbytes, (char *)UNPACK2(a0, a1), UNPACK2(a2, a3)));

GASNETT_INLINE(stored_inner) void stored_inner(gasnet_token_t token, int *counter) {
    (void)token;
    ++*counter;
}
SHORT_HANDLER(stored, 1, 2, (token, UNPACK(a0)), (token, (int *)UNPACK2(a0, a1)));

static gasnet_handlerentry_t table[] = {gasneti_handler_tableentry_with_bits(store),
                                        gasneti_handler_tableentry_with_bits(store_data),
                                        gasneti_handler_tableentry_with_bits(stored)};
TEST_SETUP(table, 0)

CASE(pointers_as_arguments) {
    int *there = test_segments[(test_rank + 1) % test_size].addr, *here = test_segments[test_rank].addr;
    gasnet_node_t next = (gasnet_node_t)((test_rank + 1) % test_size);
    expect_eq(SHORT_REQ(3, 5, (next, gasneti_handleridx(store), PACK(there), test_rank + 77, PACK(&stored))),
              GASNET_OK);
    GASNET_BLOCKUNTIL(stored == 1);
    expect_eq(MEDIUM_REQ(2, 4,
                         (next, gasneti_handleridx(store_data), (void *)"some text", 10, PACK(there + 1),
                          PACK(&stored))),
              GASNET_OK);
    GASNET_BLOCKUNTIL(stored == 2);
    test_barrier();
    expect_eq(*here, (test_rank + test_size - 1) % test_size + 77);
    expect_bytes(here + 1, "some text", 10);
}

/* ---- atomics ---- */

CASE(atomics) {
    gasnett_atomic_t a = gasnett_atomic_init(5);
    gasnett_atomic64_t b = gasnett_atomic64_init(1);
    gasnett_atomic_increment(&a, 0);
    gasnett_atomic_increment(&a, GASNETT_ATOMIC_REL);
    gasnett_atomic_decrement(&a, GASNETT_ATOMIC_ACQ);
    expect_eq(gasnett_atomic_read(&a, 0), 6);
    gasnett_atomic_set(&a, 1, 0);
    expect(gasnett_atomic_decrement_and_test(&a, 0));
    expect(!gasnett_atomic_decrement_and_test(&a, 0));
    expect_eq(gasnett_atomic_signed(gasnett_atomic_read(&a, 0)), -1);
    expect(!gasnett_atomic_compare_and_swap(&a, 3, 4, 0));
    expect(gasnett_atomic_compare_and_swap(&a, (gasnett_atomic_val_t)-1, 4, 0));
    expect_eq(gasnett_atomic_add(&a, 3, 0), 7);
    expect_eq(gasnett_atomic_subtract(&a, 2, 0), 5);
    expect_eq(gasnett_atomic_swap(&a, 8, 0), 5);
    expect_eq(gasnett_atomic_read(&a, 0), 8);
    expect_eq(gasnett_atomic64_add(&b, (uint64_t)1 << 40, 0), ((long long)1 << 40) + 1);
}

static gasnett_atomic32_t counter;
static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static gasnett_cond_t cond = GASNETT_COND_INITIALIZER;
GASNETT_THREADKEY_DEFINE(own);
static int ready;

static void *in_thread(void *arg) {
    expect(gasnett_threadkey_get(own) == NULL);
    gasnett_threadkey_set(own, arg);
    for (int i = 0; i < 10000; i++)
        gasnett_atomic32_increment(&counter, 0);
    expect(gasnett_threadkey_get(own) == arg);
    gasnett_mutex_lock(&mutex);
    ready++;
    gasnett_cond_signal(&cond);
    gasnett_mutex_unlock(&mutex);
    return NULL;
}

CASE(threads) {
    pthread_t threads[2];
    int name, names[2];
    gasnett_threadkey_init(own);
    gasnett_threadkey_set(own, &name);
    for (int i = 0; i < 2; i++)
        expect_eq(pthread_create(&threads[i], NULL, in_thread, &names[i]), 0);
    gasnett_mutex_lock(&mutex);
    while (ready < 2)
        gasnett_cond_wait(&cond, &mutex);
    expect(gasnett_mutex_trylock(&mutex) != 0);
    gasnett_mutex_unlock(&mutex);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    expect_eq(gasnett_atomic32_read(&counter, 0), 20000);
    expect(gasnett_threadkey_get(own) == &name);
}

/* ---- time and environment ---- */

CASE(ticks) {
    gasnett_tick_t start = gasnett_ticks_now();
    usleep(20000);
    gasnett_tick_t took = gasnett_ticks_now() - start;
    expect(gasnett_ticks_to_us(took) >= 20000 && gasnett_ticks_to_us(took) < 20000000);
    expect(gasnett_ticks_to_ns(took) / 1000 == gasnett_ticks_to_us(took));
    expect(gasnett_tick_granularity() > 0 && gasnett_tick_overhead() > 0);
    gasnett_sched_yield();
    gasnett_local_wmb();
    gasnett_local_rmb();
    gasnett_local_mb();
    expect(gasnett_cpu_count() > 0);
}

CASE(environment) {
    setenv("T_YES", "Yes", 1);
    setenv("T_NO", "0", 1);
    setenv("T_INT", "-42", 1);
    setenv("T_SIZE", "3M", 1);
    setenv("T_PLAIN", "3", 1);
    expect_eq(gasnett_getenv_yesno_withdefault("T_YES", 0), 1);
    expect_eq(gasnett_getenv_yesno_withdefault("T_NO", 1), 0);
    expect_eq(gasnett_getenv_yesno_withdefault("T_NONE", 1), 1);
    expect_eq(gasnett_getenv_int_withdefault("T_INT", 7, 0), -42);
    expect_eq(gasnett_getenv_int_withdefault("T_NONE", 7, 0), 7);
    expect_eq(gasnett_getenv_int_withdefault("T_SIZE", 7, 1), 3 << 20);
    expect_eq(gasnett_getenv_int_withdefault("T_PLAIN", 7, 1024), 3 << 10);
    expect(strcmp(gasnett_getenv_withdefault("T_YES", "no"), "Yes") == 0);
    expect(strcmp(gasnett_getenv_withdefault("T_NONE", "no"), "no") == 0);
}
