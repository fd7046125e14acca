/* report_part.c: keeps the parts of the report that other libraries of the process, or the program, hand over. */
#include "mpi/report/report_sections.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/hearth.h"
#include "observe/json_read.h"
#include "observe/output.h"
#include "observe/output_part.h"

enum { MOST_PARTS = 64 };

static struct part { char *name, *json; } parts[MOST_PARTS];
static size_t count;
static bool is_closed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* A part that is no JSON would make the whole report unreadable. */
static bool part_is_json(const char *json) {
    size_t length = strlen(json);
    char *copy = malloc(length + 1);
    struct json_value *values = NULL;
    struct json_error error;
    if (!copy)
        return false;
    memcpy(copy, json, length + 1);
    bool is_valid = !json_read(copy, length, &values, &error);
    free(values);
    free(copy);
    return is_valid;
}

static struct part *part_find(const char *name) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(parts[i].name, name))
            return &parts[i];
    return NULL;
}

static int part_keep(char *name, char *json) {
    struct part *p = name ? part_find(name) : NULL;
    if (!name || !json || is_closed || (!p && count == MOST_PARTS)) {
        free(name);
        free(json);
        return -1;
    }
    p = p ? p : &parts[count++];
    free(p->name);
    free(p->json);
    *p = (struct part){name, json};
    return 0;
}

__attribute__((visibility("default"))) int hearth_report_part(const char *name, const char *json) {
    if (!output_is_wanted() || !part_is_json(json))
        return -1;
    pthread_mutex_lock(&mutex);
    int rc = part_keep(strdup(name), strdup(json));
    pthread_mutex_unlock(&mutex);
    return rc;
}

__attribute__((constructor)) static void take_parts(void) {
    output_parts_to(hearth_report_part);
}

void report_parts_json(struct json *j) {
    pthread_mutex_lock(&mutex);
    if (count)
        json_open(j, "parts", '{');
    for (size_t i = 0; i < count; i++)
        json_text(j, parts[i].name, parts[i].json);
    if (count)
        json_close(j, '}');
    pthread_mutex_unlock(&mutex);
}

void report_parts_close(void) {
    pthread_mutex_lock(&mutex);
    is_closed = true;
    pthread_mutex_unlock(&mutex);
}
