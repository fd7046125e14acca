/* parts.h: the report of a job that has not reached its end, in one file per rank.
 *
 *      run.json           the report, which rank 0 writes in MPI_Finalize
 *      run.json.parts/    RANK.JOB: the last report of one rank, as JSON; ended.JOB: why the job ended early
 *
 * A rank writes only its own part. Nothing in the job merges them: `hearth report` does when it reads (tools/report/parts_read.h),
 * so a part never holds values of two moments, and a rank that is killed can leave nothing half written. */
#ifndef HEARTH_PARTS_H
#define HEARTH_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PARTS_FOLDER ".parts" /* behind the path of the report */
#define PARTS_ENDED  "ended"
#define PARTS_DRAFT  ".new" /* of a file that is being written */

/* JOB in the name of a part; of a draft too. Returns false for another file. `rank`: -1 for ended.JOB. */
bool parts_name_read(const char *name, int *rank, uint64_t *job, bool *is_draft);

struct parts {
    char path[4096 + 8]; /* of the folder */
    uint64_t job;        /* the same on all ranks, and different from that of earlier jobs with this report */
    int rank;
    int folder; /* its descriptor; negative: not open */
    dev_t device;
    ino_t inode; /* of the folder: the program may have closed the descriptor */
};

/* `report`: an absolute path. Returns false if no parts may be written there: the report is not a regular file, or the folder
 * belongs to somebody else. Rank 0 removes parts of earlier jobs. */
bool parts_open(struct parts *p, const char *report, uint64_t job, int rank);

/* Replaces this rank's part. Returns 0 or a negative code. */
int parts_write(struct parts *p, const char *text, size_t length);

/* Notes why the job ended early, if any rank has written a part: the first reason counts. Async-signal-safe. */
void parts_end(struct parts *p, const char *why);

/* Removes this rank's part, and the folder if it is then empty. */
void parts_remove(struct parts *p);

#endif
