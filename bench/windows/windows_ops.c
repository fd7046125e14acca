/* windows_ops.c: one-sided operations inside a node or between nodes, executed by the host MPI and by Hearth.
 *
 * A plain MPI program on two ranks; windows.sh runs it with the library under test. For each kind of memory it makes two
 * windows, one with the info key hearth_windows=host and one with hearth_windows=serve, and alternates rounds between
 * them. Neither is cached (clampi_mode=off). Rank 0 measures; rank 1 waits in MPI_Bcast, so that the host MPI
 * progresses there, or computes.
 *
 *      get, put, fetch_and_op, compare_and_swap, accumulate    8 bytes, and MPI_Win_flush
 *      get_16, put_16       16 operations of 8 bytes, and one MPI_Win_flush
 *      get_1m               1 MB; the limit is memcpy from own memory in the same round, but for memory of malloc
 *      get_64k              64 KB
 *      get_64k_visible      what it adds to a computation of rank 0 that is a quarter longer, between MPI_Get and the flush
 *      get_rows             64 KB in rows of 8 bytes, 16 bytes apart at the target
 *      accumulate_64k       8192 doubles; the limit is memcpy of as many bytes, but for memory of malloc
 *      lock_put             MPI_Win_lock (exclusive), put of 8 bytes, MPI_Win_unlock
 *      create               MPI_Win_allocate or MPI_Win_create, and MPI_Win_free
 *      get_computing_p50, get_computing_p99
 *                           8 bytes from a rank that calls MPI only every 100 ms, after a pause of some ms; between nodes the limit
 *                           is a thread of that rank that only receives 8 bytes over TCP and sends them back
 *      get_burst_p99        the same without a pause after the get, or message to that thread, before
 *
 * Memory of malloc is mapped by its owner alone. The limit there is the kernel's copy of the same bytes by process_vm_readv
 * and, for puts and updates, process_vm_writev. It is measured before the operations in every second round. Each
 * measurement follows an execution that is not timed, so that all find their data and code in the same caches.
 *
 * With --nodes each rank is a node (windows.sh sets HEARTH_NODE_RANKS=1 and makes the MPI use the network), bound to a core
 * of its own. The limit is a request and an answer of the same lengths over bare UCX, by two ranks that poll for them. In
 * place of the kind of memory stands what rank 1 does during served operations:
 *      nodes                it sleeps, so Hearth's helper has the core for itself, as on a node with a core to spare
 *      polling              it waits in MPI_Bcast, as it always does for the host MPI; the helper shares the core
 *
 * Prints: operation,memory,rounds,host,served,limit,ratio,low,high: median ns per operation; the ratio is that of host to
 * served in the same round, with its 95 % interval. Empty: not measured; host also where the MPI library crashes. The
 * last operations have no rounds: their percentiles are those of single operations. Ends with an error if an operation has a
 * wrong result. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "sample.h"
#include "windows_each.h"
#include "windows_echo.h"
#include "windows_ucx.h"
#include "windows_vm.h"

enum { MOST_ROUNDS = 400 };
enum { COMPUTING = 10, PAGE = 4096 };
enum way { HOST, SERVED, WAYS };

int rank;
static double limit;        /* seconds per case; COMPUTING times as long for a target that computes */
static double compute_time; /* seconds that rank 1 computes without calling MPI */

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void spin(double seconds) {
    for (double end = now() + seconds; now() < end;)
        ;
}

double ns_since(double start, int executions) {
    return (now() - start) * 1e9 / executions;
}

