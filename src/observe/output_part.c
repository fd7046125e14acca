/* output_part.c: see output_part.h. */
#include "observe/output_part.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "observe/job.h"
#include "observe/output.h"

static output_part_taker *part_take;
static int announced;

void output_parts_to(output_part_taker *take) {
    part_take = take;
}

void output_part_announce(void) {
    announced++;
}

static char *part_text(void (*write)(struct json *j, const void *arg), const void *arg) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    struct json j;
    if (!file)
        return NULL;
    json_begin(&j, file);
    j.depth = 2;
    json_open(&j, NULL, '{');
    write(&j, arg);
    json_close(&j, '}');
    return output_text(file, &text);
}

static void part_write_alone(FILE *file, const char *name, int rank, int ranks, const char *mpi,
                             const char *text) {
    char host[256] = "";
    struct json j;
    gethostname(host, sizeof host - 1);
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    job_json(&j, ranks, mpi);
    json_open(&j, "windows", '[');
    json_close(&j, ']');
    json_open(&j, "processes", '[');
    json_open(&j, NULL, '{');
    json_count(&j, "rank", (uint64_t)rank);
    json_string(&j, "host", host);
    json_count(&j, "pid", (uint64_t)getpid());
    json_number(&j, "seconds", job_seconds());
    json_close(&j, '}');
    json_close(&j, ']');
    json_open(&j, "parts", '{');
    json_text(&j, name, text);
    json_close(&j, '}');
    json_close(&j, '}');
}

void output_part(const char *name, int rank, int ranks, const char *mpi,
                 void (*write)(struct json *j, const void *arg), const void *arg) {
    bool is_shared = part_take || announced > 1;
    char *text = part_text(write, arg);
    struct output o;
    if (!text)
        log_error("HEARTH_REPORT: no memory for the part %s; it is not written", name);
    if (text && (!part_take || part_take(name, text)) && output_open(&o, rank, is_shared ? name : NULL)) {
        part_write_alone(o.file, name, rank, ranks, mpi, text);
        output_close(&o);
    }
    free(text);
}
