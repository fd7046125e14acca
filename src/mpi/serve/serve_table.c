/* serve_table.c: puts served windows in front of the host's functions.
 *
 * The calls that make windows are replaced when the first window is made, the others when the first one is served:
 * a program without served windows pays for nothing. */
#include "mpi/serve/served.h"

struct host_table serve_host;

/* A tool's function stays in front: it calls PMPI_X, which comes back to Hearth and goes on to host_real. */
#define REPLACE(name)                                                                                        \
    if (host_real.name == serve_host.name) {                                                                 \
        if (host_next.name == host_real.name)                                                                \
            host_next.name = serve_##name;                                                                   \
        host_real.name = serve_##name;                                                                       \
    }

static void table_replace_makers(void) {
    int level = MPI_THREAD_SINGLE;
    host_Query_thread(&level);
    serve_is_threaded = level == MPI_THREAD_MULTIPLE;
    serve_host = host_real;
    serve_progress_open();
#define MAKE REPLACE
#define CALL(name)
#include "mpi/serve/serve_calls.def"
}

static void table_replace_calls(void) {
    serve_element_open();
#define MAKE(name)
#define CALL REPLACE
#include "mpi/serve/serve_calls.def"
}

void serve_open(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, table_replace_makers);
}

void serve_start(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, table_replace_calls);
}
