/* find.c: checks remote addresses: only memory allocated with ARMCI may be accessed, and only within the part of
 * that process.
 *
 * An undetected mistake would overwrite another process's data, or fault the helper of another node. So it is
 * detected in the process that makes it, before anything is sent. */
#include "armci/request/find.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "armci/request/armci_memory.h"
#include "base/compiler.h"

static _Noreturn void find_refuse(const char *call, int proc, const void *low, const void *high) {
    const struct allocation *a = armci_memory_find(proc, low, (const char *)low + 1);
    size_t bytes = (size_t)((const char *)high - (const char *)low);
    if (!a)
        armci_fail(call,
                   "rank %d has no ARMCI memory at %p ... %p (%zu bytes): use an address from ARMCI_Malloc",
                   proc, low, high, bytes);
    int member = a->group->member_of ? a->group->member_of[proc] : proc;
    struct net_heap_part part = armci_memory_part(a, member);
    armci_fail(call, "%p ... %p (%zu bytes) of rank %d is beyond the allocation, which is %p ... %p", low,
               high, bytes, proc, (void *)(uintptr_t)part.base, (void *)(uintptr_t)(part.base + part.bytes));
}

enum way armci_find_way(const char *call, int proc) {
    armci_need_open(call);
    if (UNLIKELY(proc < 0 || proc >= armci_job.size))
        armci_fail(call, "rank %d does not exist; ranks are 0 ... %d", proc, armci_job.size - 1);
    return armci_way_to(proc);
}

/* Whether all of the range is mapped. */
static bool is_mapped(const void *low, const void *high) {
    enum { PAGES = 1024 };
    unsigned char seen[PAGES];
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)high;
    for (uintptr_t at = (uintptr_t)low / page * page; at < end; at += PAGES * page) {
        uintptr_t bytes = end - at < PAGES * page ? end - at : PAGES * page;
        if (mincore((void *)at, bytes, seen) != 0 && errno == ENOMEM)
            return false;
    }
    return true;
}

/* A rank may name any memory of its own as its target, not only ARMCI's: Global Arrays does. Without this check,
 * mistakes would end in an unexplained SIGSEGV: addresses that are not mapped, that ARMCI has freed, or that run
 * past the end. */
static bool find_is_own(const void *low, const void *high) {
    bool begins_in = armci_memory_find(armci_job.rank, low, (const char *)low + 1) != NULL;
    return !begins_in && (net_heap_owner(low, 1) || !armci_memory_is_heap(low)) && is_mapped(low, high);
}

void armci_find_check(const char *call, int proc, const void *low, const void *high) {
    enum way way = armci_find_way(call, proc);
    if (low == high || LIKELY(armci_memory_find(proc, low, high) != NULL) ||
        (way == WAY_SELF && find_is_own(low, high)))
        return;
    find_refuse(call, proc, low, high);
}
