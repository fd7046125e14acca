/* Active messages from other nodes, as the helper takes them: in its thread, in the leader of the node, into
 * the boxes of all its ranks. It never waits: a request for which there is no place is refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gas/far.h"
#include "gas/serve.h"

/* Per sender: the place that its parts go to. A sender is served by one helper, so its entry has one writer. */
enum { NONE = -1, REFUSED = -2 };
static int8_t *collecting; /* [size] */

int arrive_open(void) {
    if (gas.world->local != 0)
        return 0;
    collecting = malloc((size_t)gas.size);
    if (!collecting) {
        log_error("active messages: no memory for a table of %d ranks", gas.size);
        return -ENOMEM;
    }
    memset(collecting, NONE, (size_t)gas.size);
    return 0;
}

void arrive_close(void) {
    free(collecting);
    collecting = NULL;
}

static _Noreturn void end_job(const struct net_block *b) {
    log_error("active messages: rank %d sends what no process of this job would send; the job is ended",
              b->client);
    _exit(1); /* in a thread that may not call MPI: the launcher ends the job when a process goes */
}

static int local_rank(const struct net_block *b, uint32_t rank) {
    if (rank >= (uint32_t)gas.size || !gas_same_node(rank))
        end_job(b);
    return (int)gas.world->local_of[rank];
}

enum net_result am_serve_part(void *arg, struct net_block *b) {
    struct far_part_header h;
    (void)arg;
    if (b->header_bytes != sizeof h)
        end_job(b);
    memcpy(&h, b->header, sizeof h);
    int local = local_rank(b, h.rank);
    if (h.offset > AM_MEDIUM || b->bytes > AM_MEDIUM - h.offset)
        end_job(b);
    if (h.offset == 0) {
        int place = bits_take(&box_of(local)->free_places);
        collecting[b->client] = (int8_t)(place < 0 ? REFUSED : place);
    }
    if (collecting[b->client] >= 0)
        memcpy(box_place_data(local, collecting[b->client], AM_REQUEST) + h.offset, b->payload, b->bytes);
    return NET_DONE;
}

/* Which place it has, or -1. */
static int place_of(const struct far_request_header *h, const struct net_block *b, int local) {
    if (h->parted) {
        int place = collecting[b->client];
        collecting[b->client] = NONE;
        return place < 0 ? -1 : place;
    }
    int place = bits_take(&box_of(local)->free_places);
    if (place >= 0 && b->bytes > 0)
        memcpy(box_place_data(local, place, AM_REQUEST), b->payload, b->bytes);
    return place;
}

enum net_result am_serve(void *arg, struct net_block *b) {
    struct far_request_header h;
    uint64_t taken = 0;
    (void)arg;
    if (b->header_bytes != sizeof h || b->bytes > AM_MEDIUM || b->answer_bytes != sizeof taken)
        end_job(b);
    memcpy(&h, b->header, sizeof h);
    int local = local_rank(b, h.rank), place = place_of(&h, b, local);
    if (place >= 0) {
        struct am_box *box = box_of(local);
        box->places[place].request = h.message;
        box->places[place].slot = h.slot;
        bits_set(&box->arrived, place);
        box_wake(box);
        taken = 1;
    }
    memcpy(b->answer, &taken, sizeof taken);
    return NET_DONE;
}

enum net_result am_serve_reply(void *arg, struct net_block *b) {
    struct far_reply_header h;
    (void)arg;
    if (b->header_bytes != sizeof h)
        end_job(b);
    memcpy(&h, b->header, sizeof h);
    int local = local_rank(b, h.rank);
    if (h.slot >= AM_SLOTS || h.offset > AM_MEDIUM || b->bytes > AM_MEDIUM - h.offset)
        end_job(b);
    struct am_box *box = box_of(local);
    /* A request is under way from it; whoever used it before is through with it. Partner: post in am.c. */
    if (atomic_load_explicit(&box->slots[h.slot].holds, memory_order_acquire) == 0)
        end_job(b);
    if (b->bytes > 0)
        memcpy(box_slot_data(local, (int)h.slot, AM_REPLY) + h.offset, b->payload, b->bytes);
    if (h.offset + b->bytes < far_payload(&h.message))
        return NET_DONE; /* more of it follows */
    if (h.message.kind == AM_NO_REPLY) {
        box_release(box, (int)h.slot);
        return NET_DONE;
    }
    box->slots[h.slot].reply = h.message;
    bits_set(&box->replies, (int)h.slot);
    box_wake(box);
    return NET_DONE;
}
