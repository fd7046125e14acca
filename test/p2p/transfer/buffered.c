/* buffered.c: tests the buffer of MPI_Bsend: what fits into it, the error when it is full, that detaching it waits until
 * all its messages are sent, and that they are sent although the rank makes no other calls. */
#include "message.h"

#include <malloc.h>
#include <stdlib.h>

#include "mpi/host/standard.h"

enum { MESSAGE = 50000, MESSAGES = 8 };

static int room(int messages, int bytes) {
    int packed;
    MPI_Pack_size(bytes, MPI_BYTE, MPI_COMM_WORLD, &packed);
    return messages * (packed + MPI_BSEND_OVERHEAD);
}

static void *attach(int bytes) {
    void *buffer = malloc((size_t)bytes);
    expect_eq(MPI_Buffer_attach(buffer, bytes), MPI_SUCCESS);
    return buffer;
}

static void detach(void *buffer, int bytes) {
    void *was = NULL;
    int size = -1;
    MPI_Buffer_detach(&was, &size);
    expect(was == buffer);
    expect_eq(size, bytes);
    free(buffer);
}

/* As many messages as fit, none of them received before all are sent. */
CASE(all_that_fits) {
    int bytes = room(MESSAGES, MESSAGE);
    void *buffer = attach(bytes);
    unsigned char *out = aligned_bytes(MESSAGE);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MESSAGES; i++) {
            fill_pattern(out, MESSAGE, test_rank, 0, i);
            MPI_Bsend(out, MESSAGE, MPI_BYTE, peer(), i, MPI_COMM_WORLD);
        }
        barrier();
        for (int i = MESSAGES - 1; i >= 0; i--)
            receive_pattern(MESSAGE, previous(), i, i, MPI_COMM_WORLD);
        detach(buffer, bytes); /* so that the buffer is empty again */
        buffer = attach(bytes);
    }
    detach(buffer, bytes);
    free(out);
}

/* More messages than fit cause an error, and those accepted before arrive. This case uses its own communicator: in
 * Open MPI a failed send has used up a sequence number, and later messages on the same communicator never arrive. */
CASE(full) {
    int bytes = room(2, MESSAGE), accepted = 0, expected, code = MPI_SUCCESS;
    void *buffer = attach(bytes);
    unsigned char *out = aligned_bytes((size_t)bytes + 1000);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 40 && code == MPI_SUCCESS; i++) {
        fill_pattern(out, MESSAGE, test_rank, 0, i);
        code = MPI_Bsend(out, MESSAGE, MPI_BYTE, peer(), 5, comm);
        accepted += code == MPI_SUCCESS;
    }
    expect(accepted >= 2); /* one that is larger than the whole buffer is always refused: */
    expect_error(MPI_Bsend(out, bytes + 1000, MPI_BYTE, peer(), 6, comm), MPI_ERR_BUFFER);
    MPI_Sendrecv(&accepted, 1, MPI_INT, peer(), 7, &expected, 1, MPI_INT, previous(), 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < expected; i++)
        receive_pattern(MESSAGE, previous(), 5, i, comm);
    detach(buffer, bytes);
    MPI_Comm_free(&comm);
    free(out);
}

CASE(no_buffer) {
    static char out[10 * MESSAGE]; /* Open MPI sends a small message without a buffer */
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    expect_error(MPI_Bsend(out, sizeof out, MPI_BYTE, peer(), 5, comm), MPI_ERR_BUFFER);
    MPI_Comm_free(&comm);
}

/* Attaching a second buffer is refused. */
CASE(attach_twice) {
    SKIP_IF(test_open_mpi(), "this MPI does not refuse a second buffer");
    void *buffer = attach(100000);
    char other[1000];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(MPI_Buffer_attach(other, sizeof other) !=
           MPI_SUCCESS); /* MPI_ERR_BUFFER, or MPI_ERR_OTHER in MPICH 4.2 */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    detach(buffer, 100000);
}

