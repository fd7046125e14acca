/* vendor.c: whose MPI library a file is.
 *
 * MPIs derived from MPICH share its binary interface, so the library that is built for MPICH works under all of them.
 * Cray MPICH has names of its own, with the compiler in them. The others have MPICH's name, libmpi.so.12. The text that
 * MPI_Get_library_version returns is in their files and tells them apart. */
#include "run/launcher/vendor.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *text, *name;
} texts[] = {
    {"Intel(R) MPI Library", "Intel MPI"}, {"CRAY MPICH", "Cray MPICH"},         {"MVAPICH", "MVAPICH"},
    {"ParaStation", "ParaStation MPI"},    {"Spectrum MPI", "IBM Spectrum MPI"},
};

static const char *text_search(const char *bytes, size_t count) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (memmem(bytes, count, texts[i].text, strlen(texts[i].text)))
            return texts[i].name;
    return NULL;
}

/* NULL if the file cannot be read or names none of them. */
static const char *text_of_file(const char *path) {
    struct stat status;
    const char *name = NULL;
    int file = *path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return NULL;
    if (!fstat(file, &status) && status.st_size > 0) {
        size_t bytes = (size_t)status.st_size;
        void *at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (at != MAP_FAILED) {
            name = text_search(at, bytes);
            munmap(at, bytes);
        }
    }
    close(file);
    return name;
}

static bool is_of_cray(const char *name) {
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    return flavour_is_cray(base);
}

struct vendor vendor_of(const struct mpi_library *library) {
    static const char *const own[] = {"an MPI that is not installed here", "MPICH", "Open MPI"};
    const char *name = is_of_cray(library->name) ? "Cray MPICH" : text_of_file(library->path);
    return (struct vendor){name ? name : own[flavour_owner(library)], !name};
}

const char *vendor_tested(enum flavour flavour) {
    static const char *const versions[FLAVOURS] = {"none", "MPICH 4.0.2 and, in part, 4.2.1 and 5.0.2",
                                                   "Open MPI 4.1.4 and, in part, 5.0.7 and 6.0",
                                                   "MPICH 5.0.2 and Open MPI 6.0, in part"};
    return versions[flavour];
}
