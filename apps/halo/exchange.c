/* exchange.c: the messages of a rank. Each goes from one of its patches to a neighbour on another rank or on
 * this one, and another comes back from there; both have the same size and share one entry in the list.
 *
 *      requests   [ receives, one for each message | sends, one for each message ]
 *
 * A request that was not started is MPI_REQUEST_NULL, so that all can be waited for at once. Different threads
 * may post and send different messages. Persistent requests are made once, and started all together. */
#include "halo.h"

#include <stdlib.h>

int halo_exchange_add(struct halo_exchange *e, const struct halo_message *m) {
    if (e->count == e->room) {
        size_t room = e->room ? 2 * e->room : 64;
        struct halo_message *list = realloc(e->list, room * sizeof *list);
        if (!list)
            return APP_FAILED;
        e->list = list;
        e->room = room;
    }
    struct halo_message *own = &e->list[e->count++];
    *own = *m;
    own->count = halo_patch_side(m->patch, m->direction);
    own->place = e->numbers;
    e->numbers += (size_t)own->count;
    return APP_OK;
}

int halo_exchange_ready(struct halo_exchange *e) {
    e->requests = calloc(2 * e->count + 1, sizeof(MPI_Request)); /* + 1: an empty list is no failure */
    e->in = calloc(e->numbers + 1, sizeof *e->in);
    e->out = calloc(e->numbers + 1, sizeof *e->out);
    if (!e->requests || !e->in || !e->out)
        return APP_FAILED;
    for (size_t i = 0; i < 2 * e->count; i++)
        e->requests[i] = MPI_REQUEST_NULL;
    return APP_OK;
}

void halo_exchange_post(struct halo_exchange *e, size_t i) {
    const struct halo_message *m = &e->list[i];
    MPI_Irecv(e->in + m->place, m->count, MPI_DOUBLE, m->peer, m->tag_in, MPI_COMM_WORLD, &e->requests[i]);
}

void halo_exchange_send(struct halo_exchange *e, size_t i) {
    const struct halo_message *m = &e->list[i];
    halo_patch_pack(m->patch, m->direction, e->out + m->place);
    MPI_Isend(e->out + m->place, m->count, MPI_DOUBLE, m->peer, m->tag_out, MPI_COMM_WORLD,
              &e->requests[e->count + i]);
}

void halo_exchange_persist(struct halo_exchange *e) {
    e->persistent = true;
    for (size_t i = 0; i < e->count; i++) {
        const struct halo_message *m = &e->list[i];
        MPI_Recv_init(e->in + m->place, m->count, MPI_DOUBLE, m->peer, m->tag_in, MPI_COMM_WORLD,
                      &e->requests[i]);
        MPI_Send_init(e->out + m->place, m->count, MPI_DOUBLE, m->peer, m->tag_out, MPI_COMM_WORLD,
                      &e->requests[e->count + i]);
    }
}

void halo_exchange_post_all(struct halo_exchange *e) {
    if (e->persistent)
        MPI_Startall((int)e->count, e->requests);
    for (size_t i = 0; i < e->count && !e->persistent; i++)
        halo_exchange_post(e, i);
}

void halo_exchange_send_all(struct halo_exchange *e) {
    for (size_t i = 0; i < e->count && !e->persistent; i++)
        halo_exchange_send(e, i);
    if (!e->persistent)
        return;
    for (size_t i = 0; i < e->count; i++)
        halo_patch_pack(e->list[i].patch, e->list[i].direction, e->out + e->list[i].place);
    MPI_Startall((int)e->count, e->requests + e->count);
}

void halo_exchange_wait(struct halo_exchange *e) {
    MPI_Waitall((int)(2 * e->count), e->requests, MPI_STATUSES_IGNORE);
}

void halo_exchange_unpack(struct halo_exchange *e, size_t i) {
    const struct halo_message *m = &e->list[i];
    if (!e->ignored)
        halo_patch_unpack(m->patch, m->direction, e->in + m->place);
}

void halo_exchange_close(struct halo_exchange *e) {
    for (size_t i = 0; e->persistent && i < 2 * e->count; i++)
        MPI_Request_free(&e->requests[i]);
    free(e->list);
    free(e->requests);
    free(e->in);
    free(e->out);
    *e = (struct halo_exchange){0};
}

int halo_connect_all(int ranks) {
    int *out = calloc((size_t)ranks, sizeof *out), *in = calloc((size_t)ranks, sizeof *in);
    int code = app_agree(out && in ? APP_OK : APP_FAILED, "no memory for a number of each rank");
    if (!code)
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    free(out);
    free(in);
    return code;
}

int halo_check_tag(uint64_t highest) {
    int *most, there;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &there);
    return app_agree(
        there && highest > (uint64_t)*most ? APP_BAD_INPUT : APP_OK,
        "this many messages need more tags than MPI has here (MPI_TAG_UB): make the grid smaller");
}
