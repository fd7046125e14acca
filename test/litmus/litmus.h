/* litmus.h: shared declarations of the litmus tests.
 *
 * A litmus test is a few lines per rank, a rule that says which values they may read, and many runs of it:
 *
 *      LITMUS(name, ranks) {
 *          for (uint64_t v; (v = litmus_next());) {
 *              struct place p = place_pick(WRITER);
 *              ...
 *              expect_value(p, v);
 *          }
 *      }
 *
 * v is new in each run and the same on all ranks. A read that MPI's rules forbid is counted and the run continues, so
 * that no rank waits for one that left.
 *
 * Most tests check whether a rank still reads an old value after it was notified of a write. This needs a value that
 * was read before. So the reader reads first, and between that and the second read makes no call that could notify it
 * but the one under test. It signals that it has read by a standard send, which carries nothing back to the sender.
 *
 * The data is in windows that are open by lock_all for the whole test, in one of several places. The methods of
 * writing, reading and completing are drawn for each run, as are the delays. */
#ifndef HEARTH_LITMUS_H
#define HEARTH_LITMUS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most tests have two roles. */
enum { WRITER = 0, READER = 1, THIRD = 2 };

/* Meaning of a message between two ranks. Each is one word on litmus_comm. */
enum tag { TAG_READY, TAG_NEWS, TAG_MORE, TAG_NEVER };

extern MPI_Comm litmus_comm; /* the ranks of this test: the first of the world */
extern int litmus_rank, litmus_size;
extern uint64_t litmus_runs;

/* ---- tests ---- */

/* Marks of a test. */
enum {
    MARK_CATCHES = 1, /* detects a cache that is never invalidated: --stale expects it to */
    MARK_THREADS = 2  /* needs MPI_THREAD_MULTIPLE: run with --threads */
};

struct litmus {
    const char *name;
    void (*run)(const struct litmus *self);
    int ranks, marks;
    const void *arg;
};
void litmus_register(const struct litmus *test);

#define LITMUS_MARKED(name_, ranks_, marks_)                                                                 \
    static void run_##name_(const struct litmus *self);                                                      \
    __attribute__((constructor)) static void register_##name_(void) {                                        \
        static const struct litmus test = {                                                                  \
            .name = #name_, .run = run_##name_, .ranks = (ranks_), .marks = (marks_)};                       \
        litmus_register(&test);                                                                              \
    }                                                                                                        \
    static void run_##name_(const struct litmus *self)
#define LITMUS(name, ranks) LITMUS_MARKED(name, ranks, MARK_CATCHES)

/* The value of the next run, 0 after the last. */
uint64_t litmus_next(void);
/* The test cannot run here: litmus_next returns no more runs. Call it on all ranks of the test. */
void litmus_skip(const char *reason);

/* ---- outcomes ---- */

/* Counts a forbidden outcome; prints the first few. */
void litmus_forbid(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For loops that must end: call it in each iteration, with *patience 0 at first. Ends the program if the loop runs
 * for long. */
void litmus_wait(uint64_t *patience, const char *what);

/* ---- random numbers ---- */

/* The same number on all ranks of the test. */
uint32_t litmus_draw(uint32_t below);
/* A number of this rank alone. */
uint32_t litmus_roll(uint32_t below);
/* No delay, or some microseconds outside of MPI. */
void litmus_delay(void);

/* ---- places: a line of words with equal values, in the memory of one rank ---- */

enum { LINE_WORDS = 16, SLOTS = 16, FLAGS = 8, PART_BYTES = 4096 };

struct scene {
    MPI_Win win[2];       /* made by MPI_Win_create and MPI_Win_allocate, open by lock_all */
    uint64_t *part[2];    /* this rank's own */
    MPI_Win turn;         /* another window, without an open epoch, for notification */
    uint64_t *turn_words; /* its memory */
};
extern struct scene scene;

struct place {
    MPI_Win win;
    int home;       /* rank whose memory it is in */
    MPI_Aint disp;  /* in bytes */
    uint64_t *own;  /* its address if home is this rank */
    uint64_t *last; /* this rank's record of the value that was written last */
};

void scene_open(MPI_Comm comm);
void scene_close(void);
/* Makes a window of memory that all ranks of the test share; the memory is not zeroed. If this is not possible, it returns
 * false and the test is skipped. */
bool scene_share(size_t bytes, MPI_Win *win, uint64_t **own, uint64_t **writers);

/* A random place, the same on all ranks. */
struct place place_pick(int home);
struct place place_at(int window, int home, int slot);
/* A flag: a word outside of the slots. */
struct place place_flag(int window, int home, int number);

/* Writes the line by a random method and waits until the write is complete. */
void place_write(struct place p, uint64_t v);
/* Stores it into this rank's own memory. */
void place_store(struct place p, uint64_t v);
/* Reads a random part of the line and completes the read. LINE_TORN if the words are not equal. */
uint64_t place_read(struct place p);
#define LINE_TORN UINT64_MAX
/* The same with MPI_Get and without completion; into LINE_WORDS words. */
void place_get(struct place p, uint64_t *line);
/* Completes all reads from the place's home. */
void place_flush(struct place p);
uint64_t line_value(const uint64_t *line, int words);

/* Reads the place: any other value is forbidden. */
void expect_value(struct place p, uint64_t want);
/* Reads the value written last, so that it may now be cached. */
void expect_last(struct place p);

/* ---- messages ---- */

void send_word(int to, enum tag tag, uint64_t v);
uint64_t receive_word(int from, enum tag tag);

#endif
