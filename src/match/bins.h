/* bins.h: the deep form of a queue of MATCH_FAST. */
#ifndef HEARTH_MATCH_BINS_H
#define HEARTH_MATCH_BINS_H

#include "match/fast.h"

/* Starts with no entries. 0 or -ENOMEM. */
int bins_start(struct fast_queue *q);

/* At the end of the queue; the entry has its key. 0, or -ENOMEM and nothing changed. */
int bins_append(struct fast_queue *q, struct fast_entry *entry, uint32_t number);

/* The first receive that matches a message is taken out; NULL if there is none. Here and below *number is
 * that of the entry. */
struct fast_entry *bins_take_receive(struct fast_queue *q, struct key message, uint32_t *number);

/* The first message that matches a receive is found, and taken out if `take`. */
struct fast_entry *bins_find_message(struct fast_queue *q, struct key receive, bool take, uint32_t *number);

/* The first receive of the context is taken out. */
struct fast_entry *bins_take_context(struct fast_queue *q, uint32_t context, uint32_t *number);

void bins_remove(struct fast_queue *q, uint32_t number);

/* All entries in the order of the queue: the first of them, linked by link.next. The bins are of no use
 * then, before they are started again. */
uint32_t bins_end(struct fast_queue *q);

void bins_close(struct fast_queue *q);
void bins_check(const struct fast_queue *q);

#endif
