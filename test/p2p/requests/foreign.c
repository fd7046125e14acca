/* foreign.c: tests requests of the MPI library itself, alone and beside requests of messages that Hearth matches:
 * kinds that not all of its calls complete equally well, and requests that fail. */
#include "message.h"

#include "mpi/host/standard.h"

#include <stdlib.h>

enum { PIECE = 65536, SOME = 4 };

/* ---- kinds of requests ---- */

#if HEARTH_MPI_4_0
CASE(persistent_collectives) {
    int one = 1, sum = 0;
    MPI_Request r[2];
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    for (int round = 0; round < 3; round++) {
        sum = 0;
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        expect_eq(sum, test_size);
    }
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&r[i]);
}

CASE(partitioned) {
    SKIP_IF(test_open_mpi_major() >= 5, "Open MPI 5 and 6 do not complete them, with and without Hearth");
    static int words[2][64];
    MPI_Request r[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 2; i++)
        if (test_rank == 0)
            MPI_Psend_init(words[i], 4, 16, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]);
        else if (test_rank == 1)
            MPI_Precv_init(words[i], 4, 16, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]);
    if (test_rank > 1)
        return;
    for (int i = 0; i < 64; i++)
        words[0][i] = words[1][i] = test_rank ? -1 : i;
    MPI_Startall(2, r);
    for (int i = 0; test_rank == 0 && i < 2; i++)
        MPI_Pready_range(0, 3, r[i]);
    MPI_Waitall(2, r, statuses);
    expect_eq(words[1][63], 63);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&r[i]);
}
#endif

