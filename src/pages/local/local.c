/* local.c: the address range of this rank's segment; handling of a fault once its page and kind are known. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "observe/probe.h"
#include "pages/local/local_internal.h"

enum { STACK_BYTES = 262144, PATIENCE_US = 10000000 };

void pages_local_say(const char *line) {
    static const char before[] = "hearth: error: ", after[] = "\n";
    struct iovec parts[] = {{(void *)before, sizeof(before) - 1},
                            {(void *)line, strlen(line)},
                            {(void *)after, sizeof(after) - 1}};
    ssize_t written = writev(STDERR_FILENO, parts, 3);
    (void)written; /* there is no other way to report it */
}

int pages_local_start_thread(pthread_t *thread, void *(*run)(void *), void *arg) {
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return -ENOMEM;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(thread, &attributes, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -err;
}

/* ---- faults ---- */

static void local_count_fault(const struct local *l, bool write) {
    if (l->options.faults)
        atomic_fetch_add_explicit(l->options.faults, 1, memory_order_relaxed);
    if (write && l->options.write_faults)
        atomic_fetch_add_explicit(l->options.write_faults, 1, memory_order_relaxed);
}

/* Waiting may take long, so the program's signals are delivered meanwhile. */
static uint32_t local_pin(struct local *l, uint32_t page, bool write, const sigset_t *mask) {
    uint32_t number = l->options.first_page + page;
    int64_t frame = pages_pool_try_pin(l->pool, l->options.home, number, write);
    if (frame >= 0)
        return (uint32_t)frame;
    sigset_t before;
    if (mask)
        pthread_sigmask(SIG_SETMASK, mask, &before);
    uint32_t got = pages_pool_pin(l->pool, l->options.home, number, write);
    if (mask)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return got;
}

/* Never waits. */
static void local_walk_on(struct local *l, uint32_t page) {
    if (!l->options.ahead)
        return;
    struct ahead_pages a = pages_ahead_after(l->options.ahead, l->options.home, l->options.first_page + page,
                                             l->options.ahead_most);
    if (a.count > 0)
        log_trace(LOG_PAGES, "after page %u, %u pages are prefetched from %u on, each %d further",
                  l->options.first_page + page, a.count, a.first, (int)a.step);
    for (uint32_t i = 0; i < a.count; i++) {
        uint32_t next = a.first + (uint32_t)((int32_t)i * a.step);
        if (next - l->options.first_page < l->pages)
            pages_pool_prefetch(l->pool, l->options.home, next);
    }
}

static bool local_resolve_fault(struct local *l, uint32_t page, bool write, const void *mask) {
    PROBE3(page_fault, l->options.home, l->options.first_page + page, write);
    local_count_fault(l, write);
    log_trace(LOG_PAGES, "page %u: fault by a %s", l->options.first_page + page, write ? "store" : "load");
    local_walk_on(l, page);
    write = write || l->options.userfault;
    uint32_t frame = local_pin(l, page, write, mask);
    struct pool_frame *f = &l->pool->frames[frame];
    /* Concurrent threads store the same value. pages_mapper_ask() reads it after pages_pool_mapped(). */
    __atomic_store_n(&f->local, (uint32_t)l->options.rank, __ATOMIC_RELAXED);
    int err = pages_mapping_raise(l, page, frame, write ? PAGES_TO_WRITE : PAGES_TO_READ);
    __atomic_store_n(&f->stay_until, clock_ns() + pages_mapping_stay_ns(l, page), __ATOMIC_RELAXED);
    pages_pool_unpin(l->pool, frame, write);
    if (err)
        pages_local_say(
            "a page of a segment cannot be mapped: the kernel has no memory or no areas left; raise "
            "vm.max_map_count or use larger pages");
    return !err;
}

enum local_result pages_local_resolve(struct local *l, uint32_t page, bool write, const void *mask) {
    enum local_result result = LOCAL_ENDS;
    atomic_fetch_add(&l->inside, 1);
    if (!atomic_load(&l->ends))
        result = local_resolve_fault(l, page, write, mask) ? LOCAL_DONE : LOCAL_FAILED;
    atomic_fetch_sub(&l->inside, 1);
    return result;
}

/* ---- open and close ---- */

/* Reserves addresses, a page more than needed, so that the segment can be aligned to its page size. */
static int local_reserve(struct local *l) {
    l->reserved_bytes = l->options.bytes + l->page_bytes;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *at = mmap(NULL, l->reserved_bytes, PROT_NONE, flags, -1, 0);
    if (at == MAP_FAILED) {
        int err = -errno;
        log_error("segment: no address space for %llu bytes: %s; request a smaller one, or raise the limit "
                  "(ulimit -v)",
                  (unsigned long long)l->options.bytes, strerror(errno));
        return err;
    }
    l->reserved = at;
    l->base = (char *)round_up((uintptr_t)at, l->page_bytes);
    return 0;
}

static void local_choose_way(struct local *l) {
    if (l->options.userfault && pages_userfault_open(l))
        l->options.userfault = false;
    log_debug(LOG_PAGES, "a segment of %u pages of %zu bytes: faults come by %s", l->pages, l->page_bytes,
              l->options.userfault ? "userfaultfd" : "SIGSEGV");
}

static int local_start(struct local *l) {
    int err = pages_mapper_start(l);
    if (!err && l->options.userfault)
        err = pages_userfault_start(l);
    if (err)
        log_error("segment: cannot start its threads: %s", strerror(-err));
    if (!err)
        err = pages_fault_signal_open(l);
    return err;
}

static int open_segment(struct local *l) {
    int err = local_reserve(l);
    if (!err)
        err = pages_mapping_open(l);
    if (err)
        return err;
    local_choose_way(l);
    return local_start(l);
}

static bool local_is_possible(const struct pages_pool *pool, const struct local_options *options) {
    return options->bytes % pool->page_bytes == 0 && options->bytes / pool->page_bytes < UINT32_MAX &&
           options->bytes < (uint64_t)1 << 47 && pool->page_bytes % (size_t)sysconf(_SC_PAGESIZE) == 0;
}

int pages_local_open(struct pages_pool *pool, const struct local_options *options, struct local **local,
                     char **base) {
    if (!local_is_possible(pool, options)) {
        log_error(
            "segment: %llu bytes in pages of %zu cannot be mapped: the page size must be a multiple of the "
            "system's, and the segment size a multiple of the page size",
            (unsigned long long)options->bytes, pool->page_bytes);
        return -EINVAL;
    }
    struct local *l = calloc(1, sizeof(*l));
    if (!l) {
        log_error("segment: no memory for its state");
        return -ENOMEM;
    }
    *l = (struct local){.pool = pool, .options = *options, .page_bytes = pool->page_bytes};
    l->pages = (uint32_t)(options->bytes / pool->page_bytes);
    l->userfault = l->userfault_stop = -1;
    int err = l->pages ? open_segment(l) : 0;
    if (err) {
        pages_local_close(l);
        return err;
    }
    *local = l;
    *base = l->base;
    return 0;
}

/* Another node may just have requested a page: the service still runs, and the mapper answers. */
static void take_all_back(struct local *l) {
    pages_mapper_hurry(l);
    for (uint64_t end = clock_ns() + PATIENCE_US * 1000ull;;) {
        uint32_t seen = atomic_load(&l->changed);
        uint32_t left = pages_mapping_drop_all(l);
        if (!left)
            return;
        if (clock_ns() > end) {
            log_warn("segment: %u pages stay mapped at the end: no answer from the service", left);
            return;
        }
        pages_sleep_on(&l->changed, seen, 1000);
    }
}

/* Faults under way complete: the service still runs. */
void pages_local_end(struct local *l) {
    l->ender = pthread_self();
    atomic_store(&l->ends, true);
    for (uint64_t end = clock_ns() + PATIENCE_US * 1000ull; atomic_load(&l->inside) > 0 && clock_ns() < end;)
        usleep(100);
}

/* Other threads may access the segment until the process is gone. They find no access, and the fault handler blocks
 * them. */
static void close_for_ever(struct local *l) {
    if (l->reserved)
        mprotect(l->reserved, l->reserved_bytes, PROT_NONE);
    pages_userfault_close(l);
    pages_mapper_stop(l);
}

void pages_local_close(struct local *l) {
    if (!l)
        return;
    if (l->mapper_runs)
        take_all_back(l);
    if (atomic_load(&l->ends)) {
        close_for_ever(l);
        return;
    }
    pages_fault_signal_close(l);
    pages_userfault_close(l);
    pages_mapper_stop(l);
    pages_mapping_close(l);
    if (l->reserved)
        munmap(l->reserved, l->reserved_bytes);
    free(l);
}
