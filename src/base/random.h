/* random.h: a private random generator (xorshift64*), so that the program's own rand() is not affected. */
#ifndef HEARTH_RANDOM_H
#define HEARTH_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_mix(uint64_t x) { /* splitmix64's finaliser */
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline void random_seed(struct random *r, uint64_t seed) {
    r->state = random_mix(seed) | 1;
}

static inline uint64_t random_next(struct random *r) {
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * 0x2545f4914f6cdd1du;
}

/* Uniform in [0, n), n > 0, up to a bias of n / 2^32. */
static inline uint32_t random_below(struct random *r, uint32_t n) {
    return (uint32_t)(((random_next(r) >> 32) * n) >> 32);
}

#endif
