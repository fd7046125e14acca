/* cached.c: finds out whether the library is loaded, and reads its counters.
 *
 * The tests do not link the library. They look up its calls in the process, where they are defined if it was
 * preloaded. Fortran programs link this file without the rest of the test library, so it depends on nothing else. */
#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>

bool over_pt2pt(void) {
    const char *osc = getenv("OMPI_MCA_osc");
    return osc && strcmp(osc, "pt2pt") == 0;
}

typedef int get_stats(MPI_Win, CLAMPI_Stats *);

static get_stats *find_stats(void) {
    return (get_stats *)dlsym(RTLD_DEFAULT, "CLAMPI_Get_stats");
}

bool test_loaded(void) {
    return find_stats() != NULL;
}

const char *test_config(void) {
    const char *config = getenv("HEARTH_TEST_CONFIG");
    return test_loaded() && config ? config : "bare";
}

bool test_served(void) {
    return strncmp(test_config(), "serve", 5) == 0;
}

bool test_cached(void) {
    return strcmp(test_config(), "on") == 0 || strcmp(test_config(), "huge") == 0 ||
           strcmp(test_config(), "nodes2") == 0 || test_served();
}

bool stats(MPI_Win win, CLAMPI_Stats *s) {
    get_stats *get = find_stats();
    return get && get(win, s) == MPI_SUCCESS;
}

bool counts_add_up(const CLAMPI_Stats *s) {
    return s->gets == s->full_hits + s->partial_hits + s->pending_hits + s->direct + s->conflicting +
                          s->capacity + s->failing + s->bypassed;
}

/* For Fortran: windows are Fortran handles, booleans are 0 and 1. */
int64_t test_hits(MPI_Fint win);
int test_is_cached(void);
int test_is_off(void);
void *test_memory(int64_t bytes);

/* -1 if the library is not loaded. */
int64_t test_hits(MPI_Fint win) {
    CLAMPI_Stats s;
    if (!stats(MPI_Win_f2c(win), &s))
        return -1;
    return (int64_t)(s.full_hits + s.partial_hits + s.pending_hits);
}

int test_is_cached(void) {
    return test_cached();
}

int test_is_off(void) {
    return strcmp(test_config(), "off") == 0;
}

void *test_memory(int64_t bytes) {
    return aligned_alloc(64, (size_t)bytes);
}
