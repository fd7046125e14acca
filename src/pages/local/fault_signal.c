/* fault_signal.c: page faults by SIGSEGV: the handler gets the page, and the instruction is restarted.
 *
 * The handler may have interrupted anything, so it calls only functions that local_internal.h allows. All signals are
 * blocked while it works, as it holds the lock of the mappings at times, but not while it waits for a page. A handler
 * of the program for another signal must not touch the segment: it may have interrupted the holder of a lock that the
 * fault handler needs.
 *
 * *Read or write.* The processor reports which it was, and Linux passes this on with the signal. Where it is not found,
 * every fault counts as a write: this is correct, but then pages that are only read are taken from other nodes.
 * Instruction fetches are not handled: no page of the segment is executable.
 *
 * *Other faults.* A signal that is not a fault, or a fault outside of the segment, is passed to the previous handler as
 * the kernel would have called it. A program that installs its own handler later must do the same. With userfaultfd,
 * faults arrive here only while a page is in transition (mapping.c): the handler then only waits for the lock of the
 * mappings.
 *
 * *Process exit.* A process may exit while other threads load and store: their faults then do not return.
 *
 * *SIGBUS in the segment:* the memory behind a frame could not be allocated. Log, then chain to the previous handler. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/base.h"
#include "pages/local/local_internal.h"

enum fault { FAULT_READ, FAULT_WRITE, FAULT_FETCH };

static struct local *_Atomic current;
static struct sigaction before_segv, before_bus;
static bool installed;

/* ---- read, write or instruction fetch ---- */

#if defined(__aarch64__)
/* The signal frame is a sequence of records; one may hold the syndrome register of the exception. */
static enum fault what_was(const ucontext_t *context) {
    enum { MAGIC = 0x45535201, FETCH_BELOW = 0x20, FETCH = 0x21, CACHE = 1 << 8, WRITE = 1 << 6 };
    const unsigned char *at = (const unsigned char *)&context->uc_mcontext.__reserved;
    const unsigned char *end = at + sizeof(context->uc_mcontext.__reserved);
    while (end - at >= 16) {
        uint32_t head[2];
        uint64_t syndrome;
        memcpy(head, at, sizeof(head));
        if (!head[0] || head[1] < sizeof(head))
            break;
        if (head[0] == MAGIC) {
            memcpy(&syndrome, at + sizeof(head), sizeof(syndrome));
            uint32_t class = (uint32_t)(syndrome >> 26) & 63;
            if (class == FETCH_BELOW || class == FETCH)
                return FAULT_FETCH;
            /* Cache maintenance instructions are reported as writes, but do not write. */
            return syndrome & WRITE && !(syndrome & CACHE) ? FAULT_WRITE : FAULT_READ;
        }
        at += head[1];
    }
    return FAULT_WRITE;
}
#elif defined(__x86_64__)
static enum fault what_was(const ucontext_t *context) {
    enum { WRITE = 2, FETCH = 16 };
    unsigned long long code = (unsigned long long)context->uc_mcontext.gregs[REG_ERR];
    return code & FETCH ? FAULT_FETCH : code & WRITE ? FAULT_WRITE : FAULT_READ;
}
#else
static enum fault what_was(const ucontext_t *context) {
    return FAULT_WRITE;
}
#endif

/* ---- chaining ---- */

/* Restores the default action. A fault then happens again on return; a signal that was sent is raised again. */
static void leave_to_default(int number, const struct sigaction *old, bool sent) {
    if (sent && old->sa_handler == SIG_IGN)
        return;
    struct sigaction action = {.sa_handler = SIG_DFL}; /* a fault cannot be ignored */
    sigaction(number, &action, NULL);
    if (sent)
        raise(number);
}

/* On return the kernel restores the mask that the program had. */
static void set_mask(int number, const struct sigaction *old, const ucontext_t *context) {
    sigset_t mask;
    sigorset(&mask, &context->uc_sigmask, &old->sa_mask);
    if (!(old->sa_flags & SA_NODEFER))
        sigaddset(&mask, number);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void pass_on(int number, siginfo_t *info, void *context) {
    struct sigaction *kept = number == SIGSEGV ? &before_segv : &before_bus, old = *kept;
    bool plain = !(old.sa_flags & SA_SIGINFO);
    if (plain && (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN)) {
        leave_to_default(number, &old, info->si_code <= 0);
        return;
    }
    if (old.sa_flags & (int)SA_RESETHAND)
        *kept = (struct sigaction){.sa_handler = SIG_DFL};
    set_mask(number, &old, context);
    if (plain)
        old.sa_handler(number);
    else
        old.sa_sigaction(number, info, context);
}

/* ---- faults in the segment ---- */

static void wait_for_mapping(struct local *l) {
    pages_lock(&l->lock);
    pages_unlock(&l->lock);
}

/* No signals are delivered here. The thread that ends the process must not touch the segment; for it the fault is
 * passed on. */
static bool wait_for_the_end(const struct local *l) {
    while (!pthread_equal(pthread_self(), l->ender))
        pause();
    return false;
}

static bool fault_resolve(struct local *l, const siginfo_t *info, const ucontext_t *context) {
    enum fault was = what_was(context);
    if ((info->si_code != SEGV_ACCERR && info->si_code != SEGV_MAPERR) || was == FAULT_FETCH)
        return false;
    if (atomic_load(&l->ends))
        return wait_for_the_end(l);
    if (l->options.userfault) {
        wait_for_mapping(l);
        return true;
    }
    enum local_result result =
        pages_local_resolve(l, pages_local_page(l, info->si_addr), was == FAULT_WRITE, &context->uc_sigmask);
    return result == LOCAL_ENDS ? wait_for_the_end(l) : result == LOCAL_DONE;
}

static void handle(int number, siginfo_t *info, void *context) {
    int before = errno;
    struct local *l = atomic_load_explicit(&current, memory_order_acquire);
    bool ours = l && info->si_code > 0 && pages_local_has(l, info->si_addr);
    if (ours && number == SIGBUS)
        pages_local_say(
            "a frame of the page pool has no memory behind it: the node has too little, or /dev/shm is full");
    bool done = ours && number == SIGSEGV && fault_resolve(l, info, context);
    errno = before;
    if (!done)
        pass_on(number, info, context);
}

static int install(int number, struct sigaction *old) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    return sigaction(number, &action, old) ? -errno : 0;
}

int pages_fault_signal_open(struct local *l) {
    struct local *none = NULL;
    if (!atomic_compare_exchange_strong(&current, &none, l)) {
        log_error("segment: this process already has one");
        return -EBUSY;
    }
    int err = install(SIGSEGV, &before_segv);
    if (!err)
        err = install(SIGBUS, &before_bus);
    installed = !err;
    if (err)
        log_error("segment: cannot install handlers for SIGSEGV and SIGBUS: %s", strerror(-err));
    return err;
}

/* Unless the program has installed another handler. */
static void restore(int number, const struct sigaction *old) {
    struct sigaction now;
    if (!sigaction(number, NULL, &now) && now.sa_flags & SA_SIGINFO && now.sa_sigaction == handle)
        sigaction(number, old, NULL);
}

void pages_fault_signal_close(const struct local *l) {
    if (atomic_load(&current) != l)
        return;
    if (installed) {
        restore(SIGSEGV, &before_segv);
        restore(SIGBUS, &before_bus);
    }
    installed = false;
    atomic_store(&current, NULL);
}
