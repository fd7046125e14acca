/* unit_match_avx2.c: unit_match_fingerprint.c with AVX2, in which this file is compiled; skipped on other processors. */
#define TEST_OWN_MAIN
#include "unit_match_fingerprint.c"

#include "base/cpu.h"

int main(int argc, char **argv) {
    if (!cpu_has_avx2()) {
        puts("skipped: this processor has no AVX2");
        return 77;
    }
    return test_main(argc, argv);
}
