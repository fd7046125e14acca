/* engine.c: how the check of a structure ends. */
#include "match/engine/engine.h"

#include <stdlib.h>

#include "base/log.h"

_Noreturn void match_broken(const char *file, int line, const char *what) {
    log_error("match: broken invariant: %s, at %s:%d", what, file, line);
    abort();
}
