/* service_order.h: orders from the leader of a node to its service. */
#ifndef HEARTH_PAGES_SERVICE_ORDER_H
#define HEARTH_PAGES_SERVICE_ORDER_H

#include "net/net.h"

struct service;

enum service_order {
    ORDER_NOTHING,
    ORDER_HOLD,       /* argument: whether page requests and remote operations are held back from now on */
    ORDER_KEEP_OWNED, /* argument: whether owners that drop their copy hand the page over */
    ORDER_RESERVE,    /* reserve space on the NVM for all dirty copies */
    ORDER_CLEAN,      /* drop all dirty copies */
    ORDER_IDLE,       /* wait until nothing is under way and all pages are on the NVM */
    ORDER_COMPARE,    /* -ESTALE: the NVM is newer than the last checkpoint */
    ORDER_PREPARE,    /* argument: the epoch; waits as ORDER_IDLE does */
    ORDER_COMMIT,
    ORDER_ABANDON,
};

/* The order that is being carried out. */
struct service_ordered {
    enum service_order what;
    int cell;
    uint64_t argument;
};

/* Waits until the order has been carried out. Returns 0 or a negative code. Only for the leader of the node. */
int pages_service_order(struct mailbox *box, enum service_order what, uint64_t argument);

unsigned pages_order_take(struct service *s);
unsigned pages_order_go_on(struct service *s);

#endif
