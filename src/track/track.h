/* track.h: which pages of a process were stored to. The kernel records it: Linux 6.7 and later, by the asynchronous write protection of
 * userfaultfd and ioctl(PAGEMAP_SCAN). No handler runs, and no privilege is needed.
 *
 *      the owner                                   whoever asks: the owner, or another process of its user
 *      track_open, track_add: pages are protected  track_watch
 *      a store to a protected page opens it        track_scan: lists the open pages, and protects them again
 *
 * A store retires only while its page is open, and a scan returns only when all cores have seen its pages protected. So a store that
 * retired before a scan began is listed by that scan, or was by an earlier one.
 *
 * Not listed: stores through another mapping of the same memory, or by another process; pwrite to its file, and holes punched in it;
 * stores of devices, and of the kernel to pinned pages. */
#ifndef HEARTH_TRACK_H
#define HEARTH_TRACK_H

#include <stddef.h>
#include <stdint.h>

/* Returns the owner's descriptor, or a negative code. -ENOSYS: the kernel cannot; -EPERM: the system refuses. */
int track_open(void);

/* Begins to record stores to this memory, of whole pages, and protects all of it. Memory that was never touched counts, too. Returns 0, or
 * a negative code: -EINVAL: memory of this kind cannot be tracked; -EBUSY: somebody else uses userfaultfd there. */
int track_add(int tracker, void *base, size_t bytes);
/* Ends it. Memory that is unmapped ends by itself. */
void track_remove(int tracker, void *base, size_t bytes);

/* Returns a descriptor for scans of a process, or a negative code. */
int track_watch(int process);

/* As the kernel writes it. */
struct track_range {
    uint64_t begin, end, kind;
};

/* Lists, of [begin, end) in the watched process, the pages that were stored to since they were protected, and protects them again. Stops
 * when `most` ranges are full. *reached: where it has stopped; everything before it is listed. Returns the number of ranges, or a negative
 * code: -EPERM: some of the memory is not tracked (any more), as if it was mapped anew. */
int track_scan(int watch, uint64_t begin, uint64_t end, struct track_range *ranges, size_t most,
               uint64_t *reached);

#endif
