/* store_disk.h: system calls of the store. They return 0 or -errno, and log nothing. */
#ifndef HEARTH_PAGES_STORE_DISK_H
#define HEARTH_PAGES_STORE_DISK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pages/store/store.h"

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

int pages_disk_write(int file, const void *data, size_t bytes, uint64_t offset);
int pages_disk_read(int file, void *data, size_t bytes, uint64_t offset);
int pages_disk_sync(int file);

#endif
