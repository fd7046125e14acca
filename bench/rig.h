/* rig.h: what the benches of the match queues share: empty caches, short waits, options. No MPI here. */
#ifndef HEARTH_BENCH_RIG_H
#define HEARTH_BENCH_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "sample.h"

/* ---- time ---- */

/* The CPU's counter, read after all that stands before it is done. */
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

/* Between two readings, in ns, without what the reading itself takes. */
double rig_ns(uint64_t from, uint64_t to);

/* Waits in a loop that touches no memory. */
void rig_spin_us(double us);

/* Binds the calling thread to the n-th core that it may use, if there is one. */
void rig_take_core(int n);

/* Until the heater, with which something was registered, is at work, or ten seconds have passed. */
static inline void rig_await_heater(void) {
    struct heater_counters counters = {0};
    for (int i = 0; i < 10000 && !counters.rounds; i++) {
        usleep(1000);
        heater_counters(&counters);
    }
}

/* ---- empty caches ---- */

/* Notes all memory of this process that is writable and present: to be called again when it has changed. */
void rig_note_memory(void);

/* Writes what was noted back to memory and drops it from all caches, by the CPU's instructions for that,
 * line by line; where there are none, by reading 64 MB of other memory. */
void rig_flush(void);

/* Only these bytes. */
void rig_flush_bytes(const void *base, size_t bytes);

/* How long rig_flush took last, in us. */
double rig_flush_us(void);

/* ---- options ---- */

/* --NAME WORD; or the fallback. */
const char *rig_word(int argc, char **argv, const char *name, const char *fallback);
bool rig_flag(int argc, char **argv, const char *name);

/* "1,8,1k" as numbers; returns how many. Ends the program if it is no such list. */
enum { RIG_LIST = 32 };
unsigned rig_list(const char *text, long *numbers);

/* Whether "a,b,c" names this word; all words are named by "all". */
bool rig_named(const char *list, const char *word);

/* With --help prints the text and ends the program. */
void rig_help(int argc, char **argv, const char *text);

/* "count,median,low,high" of the series in ns, which is emptied. */
void rig_print(struct samples *s);

#endif
