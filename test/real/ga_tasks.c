/* ga_tasks.c: a program on Global Arrays, of the kind that the library under test is used with.
 *
 * Three matrices of whole numbers are distributed over the ranks. Each round has three phases, each followed by a
 * ga_sync:
 *
 *      multiply    C = A B, by tasks drawn from a shared counter (ga_read_inc): a task is a row of blocks of C. For
 *                  each block it gets the blocks of A and B and adds the product to C by ga_acc.
 *      look        two passes over the blocks of C, all ranks over all of them: the largest element, then the number
 *                  of those above half of that.
 *      update      A = C mod p, each rank the part of its neighbour, by get and put; B = B + 1 mod p, each rank its own
 *                  part, by plain stores.
 *
 * Every element is then compared with a serial computation; the numbers are small enough to be exact in any order. So
 * a get that returns data overwritten in the round before gives a wrong result.
 *
 * The program also counts how many of its gets of remote memory repeat one that was made since the last sync event on
 * this rank: since the last draw of a task or the last sync, and, if draws were not sync events, since the last sync.
 * A cache may serve these. A block that is on two ranks counts as one get from each. */
#include <ga.h>
#include <macdecls.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 245, BLOCKS = 7, SIZE = N / BLOCKS, P = 1009 };
enum { A, B, C, ARRAYS };

static int me, ranks;
static int arrays[ARRAYS], counter;
static double serial[ARRAYS][N][N];
static long remote, since_draw, since_sync; /* gets, and repeats among them */
static long draw_time = 1, sync_time = 1;   /* number of the last draw or sync, and of the last sync */
static long got[ARRAYS][BLOCKS][BLOCKS];    /* draw_time at the last get of a block */
static double tile_a[SIZE][SIZE], tile_b[SIZE][SIZE], tile_c[SIZE][SIZE];

static void *need(void *memory) {
    if (!memory)
        GA_Error("ga_tasks: out of memory", 1);
    return memory;
}

/* ---- counting ---- */

static void note_sync(void) {
    GA_Sync();
    sync_time = ++draw_time;
}

static long count_remote(int array, int lo[2], int hi[2]) {
    int *map = need(malloc(4 * (size_t)ranks * sizeof *map)),
        *owners = need(malloc((size_t)ranks * sizeof *owners));
    long n = 0;
    int pieces = NGA_Locate_region(array, lo, hi, map, owners);
    for (int i = 0; i < pieces; i++)
        n += owners[i] != me;
    free(map);
    free(owners);
    return n;
}

static void block(int row, int column, int lo[2], int hi[2]) {
    lo[0] = row * SIZE, lo[1] = column * SIZE;
    hi[0] = lo[0] + SIZE - 1, hi[1] = lo[1] + SIZE - 1;
}

static void get_block(int which, int row, int column, double tile[SIZE][SIZE]) {
    int lo[2], hi[2], ld[1] = {SIZE};
    block(row, column, lo, hi);
    long pieces = count_remote(arrays[which], lo, hi), *last = &got[which][row][column];
    remote += pieces;
    since_draw += *last == draw_time ? pieces : 0;
    since_sync += *last >= sync_time ? pieces : 0;
    *last = draw_time;
    NGA_Get(arrays[which], lo, hi, tile, ld);
}

/* ---- the phases ---- */

static void multiply_tiles(void) {
    for (int i = 0; i < SIZE; i++)
        for (int k = 0; k < SIZE; k++)
            for (int j = 0; j < SIZE; j++)
                tile_c[i][j] += tile_a[i][k] * tile_b[k][j];
}

static void do_task(int row) {
    double one = 1;
    int lo[2], hi[2], ld[1] = {SIZE};
    for (int column = 0; column < BLOCKS; column++) {
        memset(tile_c, 0, sizeof tile_c);
        for (int k = 0; k < BLOCKS; k++) {
            get_block(A, row, k, tile_a);
            get_block(B, k, column, tile_b);
            multiply_tiles();
        }
        block(row, column, lo, hi);
        NGA_Acc(arrays[C], lo, hi, tile_c, ld, &one);
    }
}

static long draw(void) {
    int zero[1] = {0};
    long task = NGA_Read_inc(counter, zero, 1);
    draw_time++;
    return task;
}

static void multiply(void) {
    GA_Zero(arrays[C]);
    GA_Zero(counter);
    note_sync();
    for (long task; (task = draw()) < BLOCKS;)
        do_task((int)task);
    note_sync();
}

/* The largest element, and the number of those above `limit`. */
static double pass_over(double limit, long *above) {
    double largest = 0;
    *above = 0;
    for (int b = 0; b < BLOCKS * BLOCKS; b++) {
        get_block(C, b / BLOCKS, b % BLOCKS, tile_c);
        for (int i = 0; i < SIZE * SIZE; i++) {
            double value = tile_c[i / SIZE][i % SIZE];
            largest = value > largest ? value : largest;
            *above += value > limit;
        }
    }
    return largest;
}

static long look(double *largest) {
    long above;
    *largest = pass_over(0, &above);
    pass_over(*largest / 2, &above);
    note_sync();
    return above;
}

