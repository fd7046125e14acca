/* killed.c: ranks that repeat one kind of operation on served windows until one of them is killed
 * (test_served_kill.sh). Arguments: the kind, and a file to which each rank adds a line when it begins.
 *
 * Short operations are mixed with long ones, which take many messages. The window is in memory that Hearth allocates, or,
 * with ":created" after the kind, in memory of the program. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 40000 /* numbers of a long operation */, NUMBERS = LONG + 1 };

static int rank, size;
static MPI_Win win;
static double numbers[NUMBERS], fetched[NUMBERS];
static double *base;

static int next_rank(void) {
    return (rank + 1) % size;
}

/* Alternates between short and long. */
static int length(void) {
    static int turn;
    return turn++ % 8 ? 1 : LONG;
}

static void put(void) {
    int count = length();
    MPI_Put(numbers, count, MPI_DOUBLE, next_rank(), 0, count, MPI_DOUBLE, win);
    MPI_Win_flush(next_rank(), win);
}

static void get(void) {
    int count = length();
    MPI_Get(fetched, count, MPI_DOUBLE, next_rank(), 0, count, MPI_DOUBLE, win);
    MPI_Win_flush(next_rank(), win);
}

static void accumulate(void) {
    int count = length();
    MPI_Accumulate(numbers, count, MPI_DOUBLE, next_rank(), 0, count, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(next_rank(), win);
}

static void get_accumulate(void) {
    int count = length();
    MPI_Get_accumulate(numbers, count, MPI_DOUBLE, fetched, count, MPI_DOUBLE, next_rank(), 0, count,
                       MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(next_rank(), win);
}

static void fetch_and_op(void) {
    MPI_Fetch_and_op(numbers, fetched, MPI_DOUBLE, next_rank(), 0, MPI_SUM, win);
    MPI_Win_flush(next_rank(), win);
}

static void compare_and_swap(void) {
    long long zero = 0, old;
    MPI_Compare_and_swap(&zero, &zero, &old, MPI_LONG_LONG, next_rank(), 0, win);
    MPI_Win_flush(next_rank(), win);
}

/* Both ranks want the same lock. */
static void lock_exclusive(void) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(numbers, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win);
    MPI_Win_unlock(0, win);
}

static void lock_all(void) {
    MPI_Win_lock_all(0, win);
    MPI_Put(numbers, 1, MPI_DOUBLE, next_rank(), 8 * rank, 1, MPI_DOUBLE, win);
    MPI_Win_unlock_all(win);
}

static void fence(void) {
    int count = length();
    MPI_Win_fence(0, win);
    MPI_Put(numbers, count, MPI_DOUBLE, next_rank(), 0, count, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
}

static void post_start(void) {
    MPI_Group all;
    MPI_Win_get_group(win, &all);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    MPI_Put(numbers, 1, MPI_DOUBLE, next_rank(), 0, 1, MPI_DOUBLE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
}

static void create_and_free(void) {
    MPI_Win other;
    double *memory;
    MPI_Win_allocate(8 * LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other);
    MPI_Win_lock_all(0, other);
    MPI_Put(numbers, LONG, MPI_DOUBLE, next_rank(), 0, LONG, MPI_DOUBLE, other);
    MPI_Win_unlock_all(other);
    MPI_Win_free(&other);
}

static const struct {
    const char *name;
    void (*operate)(void);
    int locks; /* needs an epoch to all targets */
} kinds[] = {{"put", put, 1},
             {"get", get, 1},
             {"accumulate", accumulate, 1},
             {"get_accumulate", get_accumulate, 1},
             {"fetch_and_op", fetch_and_op, 1},
             {"compare_and_swap", compare_and_swap, 1},
             {"lock_exclusive", lock_exclusive, 0},
             {"lock_all", lock_all, 0},
             {"fence", fence, 0},
             {"post_start", post_start, 0},
             {"create_and_free", create_and_free, 0}};

static void open_window(int created) {
    MPI_Aint bytes = 8 * (MPI_Aint)NUMBERS;
    if (created) {
        base = calloc(NUMBERS, sizeof *base);
        MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    }
}

static void announce(const char *file) {
    FILE *f = fopen(file, "a");
    if (!f || fprintf(f, "%d\n", rank) < 0 || fclose(f) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv) {
    int provided;
    size_t letters = argc == 3 ? strcspn(argv[1], ":") : 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; letters && i < sizeof kinds / sizeof *kinds; i++) {
        if (strlen(kinds[i].name) != letters || strncmp(kinds[i].name, argv[1], letters) != 0)
            continue;
        open_window(strcmp(argv[1] + letters, ":created") == 0);
        if (kinds[i].locks)
            MPI_Win_lock_all(0, win);
        kinds[i].operate();
        announce(argv[2]);
        for (;;)
            kinds[i].operate();
    }
    fprintf(stderr, "usage: killed KIND[:created] FILE\n");
    MPI_Finalize();
    return 2;
}
