/* report_record.c: gathers the recordings of all processes at rank 0 and writes them into the report.
 *
 * The recording of a process is some 20 KB of text. Rank 0 gathers it from a few ranks at a time and writes it before
 * it gathers the next, because there may be many thousands of ranks. It uses collectives, not messages, because
 * their tags could match receives of the program. */
#include "mpi/report/report_sections.h"

#include <stdlib.h>

#include "mpi/observe/gather_plan.h"
#include "mpi/host/host.h"
#include "mpi/observe/records.h"
#include "mpi/windows/caching/record/record.h"
#include "observe/job.h"

enum { DEPTH = 2, AT_A_TIME = 4 << 20, OVER = -1 };

/* ---- the job ---- */

void report_job_json(struct json *j, int ranks) {
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (!host_real.Get_library_version || host_Get_library_version(mpi, &length) != MPI_SUCCESS)
        length = 0;
    mpi[length] = 0;
    job_json(j, ranks, mpi);
}

/* ---- the processes ---- */

void report_record_json(struct json *j, int rank) {
    size_t length = 0;
    char *text = rma_record_text(rank, DEPTH, &length);
    json_open(j, "processes", '[');
    if (text)
        json_paste(j, text, length);
    json_close(j, ']');
    free(text);
}

static void paste_each(struct json *j, const char *texts, const struct records_steps *s, int begin, int end) {
    for (int i = begin; i < end; i++)
        if (s->lengths[i])
            json_paste(j, texts + s->places[i], (size_t)s->lengths[i]);
}

static void report_record_announce(int *end) {
    host_Bcast(end, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

void report_records_none(void) {
    int over = OVER;
    report_record_announce(&over);
}

void report_records_send(int rank) {
    size_t length = 0;
    int begin = 0, end = 0;
    report_record_announce(&end);
    if (end == OVER)
        return;
    char *text = rma_record_text(rank, DEPTH, &length);
    struct records_steps s = {
        .own = text, .length = text && length < AT_A_TIME ? (int)length : 0, .rank = rank};
    host_Gather(&s.length, 1, MPI_INT, NULL, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (report_record_announce(&end); end != OVER; report_record_announce(&end)) {
        records_gather_range(&s, begin, end, NULL);
        begin = end;
    }
    free(text);
}

void report_records_json(struct json *j, int ranks) {
    size_t length = 0;
    int *lengths = calloc(3 * (size_t)ranks, sizeof *lengths);
    char *texts = malloc(AT_A_TIME);
    int begin = 0, go_on = 0;
    json_open(j, "processes", '[');
    if (lengths && texts) {
        report_record_announce(&go_on);
        char *own = rma_record_text(0, DEPTH, &length);
        struct records_steps s = {.own = own,
                                  .length = own && length < AT_A_TIME ? (int)length : 0,
                                  .ranks = ranks,
                                  .lengths = lengths,
                                  .places = lengths + ranks,
                                  .counts = lengths + 2 * (size_t)ranks};
        host_Gather(&s.length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
        while (begin < ranks) {
            int end = gather_plan(lengths, s.places, begin, ranks, AT_A_TIME);
            report_record_announce(&end);
            records_gather_range(&s, begin, end, texts);
            paste_each(j, texts, &s, begin, end);
            begin = end;
        }
        free(own);
    }
    report_records_none();
    json_close(j, ']');
    free(texts);
    free(lengths);
}