static MPI_File open_shared(const struct flag *name) {
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_File_open(MPI_COMM_WORLD, name->path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_Info_free(&info);
    return file;
}

/* Rank 0 waits for a message from rank 1 and for a collective write at once; rank 1 sends only when the write is
 * complete. */
static void write_and_receive(MPI_File file, unsigned char *bytes, bool test) {
    MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    int word = -1, flag = 0;
    MPI_File_iwrite_at_all(file, (MPI_Offset)test_rank * PIECE, bytes, PIECE, MPI_BYTE, &r[1]);
    if (test_rank == 0) {
        MPI_Irecv(&word, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r[0]);
        while (test && !flag)
            MPI_Testall(3, r, &flag, statuses);
        if (!test)
            MPI_Waitall(3, r, statuses);
        expect_eq(word, 1);
        expect_status(&statuses[0], 1, 5, sizeof word);
        expect_eq(count_of(&statuses[1], MPI_BYTE), PIECE);
        expect(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
    } else {
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        if (test_rank == 1)
            MPI_Send(&test_rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
}

CASE(files) {
    struct flag name = make_flag();
    unsigned char *bytes = aligned_bytes(SOME * PIECE);
    MPI_Request r[SOME];
    MPI_Status statuses[SOME];
    MPI_File file = open_shared(&name);
    for (int round = 0; round < 3; round++) {
        write_and_receive(file, bytes, false);
        write_and_receive(file, bytes, true);
        for (int i = 0; i < SOME; i++)
            MPI_File_iwrite_at_all(file, ((MPI_Offset)test_rank * SOME + i) * PIECE, bytes + i * PIECE, PIECE,
                                   MPI_BYTE, &r[i]);
        MPI_Waitall(SOME, r, round % 2 ? MPI_STATUSES_IGNORE : statuses);
        for (int i = 0; i < SOME; i++)
            expect(r[i] == MPI_REQUEST_NULL);
    }
    MPI_File_close(&file);
    free(bytes);
    remove_flag(&name);
}

/* ---- requests that fail ---- */

enum { OURS, THEIRS, WHICH }; /* a receive that Hearth matches, a receive that MPI matches */

static MPI_Comm comms[WHICH];
static int words[WHICH][8];

/* Both are complete before the test looks at them; those marked in `bad` are truncated. */
static void start_pair(MPI_Request r[WHICH], const bool bad[WHICH]) {
    int out[8] = {0};
    for (int i = 0; i < WHICH; i++)
        MPI_Irecv(words[i], bad[i] ? 1 : 8, MPI_INT, previous(), 5, comms[i], &r[i]);
    for (int i = 0; i < WHICH; i++)
        MPI_Send(out, 8, MPI_INT, peer(), 5, comms[i]);
    for (int flag = 0, i = 0; i < WHICH; i += flag != 0)
        MPI_Request_get_status(r[i], &flag, MPI_STATUS_IGNORE);
}

static void expect_one(int rc, int i, const bool bad[WHICH], MPI_Request request) {
    expect_error(rc, bad[i] ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    expect(request == MPI_REQUEST_NULL);
}

typedef void completer(MPI_Request r[WHICH], const bool bad[WHICH]);

static void by_wait(MPI_Request r[WHICH], const bool bad[WHICH]) {
    for (int i = 0; i < WHICH; i++) {
        int rc = MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        expect_one(rc, i, bad, r[i]);
    }
}

static void by_test(MPI_Request r[WHICH], const bool bad[WHICH]) {
    for (int i = 0, flag = 0; i < WHICH; i++) {
        int rc = MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
        expect_one(rc, i, bad, r[i]);
    }
}

static void one_by_one(MPI_Request r[WHICH], const bool bad[WHICH], bool wait) {
    bool seen[WHICH] = {false, false};
    int index = -7, flag = 0;
    MPI_Status status;
    if (test_open_mpi() &&
        !test_loaded()) /* Open MPI 4.1 by itself does not always report which one failed */
        return;
    for (int n = 0; n < WHICH; n++) {
        int rc = MPI_SUCCESS;
        flag = wait;
        if (wait)
            rc = MPI_Waitany(WHICH, r, &index, &status);
        while (!flag && rc == MPI_SUCCESS)
            rc = MPI_Testany(WHICH, r, &index, &flag, &status);
        expect(index == OURS || index == THEIRS);
        if (index != OURS && index != THEIRS)
            return;
        expect(!seen[index]);
        seen[index] = true;
        expect_one(rc, index, bad, r[index]);
    }
    expect_eq(MPI_Waitany(WHICH, r, &index, &status), MPI_SUCCESS);
    expect_eq(index, MPI_UNDEFINED);
}

static void by_waitany(MPI_Request r[WHICH], const bool bad[WHICH]) {
    one_by_one(r, bad, true);
}

static void by_testany(MPI_Request r[WHICH], const bool bad[WHICH]) {
    one_by_one(r, bad, false);
}

/* MPI may leave other requests for the next call once it has found an error. */
static void expect_statuses(int rc, int count, const int indices[], const MPI_Status statuses[],
                            const bool bad[WHICH]) {
    bool failed = class_of(rc) == MPI_ERR_IN_STATUS, some_bad = false;
    for (int i = 0; i < count; i++) {
        int which = indices ? indices[i] : i;
        some_bad |= bad[which];
        if (failed && class_of(statuses[i].MPI_ERROR) != MPI_ERR_PENDING)
            expect_error(statuses[i].MPI_ERROR, bad[which] ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    expect_eq(failed, some_bad);
    expect(failed || rc == MPI_SUCCESS);
}

static void spoil(MPI_Status statuses[WHICH]) {
    for (int i = 0; i < WHICH; i++)
        statuses[i].MPI_ERROR = 0x5a5a;
}

static void by_waitall(MPI_Request r[WHICH], const bool bad[WHICH]) {
    MPI_Status statuses[WHICH];
    spoil(statuses);
    expect_statuses(MPI_Waitall(WHICH, r, statuses), WHICH, NULL, statuses, bad);
}

static void by_testall(MPI_Request r[WHICH], const bool bad[WHICH]) {
    MPI_Status statuses[WHICH];
    int flag = 0;
    spoil(statuses);
    expect_statuses(MPI_Testall(WHICH, r, &flag, statuses), WHICH, NULL, statuses, bad);
}

static void some_by_some(MPI_Request r[WHICH], const bool bad[WHICH], bool wait) {
    MPI_Status statuses[WHICH];
    int indices[WHICH], count = 0;
    for (int left = WHICH; left > 0; left -= count) {
        spoil(statuses);
        int rc = wait ? MPI_Waitsome(WHICH, r, &count, indices, statuses)
                      : MPI_Testsome(WHICH, r, &count, indices, statuses);
        expect(count > 0 && count <= left);
        if (count <= 0 || count > left)
            return;
        expect_statuses(rc, count, indices, statuses, bad);
    }
}

static void by_waitsome(MPI_Request r[WHICH], const bool bad[WHICH]) {
    some_by_some(r, bad, true);
}

static void by_testsome(MPI_Request r[WHICH], const bool bad[WHICH]) {
    some_by_some(r, bad, false);
}

CASE(errors) {
    completer *const calls[] = {by_wait,    by_test,    by_waitany,  by_testany,
                                by_waitall, by_testall, by_waitsome, by_testsome};
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &comms[THEIRS], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    comms[OURS] = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comms[THEIRS], MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (int which = 0; which < 4; which++) {
            bool bad[WHICH] = {which & 1, which & 2};
            MPI_Request r[WHICH];
            start_pair(r, bad);
            calls[c](r, bad);
            for (int i = 0; i < WHICH; i++) /* left by a call that found an error in another request */
                MPI_Wait(&r[i], MPI_STATUS_IGNORE);
            barrier();
        }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comms[THEIRS]);
}
