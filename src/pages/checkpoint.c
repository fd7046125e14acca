/* Checkpoints of named segments: all pages reach the NVM, each rank's file prepares the new epoch, and when all have, they
 * commit it; if one has not, all abandon it. Nobody writes to the segments meanwhile, but threads may read them.
 *
 *      hold      nodes send no requests for pages any more: whoever misses waits. What is under way comes to its end.
 *      reserve   room for all that is to be written: a disk that is full then costs the checkpoint, and nothing else
 *      clean     pages that are newer than the NVM are written by dropping the copies that own them; while that goes on,
 *                owners do not hand their pages to other holders, whose copies stay as they are
 *      idle      nothing moves, on any node
 *      prepare   then commit or abandon; all ranks agree on which
 *      release   requests go on
 *
 * Any step may fail on any rank. The last checkpoint is there until all have prepared the new one, whose number is not used
 * again if they have not; the program may go on, and try once more. */
#include <errno.h>
#include <string.h>

#include "pages/inside.h"

/* By the leaders, who then agree with all. */
static int order(struct pages *p, const struct net_boot *boot, enum service_order what, uint64_t argument) {
    int status = p->serves ? service_order(p->box, what, argument) : 0;
    return net_agree(boot, status);
}

/* Nothing moves any more; fails if pages of this node could not be written, of which there were only warnings so far. */
static int wait_until_idle(struct pages *p, const struct net_boot *boot) {
    int status = p->serves ? service_order(p->box, ORDER_IDLE, 0) : 0;
    if (status != 0)
        log_error(
            "checkpoint: pages of this node could not be written (%s), see above: it is not made, and the "
            "last one stays; mend the NVM or make room there, and call vgasnet_checkpoint again",
            strerror(-status));
    return net_agree(boot, status);
}

static int write_all(struct pages *p, const struct net_boot *boot) {
    int status = order(p, boot, ORDER_KEEP_OWNED, false);
    if (status == 0)
        status = order(p, boot, ORDER_RESERVE, 0);
    if (status == 0)
        status = order(p, boot, ORDER_CLEAN, 0);
    if (status == 0)
        status = wait_until_idle(p, boot);
    int after = order(p, boot, ORDER_KEEP_OWNED, true);
    return status ? status : after;
}

/* Once all have prepared it, it is made: to commit it writes nothing. */
static int make_epoch(struct pages *p, const struct net_boot *boot, uint64_t epoch) {
    int status = order(p, boot, ORDER_PREPARE, epoch);
    if (status != 0)
        (void)order(p, boot, ORDER_ABANDON, epoch);
    else
        status = order(p, boot, ORDER_COMMIT, epoch);
    return status;
}

/* At the end, none is made of what the last one has: a job that only reads leaves the files as they are. */
static bool is_needed(struct pages *p, const struct net_boot *boot) {
    return !p->closes || p->epoch == 0 || order(p, boot, ORDER_COMPARE, 0) != 0;
}

int pages_checkpoint(struct pages *p, const struct net_boot *boot, uint64_t *epoch) {
    if (!p->named) {
        if (p->world->rank == 0)
            log_error("checkpoint: the segments have no name to be found by: set HEARTH_NVM_NAME");
        return -EINVAL;
    }
    int status = net_boot_barrier(boot);
    if (status == 0)
        status = order(p, boot, ORDER_HOLD, true);
    if (status == 0)
        status = write_all(p, boot);
    if (status == 0 && is_needed(p, boot)) {
        status = make_epoch(p, boot, ++p->tried);
        p->epoch = status == 0 ? p->tried : p->epoch;
    }
    int after = p->closes ? 0 : order(p, boot, ORDER_HOLD, false);
    if (status != 0 || after != 0)
        return status ? status : after;
    *epoch = p->epoch;
    return 0;
}
