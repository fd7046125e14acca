/* live_file.h: the memory of the page that `hearth top` reads. */
#ifndef HEARTH_BASE_LIVE_FILE_H
#define HEARTH_BASE_LIVE_FILE_H

#include <pthread.h>
#include <stddef.h>

#include "base/compiler.h"
#include "observe/live.h"

/* Guards the page and its memory. No other lock is taken while it is held. */
extern pthread_mutex_t live_lock HIDDEN;
extern struct live_page *live_shown HIDDEN; /* NULL: not shown */

/* Makes the file and maps it; NULL if that is not possible. Requires the lock. */
struct live_page *live_file_make(void);

/* Where an object is in the file; 0: elsewhere. Requires the lock. */
size_t live_offset_of(const void *object);

#endif