/* MPI_Buffer_detach returns only when the messages are sent: the program may then overwrite their memory. */
CASE(detach_waits) {
    int bytes = room(MESSAGES, MESSAGE);
    char *buffer = attach(bytes), *was;
    unsigned char *out = aligned_bytes(MESSAGE);
    MPI_Request requests[MESSAGES];
    unsigned char *in[MESSAGES];
    int size;
    for (int i = 0; i < MESSAGES; i++) {
        in[i] = aligned_bytes(MESSAGE);
        MPI_Irecv(in[i], MESSAGE, MPI_BYTE, previous(), i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < MESSAGES; i++) {
        fill_pattern(out, MESSAGE, test_rank, 0, i);
        MPI_Bsend(out, MESSAGE, MPI_BYTE, peer(), i, MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&was, &size);
    memset(was, 0x77, (size_t)size);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++) {
        expect_pattern(in[i], MESSAGE, previous(), 0, i);
        free(in[i]);
    }
    free(buffer);
    free(out);
}

/* Non-contiguous data is packed during the call. */
CASE(strided) {
    enum { INTS = 1000 };
    int bytes = room(4, INTS * 4), out[2 * INTS], in[INTS];
    void *buffer = attach(bytes);
    MPI_Datatype every_second;
    MPI_Type_vector(INTS, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < 2 * INTS; i++)
        out[i] = 10000 * test_rank + i;
    MPI_Bsend(out, 1, every_second, peer(), 1, MPI_COMM_WORLD);
    memset(out, 0, sizeof out);
    barrier();
    MPI_Recv(in, INTS, MPI_INT, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < INTS; i++)
        expect_eq(in[i], 10000 * previous() + 2 * i);
    MPI_Type_free(&every_second);
    detach(buffer, bytes);
}

/* MPI_Ibsend and persistent buffered sends, many more than the buffer holds at once. They are small: Open MPI 4.1
 * sends nothing when a persistent buffered send of more than 4 KB is restarted. */
CASE(room_comes_back) {
    enum { ROUNDS = 200, SMALL = 1000 };
    int bytes = room(3, SMALL);
    void *buffer = attach(bytes);
    unsigned char out[SMALL];
    MPI_Request request, persistent;
    MPI_Bsend_init(out, SMALL, MPI_BYTE, peer(), 2, MPI_COMM_WORLD, &persistent);
    for (int i = 0; i < ROUNDS; i++) {
        fill_pattern(out, SMALL, test_rank, 0, i);
        if (i % 2) {
            MPI_Ibsend(out, SMALL, MPI_BYTE, peer(), 2, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Start(&persistent);
            MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        }
        receive_pattern(SMALL, previous(), 2, i, MPI_COMM_WORLD);
        barrier();
    }
    MPI_Request_free(&persistent);
    detach(buffer, bytes);
}

/* ---- ranks that only make buffered sends ---- */

/* Rank 0 sends more than the transport holds, or messages that wait for their receive, while rank 1 makes no call. Further
 * buffered sends of rank 0 deliver all of it, once rank 1 receives. */
static void deliver(int burst, int each) {
    enum { MORE = 20000 };
    int bytes = room(burst, each) + room(MORE, sizeof(int)), more = 0;
    void *buffer = attach(bytes);
    unsigned char *out = aligned_bytes((size_t)each);
    struct flag sent = make_flag(), received = make_flag();
    for (int i = 0; test_rank == 0 && i < burst; i++) {
        fill_pattern(out, (size_t)each, test_rank, 0, i);
        MPI_Bsend(out, each, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    }
    if (test_rank == 0) {
        raise_flag(&sent);
        for (; more < MORE && !wait_for_flag(&received, 0); more++) {
            MPI_Bsend(&more, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
            sleep_ms(1);
        }
        expect(more < MORE);
        MPI_Send(&more, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else if (test_rank == 1) {
        expect(wait_for_flag(&sent, 20));
        for (int i = 0; i < burst; i++)
            receive_pattern((size_t)each, 0, 1, i, MPI_COMM_WORLD);
        raise_flag(&received);
        MPI_Recv(&more, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0, word; i < more; i++)
            MPI_Recv(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    remove_flag(&received);
    remove_flag(&sent);
    detach(buffer, bytes);
    free(out);
}

CASE(only_buffered_sends) {
    SKIP_IF(test_open_mpi() && !test_loaded(), "Open MPI waits in MPI_Bsend for the receiver");
    deliver(4000, 400);
    deliver(MESSAGES, MESSAGE);
}

/* A send that finds the buffer full is refused only if no earlier message can leave. */
CASE(full_buffer_empties) {
    SKIP_IF(!own_messages(), "it is not known how much this MPI sends ahead");
    enum { SMALL = 400, MOST = 100000 };
    int bytes = room(100, SMALL), accepted = 0, found;
    void *buffer = attach(bytes);
    unsigned char out[SMALL] = {0};
    struct flag full = make_flag(), read = make_flag();
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (test_rank == 0) {
        while (accepted < MOST && MPI_Bsend(out, SMALL, MPI_BYTE, 1, 5, comm) == MPI_SUCCESS)
            accepted++;
        expect(accepted < MOST);
        raise_flag(&full);
        expect(wait_for_flag(&read, 20));
        int code = MPI_ERR_BUFFER;
        /* Between nodes the messages may still be on their way. */
        for (int i = 0; code != MPI_SUCCESS && i < 20000; i++) {
            code = MPI_Bsend(out, SMALL, MPI_BYTE, 1, 5, comm);
            sleep_ms(code == MPI_SUCCESS ? 0 : 1);
        }
        expect_eq(code, MPI_SUCCESS);
        accepted += code == MPI_SUCCESS;
    } else if (test_rank == 1) {
        expect(wait_for_flag(&full, 20));
        for (int i = 0; i < 100; i++) /* takes messages from the transport */
            MPI_Iprobe(0, 6, comm, &found, MPI_STATUS_IGNORE);
        raise_flag(&read);
    }
    MPI_Bcast(&accepted, 1, MPI_INT, 0, comm);
    for (int i = 0; test_rank == 1 && i < accepted; i++)
        MPI_Recv(out, SMALL, MPI_BYTE, 0, 5, comm, MPI_STATUS_IGNORE);
    remove_flag(&read);
    remove_flag(&full);
    MPI_Comm_free(&comm);
    detach(buffer, bytes);
}

static void send_to_self(int rounds) {
    unsigned char out[MESSAGE / 50] = {0}, in[MESSAGE / 50];
    for (int i = 0; i < rounds; i++) {
        MPI_Bsend(out, sizeof out, MPI_BYTE, test_rank, 2, MPI_COMM_WORLD);
        MPI_Recv(in, sizeof in, MPI_BYTE, test_rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static size_t allocated(void) {
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* The copy of a message is freed when it has left, also if no call of the rank has to wait. */
CASE(copies_are_freed) {
    int bytes = room(10, MESSAGE / 50);
    void *buffer = attach(bytes);
    send_to_self(100);
    size_t before = allocated();
    send_to_self(20000);
    expect(allocated() < before + (4 << 20));
    detach(buffer, bytes);
}

#if HEARTH_MPI_4_1

/* Sends and receives messages that do not fit into a small buffer; all are sent before the first is received. */
static void exchange_buffered(MPI_Comm comm, int messages) {
    unsigned char *out = aligned_bytes(MESSAGE);
    for (int i = 0; i < messages; i++) {
        fill_pattern(out, MESSAGE, test_rank, 0, i);
        expect_eq(MPI_Bsend(out, MESSAGE, MPI_BYTE, peer(), i, comm), MPI_SUCCESS);
    }
    barrier();
    for (int i = 0; i < messages; i++)
        receive_pattern(MESSAGE, previous(), i, i, comm);
    free(out);
}

/* MPI provides the memory. */
CASE(automatic) {
    void *was = NULL;
    int size = -1;
    expect_eq(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
    exchange_buffered(MPI_COMM_WORLD, 20);
    MPI_Buffer_detach(&was, &size);
    expect(was == MPI_BUFFER_AUTOMATIC);
}

/* A communicator's own buffer is used for its messages, and no other communicator's. */
CASE(buffer_of_a_communicator) {
    int bytes = room(MESSAGES, MESSAGE), size = -1;
    void *buffer = malloc((size_t)bytes), *was = NULL;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_eq(MPI_Comm_attach_buffer(comm, buffer, bytes), MPI_SUCCESS);
    exchange_buffered(comm, MESSAGES);
    expect_eq(MPI_Comm_flush_buffer(comm), MPI_SUCCESS);
    exchange_buffered(comm, MESSAGES);
    MPI_Comm_detach_buffer(comm, &was, &size);
    expect(was == buffer);
    expect_eq(size, bytes);
    MPI_Comm_free(&comm);
    free(buffer);
}

/* After a flush the whole buffer is free again. */
CASE(flush) {
    int bytes = room(MESSAGES, MESSAGE);
    void *buffer = attach(bytes);
    MPI_Request request;
    exchange_buffered(MPI_COMM_WORLD, MESSAGES);
    MPI_Buffer_flush();
    exchange_buffered(MPI_COMM_WORLD, MESSAGES);
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    exchange_buffered(MPI_COMM_WORLD, MESSAGES);
    detach(buffer, bytes);
}
#endif
