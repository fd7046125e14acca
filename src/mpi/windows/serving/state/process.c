/* process.c: the lock tables of the node's processes. They are found by the random id of the process, not by its pid,
 * which the system reuses. */
#include "mpi/windows/serving/state/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/compiler.h"

/* A segment begins with its token; the table follows on the next pair of cache lines. */
enum { TABLE_AT = 128 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct serve_process *processes;
static struct serve_card own;

static uint64_t taken[PROCESS_GATES / 64]; /* bits: gates of this process that are in use */

static size_t gates_at(void) {
    return round_up(TABLE_AT + net_lock_table_bytes(), GATE_ALIGN);
}

static void find_parts(struct serve_process *p) {
    p->locks = (struct net_lock_table *)((char *)p->segment.base + TABLE_AT);
    p->gates = (struct serve_gate *)((char *)p->segment.base + gates_at());
}

static void process_begin(void) {
    struct serve_process *p = calloc(1, sizeof *p);
    static const char otherwise[] = "windows are left to MPI";
    if (!p || getrandom(&p->id, sizeof p->id, 0) != (ssize_t)sizeof p->id ||
        net_segment_create_for(otherwise, &p->segment, gates_at() + PROCESS_GATES * sizeof *p->gates,
                               &own.address) != 0) {
        free(p);
        return;
    }
    p->pid = getpid();
    find_parts(p);
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

int serve_process_take_gate(void) {
    int number = -1;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < PROCESS_GATES / 64 && number < 0; i++)
        if (~taken[i]) {
            int bit = __builtin_ctzll(~taken[i]);
            taken[i] |= (uint64_t)1 << bit;
            number = 64 * i + bit;
        }
    pthread_mutex_unlock(&mutex);
    return number;
}

void serve_process_give_gate(int number) {
    pthread_mutex_lock(&mutex);
    taken[number / 64] &= ~((uint64_t)1 << number % 64);
    pthread_mutex_unlock(&mutex);
}

static struct serve_process *process_attach(const struct serve_card *card, int rank) {
    struct serve_process *p = calloc(1, sizeof *p);
    if (!p || net_segment_attach_for("windows are left to MPI", &p->segment, &card->address, rank) != 0) {
        free(p);
        return NULL;
    }
    p->id = card->id;
    p->pid = (int)card->pid;
    find_parts(p);
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
