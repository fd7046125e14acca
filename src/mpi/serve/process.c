/* process.c: the lock tables of the node's processes. They are found by the random id of the process, not by its pid,
 * which the system reuses. */
#include "mpi/serve/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

/* A segment begins with its token; the table follows on the next pair of cache lines. */
enum { TABLE_AT = 128 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct serve_process *processes;
static struct serve_card own;

static struct net_lock_table *table_in(const struct segment *s) {
    return (struct net_lock_table *)((char *)s->base + TABLE_AT);
}

static void process_begin(void) {
    struct serve_process *p = calloc(1, sizeof *p);
    static const char otherwise[] = "windows are left to MPI";
    if (!p || getrandom(&p->id, sizeof p->id, 0) != (ssize_t)sizeof p->id ||
        net_segment_create_for(otherwise, &p->segment, TABLE_AT + net_lock_table_bytes(), &own.address) !=
            0) {
        free(p);
        return;
    }
    p->pid = getpid();
    p->locks = table_in(&p->segment);
    if (net_lock_table_make(p->locks) != 0) {
        net_segment_close(&p->segment);
        free(p);
        return;
    }
    net_pull_allow();
    processes = p;
    own.id = p->id;
    own.pid = p->pid;
}

struct serve_card serve_process_card(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, process_begin);
    return own;
}

static struct serve_process *process_attach(const struct serve_card *card, int rank) {
    struct serve_process *p = calloc(1, sizeof *p);
    if (!p || net_segment_attach_for("windows are left to MPI", &p->segment, &card->address, rank) != 0) {
        free(p);
        return NULL;
    }
    p->id = card->id;
    p->pid = (int)card->pid;
    p->locks = table_in(&p->segment);
    p->next = processes;
    processes = p;
    return p;
}

struct serve_process *serve_process_join(const struct serve_card *card, int rank) {
    if (!card->pid)
        return NULL;
    pthread_mutex_lock(&mutex);
    struct serve_process *p = processes;
    while (p && p->id != card->id)
        p = p->next;
    if (!p)
        p = process_attach(card, rank);
    pthread_mutex_unlock(&mutex);
    return p;
}