void check(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "windows: wrong result of %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- memory and windows ---- */

enum kind { ALLOCATE, ALLOC_MEM, MALLOC, NODES, POLLING };
static const char *const memory_names[] = {"allocate", "alloc_mem", "malloc", "nodes", "polling"};
bool between_nodes, has_bare, only_owner_maps;

static enum kind kind;
static void *block[WAYS];  /* as allocated; not for MPI_Win_allocate */
static char *memory[WAYS]; /* of the windows, aligned to pages: MPICH 4.0 needs 16 bytes */
static MPI_Win windows[WAYS];
static MPI_Info infos[WAYS];
char *buffer, *source;
MPI_Datatype every_second;

static void window_open(enum way w, MPI_Win *win) {
    if (kind == ALLOCATE || kind >= NODES)
        MPI_Win_allocate(MEGABYTE, 1, infos[w], MPI_COMM_WORLD, &memory[w], win);
    else
        MPI_Win_create(memory[w], MEGABYTE, 1, infos[w], MPI_COMM_WORLD, win);
}

static void block_open(enum way w) {
    if (kind == ALLOCATE || kind >= NODES)
        return;
    if (kind == ALLOC_MEM)
        MPI_Alloc_mem(MEGABYTE + PAGE, infos[w], &block[w]);
    else
        block[w] = need(malloc(MEGABYTE + PAGE));
    memory[w] = (char *)(((uintptr_t)block[w] + PAGE - 1) / PAGE * PAGE);
}

static void block_close(enum way w) {
    if (kind == ALLOC_MEM)
        MPI_Free_mem(block[w]);
    else if (kind == MALLOC)
        free(block[w]);
}

static void fill(enum way w) { /* integers, except for the half that holds doubles */
    int64_t *numbers = (int64_t *)memory[w];
    double *reals = (double *)(memory[w] + REALS);
    for (int i = 0; i < MEGABYTE / 16; i++) {
        numbers[i] = FIRST + i;
        reals[i] = i;
    }
}

static void open_kind(enum kind k) {
    kind = k;
    for (enum way w = HOST; w < WAYS; w++) {
        block_open(w);
        window_open(w, &windows[w]);
        fill(w);
    }
    only_owner_maps = kind == MALLOC;
    vm_open(rank, memory[SERVED]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_kind(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (enum way w = HOST; w < WAYS; w++) {
        MPI_Win_free(&windows[w]);
        block_close(w);
    }
}

/* ---- rounds ---- */

static double create(enum way w) {
    char *kept = memory[w];
    MPI_Win win;
    double start = now();
    window_open(w, &win);
    MPI_Win_free(&win);
    double ns = ns_since(start, 1);
    memory[w] = kept;
    return ns;
}

/* Open MPI 4 crashes at the target in MPI_Compare_and_swap on memory of MPI_Win_allocate. */
static bool is_broken(const struct operation *o, enum way w) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
    return w == HOST && kind == ALLOCATE && strcmp(o->name, "compare_and_swap") == 0;
#else
    return (void)o, (void)w, false;
#endif
}

/* Rank 1 waits for rank 0. */
static void sleep_until_told(void) {
    const struct timespec nap = {.tv_nsec = 300000};
    if (rank == 0)
        MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    for (int told = 0; rank == 1 && !told;) {
        nanosleep(&nap, NULL);
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
    }
    if (rank == 1)
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double measure(const struct operation *o, enum way w) {
    if (is_broken(o, w))
        return 0;
    if (!o->execute)
        return create(w);
    bool sleeps = kind == NODES && w == SERVED;
    if (sleeps)
        MPI_Barrier(MPI_COMM_WORLD); /* until then rank 1 serves the host's operations here */
    if (rank == 0)
        o->execute(windows[w]);
    double ns = rank == 0 ? o->execute(windows[w]) : 0;
    if (sleeps)
        sleep_until_told();
    return ns;
}

static double measure_limit(const struct operation *o) {
    if (has_bare)
        MPI_Barrier(MPI_COMM_WORLD); /* until then rank 1 serves the host's operations here */
    return o->limit ? o->limit() : 0;
}

/* Called by both ranks. Rank 1 waits here, in MPI_Bcast, while rank 0 measures. */
static bool is_over(size_t rounds, double begun) {
    int over = now() - begun > limit || rounds >= MOST_ROUNDS;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return over;
}

static void print_cell(double value, int digits) {
    if (value > 0)
        printf(",%.*f", digits, value);
    else
        printf(",");
}

static void print(const char *name, size_t rounds, double host, double served, double best,
                  struct median ratio) {
    printf("%s,%s,%zu", name, memory_names[kind], rounds);
    print_cell(host, 1);
    print_cell(served, 1);
    print_cell(best, 1);
    print_cell(ratio.value, 4);
    print_cell(ratio.low, 4);
    print_cell(ratio.high, 4);
    printf("\n");
    fflush(stdout);
}

static void measure_rounds(const struct operation *o) {
    struct samples times[WAYS] = {0}, ratios = {0}, best = {0};
    for (int i = 0; i < 2; i++) /* warm-up: types, lists and pages that are made at first use */
        for (enum way w = HOST; w < WAYS; w++)
            measure(o, w);
    for (double begun = now(); !is_over(ratios.count, begun);) {
        bool limit_first = ratios.count % 2;
        if (limit_first)
            samples_add(&best, measure_limit(o));
        double host = measure(o, HOST), served = measure(o, SERVED);
        if (!limit_first)
            samples_add(&best, measure_limit(o));
        samples_add(&times[HOST], host);
        samples_add(&times[SERVED], served);
        samples_add(&ratios, served > 0 ? host / served : 0);
    }
    if (rank == 0)
        print(o->name, ratios.count, samples_median(&times[HOST]).value, samples_median(&times[SERVED]).value,
              samples_median(&best).value, samples_median(&ratios));
    samples_free(&times[HOST]);
    samples_free(&times[SERVED]);
    samples_free(&ratios);
    samples_free(&best);
}

static void lock_all(void) {
    for (enum way w = HOST; rank == 0 && w < WAYS; w++)
        MPI_Win_lock_all(0, windows[w]);
}

static void unlock_all(void) {
    for (enum way w = HOST; rank == 0 && w < WAYS; w++)
        MPI_Win_unlock_all(windows[w]);
}

static void run(const struct operation *o) {
    if (!o->locks)
        lock_all();
    measure_rounds(o);
    if (!o->locks)
        unlock_all();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- a target that computes ---- */

static void compute_until_told(void) {
    for (int told = 0; !told;) {
        spin(compute_time);
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double get_once(MPI_Win win) {
    int64_t value = 0;
    double start = now();
    MPI_Get(&value, 1, MPI_INT64_T, 1, 64, 1, MPI_INT64_T, win);
    MPI_Win_flush(1, win);
    double ns = ns_since(start, 1);
    check(value == FIRST + 8, "MPI_Get from a target that computes");
    return ns;
}

/* How long gets take that follow a pause, and those that follow another operation at once. */
struct get_times {
    struct samples ways[WAYS], best;
};
enum pace { ALONE, BURST, PACES };

/* Returns whether the next operation follows the last one at once. */
static enum pace pause_for(struct random *random) {
    enum { PAUSES = 5 };
    uint64_t pauses = random_below(random, PAUSES);
    spin(compute_time / 50 * (double)pauses);
    return pauses ? ALONE : BURST;
}

/* Gets begin at any time of the target's interval. A get that waits for the target takes an interval, so there are few
 * of them. */
static void get_alternately(struct get_times times[PACES], bool has_echo) {
    enum { EACH = 20 };
    struct random random;
    random_seed(&random, 1);
    for (double begun = now(); now() - begun < COMPUTING * limit;)
        for (int i = 0; i <= EACH; i++) {
            enum way w = i ? SERVED : HOST;
            enum pace pace = pause_for(&random);
            if (w == HOST) /* it waits for the target in any case */
                pace = ALONE;
            samples_add(&times[pace].ways[w], get_once(windows[w]));
            if (w == HOST || !has_echo)
                continue;
            pace = pause_for(&random);
            samples_add(&times[pace].best, echo_once());
        }
}

static void print_computing(const char *name, struct get_times *t, double share) {
    double host = samples_at(&t->ways[HOST], share), served = samples_at(&t->ways[SERVED], share),
           ratio = served > 0 ? host / served : 0;
    print(name, t->ways[SERVED].count, host, served, t->best.count ? samples_at(&t->best, share) : 0,
          (struct median){ratio, ratio, ratio});
}

static void run_computing(void) {
    struct get_times times[PACES] = {0};
    bool has_echo = between_nodes && echo_open(rank);
    lock_all();
    for (enum way w = HOST; rank == 0 && w < WAYS; w++) /* acquires the lock, and opens connections */
        get_once(windows[w]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        get_alternately(times, has_echo);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        print_computing("get_computing_p50", &times[ALONE], 0.5);
        print_computing("get_computing_p99", &times[ALONE], 0.99);
        print_computing("get_burst_p99", &times[BURST], 0.99);
    } else {
        compute_until_told();
    }
    unlock_all();
    MPI_Barrier(MPI_COMM_WORLD);
    if (has_echo)
        echo_close();
    for (enum pace pace = ALONE; pace < PACES; pace++) {
        samples_free(&times[pace].ways[HOST]);
        samples_free(&times[pace].ways[SERVED]);
        samples_free(&times[pace].best);
    }
}

/* ---- all of them ---- */

static void open_all(void) {
    static const char *const values[WAYS] = {"host", "serve"};
    for (enum way w = HOST; w < WAYS; w++) {
        MPI_Info_create(&infos[w]);
        MPI_Info_set(infos[w], "hearth_windows", values[w]);
        MPI_Info_set(infos[w], "clampi_mode", "off");
    }
    buffer = need(calloc(1, MEGABYTE));
    source = need(
        aligned_alloc(PAGE, MEGABYTE)); /* as the windows' memory: the time of memcpy depends on alignment */
    for (int i = 0; i < MEGABYTE / 8; i++)
        ((double *)source)[i] = 1;
    MPI_Type_vector(ROWS, 1, 2, MPI_DOUBLE, &every_second);
    MPI_Type_commit(&every_second);
}

static void close_all(void) {
    MPI_Type_free(&every_second);
    for (enum way w = HOST; w < WAYS; w++)
        MPI_Info_free(&infos[w]);
    free(buffer);
    free(source);
}

/* Two ranks on one machine that play two nodes. Without this the system may run both, and a helper, on one core. */
static void bind_to_core(void) {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return;
    for (int core = 0, seen = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET((size_t)core, &allowed) && seen++ == rank)
            CPU_SET((size_t)core, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv) {
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "windows_ops [--milliseconds N] [--compute N] [--nodes 1]   on two ranks; see the "
                        "head of windows_ops.c\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    limit = (double)option(argc, argv, "--milliseconds", 200) / 1000;
    compute_time = (double)option(argc, argv, "--compute", 100) / 1000;
    between_nodes = option(argc, argv, "--nodes", 0) != 0;
    if (between_nodes)
        bind_to_core();
    open_all();
    has_bare = between_nodes && bare_open(rank);
    for (enum kind k = between_nodes ? NODES : ALLOCATE; k <= (between_nodes ? POLLING : MALLOC); k++) {
        open_kind(k);
        for (size_t i = 0; i < operation_count; i++)
            run(&operations[i]);
        if (k != POLLING) /* the same as before */
            run_computing();
        close_kind();
    }
    if (has_bare)
        bare_close();
    close_all();
    MPI_Finalize();
    return 0;
}
