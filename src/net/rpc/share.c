/* share.c: the list of network engines that several libraries use. See share.h. */
#include "net/rpc/share.h"

#include <string.h>

#include "base/log.h"
#include "net/boot/agree.h"
#include "net/rpc/rpc_engine.h"

static pthread_mutex_t list_mutex =
    PTHREAD_MUTEX_INITIALIZER; /* guards the list, and `users` and `reserved` of its members */
static struct net_share *first;

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

void net_share_open(struct net_share *s) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&s->guard, &kind);
    pthread_mutexattr_destroy(&kind);
    s->users = 1;
    pthread_mutex_lock(&list_mutex);
    s->next = first;
    first = s;
    pthread_mutex_unlock(&list_mutex);
}

static bool share_is_free(const struct net_share *s, const char *abi, enum net_service_number service) {
    return !strcmp(s->abi, abi) && !s->reserved[service] && !net_offers(s->net, service);
}

/* The first that fits, reserved for this service: another thread may look for one before the service is offered. */
static struct net_share *share_reserve(const char *abi, enum net_service_number service,
                                       bool (*fits)(const struct net_share *s, void *arg), void *arg) {
    pthread_mutex_lock(&list_mutex);
    struct net_share *s = first;
    while (s && !(share_is_free(s, abi, service) && fits(s, arg)))
        s = s->next;
    if (s)
        s->reserved[service] = true;
    pthread_mutex_unlock(&list_mutex);
    return s;
}

struct net_share *net_share_take(const char *abi, const struct net_boot *boot,
                                 enum net_service_number service,
                                 bool (*fits)(const struct net_share *s, void *arg), void *arg) {
    struct net_share *s = share_reserve(abi, service, fits, arg);
    bool same = net_agree_on_key(boot, s ? s->key : 0);
    if (!s)
        return NULL;
    pthread_mutex_lock(&list_mutex);
    s->users += same;
    s->reserved[service] = same;
    pthread_mutex_unlock(&list_mutex);
    log_debug(LOG_NET, "service %d %s", (int)service,
              same ? "joins an engine of this process"
                   : "cannot join: all ranks have engines, but not the same");
    return same ? s : NULL;
}

static void share_unlink(struct net_share *s) {
    struct net_share **at = &first;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
}

void net_share_leave(struct net_share *s, enum net_service_number service) {
    pthread_mutex_lock(&list_mutex);
    bool last = --s->users == 0;
    s->reserved[service] = false;
    if (last)
        share_unlink(s);
    pthread_mutex_unlock(&list_mutex);
    if (!last) {
        net_leave(s->net, service);
        return;
    }
    pthread_mutex_destroy(&s->guard);
    s->close(s);
}
