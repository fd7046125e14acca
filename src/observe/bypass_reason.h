/* bypass_reason.h: why gets bypass the cache, for the library that counts them and for `hearth report`. */
#ifndef HEARTH_BYPASS_REASON_H
#define HEARTH_BYPASS_REASON_H

enum bypass_reason {
#define REASON(name, text) BYPASSED_##name,
#include "observe/bypass_reason.def"
#undef REASON
    BYPASS_REASONS
};

static inline const char *bypass_reason_name(int reason) {
    static const char *const names[] = {
#define REASON(name, text) #name,
#include "observe/bypass_reason.def"
#undef REASON
    };
    return names[reason];
}

static inline const char *bypass_reason_text(int reason) {
    static const char *const texts[] = {
#define REASON(name, text) text,
#include "observe/bypass_reason.def"
#undef REASON
    };
    return texts[reason];
}

#endif
