/* truncation.c: tests messages that are larger than the receive's buffer. The error is MPI_ERR_TRUNCATE, in the
 * status if a call completes several requests; nothing is written beyond the buffer, and later messages are received
 * normally. */
#include "message.h"

#include <stdlib.h>

enum { ROOM = 100 };

static const size_t sizes[] = {101, 3000, 20000, 70000, 500000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Open MPI 4.1 copies the whole of a large message and overwrites the memory behind the buffer: not tried there, unless Hearth
 * matches messages, which then also receives those that MPI transfers. */
static int sizes_to_try(void) {
    return !test_open_mpi() || own_messages() || strcmp(test_config(), "host") == 0 ? SIZES : 2;
}

static unsigned char in[ROOM + 50000];

/* Non-blocking sends: a large one completes only when it is received, truncated or not. */
static unsigned char *outs[SIZES];
static MPI_Request sends[SIZES];

static void start_send(int s) {
    outs[s] = aligned_bytes(sizes[s]);
    fill_pattern(outs[s], sizes[s], test_rank, 0, s);
    MPI_Isend(outs[s], (int)sizes[s], MPI_BYTE, peer(), s, MPI_COMM_WORLD, &sends[s]);
}

static void finish_send(int s) {
    MPI_Wait(&sends[s], MPI_STATUS_IGNORE);
    free(outs[s]);
}

static void begin(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    memset(in, 0xee, sizeof in);
}

static void check_behind(void) {
    for (size_t i = ROOM; i < sizeof in; i++)
        if (!expect_eq(in[i], 0xee))
            break;
}

static void end(void) {
    check_behind();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    send_pattern(ROOM, peer(), 50, 7, MPI_COMM_WORLD);
    receive_pattern(ROOM, previous(), 50, 7, MPI_COMM_WORLD);
}

CASE(blocking) {
    begin();
    for (int s = 0; s < sizes_to_try(); s++) {
        MPI_Status status;
        start_send(s);
        expect_error(MPI_Recv(in, ROOM, MPI_BYTE, previous(), s, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
        expect_eq(status.MPI_SOURCE, previous());
        expect_eq(status.MPI_TAG, s);
        finish_send(s);
    }
    end();
}

CASE(wait_and_test) {
    begin();
    for (int s = 0; s < sizes_to_try(); s++)
        for (int way = 0; way < 4; way++) {
            MPI_Request request;
            int code = MPI_SUCCESS, done = 0;
            if (way % 2 == 0)
                start_send(s);
            else
                MPI_Irecv(in, ROOM, MPI_BYTE, previous(), s, MPI_COMM_WORLD, &request);
            barrier();
            if (way % 2 == 0)
                MPI_Irecv(in, ROOM, MPI_BYTE, previous(), s, MPI_COMM_WORLD, &request);
            else
                start_send(s);
            if (way / 2)
                code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            while (way / 2 == 0 && !done && code == MPI_SUCCESS)
                code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            expect_error(code, MPI_ERR_TRUNCATE);
            expect(request == MPI_REQUEST_NULL);
            finish_send(s);
        }
    end();
}

/* Two messages fit, the one between them is too large. */
static void start_three(int s, MPI_Request *requests, unsigned char *good) {
    int outside[] = {60, 61};
    for (int i = 0; i < 2; i++)
        MPI_Irecv(good + 10 * i, 10, MPI_BYTE, previous(), outside[i], MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Irecv(in, ROOM, MPI_BYTE, previous(), s, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++)
        send_pattern(10, peer(), outside[i], i, MPI_COMM_WORLD);
    start_send(s);
}

static void check_three(int s, const MPI_Status *statuses, unsigned char *good) {
    expect_eq(statuses[0].MPI_ERROR, MPI_SUCCESS);
    expect_error(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    expect_eq(statuses[2].MPI_ERROR, MPI_SUCCESS);
    expect_status(&statuses[0], previous(), 60, 10);
    expect_status(&statuses[2], previous(), 61, 10);
    expect_eq(statuses[1].MPI_SOURCE, previous());
    for (int i = 0; i < 2; i++)
        expect_pattern(good + 10 * i, 10, previous(), 0, i);
    finish_send(s);
}

/* A call may return early while some requests are pending: it is then called again. */
CASE(waitall) {
    begin();
    for (int s = 0; s < sizes_to_try(); s++) {
        MPI_Request requests[3];
        MPI_Status statuses[3], final[3];
        unsigned char good[20];
        bool failed = false;
        start_three(s, requests, good);
        for (int left = 3; left > 0;) {
            int code = MPI_Waitall(3, requests, statuses);
            bool was_pending = false;
            for (int i = 0; i < 3; i++)
                was_pending |= code != MPI_SUCCESS && statuses[i].MPI_ERROR == MPI_ERR_PENDING;
            if (code != MPI_SUCCESS) {
                expect_error(code, MPI_ERR_IN_STATUS);
                failed = true;
            }
            for (int i = 0; i < 3; i++) {
                bool is_new = statuses[i].MPI_SOURCE != MPI_ANY_SOURCE;
                if (code == MPI_SUCCESS)
                    statuses[i].MPI_ERROR = MPI_SUCCESS;
                if (is_new && statuses[i].MPI_ERROR != MPI_ERR_PENDING)
                    final[i] = statuses[i];
            }
            left = was_pending ? left : 0;
        }
        expect(failed);
        for (int i = 0; i < 3; i++)
            expect(requests[i] == MPI_REQUEST_NULL);
        check_three(s, final, good);
    }
    end();
}

typedef int some(int, MPI_Request[], int *, int[], MPI_Status[]);

static void run_some(some *call) {
    begin();
    for (int s = 0; s < sizes_to_try(); s++) {
        MPI_Request requests[3];
        MPI_Status statuses[3], final[3];
        unsigned char good[20];
        bool failed = false;
        int count, indices[3];
        start_three(s, requests, good);
        for (int left = 3; left > 0; left -= count) {
            int code = call(3, requests, &count, indices, statuses);
            if (!expect(count >= 0 && count <= left))
                break;
            for (int i = 0; i < count; i++) {
                final[indices[i]] = statuses[i];
                if (code == MPI_SUCCESS)
                    final[indices[i]].MPI_ERROR = MPI_SUCCESS;
            }
            if (code != MPI_SUCCESS) {
                expect_error(code, MPI_ERR_IN_STATUS);
                failed = true;
            }
        }
        expect(failed);
        check_three(s, final, good);
    }
    end();
}

CASE(waitsome) {
    run_some(MPI_Waitsome);
}

CASE(testsome) {
    run_some(MPI_Testsome);
}

/* MPI_Waitany itself returns the error, with the index. */
CASE(waitany) {
    begin();
    for (int s = 0; s < sizes_to_try(); s++) {
        MPI_Request requests[3];
        unsigned char good[20];
        int failures = 0, seen = 0, index;
        start_three(s, requests, good);
        for (int i = 0; i < 3; i++) {
            MPI_Status status;
            int code = MPI_Waitany(3, requests, &index, &status);
            expect_error(code, index == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
            failures += code != MPI_SUCCESS;
            seen |= 1 << index;
        }
        expect_eq(failures, 1);
        expect_eq(seen, 7);
        finish_send(s);
    }
    end();
}

CASE(sendrecv) {
    begin();
    for (int s = 0; s < sizes_to_try(); s++) {
        unsigned char *out = aligned_bytes(sizes[s]);
        MPI_Status status;
        memset(out, 1, sizes[s]);
        expect_error(MPI_Sendrecv(out, (int)sizes[s], MPI_BYTE, peer(), 1, in, ROOM, MPI_BYTE, previous(), 1,
                                  MPI_COMM_WORLD, &status),
                     MPI_ERR_TRUNCATE);
        barrier();
        free(out);
    }
    end();
}

CASE(matched_receive) {
    begin();
    for (int s = 0; s < sizes_to_try(); s++) {
        MPI_Message message;
        MPI_Status status;
        start_send(s);
        MPI_Mprobe(previous(), s, MPI_COMM_WORLD, &message, &status);
        expect_status(&status, previous(), s, sizes[s]);
        expect_error(MPI_Mrecv(in, ROOM, MPI_BYTE, &message, &status), MPI_ERR_TRUNCATE);
        finish_send(s);
    }
    end();
}

/* Derived types are truncated as well. */
CASE(strided) {
    MPI_Datatype every_second;
    MPI_Status status;
    begin();
    MPI_Type_vector(ROOM / 2, 1, 2, MPI_BYTE, &every_second);
    MPI_Type_commit(&every_second);
    for (int s = 0; s < sizes_to_try(); s++) {
        start_send(s);
        expect_error(MPI_Recv(in, 1, every_second, previous(), s, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
        finish_send(s);
        for (int i = 1; i < ROOM; i += 2)
            expect_eq(in[i], 0xee);
    }
    MPI_Type_free(&every_second);
    end();
}

/* Messages of a rank to itself. */
CASE(self) {
    SKIP_IF(sizes_to_try() < SIZES, "Open MPI writes behind the buffer");
    begin();
    for (int s = 0; s < sizes_to_try(); s++) {
        unsigned char *out = aligned_bytes(sizes[s]);
        MPI_Request request;
        memset(out, 1, sizes[s]);
        MPI_Isend(out, (int)sizes[s], MPI_BYTE, test_rank, 1, MPI_COMM_WORLD, &request);
        expect_error(MPI_Recv(in, ROOM, MPI_BYTE, test_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                     MPI_ERR_TRUNCATE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(out);
    }
    end();
}

static int handled;

static void handler(MPI_Comm *comm, int *code, ...) {
    handled += class_of(*code) == MPI_ERR_TRUNCATE;
}

/* The communicator's own error handler is called. The test uses MPI_Recv, as MPICH's MPI_Wait calls the handler of
 * MPI_COMM_WORLD. */
CASE(error_handler) {
    MPI_Errhandler errhandler;
    MPI_Comm comm;
    int out[4] = {1, 2, 3, 4}, got[2] = {0};
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    handled = 0;
    MPI_Isend(out, 4, MPI_INT, peer(), 1, comm, &request);
    MPI_Recv(got, 1, MPI_INT, previous(), 1, comm, MPI_STATUS_IGNORE);
    expect_eq(handled, 1);
    expect_eq(got[1], 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
}

/* ---- messages that end inside an element ---- */

/* MPICH reports truncation for a message that ends inside an element of a non-contiguous type. It does not for a
 * contiguous type, and Open MPI never does. */
static int code_inside(bool in_pieces) {
    return in_pieces && !test_open_mpi() ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static MPI_Datatype struct_of_two(void) {
    MPI_Datatype type, parts[2] = {MPI_CHAR, MPI_DOUBLE};
    int counts[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Type_create_struct(2, counts, places, parts, &type);
    return type;
}

static void receive_part(MPI_Datatype type, int count, int bytes, int expected) {
    static unsigned char to[1000], from[1000];
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(from, bytes, MPI_BYTE, peer(), 3, MPI_COMM_WORLD, &request);
    expect_error(MPI_Recv(to, count, type, previous(), 3, MPI_COMM_WORLD, &status), expected);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(to, count, type, previous(), 4, MPI_COMM_WORLD, &request);
    MPI_Send(from, bytes, MPI_BYTE, peer(), 4, MPI_COMM_WORLD);
    int code = MPI_Waitall(1, &request, &status);
    expect_error(code, expected == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_IN_STATUS);
    if (code != MPI_SUCCESS)
        expect_error(status.MPI_ERROR, expected);
}

CASE(ends_inside_an_element) {
    MPI_Datatype vector, pair = struct_of_two(), row;
    MPI_Type_vector(3, 2, 4, MPI_INT, &vector);
    MPI_Type_contiguous(3, MPI_INT, &row);
    MPI_Type_commit(&vector);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&row);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int bytes = 0; bytes < 40; bytes++) {
        bool in_pair = bytes % 9 > 1;
        receive_part(MPI_INT, 12, bytes, code_inside(false));
        receive_part(row, 5, bytes, code_inside(false));
        receive_part(vector, 3, bytes, bytes % 4 ? code_inside(true) : MPI_SUCCESS);
        receive_part(pair, 6, bytes, in_pair ? code_inside(true) : MPI_SUCCESS);
        receive_part(MPI_DOUBLE_INT, 5, bytes, bytes % 12 ? code_inside(true) : MPI_SUCCESS);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&vector);
    MPI_Type_free(&pair);
    MPI_Type_free(&row);
}
