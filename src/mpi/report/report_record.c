/* report_record.c: gathers the recordings of all processes at rank 0 and writes them into the report.
 *
 * The recording of a process is some 20 KB of text. Rank 0 gathers it from a few ranks at a time and writes it before
 * it gathers the next, because there may be many thousands of ranks. It uses collectives, not messages, because
 * their tags could match receives of the program. */
#include "mpi/report/report_record.h"

#include <stdlib.h>

#include "mpi/core/host.h"
#include "mpi/rma/record/record.h"

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

/* Returns the end of the range of ranks, from `begin` on, that rank 0 gathers in one step: at least one rank. Sets the
 * positions of their texts. */
static int report_record_plan(const int *lengths, int *places, int begin, int ranks) {
    int total = 0, end = begin;
    while (end < ranks && (end == begin || total + lengths[end] <= AT_A_TIME)) {
        places[end] = total;
        total += lengths[end++];
    }
    return end;
}

/* Collective: gathers the texts of the ranks from begin to below end in `into` at rank 0. */
static void report_record_collect(const char *own, int length, int rank, int begin, int end, char *into,
                                  int *lengths, int *places, int ranks) {
    bool is_in = rank >= begin && rank < end;
    int *counts = NULL;
    if (into) {
        counts = places + ranks;
        for (int i = 0; i < ranks; i++)
            counts[i] = i >= begin && i < end ? lengths[i] : 0;
    }
    host_Gatherv(own, is_in ? length : 0, MPI_BYTE, into, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void paste_each(struct json *j, const char *texts, const int *lengths, const int *places, int begin,
                       int end) {
    for (int i = begin; i < end; i++)
        if (lengths[i])
            json_paste(j, texts + places[i], (size_t)lengths[i]);
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
    int bytes = text && length < AT_A_TIME ? (int)length : 0;
    host_Gather(&bytes, 1, MPI_INT, NULL, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (report_record_announce(&end); end != OVER; report_record_announce(&end)) {
        report_record_collect(text, bytes, rank, begin, end, NULL, NULL, NULL, 0);
        begin = end;
    }
    free(text);
}

void report_records_json(struct json *j, int ranks) {
    size_t length = 0;
    int *lengths = calloc(3 * (size_t)ranks, sizeof *lengths), *places = lengths ? lengths + ranks : NULL;
    char *texts = malloc(AT_A_TIME);
    int begin = 0, go_on = 0;
    json_open(j, "processes", '[');
    if (lengths && texts) {
        report_record_announce(&go_on);
        char *own = rma_record_text(0, DEPTH, &length);
        int bytes = own && length < AT_A_TIME ? (int)length : 0;
        host_Gather(&bytes, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
        while (begin < ranks) {
            int end = report_record_plan(lengths, places, begin, ranks);
            report_record_announce(&end);
            report_record_collect(own, bytes, 0, begin, end, texts, lengths, places, ranks);
            paste_each(j, texts, lengths, places, begin, end);
            begin = end;
        }
        free(own);
    }
    report_records_none();
    json_close(j, ']');
    free(texts);
    free(lengths);
}
