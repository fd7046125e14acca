/* message.c: messages with known contents. */
#include "message.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int previous(void) {
    return (test_rank + test_size - 1) % test_size;
}

int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

int count_of(const MPI_Status *status, MPI_Datatype type) {
    int count = -1;
    MPI_Get_count(status, type, &count);
    return count;
}

void test_expect_status(const char *file, int line, const MPI_Status *status, int source, int tag,
                        long long bytes) {
    test_expect_eq(file, line, "source of the status", status->MPI_SOURCE, source);
    test_expect_eq(file, line, "tag of the status", status->MPI_TAG, tag);
    test_expect_eq(file, line, "bytes of the status", count_of(status, MPI_BYTE), bytes);
}

void send_pattern(size_t bytes, int to, int tag, int serial, MPI_Comm comm) {
    unsigned char *buffer = aligned_bytes(bytes + 1);
    fill_pattern(buffer, bytes, test_rank, 0, serial);
    MPI_Send(buffer, (int)bytes, MPI_BYTE, to, tag, comm);
    free(buffer);
}

void test_receive_pattern(const char *file, int line, size_t bytes, int from, int tag, int serial,
                          MPI_Comm comm) {
    unsigned char *buffer = aligned_bytes(bytes + 1);
    MPI_Status status;
    memset(buffer, 0xee, bytes + 1);
    MPI_Recv(buffer, (int)bytes, MPI_BYTE, from, tag, comm, &status);
    test_expect_status(file, line, &status, from, tag, (long long)bytes);
    test_expect_pattern(file, line, buffer, bytes, from, 0, serial);
    test_expect_eq(file, line, "byte behind the buffer", buffer[bytes], 0xee);
    free(buffer);
}

bool own_messages(void) {
    const char *config = test_config();
    return strcmp(config, "match") == 0 || strcmp(config, "list") == 0 || strcmp(config, "small") == 0;
}

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sleep_ms(int milliseconds) {
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

struct flag make_flag(void) {
    static int number;
    struct flag flag;
    snprintf(flag.path, sizeof flag.path, "/tmp/hearth-test-%d-%d", (int)getpid(), number++);
    MPI_Bcast(&flag, sizeof flag, MPI_BYTE, 0, MPI_COMM_WORLD);
    return flag;
}

void raise_flag(const struct flag *flag) {
    int file = open(flag->path, O_CREAT | O_WRONLY, 0600);
    expect(file >= 0);
    close(file);
}

bool wait_for_flag(const struct flag *flag, int seconds) {
    double end = now() + seconds;
    while (access(flag->path, F_OK) != 0) {
        if (now() > end)
            return false;
        sleep_ms(1);
    }
    return true;
}

void remove_flag(const struct flag *flag) {
    barrier();
    unlink(flag->path);
}
