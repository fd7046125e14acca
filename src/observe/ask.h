/* ask.h: a word in each process through which `hearth top` asks it for a report.
 *
 * It is in a memory file, which other processes of the same user, and no others, find and write through /proc (see
 * live_file.c). The process compares the word with a time stamp that its calls take anyway: asking costs it nothing. */
#ifndef HEARTH_ASK_H
#define HEARTH_ASK_H

#include <stdatomic.h>
#include <stdint.h>

#define ASK_TITLE "hearth-ask"
#define ASK_MAGIC "HEARTHA1"

enum { ASK_NOW = 0 };

struct ask_page {
    char magic[8];
    int32_t pid, spare;
    _Atomic uint64_t due; /* clock_ticks when the next report is due; ASK_NOW: at once */
};

/* The page of this process; without memory or descriptors, one that no other process can write. */
struct ask_page *ask_open(void);

/* Asks another process, whose descriptor `number` shows the title. Returns 0 or a negative code. */
int ask_process(int pid, int number);

#endif
