/* nomemory.c: fault injection, preloaded: Hearth gets no shared memory, on all ranks or on the rank that TEST_REFUSED
 * names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refused(void) {
    const char *whom = getenv("TEST_REFUSED"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    return whom && rank && (strcmp(whom, "all") == 0 || strcmp(whom, rank) == 0);
}

__attribute__((visibility("default"))) int memfd_create(const char *name, unsigned flags) {
    if (strncmp(name, "hearth", 6) == 0 && refused()) {
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_memfd_create, name, flags);
}
