/* net_boot.h: processes for tests that synchronise like those of a job: forked, with an allgather through shared
 * memory.
 *
 * There are several boards, so that some of the processes can also synchronise without the others. */
#ifndef HEARTH_TEST_NET_BOOT_H
#define HEARTH_TEST_NET_BOOT_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "net/boot/boot.h"
#include "net_help.h"

enum { BOOT_MOST = 16 /* processes */, BOOT_ROOM = 4096 /* bytes of each */, BOOT_BOARDS = 8 };

struct boot_board {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int arrived, round;
    char bytes[BOOT_MOST][BOOT_ROOM];
};

/* A process's place at a board: the `arg` of a boot. */
struct boot_seat {
    struct boot_board *board;
    int rank, size;
};

static struct boot_board *boot_boards; /* [BOOT_BOARDS] */
static int boot_gathers;               /* of this process so far */

static inline void boot_open(void) {
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    size_t bytes = BOOT_BOARDS * sizeof *boot_boards;
    boot_boards = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&cond);
    pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
    for (int i = 0; i < BOOT_BOARDS; i++) {
        pthread_mutex_init(&boot_boards[i].mutex, &mutex);
        pthread_cond_init(&boot_boards[i].changed, &cond);
    }
}

static inline void boot_close(void) {
    munmap(boot_boards, BOOT_BOARDS * sizeof *boot_boards);
}

static inline void boot_meet(const struct boot_seat *seat) {
    struct boot_board *b = seat->board;
    pthread_mutex_lock(&b->mutex);
    int round = b->round;
    if (++b->arrived == seat->size) {
        b->arrived = 0;
        b->round++;
        pthread_cond_broadcast(&b->changed);
    }
    while (b->round == round)
        pthread_cond_wait(&b->changed, &b->mutex);
    pthread_mutex_unlock(&b->mutex);
}

static inline int boot_gather(void *arg, const void *mine, void *all, size_t bytes) {
    const struct boot_seat *seat = arg;
    if (bytes > BOOT_ROOM)
        return -EMSGSIZE;
    boot_gathers++;
    if (bytes)
        memcpy(seat->board->bytes[seat->rank], mine, bytes);
    boot_meet(seat);
    for (int i = 0; i < seat->size && bytes; i++)
        memcpy((char *)all + (size_t)i * bytes, seat->board->bytes[i], bytes);
    boot_meet(seat);
    return 0;
}

/* A boot at a board, as one of `size` processes. */
static inline struct net_boot boot_at(struct boot_seat *seat, int board, int rank, int size) {
    *seat = (struct boot_seat){.board = &boot_boards[board], .rank = rank, .size = size};
    return (struct net_boot){.rank = rank, .size = size, .arg = seat, .gather = boot_gather};
}

typedef void boot_member(const struct net_boot *boot);

static inline void boot_be(int rank, int size, boot_member *work) {
    struct boot_seat seat;
    struct net_boot boot = boot_at(&seat, 0, rank, size);
    work(&boot);
    net_boot_barrier(&boot);
}

/* Each in its own process, rank 0 in this one. */
static inline void boot_run(int size, boot_member *work) {
    pid_t children[BOOT_MOST];
    boot_open();
    for (int rank = 1; rank < size; rank++) {
        children[rank] = team_fork();
        if (!children[rank]) {
            boot_be(rank, size, work);
            fflush(stdout);
            _exit(test_failures != 0);
        }
    }
    boot_be(0, size, work);
    for (int rank = 1; rank < size; rank++)
        expect(team_join(children[rank]));
    boot_close();
}

/* Runs a whole job with a time limit. Returns the exit status of its rank 0, without which the others wait forever;
 * or the negative signal that ended it. */
static inline int boot_run_job(int size, unsigned seconds, void (*prepare)(void), boot_member *work) {
    int status;
    pid_t leader = team_fork();
    if (!leader) {
        setpgid(0, 0);
        alarm(seconds);
        prepare();
        boot_run(size, work);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    setpgid(leader, leader); /* both processes set it, as either may run first */
    if (waitpid(leader, &status, 0) != leader)
        return -SIGKILL;
    kill(-leader, SIGKILL);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Counts the lines that all of them write to stderr; they are shown as well. */
static inline int boot_count_lines(int size, boot_member *work) {
    int lines = 0, before = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    boot_run(size, work);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    for (int c = getc(file); c != EOF; c = getc(file)) {
        lines += c == '\n';
        putc(c, stderr);
    }
    fclose(file);
    return lines;
}

#endif
