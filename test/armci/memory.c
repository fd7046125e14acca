/* memory.c: tests allocations: of different sizes, of size zero, many at once, by groups, repeatedly. */
#include "test.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* ---- collectives that ARMCI calls ---- */

static int collectives;

#define SEEN __attribute__((visibility("default"))) /* by the library */

SEEN int MPI_Allgather(const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count,
                       MPI_Datatype out_type, MPI_Comm comm) {
    collectives++;
    return PMPI_Allgather(in, in_count, in_type, out, out_count, out_type, comm);
}

SEEN int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    collectives++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

SEEN int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    collectives++;
    return PMPI_Bcast(buffer, count, type, root, comm);
}

SEEN int MPI_Barrier(MPI_Comm comm) {
    collectives++;
    return PMPI_Barrier(comm);
}

/* The first allocation of a group maps its heap. After that an allocation and its free make one collective each, and
 * one more where the network accesses remote memory directly. */
CASE(a_pair_makes_three_collectives_at_most) {
    SKIP_IF_STOCK();
    void **parts = malloc((size_t)test_size * sizeof *parts);
    for (int i = 0; i < 4; i++) {
        ARMCI_Barrier();
        int before = collectives;
        expect_eq(ARMCI_Malloc(parts, i < 2 ? 4096 : test_rank == 0 ? 8 << 20 : 0), 0);
        ARMCI_Free(parts[test_rank]);
        if (i > 0)
            expect(collectives > before && collectives - before <= 3);
    }
    free(parts);
}

/* Local memory need not be allocated by ARMCI. */
CASE(own_memory_of_any_kind) {
    SKIP_IF_STOCK();
    static char fixed[100];
    char local[100], *heap = malloc(1 << 20);
    memset(heap, 7, 1 << 20);
    ARMCI_Put(heap, fixed, sizeof fixed, test_rank);
    ARMCI_Get(fixed, local, sizeof local, test_rank);
    expect_bytes(local, heap, sizeof local);
    ARMCI_Put(fixed, heap + (1 << 19), 100, test_rank);
    expect_eq(heap[(1 << 19) + 99], 7);
    free(heap);
}

/* Every rank writes to its right neighbour's part and reads it back, and its left neighbour has written to its own
 * part. */
static void use(void **parts, const size_t bytes[], int version) {
    int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    uint8_t *data = malloc(bytes[right] + 1), *back = malloc(bytes[right] + 1),
            *mine = malloc(bytes[test_rank] + 1);
    test_fill(data, bytes[right], test_rank, version);
    ARMCI_Put(data, parts[right], (int)bytes[right], right);
    ARMCI_Get(parts[right], back, (int)bytes[right], right);
    expect_bytes(back, data, bytes[right]);
    ARMCI_Barrier();
    test_fill(mine, bytes[test_rank], left, version);
    if (bytes[test_rank] > 0)
        expect_bytes(parts[test_rank], mine, bytes[test_rank]);
    ARMCI_Barrier();
    free(data);
    free(back);
    free(mine);
}

CASE(every_rank_its_own_size) {
    void **parts = malloc((size_t)test_size * sizeof *parts);
    size_t *bytes = malloc((size_t)test_size * sizeof *bytes);
    for (int round = 0; round < 6; round++) {
        for (int r = 0; r < test_size; r++)
            bytes[r] = (size_t[]){1, 0, 4097, 100000, 8, 65536}[(r + round) % 6];
        expect_eq(ARMCI_Malloc(parts, (armci_size_t)bytes[test_rank]), 0);
        for (int r = 0; r < test_size; r++)
            expect_eq(parts[r] == NULL, bytes[r] == 0);
        use(parts, bytes, round);
        ARMCI_Free(parts[test_rank]);
    }
    free(parts);
    free(bytes);
}

CASE(nobody_wants_any) {
    void **parts = malloc((size_t)test_size * sizeof *parts);
    expect_eq(ARMCI_Malloc(parts, 0), 0);
    for (int r = 0; r < test_size; r++)
        expect(parts[r] == NULL);
    ARMCI_Free(parts[test_rank]);
    free(parts);
}

CASE(many_at_a_time_cost_no_descriptors) {
    enum { MANY = 100, BYTES = 5000 };
    void ***all = malloc(MANY * sizeof *all);
    size_t *bytes = malloc((size_t)test_size * sizeof *bytes);
    for (int r = 0; r < test_size; r++)
        bytes[r] = BYTES;
    int descriptors = 0;
    for (int i = 0; i < MANY; i++) {
        all[i] = malloc((size_t)test_size * sizeof **all);
        expect_eq(ARMCI_Malloc(all[i], BYTES), 0);
        if (i == 0)
            descriptors = open_descriptors();
    }
    if (test_ours)
        expect_eq(open_descriptors(), descriptors);
    for (int i = 0; i < MANY; i += 7)
        use(all[i], bytes, i);
    for (int i = 0; i < MANY; i++) { /* in another order than they were made */
        int which = (i * 37) % MANY;
        ARMCI_Free(all[which][test_rank]);
        free(all[which]);
    }
    free(all);
    free(bytes);
}

/* Freed memory is gone. Memory allocated afterwards may hold any data, but is usable. */
CASE(again_and_again) {
    void **parts = malloc((size_t)test_size * sizeof *parts);
    size_t *bytes = malloc((size_t)test_size * sizeof *bytes);
    for (int r = 0; r < test_size; r++)
        bytes[r] = 300000;
    for (int round = 0; round < 20; round++) {
        expect_eq(ARMCI_Malloc(parts, 300000), 0);
        if (round % 5 == 0)
            use(parts, bytes, round);
        ARMCI_Free(parts[test_rank]);
    }
    free(parts);
    free(bytes);
}

