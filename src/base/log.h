/* log.h: one line per event, on stderr: "hearth[rank]: error: what failed, on which object, why, what to do". */
#ifndef HEARTH_LOG_H
#define HEARTH_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Sets the rank of this process, once known; -1 before. */
void log_identify(int rank);

/* Whether this process is rank 0 of its job: from log_identify, before that from the launcher's variables; true if
 * neither is known. For lines that concern the job as a whole. */
bool log_is_first_rank(void);

/* Lines above this level are not printed. Default: warn. */
void log_set_level(enum log_level level);

/* Prints one line in one write, so that lines of different ranks do not mix. */
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Waits until the reader of stderr has taken all lines, for a second at most: launchers discard what is still in the
 * pipe when a job is aborted. Call before a process aborts a job, not before it merely exits. */
void log_settle(void);

#define log_error(...) log_print(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_print(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_print(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_print(LOG_DEBUG, __VA_ARGS__)

#endif
