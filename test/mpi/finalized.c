/* finalized.c: for test_finalized.sh: whether Open MPI's PMIx plugin stays loaded after MPI_Finalize, as a thread of Open MPI may still call
 * it. Without Hearth it is unloaded, and a job in thousands ends with SIGSEGV. */
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int note(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    *(int *)found |= !!strstr(info->dlpi_name, "/mca_pmix_");
    return 0;
}

static int plugin_is_loaded(void) {
    int found = 0;
    dl_iterate_phdr(note, &found);
    return found;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int before = plugin_is_loaded();
    MPI_Finalize();
    if (before == plugin_is_loaded())
        return 0;
    fprintf(stderr, "the PMIx plugin is unloaded\n");
    return 1;
}
