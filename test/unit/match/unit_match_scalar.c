/* unit_match_scalar.c: unit_match_fingerprint.c without SIMD. */
#define MATCH_SCALAR
#include "unit_match_fingerprint.c"
