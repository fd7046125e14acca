/* bins.h: hash bins, the form of a queue of MATCH_FAST when it is long. */
#ifndef HEARTH_MATCH_BINS_H
#define HEARTH_MATCH_BINS_H

#include "match/fast/fast.h"

/* Starts without entries. Returns 0 or -ENOMEM. */
int bins_start(struct fast_queue *q);

/* Appends to the queue; the entry's key is set. Returns 0, or -ENOMEM with nothing changed. */
int bins_append(struct fast_queue *q, struct fast_entry *entry, uint32_t number);

/* Takes out the first receive that matches a message; NULL if there is none. Here and below, *number is set to the
 * entry's number. */
struct fast_entry *bins_take_receive(struct fast_queue *q, struct key message, uint32_t *number);

/* Finds the first message that matches a receive, and takes it out if `take`. */
struct fast_entry *bins_find_message(struct fast_queue *q, struct key receive, bool take, uint32_t *number);

/* Takes out the first receive of the context. */
struct fast_entry *bins_take_context(struct fast_queue *q, uint32_t context, uint32_t *number);

void bins_remove(struct fast_queue *q, uint32_t number);

/* Returns the first of all entries in queue order, linked by link.next. The bins are then invalid until they are
 * started again. */
uint32_t bins_end(struct fast_queue *q);

void bins_close(struct fast_queue *q);
void bins_check(const struct fast_queue *q);

#endif
