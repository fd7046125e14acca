/* bus.c: explains the SIGBUS of a shared page that the kernel cannot back.
 *
 * The memory limit was checked at allocation (reserve.c), but other processes may have taken the memory since, and
 * some kernels account for a page only when it is touched (vm.overcommit_memory=2, hugetlbfs). The access then
 * raises SIGBUS, which by itself looks like a bug in the program.
 *
 * The handler makes only async-signal-safe calls: it formats the message without printf. Then it restores the
 * previous action and returns, so that the access is repeated and the signal takes its normal course. */
#include "net/shm/bus.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "net/shm/mapped.h"

static struct sigaction before;

/* ---- the message ---- */

struct bus_line {
    char text[320];
    size_t length;
};

static void bus_append(struct bus_line *l, const char *words) {
    size_t bytes = strlen(words), left = sizeof l->text - l->length;
    bytes = bytes < left ? bytes : left;
    memcpy(l->text + l->length, words, bytes);
    l->length += bytes;
}

static void bus_append_number(struct bus_line *l, uint64_t number, unsigned base) {
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do
        digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    bus_append(l, digits + at);
}

static void bus_explain(uint64_t address, const struct mapped *in) {
    struct bus_line l = {.length = 0};
    int saved = errno;
    bus_append(&l, "hearth: error: shared memory at 0x");
    bus_append_number(&l, address, 16);
    bus_append(&l, ", in an allocation of ");
    bus_append_number(&l, in->bytes, 10);
    bus_append(
        &l, " bytes: the node has no memory left to back this page; ask for less, use more nodes, or ask the "
            "batch system for more memory\n");
    ssize_t ignored = write(STDERR_FILENO, l.text, l.length);
    (void)ignored;
    errno = saved;
}

/* ---- the signal ---- */

/* A signal that a process sent (si_code <= 0) does not recur by itself. */
static void bus_restore(const siginfo_t *info) {
    sigaction(SIGBUS, &before, NULL);
    if (info->si_code <= 0)
        raise(SIGBUS);
}

static void bus_handle(int number, siginfo_t *info, void *context) {
    struct mapped in;
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    (void)number, (void)context;
    if (info->si_code > 0 && net_mapped_find(MAPPED_SHARED, address, 1, &in) == 0)
        bus_explain(address, &in);
    bus_restore(info);
}

static void bus_install(void) {
    struct sigaction action = {.sa_sigaction = bus_handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}

void net_bus_watch(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, bus_install);
}
