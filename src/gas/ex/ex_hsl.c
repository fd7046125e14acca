/* ex_hsl.c: handler-safe locks under their names in GASNet-EX. */
#include "gas/ex/ex.h"

void gex_HSL_Init(gex_HSL_t *hsl) {
    gasnet_hsl_init(hsl);
}

void gex_HSL_Destroy(gex_HSL_t *hsl) {
    gasnet_hsl_destroy(hsl);
}

void gex_HSL_Lock(gex_HSL_t *hsl) {
    gasnet_hsl_lock(hsl);
}

void gex_HSL_Unlock(gex_HSL_t *hsl) {
    gasnet_hsl_unlock(hsl);
}

int gex_HSL_Trylock(gex_HSL_t *hsl) {
    return gasnet_hsl_trylock(hsl);
}
