/* fault_signal.c: page faults by SIGSEGV: the handler gets the page, and the instruction is restarted.
 *
 * The handler may have interrupted anything, so it calls only functions that local_internal.h allows. All signals are
 * blocked while it works, as it holds the lock of the mappings at times, but not while it waits for a page. A handler
 * of the program for another signal must not touch the segment: it may have interrupted the holder of a lock that the
 * fault handler needs.
 *
 * *Read or write* (fault_kind.c). Where it is not known, every fault counts as a write. Instruction fetches are not
 * handled: no page of the segment is executable.
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
#include <unistd.h>

#include "base/log.h"
#include "pages/local/fault_kind.h"
#include "pages/local/local_internal.h"

static struct local *_Atomic current;
static struct sigaction before_segv, before_bus;
static bool installed;

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
    enum fault_kind was = pages_fault_kind(info, context);
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
