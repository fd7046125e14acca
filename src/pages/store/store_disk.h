/* store_disk.h: system calls of the store. Tests can make each of them fail; none logs. They return 0 or -errno. */
#ifndef HEARTH_PAGES_STORE_DISK_H
#define HEARTH_PAGES_STORE_DISK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pages/store/store.h"

/* The fault that a test injects into the next request: 0 for none, an errno, or STORE_SHORT. Every system request calls
 * this. */
int pages_disk_fault(void);

/* The part of a transfer that is done when it is to be short: whole sectors. */
size_t pages_disk_short(size_t bytes);

/* Returns a descriptor or -errno; `flags` are added to O_CLOEXEC and O_NOFOLLOW. */
int pages_disk_open(int folder, const char *name, int flags, mode_t mode);

int pages_disk_unlink(int folder, const char *name);
int pages_disk_resize(int file, uint64_t bytes);
int pages_disk_reserve(int file, uint64_t offset, uint64_t bytes);
int pages_disk_lock(int file);
void pages_disk_unlock(int file); /* immediate, whereas close may take effect later */

/* Bypasses the page cache from now on; -EINVAL if the filesystem does not support it. */
int pages_disk_go_direct(int file);
int pages_disk_go_buffered(int file);

/* Transfers everything, in as many calls as needed; -EIO if the file ends too early. */
int pages_disk_move(enum store_way way, int file, void *data, size_t bytes, uint64_t offset);

/* The same; writes and syncs are reported to the watcher. */
int pages_disk_write(int file, const void *data, size_t bytes, uint64_t offset);
int pages_disk_read(int file, void *data, size_t bytes, uint64_t offset);
int pages_disk_sync(int file);

/* Report to the watcher a write that does not use pages_disk_write. */
void pages_disk_tell(int file, const void *data, size_t bytes, uint64_t offset);
void pages_disk_tell_failed(int file, size_t bytes, uint64_t offset);

#endif
