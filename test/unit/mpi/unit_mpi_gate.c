/* unit_mpi_gate.c: tests the lock of a window between threads and between processes: an exclusive holder is alone, shared
 * holders overlap, and tickets are served in order. */
#include "test.h"

#include <pthread.h>
#include <sched.h>

#include "base/random.h"
#include "mpi/windows/serving/state/gate.h"
#include "net_boot.h"

enum { ROUNDS = 3000, MEMBERS = 4 };

/* Shared by all processes. */
struct scene {
    struct serve_gate gate;
    _Atomic int readers, writers; /* current holders */
    _Atomic int faults, idles;
    uint64_t plain; /* not atomic; incremented by exclusive holders */
    _Atomic uint64_t entered;
    _Atomic bool flag;
};

static struct scene *scene;

static void open_scene(void) {
    scene = mmap(NULL, sizeof *scene, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void close_scene(void) {
    munmap(scene, sizeof *scene);
}

static void note_idle(void) {
    atomic_fetch_add(&scene->idles, 1);
}

static void hold_exclusively(void) {
    serve_gate_enter(&scene->gate, true, note_idle);
    if (atomic_fetch_add(&scene->writers, 1) != 0 || atomic_load(&scene->readers) != 0)
        atomic_fetch_add(&scene->faults, 1);
    scene->plain++;
    atomic_fetch_sub(&scene->writers, 1);
    serve_gate_leave(&scene->gate, true);
}

static void hold_shared(void) {
    serve_gate_enter(&scene->gate, false, note_idle);
    atomic_fetch_add(&scene->readers, 1);
    uint64_t seen = *(volatile uint64_t *)&scene->plain;
    if (atomic_load(&scene->writers) != 0 || seen != *(volatile uint64_t *)&scene->plain)
        atomic_fetch_add(&scene->faults, 1);
    atomic_fetch_sub(&scene->readers, 1);
    serve_gate_leave(&scene->gate, false);
}

/* Returns how often it held the lock exclusively. */
static uint64_t hold_at_random(uint64_t seed) {
    uint64_t alone = 0;
    for (int i = 0; i < ROUNDS; i++) {
        bool exclusive = random_mix(seed * ROUNDS + (uint64_t)i) % 3 == 0;
        exclusive ? hold_exclusively() : hold_shared();
        alone += exclusive;
    }
    return alone;
}

static void *hold_in_thread(void *arg) {
    atomic_fetch_add(&scene->entered, hold_at_random((uint64_t)(uintptr_t)arg));
    return NULL;
}

static void hold_in_process(const struct net_boot *boot) {
    atomic_fetch_add(&scene->entered, hold_at_random((uint64_t)boot->rank + 10));
}

static void expect_all_was_well(void) {
    expect_eq(atomic_load(&scene->faults), 0);
    expect_eq(scene->plain, atomic_load(&scene->entered));
    expect_eq(atomic_load(&scene->gate.sleepers), 0);
    expect_eq(atomic_load(&scene->gate.shared), atomic_load(&scene->gate.next));
    expect_eq(atomic_load(&scene->gate.alone), atomic_load(&scene->gate.next));
}

static void run_threads(void *(*run)(void *)) {
    pthread_t threads[MEMBERS];
    for (uintptr_t i = 0; i < MEMBERS; i++)
        expect_eq(pthread_create(&threads[i], NULL, run, (void *)i), 0);
    for (int i = 0; i < MEMBERS; i++)
        pthread_join(threads[i], NULL);
}

TEST(threads)
{
    open_scene();
    run_threads(hold_in_thread);
    expect_all_was_well();
    close_scene();
}

TEST(processes)
{
    open_scene();
    boot_run(MEMBERS, hold_in_process);
    expect_all_was_well();
    close_scene();
}

/* Tickets wrap around. */
TEST(many_tickets)
{
    open_scene();
    atomic_store(&scene->gate.next, UINT32_MAX - ROUNDS);
    atomic_store(&scene->gate.shared, UINT32_MAX - ROUNDS);
    atomic_store(&scene->gate.alone, UINT32_MAX - ROUNDS);
    run_threads(hold_in_thread);
    expect_all_was_well();
    close_scene();
}

/* Each shared holder keeps the lock until all of them hold it. */
static void *meet_inside(void *arg) {
    (void)arg;
    serve_gate_enter(&scene->gate, false, note_idle);
    atomic_fetch_add(&scene->entered, 1);
    while (atomic_load(&scene->entered) < MEMBERS)
        sched_yield();
    serve_gate_leave(&scene->gate, false);
    return NULL;
}

TEST(shared_holders_meet)
{
    open_scene();
    run_threads(meet_inside);
    close_scene();
}

/* A waiting thread calls idle repeatedly, and enters when the lock is released. */
static void *wait_in_thread(void *arg) {
    bool exclusive = arg != NULL;
    serve_gate_enter(&scene->gate, exclusive, note_idle);
    atomic_store(&scene->flag, true);
    serve_gate_leave(&scene->gate, exclusive);
    return NULL;
}

static void expect_waiting(bool first, bool second) {
    pthread_t thread;
    open_scene();
    serve_gate_enter(&scene->gate, first, note_idle);
    pthread_create(&thread, NULL, wait_in_thread, second ? scene : NULL);
    while (atomic_load(&scene->idles) < 5)
        sched_yield();
    expect(!atomic_load(&scene->flag));
    serve_gate_leave(&scene->gate, first);
    pthread_join(thread, NULL);
    expect(atomic_load(&scene->flag));
    close_scene();
}

TEST(waiting_calls_idle)
{
    expect_waiting(true, true);
    expect_waiting(true, false);
    expect_waiting(false, true);
}

/* A shared request does not overtake an exclusive one that waits. */
TEST(tickets_are_served_in_order)
{
    pthread_t exclusive, shared;
    open_scene();
    serve_gate_enter(&scene->gate, false, note_idle);
    pthread_create(&exclusive, NULL, wait_in_thread, scene);
    while (atomic_load(&scene->gate.next) < 2)
        sched_yield();
    pthread_create(&shared, NULL, wait_in_thread, NULL);
    while (atomic_load(&scene->gate.next) < 3 || atomic_load(&scene->idles) < 5)
        sched_yield();
    expect(!atomic_load(&scene->flag));
    serve_gate_leave(&scene->gate, false);
    pthread_join(exclusive, NULL);
    pthread_join(shared, NULL);
    close_scene();
}
