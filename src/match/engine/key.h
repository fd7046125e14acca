/* key.h: the key that is matched. */
#ifndef HEARTH_MATCH_KEY_H
#define HEARTH_MATCH_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "hearth/match.h"

/* The key of a receive, possibly with wildcards, or of a message. Source and tag are one word: they are compared in
 * one step, and a search right after an append loads the word in the width in which it was stored. A load that spans
 * two recent stores cannot be forwarded from the store buffer, and waits until both reach the cache. */
struct key {
    uint64_t who; /* source << 32 | tag */
    uint32_t context;
};

static inline struct key key_of(int32_t source, int32_t tag, uint32_t context) {
    return (struct key){(uint64_t)(uint32_t)source << 32 | (uint32_t)tag, context};
}

static inline int32_t key_source(struct key key) {
    return (int32_t)(key.who >> 32);
}

static inline int32_t key_tag(struct key key) {
    return (int32_t)(uint32_t)key.who;
}

static inline bool key_any_source(struct key key) {
    return key_source(key) == MATCH_ANY_SOURCE;
}

static inline bool key_any_tag(struct key key) {
    return key_tag(key) == MATCH_ANY_TAG;
}

static inline bool key_is_wild(struct key key) {
    return key_any_source(key) || key_any_tag(key);
}

/* The bits of `who` that count. */
static inline uint64_t key_mask(struct key key) {
    return (key_any_source(key) ? 0 : (uint64_t)UINT32_MAX << 32) | (key_any_tag(key) ? 0 : UINT32_MAX);
}

static inline bool key_matches(struct key receive, struct key message) {
    return receive.context == message.context &&
           (receive.who == message.who || !((receive.who ^ message.who) & key_mask(receive)));
}

#endif
