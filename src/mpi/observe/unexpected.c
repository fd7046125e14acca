/* unexpected.c: see unexpected.h.
 *
 * MPIs name the variable differently. Open MPI has it for its pml ob1, with a value for each peer of a communicator; MPICH
 * has it only if it was built with --enable-mpit-pvars=recvq, for the process. The messages of MPI_COMM_WORLD are counted,
 * summed over the peers. */
#include "mpi/observe/unexpected.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/settings.h"
#include "observe/job.h"

enum { BUCKETS = 32, SELDOM = 128, FIRST = 16, LATER = 1024 };

uint32_t unexpected_left;

#ifdef MPI_T_ENUM_NULL

static struct {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int count, width; /* values, and bytes of each */
    void *values;
    int (*read)(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *values);
    uint64_t samples, most, length[BUCKETS];
    bool is_started;
} queue;

static void *unexpected_function(const char *name) {
    return dlsym(RTLD_DEFAULT, name);
}

static bool is_queue(const char *name) {
    return strstr(name, "unexpected_msgq_length") || strstr(name, "unexpected_recvq_length");
}

/* The index of the variable, its binding and the size of its values; -1: there is none. */
static int unexpected_find(int *binding, int *width, int *continuous) {
    int (*count)(int *) = unexpected_function("MPI_T_pvar_get_num");
    __typeof__(MPI_T_pvar_get_info) *info = unexpected_function("MPI_T_pvar_get_info");
    int n = 0;
    if (!count || !info || count(&n) != MPI_SUCCESS)
        return -1;
    for (int i = 0; i < n; i++) {
        char name[256] = "", text[1] = "";
        int length = sizeof name, text_length = sizeof text, verbosity, kind, readonly, atomic;
        MPI_Datatype type;
        MPI_T_enum values;
        int rc = info(i, name, &length, &verbosity, &kind, &type, &values, text, &text_length, binding,
                      &readonly, continuous, &atomic);
        if (rc == MPI_SUCCESS && is_queue(name) && host_Type_size(type, width) == MPI_SUCCESS)
            return i;
    }
    return -1;
}

static bool unexpected_bind(int index, int binding, int continuous) {
    __typeof__(MPI_T_pvar_session_create) *create = unexpected_function("MPI_T_pvar_session_create");
    __typeof__(MPI_T_pvar_handle_alloc) *bind = unexpected_function("MPI_T_pvar_handle_alloc");
    __typeof__(MPI_T_pvar_start) *start = unexpected_function("MPI_T_pvar_start");
    static MPI_Comm world;
    world = MPI_COMM_WORLD;
    queue.read = unexpected_function("MPI_T_pvar_read");
    bool is_known = binding == MPI_T_BIND_NO_OBJECT || binding == MPI_T_BIND_MPI_COMM;
    if (!is_known || !create || !bind || !start || !queue.read || create(&queue.session) != MPI_SUCCESS)
        return false;
    return bind(queue.session, index, binding == MPI_T_BIND_MPI_COMM ? &world : NULL, &queue.handle,
                &queue.count) == MPI_SUCCESS &&
           (continuous || start(queue.session, queue.handle) == MPI_SUCCESS);
}

/* Open MPI takes the level of this call for that of MPI itself, and would stop locking. */
static void unexpected_start(void) {
    queue.is_started = true;
    __typeof__(MPI_T_init_thread) *init = unexpected_function("MPI_T_init_thread");
    int level, provided, binding = 0, continuous = 0;
    if (!init || host_Query_thread(&level) != MPI_SUCCESS || init(level, &provided) != MPI_SUCCESS)
        return;
    int index = unexpected_find(&binding, &queue.width, &continuous);
    if (index < 0 || (queue.width != 4 && queue.width != 8) || !unexpected_bind(index, binding, continuous))
        return;
    queue.values = calloc((size_t)queue.count, (size_t)queue.width);
}

/* Starting takes 0.2 s in Open MPI of Debian, which loads all of its components, of which one measures the clock. It may take 1 % of the
 * run, unless the setting allows more. */
static bool may_start(void) {
    return settings_get()->record == RECORD_ALL || job_seconds() >= 20;
}

/* Otherwise a program that receives no messages does without. With several threads there is no later moment when none is inside MPI. */
void unexpected_open(bool threads) {
    if (may_start())
        unexpected_start();
    if (!threads || queue.is_started)
        unexpected_left = FIRST;
}

static uint64_t unexpected_sum(void) {
    uint64_t sum = 0;
    for (int i = 0; i < queue.count; i++)
        sum += queue.width == 8 ? ((const uint64_t *)queue.values)[i] : ((const uint32_t *)queue.values)[i];
    return sum;
}

/* A sample costs as much as MPI has peers; the distance grows with them. */
void unexpected_sample_slow(void) {
    if (!queue.is_started && !may_start()) {
        unexpected_left = LATER;
        return;
    }
    if (!queue.is_started)
        unexpected_start();
    if (!queue.values) {
        unexpected_left = 0;
        return;
    }
    unexpected_left = (uint32_t)(1 + random_mix(queue.samples) % (2 * SELDOM + 2 * (uint64_t)queue.count));
    if (queue.read(queue.session, queue.handle, queue.values) != MPI_SUCCESS)
        return;
    uint64_t length = unexpected_sum();
    unsigned bucket = length ? 64 - (unsigned)__builtin_clzll(length) : 0;
    queue.samples++;
    queue.most = length > queue.most ? length : queue.most;
    queue.length[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

void unexpected_json(struct json *j) {
    size_t buckets = BUCKETS;
    if (!queue.samples)
        return;
    while (buckets && !queue.length[buckets - 1])
        buckets--;
    json_open(j, "unexpected", '{');
    json_count(j, "samples", queue.samples);
    json_count(j, "most", queue.most);
    json_counts(j, "length", queue.length, buckets);
    json_close(j, '}');
}

#else /* an MPI without MPI_T */

void unexpected_open(bool threads) {
    (void)threads;
}
void unexpected_sample_slow(void) {
    unexpected_left = 0;
}
void unexpected_json(struct json *j) {
    (void)j;
}

#endif