/* Ranks of one parity allocate. On some nodes the process with the helper is not among them. */
CASE(a_group_allocates) {
    int members = 0, *list = malloc((size_t)test_size * sizeof *list);
    for (int r = test_rank % 2; r < test_size; r += 2)
        list[members++] = r;
    ARMCI_Group group;
    ARMCI_Group_create(members, list, &group);
    void **parts = malloc((size_t)members * sizeof *parts);
    expect_eq(ARMCI_Malloc_group(parts, 1000, &group), 0);
    int me = test_rank / 2, right = (me + 1) % members;
    uint8_t data[1000], back[1000];
    test_fill(data, sizeof data, test_rank, 1);
    ARMCI_Put(data, parts[right], sizeof data, list[right]);
    ARMCI_Get(parts[right], back, sizeof back, list[right]);
    expect_bytes(back, data, sizeof data);
    ARMCI_AllFence();
    armci_msg_group_barrier(&group);
    test_fill(data, sizeof data, list[(me + members - 1) % members], 1);
    expect_bytes(parts[me], data, sizeof data);
    ARMCI_Free_group(parts[me], &group);
    ARMCI_Group_free(&group);
    free(parts);
    free(list);
    ARMCI_Barrier();
}

CASE(by_the_name_of_a_device) {
    void **parts = malloc((size_t)test_size * sizeof *parts);
    expect_eq(ARMCI_Malloc_memdev(parts, 64, "dram"), 0);
    ARMCI_PutValueInt(test_rank, parts[(test_rank + 1) % test_size], (test_rank + 1) % test_size);
    ARMCI_Barrier();
    expect_eq(*(int *)parts[test_rank], (test_rank + test_size - 1) % test_size);
    ARMCI_Free_memdev(parts[test_rank]);
    free(parts);
}

CASE(local_memory) {
    char *p = ARMCI_Malloc_local(1000);
    if (expect(p != NULL)) {
        memset(p, 1, 1000);
        expect_eq(ARMCI_Free_local(p), 0);
    }
}

/* Patches and bytes of local memory. */
CASE(local_copies) {
    int grid[6][8], rows[12], back[6][8] = {{0}}, strides[] = {sizeof grid[0]},
                              counts[] = {3 * sizeof(int), 4};
    for (int i = 0; i < 48; i++)
        grid[i / 8][i % 8] = i;
    armci_write_strided(&grid[1][2], 1, strides, counts, (char *)rows);
    for (int i = 0; i < 12; i++)
        expect_eq(rows[i], 8 * (1 + i / 3) + 2 + i % 3);
    armci_read_strided(&back[1][2], 1, strides, counts, (char *)rows);
    for (int i = 0; i < 48; i++) {
        int inside = i / 8 >= 1 && i / 8 < 5 && i % 8 >= 2 && i % 8 < 5;
        expect_eq(back[i / 8][i % 8], inside ? i : 0);
    }
    ARMCI_Access_begin(grid);
    ARMCI_Copy(rows, grid, sizeof rows);
    ARMCI_Access_end(grid);
    expect_bytes(grid, rows, sizeof rows);
}

/* A handle that nobody waits for has no effect after ARMCI_Finalize, also if operations reuse its place. */
CASE(handles_of_an_earlier_session) {
    SKIP_IF_STOCK();
    int to = (test_rank + 1) % test_size, words[2] = {0};
    void **parts = malloc((size_t)test_size * sizeof *parts);
    armci_hdl_t handles[2];
    for (int session = 0; session < 2; session++) {
        expect_eq(ARMCI_Malloc(parts, 1000), 0);
        ARMCI_INIT_HANDLE(&handles[session]);
        ARMCI_NbGet(parts[to], &words[session], sizeof words[0], to, &handles[session]);
        if (session == 0) {
            ARMCI_Finalize();
            expect_eq(ARMCI_Init(), 0);
        }
    }
    expect(handles[1].target == 0 || memcmp(&handles[0], &handles[1], sizeof handles[0]));
    ARMCI_Wait(&handles[1]);
    ARMCI_Free(parts[test_rank]);
    free(parts);
}

/* Calls are counted: the last ARMCI_Finalize ends it, and ARMCI_Init can begin again. */
CASE(begun_and_ended_several_times) {
    SKIP_IF_STOCK();
    expect_eq(ARMCI_Init(), 0);
    ARMCI_Finalize();
    expect_eq(ARMCI_Initialized(), 1);
    void **parts = malloc((size_t)test_size * sizeof *parts);
    expect_eq(ARMCI_Malloc(parts, 1000), 0); /* neither freed nor destroyed before ARMCI_Finalize */
    expect_eq(ARMCI_Create_mutexes(2), 0);
    ARMCI_PutValueInt(1, parts[(test_rank + 1) % test_size], (test_rank + 1) % test_size);
    ARMCI_Finalize();
    expect_eq(ARMCI_Initialized(), 0);
    expect_eq(ARMCI_Init(), 0);
    expect_eq(ARMCI_Create_mutexes(1), 0);
    expect_eq(ARMCI_Destroy_mutexes(), 0);
    size_t *bytes = malloc((size_t)test_size * sizeof *bytes);
    for (int r = 0; r < test_size; r++)
        bytes[r] = 100;
    expect_eq(ARMCI_Malloc(parts, 100), 0);
    use(parts, bytes, 77);
    ARMCI_Free(parts[test_rank]);
    free(parts);
    free(bytes);
}
