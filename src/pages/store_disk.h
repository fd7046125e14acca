/* store_disk.h: what the store asks of the system. Each may be told to fail; none writes a line. 0 or -errno. */
#ifndef HEARTH_PAGES_STORE_DISK_H
#define HEARTH_PAGES_STORE_DISK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pages/store.h"

/* What a test wants the next request to do: 0 to be done, an errno, or STORE_SHORT. Every request to the system asks. */
int disk_fault(void);

/* So much of a transfer is made when it is to be short: whole sectors. */
size_t disk_short(size_t bytes);

/* A descriptor or -errno; `flags` beside O_CLOEXEC and O_NOFOLLOW. */
int disk_open(int folder, const char *name, int flags, mode_t mode);

int disk_unlink(int folder, const char *name);
int disk_resize(int file, uint64_t bytes);
int disk_reserve(int file, uint64_t offset, uint64_t bytes);
int disk_lock(int file);
void disk_unlock(int file); /* at once, where closing may take effect later */

/* From now on around the page cache; -EINVAL where the filesystem does not do that. */
int disk_go_direct(int file);
int disk_go_buffered(int file);

/* All of it, in as many calls as it takes; a file that ends too early is -EIO. */
int disk_move(enum store_way way, int file, void *data, size_t bytes, uint64_t offset);

/* The same, and the watcher is told. */
int disk_write(int file, const void *data, size_t bytes, uint64_t offset);
int disk_read(int file, void *data, size_t bytes, uint64_t offset);
int disk_sync(int file);

/* For those who write by other means. */
void disk_tell(int file, const void *data, size_t bytes, uint64_t offset);
void disk_tell_failed(int file, size_t bytes, uint64_t offset);

#endif
