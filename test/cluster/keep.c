/* keep.c: keeps Open MPI 4.1 from crashing in MPI_Finalize. For tests only; preloaded.
 *
 * MPI_Finalize unloads the component for PMIx while PMIx's thread may still call the event handler of the component. The
 * rank then executes memory that is not mapped any more. It happens in one of thousands of jobs, on busy machines. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

__attribute__((visibility("default"))) int dlclose(void *handle);

int dlclose(void *handle) {
    static int (*next)(void *);
    struct link_map *library;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "dlclose");
    if (!dlinfo(handle, RTLD_DI_LINKMAP, &library) && strstr(library->l_name, "/mca_pmix_"))
        return 0;
    return next(handle);
}
