/* message.h: shared declarations of the message tests, in addition to ../mpi/test.h.
 *
 * The programs are plain MPI and must pass without Hearth as well. A message contains the pattern of its sender and
 * its serial number, so that every byte of a wrong message differs from the expected one. */
#ifndef HEARTH_TEST_MESSAGE_H
#define HEARTH_TEST_MESSAGE_H

#include "../mpi/test.h"

int previous(void); /* the rank before this one, which sends to this rank if each rank sends to peer() */

int class_of(int code);
#define expect_error(call, class) expect_eq(class_of(call), class)

/* Number of elements received; MPI_UNDEFINED if it is not a whole number. */
int count_of(const MPI_Status *status, MPI_Datatype type);

/* Checks source, tag and size. */
void test_expect_status(const char *file, int line, const MPI_Status *status, int source, int tag,
                        long long bytes);
#define expect_status(status, source, tag, bytes)                                                            \
    test_expect_status(__FILE__, __LINE__, status, source, tag, (long long)(bytes))
#define expect_empty_status(status) expect_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0)

/* Blocking calls on bytes with these contents. The receive checks contents and status. */
void send_pattern(size_t bytes, int to, int tag, int serial, MPI_Comm comm);
#define receive_pattern(bytes, from, tag, serial, comm)                                                      \
    test_receive_pattern(__FILE__, __LINE__, bytes, from, tag, serial, comm)
void test_receive_pattern(const char *file, int line, size_t bytes, int from, int tag, int serial,
                          MPI_Comm comm);

/* Returns whether Hearth itself carries the messages between the ranks of a node. Some faults of the MPIs do not
 * appear then. */
bool own_messages(void);

double now(void); /* seconds, the same clock on all ranks of one machine */
void sleep_ms(int milliseconds);

/* A signal between ranks without MPI: a file that exists or not. Making a flag agrees on its name, collectively. A
 * flag is raised from raise_flag until the case removes it. */
struct flag {
    char path[64];
};
struct flag make_flag(void);
void raise_flag(const struct flag *flag);
bool wait_for_flag(const struct flag *flag, int seconds); /* makes no MPI call */
void remove_flag(const struct flag *flag);                /* collective */

#endif
