/* fast_avx2.c: the structure of fast.c, compiled for x86-64 processors with AVX2. match.c chooses one of the two when an
 * engine is opened. */
#define fast_structure fast_avx2_structure
#include "match/fast/fast.c"
