/* The memory of other processes: only what was allocated with ARMCI, and only within the part of that process.
 *
 * A mistake here would be a write to somebody else's data, or a fault in the helper of another node: it is found in
 * the process that makes it, before anything is sent. */
#include "armci/find.h"

#include "armci/memory.h"

static _Noreturn void refuse(const char *call, int proc, const void *low, const void *high) {
    const struct allocation *a = memory_find(proc, low, (const char *)low + 1);
    size_t bytes = (size_t)((const char *)high - (const char *)low);
    if (!a)
        armci_fail(call,
                   "rank %d has no ARMCI memory at %p ... %p (%zu bytes): use an address from ARMCI_Malloc",
                   proc, low, high, bytes);
    int member = a->member_of ? a->member_of[proc] : proc;
    armci_fail(call, "%p ... %p (%zu bytes) of rank %d is beyond the allocation, which is %p ... %p", low,
               high, bytes, proc, (void *)(uintptr_t)a->parts[member].base,
               (void *)(uintptr_t)(a->parts[member].base + a->parts[member].bytes));
}

enum way way_of(const char *call, int proc) {
    armci_need_open(call);
    if (UNLIKELY(proc < 0 || proc >= armci.size))
        armci_fail(call, "there is no rank %d; they are 0 ... %d", proc, armci.size - 1);
    return way_to(proc);
}

void find_check(const char *call, int proc, const void *low, const void *high) {
    enum way way = way_of(call, proc);
    if (low == high || way == WAY_SELF)
        return;
    if (UNLIKELY(!memory_find(proc, low, high)))
        refuse(call, proc, low, high);
}
