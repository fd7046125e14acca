/* drive.c: see drive.h. */
#include "net/rpc/drive.h"

#include "base/clock.h"
#include "base/compiler.h"
#include "net/rpc/rpc_engine.h"
#include "net/rpc/tally.h"

enum {
    WAITS = 256, /* without a request, after which callers stop driving */
    GAP_NS = 50000
};

bool net_turn_is_driven(struct turn *t) {
    uint64_t driven = atomic_load_explicit(&t->driven_ns, memory_order_relaxed);
    if (LIKELY(driven == t->seen_ns))
        return false;
    uint64_t now = clock_ns();
    bool mostly = driven - t->seen_ns >= (now - t->looked_ns) / 2;
    t->seen_ns = driven;
    t->looked_ns = now;
    return mostly;
}

static bool drive_is_allowed(const struct net *n) {
    bool allowed = n->served;
    for (unsigned i = 0; i < NET_SERVICES; i++)
        allowed &= !net_engine_offers(n, i) || n->services[i].callers_serve;
    return allowed;
}

/* Whether requests arrived lately. `begins`: a wait begins. */
static bool drive_is_wanted(struct net *n, bool begins) {
    struct driver *d = &n->driver;
    uint64_t served = 0;
    for (int i = 0; i < n->helpers; i++)
        served += tally_read(&n->served[i].server.served) + tally_read(&n->served[i].local);
    if (served != d->served)
        d->waits = WAITS;
    else if (begins && d->waits > 0)
        d->waits--;
    d->served = served;
    return d->waits > 0;
}

static unsigned drive_one(struct helper *h, uint64_t passed) {
    unsigned blocked;
    if (!net_turn_take(&h->turn))
        return 0;
    if (atomic_load_explicit(&h->turn.asleep, memory_order_relaxed)) {
        atomic_store_explicit(&h->turn.asleep, false, memory_order_relaxed);
        net_helper_wake(h);
    }
    unsigned happened = net_helper_round(h, &blocked);
    atomic_fetch_add_explicit(&h->turn.driven_ns, passed + 1, memory_order_relaxed);
    net_turn_end(&h->turn);
    return happened;
}

/* Between two waits the caller may compute. That counts as driven if it is short: a request waits no longer. */
unsigned net_drive(struct net *n, uint64_t now) {
    unsigned happened = 0;
    if (!drive_is_allowed(n))
        return 0;
    if (now == 0)
        now = clock_ns();
    uint64_t passed = now - n->driver.last_ns;
    bool begins = passed > GAP_NS;
    n->driver.last_ns = now;
    if (!drive_is_wanted(n, begins))
        return 0;
    for (int i = 0; i < n->helpers; i++)
        happened += drive_one(&n->served[i], begins ? 0 : passed);
    return happened;
}
