/* parts.h: a report that the ranks of a job write in parts while they run, so that there is one even if the job never reaches
 * its end.
 *
 *      run.json           the report, replaced as a whole each time
 *      run.json.parts/    RANK.JOB: the last part of each rank; ended.JOB: a rank writes, or has written, the last report
 *
 * A part is the complete report of its rank alone. A report is merged from the parts by copying ranges of files, without
 * memory, locks or the C library's streams: a signal handler can do it. */
#ifndef HEARTH_PARTS_H
#define HEARTH_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parts {
    char path[4096], folder[4096 + 8];
    uint64_t job; /* the same on all ranks, and different from that of earlier jobs with this file */
    int rank, ranks;
    bool is_json, is_written; /* is_written: this rank's part */
};

/* False: the report cannot be replaced, as it is not a regular file. Rank 0 removes parts of earlier jobs. */
bool parts_open(struct parts *p, const char *path, uint64_t job, int rank, int ranks);

/* Replaces this rank's part: its report as text, or as a JSON object whose members are merged: lists are joined in the order
 * of the ranks, other values are those of the lowest rank. Returns 0 or a negative code: -ECANCELED if a rank has claimed the
 * last report. */
int parts_write(struct parts *p, const char *text, size_t length);

/* Merges all parts into the report, with the member "partial" that says why it is partial: plain ASCII without quotes.
 * Unless `is_last`, it waits for other ranks that merge, and does nothing once a rank has claimed the last report. Only
 * with `is_last` it is async-signal-safe. Returns 0 or a negative code. */
int parts_merge(const struct parts *p, const char *why, bool is_last);

/* Whether this rank is to write the last report: the first that asks is. Async-signal-safe. False if there is no part. */
bool parts_claim(const struct parts *p);

/* Removes all parts; only that of this rank. Async-signal-safe. */
void parts_remove_all(const struct parts *p);
void parts_remove_own(const struct parts *p);

#endif