static void update_neighbour(void) {
    int lo[2], hi[2], neighbour = (me + 1) % ranks;
    NGA_Distribution(arrays[C], neighbour, lo, hi);
    int rows = hi[0] - lo[0] + 1, columns = hi[1] - lo[1] + 1, ld[1] = {columns};
    if (lo[0] < 0 || rows <= 0 || columns <= 0)
        return;
    double *part = need(malloc((size_t)rows * (size_t)columns * sizeof *part));
    long pieces = count_remote(arrays[C], lo, hi);
    remote += pieces, since_draw += pieces, since_sync += pieces; /* count_wrong has just got them */
    NGA_Get(arrays[C], lo, hi, part, ld);
    for (int i = 0; i < rows * columns; i++)
        part[i] = fmod(part[i], P);
    NGA_Put(arrays[A], lo, hi, part, ld);
    free(part);
}

static void update_own(void) {
    int lo[2], hi[2], ld[1];
    double *part;
    NGA_Distribution(arrays[B], me, lo, hi);
    if (lo[0] < 0 || hi[0] < lo[0])
        return;
    NGA_Access(arrays[B], lo, hi, &part, ld);
    for (int i = 0; i <= hi[0] - lo[0]; i++)
        for (int j = 0; j <= hi[1] - lo[1]; j++)
            part[i * ld[0] + j] = fmod(part[i * ld[0] + j] + 1, P);
    NGA_Release_update(arrays[B], lo, hi);
}

/* ---- the expected result ---- */

static void multiply_serially(void) {
    memset(serial[C], 0, sizeof serial[C]);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                serial[C][i][j] += serial[A][i][k] * serial[B][k][j];
}

static void update_serially(void) {
    for (int i = 0; i < N * N; i++) {
        serial[A][i / N][i % N] = fmod(serial[C][i / N][i % N], P);
        serial[B][i / N][i % N] = fmod(serial[B][i / N][i % N] + 1, P);
    }
}

static long count_above(double limit) {
    long above = 0;
    for (int i = 0; i < N * N; i++)
        above += serial[C][i / N][i % N] > limit;
    return above;
}

static long count_wrong(int which) {
    static double all[N][N];
    int lo[2] = {0, 0}, hi[2] = {N - 1, N - 1}, ld[1] = {N};
    long wrong = 0;
    remote += count_remote(arrays[which], lo, hi);
    NGA_Get(arrays[which], lo, hi, all, ld);
    for (int i = 0; i < N * N; i++)
        wrong += all[i / N][i % N] != serial[which][i / N][i % N];
    return wrong;
}

/* ---- the program ---- */

static void create(void) {
    int dims[2] = {N, N}, one[1] = {1}, lo[2] = {0, 0}, hi[2] = {N - 1, N - 1}, ld[1] = {N};
    char *names[ARRAYS] = {"A", "B", "C"};
    for (int a = 0; a < ARRAYS; a++)
        arrays[a] = NGA_Create(C_DBL, 2, dims, names[a], NULL);
    counter = NGA_Create(C_LONG, 1, one, "counter", NULL);
    for (int i = 0; i < N * N; i++) {
        serial[A][i / N][i % N] = i * 7 % P;
        serial[B][i / N][i % N] = i * 13 % P;
    }
    for (int a = A; a <= B && me == 0; a++)
        NGA_Put(arrays[a], lo, hi, serial[a], ld);
    note_sync();
}

static long run_round(int round) {
    double largest, limit;
    multiply();
    multiply_serially();
    long above = look(&largest);
    limit = largest / 2;
    long wrong = count_wrong(C);
    if (above != count_above(limit))
        wrong++;
    update_neighbour(); /* writes to A while others still read C */
    update_own();
    note_sync();
    update_serially();
    wrong += count_wrong(A) + count_wrong(B);
    note_sync();
    if (wrong)
        printf("ga_tasks: FAILED: rank %d, round %d: %ld results are wrong\n", me, round, wrong);
    return wrong;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    GA_Initialize();
    if (!MA_init(C_DBL, 1000000, 1000000))
        GA_Error("ga_tasks: MA_init failed", 1);
    me = GA_Nodeid();
    ranks = GA_Nnodes();
    long sums[4] = {0};
    create();
    const char *tier = getenv("HEARTH_TEST_TIER");
    int rounds = tier && strcmp(tier, "quick") == 0 ? 2 : 3;
    for (int round = 0; round < rounds; round++)
        sums[3] += run_round(round);
    sums[0] = remote, sums[1] = since_draw, sums[2] = since_sync;
    GA_Lgop(sums, 4, "+");
    if (me == 0)
        printf("ga_tasks: %ld remote gets, %ld repeat since the last draw or sync, %ld since the last sync; "
               "results %s\n",
               sums[0], sums[1], sums[2], sums[3] ? "WRONG" : "right");
    for (int a = 0; a < ARRAYS; a++)
        GA_Destroy(arrays[a]);
    GA_Destroy(counter);
    GA_Terminate();
    MPI_Finalize();
    return sums[3] != 0;
}
