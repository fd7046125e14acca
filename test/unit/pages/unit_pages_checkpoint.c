/* unit_pages_checkpoint.c: checkpoints of whole jobs in situations that random tests rarely meet. Each rank is a node, with
 * UCX between the nodes. timeout: 200 */
#include "test.h"

#include <pthread.h>

#include "fail_store.h"
#include "net_boot.h"
#include "nodes_help.h"
#include "pages/pages_internal.h"
#include "store_help.h"

enum { PAGES = 4, SECONDS = 60, ROUNDS = 2 /* of the service's progress */ };

static const char *remote_most; /* HEARTH_REMOTE_OP_MAX */
static struct net_world *world;
static struct pages *pages;

static void failed(void *arg, const char *why) {
    (void)arg;
    printf("%s\n", why);
    fflush(stdout);
    _exit(1);
}

static void choose_settings(void) {
    setenv("HEARTH_NVM_DIR", help_folder(1), 1);
    setenv("HEARTH_NVM_NAME", "checkpoint", 1);
    set("HEARTH_PAGE_SIZE", test_page());
    setenv("HEARTH_REMOTE_OP_MAX", remote_most, 1);
    setenv("HEARTH_COOP", "on", 1);
}

static void open_job(const struct net_boot *boot) {
    static const struct pages_events events = {.failed = failed};
    expect_eq(net_world_open(boot, 0, 1, &world), 0);
    expect_eq(pages_open(boot, world, NULL, PAGES * test_page(), &events, &pages), 0);
}

static void close_job(const struct net_boot *boot) {
    expect_eq(pages_close(pages, boot, true), 0);
    net_world_close(world);
}

static void run(int ranks, const char *most, boot_member *work) {
    remote_most = most;
    remove_files(help_folder(1));
    if (NODES || ranks == 1)
        expect_eq(boot_run_job(ranks, SECONDS, choose_settings, work), 0);
}

/* ---- orders, one by one ---- */

static void order(enum service_order what, uint64_t argument) {
    expect_eq(pages_service_order(pages->box, what, argument), 0);
}

/* Of the first page of rank 1. */
static enum pages_state state(void) {
    struct pool_bucket *b = pages_pool_bucket_of(&pages->pool, 1, 0);
    pages_lock(&b->lock);
    const struct pool_frame *f = pages_pool_find(&pages->pool, b, 1, 0);
    enum pages_state now = f ? f->control.state : PAGES_I;
    pages_unlock(&b->lock);
    return now;
}

static bool is_asking(void) {
    struct pool_bucket *b = pages_pool_bucket_of(&pages->pool, 1, 0);
    pages_lock(&b->lock);
    bool asks = pages_control_is_asking(&pages_pool_find(&pages->pool, b, 1, 0)->control);
    pages_unlock(&b->lock);
    return asks;
}

static bool has_dirty_pages(void) {
    uint16_t home;
    uint32_t page;
    for (uint32_t i = 0; i < pages->pool.shared->frames; i++)
        if (pages_pool_is_dirty(&pages->pool, i, &home, &page))
            return true;
    return false;
}

/* ---- a thread that reads ---- */

/* Under userfaultfd a load pins its page as a store does. */
static void *pin_to_write(void *arg) {
    pages_pool_unpin(&pages->pool, pages_pool_pin(&pages->pool, 1, 0, true), true);
    return arg;
}

/* Waits until the request was sent or held back. */
static void begin_reader(pthread_t *reader) {
    expect_eq(pthread_create(reader, NULL, pin_to_write, NULL), 0);
    while (!is_asking() && state() != PAGES_M)
        sched_yield();
    for (int i = 0; i < ROUNDS; i++)
        order(ORDER_HOLD, true);
}

/* Rank 0 wrote the page and owns it. Rank 1 read it. */
static void open_shared(const struct net_boot *boot) {
    uint64_t word = 7;
    open_job(boot);
    if (boot->rank == 0)
        pages_put(pages, 1, pages_base(pages, 1), &word, sizeof word);
    net_boot_barrier(boot);
    if (boot->rank == 1)
        pages_get(pages, &word, 1, pages_base(pages, 1), sizeof word);
}

/* All pages are written. Rank 1's reader may go on. */
static void close_written(const struct net_boot *boot, pthread_t reader) {
    order(ORDER_IDLE, 0);
    expect(!has_dirty_pages());
    net_boot_barrier(boot);
    order(ORDER_KEEP_OWNED, true);
    order(ORDER_HOLD, false);
    if (boot->rank == 1)
        expect_eq(pthread_join(reader, NULL), 0);
    close_job(boot);
}

