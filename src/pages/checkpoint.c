/* Checkpoints of named segments: all pages reach the NVM, each rank's file prepares the new epoch, and when all have, they
 * commit it. Nobody uses the segments meanwhile.
 *
 * Room for all that is to be written is reserved before anything is: a disk that is full then costs the checkpoint, and
 * nothing else. A page that is newer than the NVM is written by dropping the copy that owns it; while that goes on,
 * owners do not hand their pages to other holders, whose copies stay as they are. */
#include <errno.h>

#include "pages/inside.h"

/* By the leaders, who then agree with all. */
static int order(struct pages *p, const struct net_boot *boot, enum service_order what, uint64_t argument) {
    int status = p->serves ? service_order(p->box, what, argument) : 0;
    return net_agree(boot, status);
}

static int write_all(struct pages *p, const struct net_boot *boot) {
    int status = order(p, boot, ORDER_KEEP_OWNED, false);
    if (status == 0)
        status = order(p, boot, ORDER_RESERVE, 0);
    if (status == 0)
        status = order(p, boot, ORDER_CLEAN, 0);
    if (status == 0)
        status = order(p, boot, ORDER_IDLE, 0);
    int after = order(p, boot, ORDER_KEEP_OWNED, true);
    return status ? status : after;
}

int pages_checkpoint(struct pages *p, const struct net_boot *boot, uint64_t *epoch) {
    if (!p->named) {
        if (p->world->rank == 0)
            log_error("checkpoint: the segments have no name to be found by: set HEARTH_NVM_NAME");
        return -EINVAL;
    }
    int status = net_boot_barrier(boot);
    if (status == 0)
        status = write_all(p, boot);
    if (status == 0)
        status = order(p, boot, ORDER_PREPARE, p->epoch + 1);
    if (status == 0)
        status = order(p, boot, ORDER_COMMIT, p->epoch + 1);
    if (status != 0)
        return status;
    *epoch = ++p->epoch;
    return 0;
}
