/* rig.h: shared parts of the match queue benches: empty caches, short waits, options. Does not use MPI. */
#ifndef HEARTH_BENCH_RIG_H
#define HEARTH_BENCH_RIG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"
#include "heater/heater.h"
#include "sample.h"

/* ---- time ---- */

/* Reads the CPU's counter after all previous instructions have completed. */
static inline uint64_t rig_ticks(void) {
#if defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
    return ticks;
#elif defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
#else
    return clock_ns();
#endif
}

/* The time between two readings in ns, without the time of the reading itself. */
double rig_ns(uint64_t from, uint64_t to);

/* Spins without touching memory. */
void rig_spin_us(double us);

/* Binds the calling thread to the n-th core that it may use, if there is one. */
void rig_take_core(int n);

/* Waits until the heater works, after memory was registered with it, or ten seconds have passed. */
static inline void rig_await_heater(void) {
    struct heater_counters counters = {0};
    for (int i = 0; i < 10000 && !counters.rounds; i++) {
        usleep(1000);
        heater_counters(&counters);
    }
}

/* ---- empty caches ---- */

/* Records all writable and present memory of this process; to be called again when that has changed. */
void rig_note_memory(void);

/* Writes the recorded memory back and drops it from all caches, line by line, with the CPU's cache
 * instructions; where there are none, by reading 64 MB of other memory. */
void rig_flush(void);

/* Only these bytes. */
void rig_flush_bytes(const void *base, size_t bytes);

/* Duration of the last rig_flush, in us. */
double rig_flush_us(void);

/* Empties the caches, then reads the recorded memory once on the second core: the best that a heater there can do. Returns
 * the thread that has read it, to be joined. */
pthread_t rig_read_elsewhere(void);

/* ---- options ---- */

/* The word after --NAME, or the fallback. */
const char *rig_word(int argc, char **argv, const char *name, const char *fallback);
bool rig_flag(int argc, char **argv, const char *name);

/* Parses "1,8,1k" as numbers; returns their count. Ends the program if the list is malformed. */
enum { RIG_LIST = 32 };
unsigned rig_list(const char *text, long *numbers);

/* Whether the list "a,b,c" contains this word; "all" contains every word. */
bool rig_named(const char *list, const char *word);

/* With --help prints the text and ends the program. */
void rig_help(int argc, char **argv, const char *text);

/* Prints "count,median,low,high" of the series in ns, and empties it. */
void rig_print(struct samples *s);

#endif