/* Rank 0 owns the page, and is the last to write its pages. Rank 1, which has nothing to write, reads meanwhile. */
static void read_between(const struct net_boot *boot) {
    pthread_t reader = 0;
    open_shared(boot);
    net_boot_barrier(boot);
    expect_eq(state(), boot->rank == 0 ? PAGES_O : PAGES_S);
    order(ORDER_HOLD, true);
    order(ORDER_KEEP_OWNED, false);
    net_boot_barrier(boot);
    if (boot->rank == 1) {
        order(ORDER_CLEAN, 0);
        begin_reader(&reader);
        order(ORDER_IDLE, 0);
    }
    net_boot_barrier(boot);
    if (boot->rank == 0)
        order(ORDER_CLEAN, 0);
    net_boot_barrier(boot);
    close_written(boot, reader);
}

TEST(the_owner_writes_its_page_before_another_node_may_own_it)
{ run(2, "0", read_between); }

/* The copy whose request is held back becomes the owner's, as an eviction hands the page over: it is written too. */
static void own_while_held(const struct net_boot *boot) {
    pthread_t reader = 0;
    open_shared(boot);
    order(ORDER_HOLD, true);
    net_boot_barrier(boot);
    if (boot->rank == 1)
        begin_reader(&reader);
    net_boot_barrier(boot);
    if (boot->rank == 0)
        order(ORDER_CLEAN, 0); /* drops the owner's copy, as an eviction does */
    net_boot_barrier(boot);
    order(ORDER_KEEP_OWNED, false);
    net_boot_barrier(boot);
    order(ORDER_IDLE, 0);
    net_boot_barrier(boot);
    order(ORDER_CLEAN, 0);
    close_written(boot, reader);
}

TEST(a_copy_that_becomes_the_owner_while_its_request_is_held_is_written)
{ run(2, "0", own_while_held); }

/* ---- remote operations ---- */

/* A thread that only reads may not have collected an answer when a checkpoint begins. */
static void leave_answer(const struct net_boot *boot) {
    uint64_t word = 7, got = 0, epoch = 0;
    struct pages_op op;
    open_job(boot);
    if (boot->rank == 1)
        pages_put(pages, 1, pages_base(pages, 1), &word, sizeof word);
    net_boot_barrier(boot);
    if (boot->rank == 0) {
        expect(!pages_begin_get(pages, &op, &got, 1, pages_base(pages, 1), sizeof got));
        expect(op.slot >= 0);
        while (!pages_pool_small_is_done(&pages->pool, op.slot))
            sched_yield();
    }
    expect_eq(pages_checkpoint(pages, boot, &epoch), 0);
    expect_eq(epoch, 1);
    if (boot->rank == 0) {
        pages_finish(pages, &op);
        expect_eq(got, 7);
    }
    net_boot_barrier(boot);
    close_job(boot);
}

TEST(an_answer_that_was_not_collected_does_not_delay_a_checkpoint)
{ run(2, "64", leave_answer); }

/* ---- the end of a job ---- */

static unsigned fails_at; /* number of the system call */

static bool has_checkpoint(void) {
    char path[400];
    struct pages_file file;
    snprintf(path, sizeof path, "%s/checkpoint.0", help_folder(1));
    return pages_examine(path, &file) == 0 && file.epochs[0].epoch > 0;
}

static void end_with_failure(const struct net_boot *boot) {
    uint64_t word = 7;
    open_job(boot);
    pages_put(pages, 0, pages_base(pages, 0), &word, sizeof word);
    fail_store_at(fails_at, 1, EIO);
    int status = pages_close(pages, boot, true);
    expect(fail_store_at(0, 0, 0) > 0 || status == 0);
    net_world_close(world);
}

/* Every call at the end of the job fails in turn. */
TEST(without_a_checkpoint_no_files_stay)
{
    unsigned removed = 0;
    remote_most = "0";
    for (fails_at = 1; fails_at <= 20; fails_at++) {
        remove_files(help_folder(1));
        expect_eq(boot_run_job(1, SECONDS, choose_settings, end_with_failure), 0);
        expect_eq(count_entries(help_folder(1)), has_checkpoint());
        removed += !has_checkpoint();
    }
    expect(removed > 2 && removed < 20);
}
