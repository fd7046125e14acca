/* check.c: begins and ends a job of tests on Global Arrays; helper functions. */
#include "check.h"

#include <stdlib.h>

int me, ranks;

/* ---- helpers ---- */

/* splitmix64: good from any seed, also from neighbouring ones. */
uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

int draw_below(uint64_t *state, int limit) {
    return (int)(draw(state) % (uint64_t)limit);
}

int draw_between(uint64_t *state, int least, int most) {
    return least + draw_below(state, most - least + 1);
}

bool turn(void) {
    static bool last;
    return last = !last;
}

void *need(size_t bytes) {
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        GA_Error("out of memory", 1);
    return memory;
}

/* ---- the job ---- */

static void initialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    GA_Initialize();
}

void (*test_begin)(int *argc, char ***argv) = initialize;
void (*test_end)(void) = GA_Terminate;

static void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    me = test_rank;
    ranks = test_size;
}

static void open_arrays(int *argc, char ***argv) {
    test_begin(argc, argv);
    if (!MA_init(C_DBL, 500000, 500000))
        GA_Error("MA_init failed", 1);
}

static void end(int status) {
    (void)status;
    test_end();
    MPI_Finalize();
}

const struct test_job test_job = {
    .member = "rank", .seconds = 100, .begin = begin, .open = open_arrays, .settle = GA_Sync, .end = end};
