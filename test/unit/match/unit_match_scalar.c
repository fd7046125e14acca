/* unit_match_scalar.c: see unit_match_fingerprint.c. */
#define MATCH_SCALAR
#include "unit_match_fingerprint.c"
