/* noop.c: decides whether MPI_Get_accumulate with MPI_NO_OP, which only reads, counts as a get.
 *
 * ARMCI-MPI, and with it Global Arrays and NWChem, issues all of its gets this way so that they are atomic with
 * respect to accumulates, element by element. Other programs read flags with it, which must not be cached. It therefore
 * counts as a get only if the program contains ARMCI-MPI. A single element, which may be a flag or a
 * counter, is never cached. */
#include "mpi/windows/caching/noop.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

enum { LARGEST_ELEMENT = 32 }; /* bytes: a complex long double */

static bool carries_armci;

/* Detects a statically linked ARMCI-MPI by the names of its environment variables. */
static bool program_holds(const char *text) {
    struct stat about;
    bool found = false;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &about) && about.st_size > 0) {
        void *file = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            found = memmem(file, (size_t)about.st_size, text, strlen(text));
            munmap(file, (size_t)about.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static void look_for_armci(void) {
    carries_armci = dlsym(RTLD_DEFAULT, "PARMCI_Init") || program_holds("ARMCI_USE_WIN_ALLOCATE");
    if (carries_armci)
        log_info(LOG_CACHE,
                 "this program contains ARMCI-MPI: MPI_Get_accumulate with MPI_NO_OP counts as a get");
}

bool rma_noop_is_get(MPI_Count count, MPI_Datatype type) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_armci);
    MPI_Count size;
    return carries_armci && count > 0 && host_Type_size_x(type, &size) == MPI_SUCCESS &&
           count * size > LARGEST_ELEMENT;
}
