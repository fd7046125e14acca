/* share.c: the registry of network engines that several libraries use. See share.h. */
#include "net/rpc/share.h"

#include <dlfcn.h>
#include <string.h>

#include "base/base.h"
#include "build_id.h"
#include "net/boot/agree.h"
#include "net/rpc/rpc_engine.h"

const char net_build_id[] = HEARTH_BUILD_ID;

/* The helper's thread may be running: it sees the service once the flag is set. */
void net_join(struct net *n, const struct net_service *service) {
    n->services[service->number] = *service;
    atomic_store_explicit(&n->offered[service->number], true, memory_order_release);
}

void net_leave(struct net *n, enum net_service_number service) {
    atomic_store_explicit(&n->offered[service], false, memory_order_release);
}

bool net_offers(const struct net *n, enum net_service_number service) {
    return net_engine_offers(n, service);
}

void net_tell_failure(struct net *n, int rank, const char *why) {
    for (int i = 0; i < NET_SERVICES; i++)
        if (net_engine_offers(n, (unsigned)i))
            n->services[i].failed(n->services[i].arg, rank, why);
}

struct net_registry *net_registry_find(void) {
    struct net_registry *r = dlsym(RTLD_DEFAULT, "hearth_net_registry");
    return r && strcmp(r->build, net_build_id) == 0 ? r : NULL;
}

void net_share_open(struct net_registry *r, struct net_share *s) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&s->guard, &kind);
    pthread_mutexattr_destroy(&kind);
    s->users = 1;
    s->next = NULL;
    if (!r)
        return;
    pthread_mutex_lock(&r->mutex);
    s->next = r->first;
    r->first = s;
    pthread_mutex_unlock(&r->mutex);
}

/* The first that fits, reserved for this service: another thread may look for one before the service is offered. */
static struct net_share *share_reserve(struct net_registry *r, enum net_service_number service,
                                       bool (*fits)(const struct net_share *s, void *arg), void *arg) {
    pthread_mutex_lock(&r->mutex);
    struct net_share *s = r->first;
    while (s && (s->reserved[service] || net_offers(s->net, service) || !fits(s, arg)))
        s = s->next;
    if (s)
        s->reserved[service] = true;
    pthread_mutex_unlock(&r->mutex);
    return s;
}

struct net_share *net_share_take(struct net_registry *r, const struct net_boot *boot,
                                 enum net_service_number service,
                                 bool (*fits)(const struct net_share *s, void *arg), void *arg) {
    struct net_share *s = r ? share_reserve(r, service, fits, arg) : NULL;
    bool same = net_agree_on_key(boot, s ? s->key : 0);
    if (!s)
        return NULL;
    pthread_mutex_lock(&r->mutex);
    s->users += same;
    s->reserved[service] = same;
    pthread_mutex_unlock(&r->mutex);
    return same ? s : NULL;
}

void net_share_leave(struct net_registry *r, struct net_share *s, enum net_service_number service) {
    if (r)
        pthread_mutex_lock(&r->mutex);
    bool last = --s->users == 0;
    s->reserved[service] = false;
    struct net_share **at = r && last ? &r->first : NULL;
    while (at && *at && *at != s)
        at = &(*at)->next;
    if (at && *at)
        *at = s->next;
    if (r)
        pthread_mutex_unlock(&r->mutex);
    if (!last) {
        net_leave(s->net, service);
        return;
    }
    pthread_mutex_destroy(&s->guard);
    s->close(s);
}
