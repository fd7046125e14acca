/* steps.h: lets a test inspect a program while it waits. The program reports that it has reached a step by a file
 * FOLDER/atSTEP.RANK, which holds its pid, and continues when FOLDER/goSTEP exists. */
#ifndef HEARTH_TEST_STEPS_H
#define HEARTH_TEST_STEPS_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *steps_folder = ".";

/* Written under another name first, so that a reader sees the complete file. */
static inline void steps_write(const char *name, int rank, int number) {
    char path[4096], draft[4096];
    snprintf(path, sizeof path, "%s/%s.%d", steps_folder, name, rank);
    snprintf(draft, sizeof draft, "%s/draft.%d.%d", steps_folder, rank, (int)getpid());
    FILE *f = fopen(draft, "w");
    if (!f || fprintf(f, "%d\n", number) < 0 || fclose(f) || rename(draft, path)) {
        perror(path);
        exit(1);
    }
}

static inline void steps_wait_for(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", steps_folder, name);
    while (access(path, F_OK))
        usleep(10000);
}

static inline void steps_wait(int step, int rank) {
    char name[32];
    snprintf(name, sizeof name, "at%d", step);
    steps_write(name, rank, (int)getpid());
    snprintf(name, sizeof name, "go%d", step);
    steps_wait_for(name);
}

#endif
