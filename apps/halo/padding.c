/* padding.c: receives that are posted, and matched by nothing while the program computes. A library that keeps
 * a list traverses them for every message that arrives meanwhile. At the end each gets its message.
 *
 *      receive i:  from peers[i % peer_count], with tag first_tag + i / peer_count, a number that encodes both
 *
 * The senders are all peers in turn, so that libraries with one list per sender get some in each list. */
#include "halo.h"

#include <stdlib.h>

static bool is_peer(const struct halo_padding *p, int rank) {
    for (int i = 0; i < p->peer_count; i++)
        if (p->peers[i] == rank)
            return true;
    return false;
}

static void find_peers(struct halo_padding *p, const struct halo_exchange *e) {
    for (size_t i = 0; i < e->count; i++)
        if (!is_peer(p, e->list[i].peer))
            p->peers[p->peer_count++] = e->list[i].peer;
    if (!p->peer_count)
        p->peers[p->peer_count++] = p->rank;
}

static int share_of(const struct halo_padding *p, int peer) {
    size_t peers = (size_t)p->peer_count;
    return (int)(p->count / peers + ((size_t)peer < p->count % peers));
}

/* How many receives the peers have posted for this rank; they may have another number of peers. */
static void exchange_shares(struct halo_padding *p) {
    MPI_Request requests[2 * HALO_DIRECTIONS];
    int ours[HALO_DIRECTIONS];
    for (int i = 0; i < p->peer_count; i++)
        MPI_Irecv(&p->theirs[i], 1, MPI_INT, p->peers[i], 0, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < p->peer_count; i++) {
        ours[i] = share_of(p, i);
        MPI_Isend(&ours[i], 1, MPI_INT, p->peers[i], 0, MPI_COMM_WORLD, &requests[p->peer_count + i]);
    }
    MPI_Waitall(2 * p->peer_count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < p->peer_count; i++)
        p->sends += (size_t)p->theirs[i];
}

int halo_padding_open(struct halo_padding *p, const struct halo_exchange *e, int rank, size_t count) {
    *p = (struct halo_padding){.rank = rank, .count = count};
    find_peers(p, e);
    exchange_shares(p);
    p->requests = calloc(p->count + p->sends + 1, sizeof(MPI_Request));
    p->in = calloc(p->count + 1, sizeof(double));
    p->out = calloc(p->sends + 1, sizeof(double));
    return app_agree(p->requests && p->in && p->out ? APP_OK : APP_FAILED,
                     "no memory for the receives: --pad is too large");
}

static double value_of(int from, int to, size_t number) {
    return from + 1e5 * to + 1e10 * (double)(number % 100000);
}

void halo_padding_post(struct halo_padding *p, int first_tag) {
    size_t peers = (size_t)p->peer_count;
    for (size_t i = 0; i < p->count; i++)
        MPI_Irecv(&p->in[i], 1, MPI_DOUBLE, p->peers[i % peers], first_tag + (int)(i / peers), MPI_COMM_WORLD,
                  &p->requests[i]);
}

int halo_padding_release(struct halo_padding *p, int first_tag) {
    size_t sent = 0, wrong = 0, peers = (size_t)p->peer_count;
    for (int peer = 0; peer < p->peer_count; peer++)
        for (int number = 0; number < p->theirs[peer]; number++, sent++) {
            p->out[sent] = value_of(p->rank, p->peers[peer], (size_t)number);
            MPI_Isend(&p->out[sent], 1, MPI_DOUBLE, p->peers[peer], first_tag + number, MPI_COMM_WORLD,
                      &p->requests[p->count + sent]);
        }
    MPI_Waitall((int)(p->count + p->sends), p->requests, MPI_STATUSES_IGNORE);
    for (size_t i = 0; i < p->count; i++)
        wrong += p->in[i] != value_of(p->peers[i % peers], p->rank, i / peers);
    return app_agree(wrong ? APP_FAILED : APP_OK,
                     "wrong result: a padding receive got the message of another");
}

void halo_padding_close(struct halo_padding *p) {
    free(p->requests);
    free(p->in);
    free(p->out);
}
