/* promise.h: memory promised to all jobs of a user on this node, and not yet touched.
 *
 * Pages of shared memory are backed when they are first touched, so memory that the system reports as free may already be promised to
 * another job. Each process keeps a ledger of its promises, which the user's other processes read. Jobs of other users, and jobs in
 * containers that do not see each other's processes, count only with the memory that they have touched. */
#ifndef HEARTH_NET_PROMISE_H
#define HEARTH_NET_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/shm/memfile.h"

/* A new id, never 0. Promises with the same id form one account: pages backed for any of them count for the whole account. */
uint64_t net_promise_id(void);

/* An entry in this process's ledger; NULL: the ledger is full, and the promise is not accounted. The calls below accept NULL. Any thread. */
struct net_promise;
struct net_promise *net_promise_open(uint64_t id);
void net_promise_close(struct net_promise *p);

void net_promise_add(struct net_promise *p, int64_t bytes);
/* Backed pages of this file, which stays open, count as fulfilled promises of the account, except for the first `idle` bytes. */
void net_promise_file(struct net_promise *p, const struct net_address *file, uint64_t idle);

/* Bytes that all other accounts may still touch. Reads /proc: some microseconds for each process of the node. `counts`: whether the process
 * with this number counts; NULL: all do. */
uint64_t net_promise_others(uint64_t id, bool (*counts)(const char *process, const void *arg),
                            const void *arg);

#endif
