/* gasnet_mk.h: kinds of memory of GASNet-EX. All segments are in the memory of the host, GEX_MK_HOST: there is no kind for
 * the memory of a device, and neither GASNET_HAVE_MK_CLASS_CUDA_UVA nor GASNET_HAVE_MK_CLASS_HIP is defined. */
#ifndef GASNET_MK_H
#define GASNET_MK_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- kinds of memory ---- */

typedef enum gasnetc_memory_class {
    GEX_MK_CLASS_HOST,
    GEX_MK_CLASS_CUDA_UVA,
    GEX_MK_CLASS_HIP,
    GEX_MK_CLASS_ZE
} gex_MK_Class_t;

typedef struct gasnetc_memory_args {
    uint64_t gex_flags; /* must be 0 */
    gex_MK_Class_t gex_class;
    union gasnetc_memory_device {
        struct gasnetc_memory_cuda {
            int gex_CUdevice;
        } gex_class_cuda_uva;
        struct gasnetc_memory_hip {
            int gex_hipDevice;
        } gex_class_hip;
    } gex_args;
} gex_MK_Create_args_t;

/* No class of memory is supported but that of GEX_MK_HOST, which exists: returns GASNET_ERR_BAD_ARG after a line. */
int gex_MK_Create(gex_MK_t *memkind_p, gex_Client_t client, const gex_MK_Create_args_t *args,
                  gex_Flags_t flags);

/* Ends the job after a line: no call creates a kind of memory. */
void gex_MK_Destroy(gex_MK_t memkind, gex_Flags_t flags);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
