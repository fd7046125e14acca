/* serve_table.c: replaces the host's functions in the table of host/host.h by those of served windows.
 *
 * The calls that create windows are replaced before the first window is created, the others before the first one is
 * served: a program without served windows has no extra cost. */
#include "mpi/windows/serving/remote/domain.h"
#include "mpi/windows/serving/serve_access.h"
#include "mpi/windows/serving/serving.h"

/* A tool's function stays in host_next: it calls PMPI_X, which Hearth forwards to host_real. */
#define REPLACE(name)                                                                                        \
    if (host_real.name == serve_host.name) {                                                                 \
        if (host_next.name == host_real.name)                                                                \
            host_next.name = serve_##name;                                                                   \
        host_real.name = serve_##name;                                                                       \
    }

static void table_replace_makers(void) {
    serve_is_threaded = host_is_threaded();
    serve_host = host_real;
    serve_progress_open();
#define MAKE REPLACE
#define CALL(name)
#include "mpi/windows/serving/serve_calls.def"
}

static void table_replace_calls(void) {
    serve_element_open();
    serve_access_open();
#define MAKE(name)
#define CALL REPLACE
#include "mpi/windows/serving/serve_calls.def"
}

void serve_open(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, table_replace_makers);
}

void serve_start(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, table_replace_calls);
}

void serve_close(void) {
    serve_domain_close_all();
}
