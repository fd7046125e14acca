/* message.h: what the tests of messages share, beside ../mpi/test.h.
 *
 * The programs are plain MPI and must pass without Hearth as well. The contents of a message are the pattern of its
 * sender and its serial number, so that a wrong message is told from a right one byte by byte. */
#ifndef HEARTH_TEST_MESSAGE_H
#define HEARTH_TEST_MESSAGE_H

#include "../mpi/test.h"

#include "base/random.h"

int previous(void); /* the rank before this one: it sends to us if everybody sends to peer() */

int class_of(int code);
#define expect_error(call, class) expect_eq(class_of(call), class)

/* Elements that arrived; MPI_UNDEFINED if not a whole number. */
int count_of(const MPI_Status *status, MPI_Datatype type);

/* Source, tag and bytes at once. */
void test_expect_status(const char *file, int line, const MPI_Status *status, int source, int tag,
                        long long bytes);
#define expect_status(status, source, tag, bytes)                                                            \
    test_expect_status(__FILE__, __LINE__, status, source, tag, (long long)(bytes))
#define expect_empty_status(status) expect_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0)

/* Blocking, of bytes with these contents. The receive checks contents and status. */
void send_pattern(size_t bytes, int to, int tag, int serial, MPI_Comm comm);
#define receive_pattern(bytes, from, tag, serial, comm)                                                      \
    test_receive_pattern(__FILE__, __LINE__, bytes, from, tag, serial, comm)
void test_receive_pattern(const char *file, int line, size_t bytes, int from, int tag, int serial,
                          MPI_Comm comm);

/* Whether Hearth itself carries the messages between the ranks of a node. Some faults of the MPIs do not show then. */
bool own_messages(void);

double now(void); /* seconds, the same clock on all ranks of one machine */
void sleep_ms(int milliseconds);

/* Ranks tell each other something without MPI: a file that is there or not. The name is agreed on, collectively; a flag
 * is up from raise_flag until the case that named it lowers it. */
struct flag {
    char path[64];
};
struct flag make_flag(void);
void raise_flag(const struct flag *flag);
bool wait_for_flag(const struct flag *flag, int seconds); /* without a call of MPI */
void remove_flag(const struct flag *flag);                /* collective */

#endif
