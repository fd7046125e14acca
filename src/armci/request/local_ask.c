/* local_ask.c: requests to the helper of this node. While it waits, the caller makes progress on its other operations. */
#include "armci/request/local_ask.h"

#include <sched.h>
#include <string.h>

#include "armci/job/armci_internal.h"
#include "armci/request/guard.h"

int64_t armci_local_ask(uint32_t what, const void *words, size_t bytes) {
    enum { NAP_US = 1000 };
    struct mailbox *box = net_mailbox(armci_job.net);
    struct mailbox_request r = {.what = what};
    int64_t answer;
    memcpy(r.words, words, bytes);
    int cell = net_mailbox_ask(box, &r);
    while (cell < 0) { /* other threads use all cells; their requests are answered soon (lock_by_tries) */
        if (!armci_job.threaded)
            armci_fail("ARMCI", "several threads call at once: start MPI with MPI_THREAD_MULTIPLE");
        sched_yield();
        cell = net_mailbox_ask(box, &r);
    }
    while (!net_mailbox_answered(box, cell, &answer)) {
        net_mailbox_wait(box, cell, NAP_US);
        armci_guard_enter();
        net_progress(armci_job.net);
        armci_guard_leave();
    }
    return answer;
}
