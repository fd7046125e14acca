/* report_read.h: values of a report that may be incomplete or damaged. A value that is missing or of another kind reads as 0,
 * and the first one is remembered: report_read.c refuses the file at the end. */
#ifndef HEARTH_TOOLS_REPORT_READ_H
#define HEARTH_TOOLS_REPORT_READ_H

#include "observe/json_read.h"
#include "report/report.h"

/* The first error. */
struct trouble {
    bool is_there;
    char what[200];
};

void read_complain(struct trouble *t, const struct json_value *in, const char *name, const char *kind);
uint64_t read_count(struct trouble *t, const struct json_value *in, const char *name);
double read_number(struct trouble *t, const struct json_value *in, const char *name);
const char *read_text(struct trouble *t, const struct json_value *in, const char *name);
const struct json_value *read_part(struct trouble *t, const struct json_value *in, const char *name,
                                   enum json_kind kind);
/* A list of counts, to be freed by the caller. */
uint64_t *read_list(struct trouble *t, const struct json_value *in, const char *name, size_t *count);
/* Adds the counts of a list to those of a histogram; further ones go to its last class. */
void read_histogram(struct trouble *t, const struct json_value *in, const char *name, uint64_t *sums,
                    size_t room);

/* ---- the sections; each reads nothing where the run has none ---- */

void report_messages_read_process(struct trouble *t, const struct json_value *process, uint64_t rank,
                                  struct run *run);
void report_messages_read(struct trouble *t, struct run *run);
void report_armci_read(struct trouble *t, struct run *run);
void report_vgasnet_read(struct trouble *t, struct run *run);
/* The calls of one kind. */
void report_calls_read(struct trouble *t, const struct json_value *in, const char *kind, struct calls_sum *c);
void report_served_read_process(struct trouble *t, const struct json_value *process, struct run *run);

#endif
