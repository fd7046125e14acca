/* checkpoint.c: checkpoints of named segments, in two phases: all pages are written to the NVM, each rank's file
 * prepares the new epoch, and if all ranks succeed, all commit it; otherwise all abandon it. No rank writes to the
 * segments meanwhile, but threads may read them.
 *
 *      hold      nodes send no more page requests, except for pages that they own: a miss waits
 *      keep      owners no longer hand their pages over to other holders, whose copies stay unchanged
 *      reserve   space for all pages to be written: a full disk then fails the checkpoint, and nothing else
 *      idle      requests under way are complete: from now on no node becomes the owner of a page
 *      clean     dirty pages are written by dropping the copies that own them
 *      idle      nothing is under way on any node
 *      prepare   then commit or abandon; all ranks agree on which
 *      release   requests are sent again
 *
 * Any step may fail on any rank. The last checkpoint remains valid until all ranks have prepared the new one. If they
 * have not, its number is not used again; the program may continue, and try once more. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "pages/pages_internal.h"

static const char *const order_words[] = {[ORDER_NOTHING] = "nothing",
                                          [ORDER_HOLD] = "hold page requests back",
                                          [ORDER_KEEP_OWNED] = "owners hand pages over",
                                          [ORDER_RESERVE] = "reserve room for dirty pages",
                                          [ORDER_CLEAN] = "write dirty pages",
                                          [ORDER_IDLE] = "wait until nothing is under way",
                                          [ORDER_COMPARE] = "look for changes",
                                          [ORDER_PREPARE] = "prepare the epoch",
                                          [ORDER_COMMIT] = "commit it",
                                          [ORDER_ABANDON] = "abandon it"};

/* The leaders issue the order; then all ranks agree on the result. */
static int order(struct pages *p, const struct net_boot *boot, enum service_order what, uint64_t argument) {
    log_trace(LOG_PAGES, "checkpoint: %s (%llu)", order_words[what], (unsigned long long)argument);
    int status = p->serves ? pages_service_order(p->box, what, argument) : 0;
    int all = net_boot_agree(boot, status);
    if (all != 0)
        log_debug(LOG_PAGES, "checkpoint: '%s' failed%s: %s", order_words[what],
                  status ? " here" : " on another rank", strerror(-all));
    return all;
}

/* Waits for requests under way. Pages that could not be written matter after ORDER_CLEAN. */
static int wait_for_owners(struct pages *p, const struct net_boot *boot) {
    if (p->serves)
        (void)pages_service_order(p->box, ORDER_IDLE, 0);
    return net_boot_barrier(boot);
}

/* Waits until nothing is under way. Fails if pages of this node could not be written, for which only warnings were
 * logged so far. */
static int wait_until_idle(struct pages *p, const struct net_boot *boot) {
    int status = p->serves ? pages_service_order(p->box, ORDER_IDLE, 0) : 0;
    if (status != 0)
        log_error(
            "checkpoint: pages of this node could not be written (%s), see above: no checkpoint is made, and "
            "the last one stays valid; repair the NVM or free space there, and call vgasnet_checkpoint again",
            strerror(-status));
    return net_boot_agree(boot, status);
}

static int write_all(struct pages *p, const struct net_boot *boot) {
    int status = order(p, boot, ORDER_KEEP_OWNED, false);
    if (status == 0)
        status = order(p, boot, ORDER_RESERVE, 0);
    if (status == 0)
        status = wait_for_owners(p, boot);
    if (status == 0)
        status = order(p, boot, ORDER_CLEAN, 0);
    if (status == 0)
        status = wait_until_idle(p, boot);
    int after = order(p, boot, ORDER_KEEP_OWNED, true);
    return status ? status : after;
}

/* Once all ranks have prepared the epoch it is complete: the commit writes nothing. */
static int make_epoch(struct pages *p, const struct net_boot *boot, uint64_t epoch) {
    int status = order(p, boot, ORDER_PREPARE, epoch);
    if (status != 0)
        p->is_unsure = order(p, boot, ORDER_ABANDON, epoch) != 0;
    else
        status = order(p, boot, ORDER_COMMIT, epoch);
    return status;
}

/* At the end of the job no checkpoint is made if nothing changed since the last one: a job that only reads leaves the
 * files as they are. */
static bool is_needed(struct pages *p, const struct net_boot *boot) {
    return !p->closes || p->epoch == 0 || order(p, boot, ORDER_COMPARE, 0) != 0;
}

int pages_checkpoint(struct pages *p, const struct net_boot *boot, uint64_t *epoch) {
    if (!p->named) {
        if (p->world->rank == 0)
            log_error("checkpoint: the segments have no name: set HEARTH_NVM_NAME");
        return -EINVAL;
    }
    int status = net_boot_barrier(boot);
    if (status == 0)
        status = order(p, boot, ORDER_HOLD, true);
    if (status == 0)
        status = write_all(p, boot);
    bool is_made = status == 0 && is_needed(p, boot);
    if (is_made) {
        status = make_epoch(p, boot, ++p->tried);
        p->epoch = status == 0 ? p->tried : p->epoch;
    }
    log_debug(LOG_PAGES, "checkpoint %llu %s", (unsigned long long)(is_made ? p->tried : p->epoch),
              status    ? "is not made; the last one stays valid"
              : is_made ? "is complete on all ranks"
                        : "is still current: nothing has changed");
    int after = p->closes ? 0 : order(p, boot, ORDER_HOLD, false);
    if (status != 0 || after != 0)
        return status ? status : after;
    *epoch = p->epoch;
    return 0;
}
