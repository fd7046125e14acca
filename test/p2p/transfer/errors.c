/* errors.c: tests that errors are reported as by the MPI below: its error class, through the communicator's error
 * handler; and messages still work afterwards. Only errors that both MPIs report without harm are tried. */
#include "message.h"

#include <stdlib.h>

static int value, status_flag;

static void expect_working(void) {
    send_pattern(100, peer(), 3, 5, MPI_COMM_WORLD);
    receive_pattern(100, previous(), 3, 5, MPI_COMM_WORLD);
}

typedef int sender(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int starter(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void bad_send(sender *send) {
    int to = peer();
    expect_error(send(&value, 1, MPI_INT, -77, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    expect_error(send(&value, 1, MPI_INT, test_size, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    expect_error(send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    expect_error(send(&value, 1, MPI_INT, to, -55, MPI_COMM_WORLD), MPI_ERR_TAG);
    expect_error(send(&value, 1, MPI_INT, to, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
    expect_error(send(&value, -1, MPI_INT, to, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
    expect_error(send(&value, 1, MPI_DATATYPE_NULL, to, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
    expect_error(send(&value, 1, MPI_INT, to, 1, MPI_COMM_NULL), MPI_ERR_COMM);
}

static void bad_start(starter *start) {
    int to = peer();
    MPI_Request r;
    expect_error(start(&value, 1, MPI_INT, -77, 1, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
    expect_error(start(&value, 1, MPI_INT, test_size, 1, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
    expect_error(start(&value, 1, MPI_INT, to, -55, MPI_COMM_WORLD, &r), MPI_ERR_TAG);
    expect_error(start(&value, -1, MPI_INT, to, 1, MPI_COMM_WORLD, &r), MPI_ERR_COUNT);
    expect_error(start(&value, 1, MPI_DATATYPE_NULL, to, 1, MPI_COMM_WORLD, &r), MPI_ERR_TYPE);
    expect_error(start(&value, 1, MPI_INT, to, 1, MPI_COMM_NULL, &r), MPI_ERR_COMM);
}

static void bad_receive(void) {
    int from = previous();
    MPI_Status s;
    MPI_Request r;
    expect_error(MPI_Recv(&value, 1, MPI_INT, -77, 1, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
    expect_error(MPI_Recv(&value, 1, MPI_INT, test_size, 1, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
    expect_error(MPI_Recv(&value, 1, MPI_INT, from, -55, MPI_COMM_WORLD, &s), MPI_ERR_TAG);
    expect_error(MPI_Recv(&value, -1, MPI_INT, from, 1, MPI_COMM_WORLD, &s), MPI_ERR_COUNT);
    expect_error(MPI_Recv(&value, 1, MPI_DATATYPE_NULL, from, 1, MPI_COMM_WORLD, &s), MPI_ERR_TYPE);
    expect_error(MPI_Recv(&value, 1, MPI_INT, from, 1, MPI_COMM_NULL, &s), MPI_ERR_COMM);
    expect_error(MPI_Irecv(&value, 1, MPI_INT, -77, 1, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
    expect_error(MPI_Irecv(&value, 1, MPI_INT, test_size, 1, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
    expect_error(MPI_Irecv(&value, 1, MPI_INT, from, -55, MPI_COMM_WORLD, &r), MPI_ERR_TAG);
    expect_error(MPI_Irecv(&value, -1, MPI_INT, from, 1, MPI_COMM_WORLD, &r), MPI_ERR_COUNT);
    expect_error(MPI_Irecv(&value, 1, MPI_DATATYPE_NULL, from, 1, MPI_COMM_WORLD, &r), MPI_ERR_TYPE);
    expect_error(MPI_Recv_init(&value, 1, MPI_INT, -77, 1, MPI_COMM_WORLD, &r), MPI_ERR_RANK);
    expect_error(MPI_Recv_init(&value, -1, MPI_INT, from, 1, MPI_COMM_WORLD, &r), MPI_ERR_COUNT);
}

static void bad_probe(void) {
    MPI_Message m;
    MPI_Status s;
    expect_error(MPI_Probe(-77, 1, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
    expect_error(MPI_Probe(test_size, 1, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
    expect_error(MPI_Probe(0, -55, MPI_COMM_WORLD, &s), MPI_ERR_TAG);
    expect_error(MPI_Iprobe(-77, 1, MPI_COMM_WORLD, &status_flag, &s), MPI_ERR_RANK);
    expect_error(MPI_Iprobe(0, -55, MPI_COMM_WORLD, &status_flag, &s), MPI_ERR_TAG);
    expect_error(MPI_Mprobe(-77, 1, MPI_COMM_WORLD, &m, &s), MPI_ERR_RANK);
    expect_error(MPI_Improbe(-77, 1, MPI_COMM_WORLD, &status_flag, &m, &s), MPI_ERR_RANK);
}

static void bad_sendrecv(void) {
    int to = peer(), from = previous();
    MPI_Status s;
    expect_error(
        MPI_Sendrecv(&value, 1, MPI_INT, -77, 1, &value + 1, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &s),
        MPI_ERR_RANK);
    expect_error(MPI_Sendrecv(&value, 1, MPI_INT, to, 1, &value + 1, 1, MPI_INT, -77, 1, MPI_COMM_WORLD, &s),
                 MPI_ERR_RANK);
    expect_error(
        MPI_Sendrecv(&value, -1, MPI_INT, to, 1, &value + 1, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &s),
        MPI_ERR_COUNT);
    expect_error(MPI_Sendrecv_replace(&value, 1, MPI_INT, to, -55, from, 1, MPI_COMM_WORLD, &s), MPI_ERR_TAG);
}

/* MPI_COMM_NULL has no error handler: both MPIs call that of MPI_COMM_WORLD. */
CASE(arguments) {
    sender *const sends[] = {MPI_Send, MPI_Ssend, MPI_Rsend};
    starter *const starts[] = {MPI_Isend,     MPI_Issend,     MPI_Irsend,    MPI_Ibsend,
                               MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < sizeof sends / sizeof *sends; i++)
            bad_send(sends[i]);
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
            bad_start(starts[i]);
        bad_receive();
        bad_probe();
        bad_sendrecv();
        expect_working();
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A type that was not committed. */
CASE(raw_types) {
    MPI_Datatype raw;
    int out[8] = {0};
    MPI_Request r;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(2, 1, 2, MPI_INT, &raw);
    expect_error(MPI_Send(out, 1, raw, peer(), 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
    expect_error(MPI_Isend(out, 1, raw, peer(), 1, MPI_COMM_WORLD, &r), MPI_ERR_TYPE);
    expect_error(MPI_Recv(out, 1, raw, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    expect_error(MPI_Irecv(out, 1, raw, previous(), 1, MPI_COMM_WORLD, &r), MPI_ERR_TYPE);
    MPI_Type_commit(&raw);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Sendrecv(out, 1, raw, peer(), 1, out + 4, 1, raw, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&raw);
    expect_working();
}

/* Calls on invalid requests. */
CASE(requests) {
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    expect_error(MPI_Start(&r), MPI_ERR_REQUEST);
    expect_error(MPI_Request_free(&r), MPI_ERR_REQUEST);
    expect_error(MPI_Cancel(&r), MPI_ERR_REQUEST);
    MPI_Irecv(&value, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, &r);
    expect_error(MPI_Start(&r), MPI_ERR_REQUEST); /* it is not persistent */
    MPI_Send(&value, 1, MPI_INT, peer(), 1, MPI_COMM_WORLD);
    expect_eq(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    expect(MPI_Waitall(-1, &r, MPI_STATUSES_IGNORE) != MPI_SUCCESS); /* classes differ */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    expect_working();
}

static int handled, handled_class;

static void handler(MPI_Comm *comm, int *code, ...) {
    handled++;
    handled_class = class_of(*code);
}

/* The communicator's handler is called once for each error, and no other handler is. */
CASE(handler_is_called_once) {
    MPI_Errhandler errhandler;
    MPI_Comm comm;
    MPI_Request r;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    handled = 0;
    MPI_Send(&value, 1, MPI_INT, test_size, 1, comm);
    expect_eq(handled, 1);
    expect_eq(handled_class, MPI_ERR_RANK);
    MPI_Irecv(&value, -1, MPI_INT, previous(), 1, comm, &r);
    expect_eq(handled, 2);
    expect_eq(handled_class, MPI_ERR_COUNT);
    MPI_Iprobe(-77, 1, comm, &status_flag, MPI_STATUS_IGNORE);
    expect_eq(handled, 3);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
}

/* A completed send that is not persistent cannot be started. */
CASE(start_of_a_send) {
    MPI_Request r;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(&value, 1, MPI_INT, peer(), 1, MPI_COMM_WORLD, &r);
    expect_error(MPI_Start(&r), MPI_ERR_REQUEST);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_working();
}
