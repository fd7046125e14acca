/* job.c: tests initialisation and attaching, the queries before and after them, and errors that are returned as
 * codes. timeout: 60 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vgasnet.h>

static int rank, size, wrong;

static void expect_at(int line, const char *text, long long got, long long want) {
    if (got == want)
        return;
    fprintf(stderr, "node %d: job.c:%d: expected %s: %lld, %lld\n", rank, line, text, got, want);
    wrong++;
}
#define expect_eq(got, want) expect_at(__LINE__, #got " == " #want, (long long)(got), (long long)(want))
#define expect(x)            expect_at(__LINE__, #x, !!(x), 1)

static int calls[4];

static void first(gasnet_token_t token) {
    (void)token;
    calls[0]++;
}

static void second(gasnet_token_t token, gasnet_handlerarg_t a) {
    (void)token;
    calls[1] += a;
}

static void third(gasnet_token_t token) {
    (void)token;
    calls[2]++;
}

static void (*as_entry(void (*fn)(gasnet_token_t)))(void) {
    return (void (*)(void))fn;
}

/* ---- before ---- */

static void nothing_yet(void) {
    gasnet_seginfo_t s;
    gasnet_nodeinfo_t n;
    expect_eq(gasnet_attach(NULL, 0, 0, 0), GASNET_ERR_NOT_INIT);
    expect_eq(gasnet_getSegmentInfo(&s, 1), GASNET_ERR_NOT_INIT);
    expect_eq(gasnet_getNodeInfo(&n, 1), GASNET_ERR_NOT_INIT);
    expect_eq(gasnet_AMPoll(), GASNET_ERR_NOT_INIT);
    expect_eq(gasnet_AMRequestShort0(0, 200), GASNET_ERR_NOT_INIT);
    expect(gasnet_getenv("PATH") != NULL);
    expect(gasnet_getenv("no such variable") == NULL);
}

static void begun(void) {
    gasnet_seginfo_t s;
    expect_eq(gasnet_init(NULL, NULL), GASNET_ERR_NOT_INIT);
    expect_eq(gasnet_getSegmentInfo(&s, 1), GASNET_ERR_NOT_INIT);
    expect_eq(gasnet_AMPoll(), GASNET_ERR_NOT_INIT);
    expect(rank < size && size == (int)vgasnet_nodes() && rank == (int)vgasnet_mynode());
    expect(gasnet_getMaxLocalSegmentSize() >= gasnet_getMaxGlobalSegmentSize());
    expect(gasnet_getMaxGlobalSegmentSize() > 0);
    expect_eq(gasnet_getMaxLocalSegmentSize() % GASNET_PAGESIZE, 0);
    expect_eq(gasnet_getMaxGlobalSegmentSize() % GASNET_PAGESIZE, 0);
}

static void where_nodes_are(void) {
    gasnet_nodeinfo_t *n = calloc((size_t)size, sizeof *n);
    const char *most = getenv("HEARTH_NODE_RANKS");
    int ranks = most && atoi(most) > 0 ? atoi(most) : size;
    expect_eq(gasnet_getNodeInfo(n, size), GASNET_OK);
    for (int i = 0; i < size; i++) {
        expect_eq(n[i].host, n[0].host); /* all ranks run on one machine */
        expect_eq(n[i].supernode == n[rank].supernode, i / ranks == rank / ranks);
    }
    expect_eq(gasnet_getNodeInfo(n, 0), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_getNodeInfo(NULL, size), GASNET_ERR_BAD_ARG);
    free(n);
}

/* ---- invalid tables and sizes ---- */

static int attach_with(int index, int other, uintptr_t bytes) {
    gasnet_handlerentry_t table[] = {{(gasnet_handler_t)index, as_entry(first)},
                                     {(gasnet_handler_t)other, as_entry(third)}};
    return gasnet_attach(table, 2, bytes, 0);
}

static void cannot_attach(void) {
    gasnet_handlerentry_t none[] = {{0, NULL}};
    expect_eq(attach_with(127, 0, 0), GASNET_ERR_BAD_ARG);
    expect_eq(attach_with(1, 0, 0), GASNET_ERR_BAD_ARG);
    expect_eq(attach_with(200, 200, 0), GASNET_ERR_BAD_ARG);
    expect_eq(attach_with(0, 0, GASNET_PAGESIZE + 1), GASNET_ERR_BAD_ARG);
    expect_eq(attach_with(0, 0, gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_attach(none, 1, 0, 0), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_attach(NULL, 3, 0, 0), GASNET_ERR_BAD_ARG);
    expect_eq(gasnet_attach(NULL, -1, 0, 0), GASNET_ERR_BAD_ARG);
    /* An error of one node is returned on all nodes, so that none continues alone. */
    expect_eq(attach_with(rank == 0 ? 5 : 128, 0, 0), GASNET_ERR_BAD_ARG);
}

/* ---- attached ---- */

static gasnet_handlerentry_t table[] = {{0, NULL}, {128, NULL}, {0, NULL}, {130, NULL}};

static void attach(void) {
    table[0].fnptr = as_entry(first);
    table[1].fnptr = (void (*)(void))second;
    table[2].fnptr = as_entry(third);
    table[3].fnptr = as_entry(first);
    /* Node 1 has no segment, the last node a larger one. */
    uintptr_t bytes = rank == 1 ? 0 : rank == size - 1 ? 5 * GASNET_PAGESIZE : GASNET_PAGESIZE;
    expect_eq(gasnet_attach(table, 4, bytes, GASNET_PAGESIZE), GASNET_OK);
    expect_eq(table[0].index, 129); /* the lowest that is not used by the others */
    expect_eq(table[2].index, 131);
    expect_eq(gasnet_attach(table, 4, 0, 0), GASNET_ERR_NOT_INIT);
}

static void segments(void) {
    gasnet_seginfo_t *s = calloc((size_t)size, sizeof *s), alone;
    expect_eq(vgasnet_getSegmentInfo(s, size), GASNET_OK);
    for (int i = 0; i < size; i++) {
        uintptr_t bytes = i == 1 ? 0 : i == size - 1 ? 5 * GASNET_PAGESIZE : GASNET_PAGESIZE;
        expect(s[i].size >= bytes && (bytes > 0 || s[i].size == 0)); /* rounded up to whole pages */
        expect(i == 1 || (s[i].addr && (uintptr_t)s[i].addr % GASNET_PAGESIZE == 0));
    }
    memset(s[rank].addr ? s[rank].addr : &alone, 1, s[rank].size < sizeof alone ? 0 : s[rank].size);
    expect_eq(gasnet_getSegmentInfo(&alone, 1), GASNET_OK);
    expect(alone.addr == s[0].addr && alone.size == s[0].size);
    expect_eq(gasnet_getSegmentInfo(s, 0), GASNET_ERR_BAD_ARG);
    free(s);
}

static void assigned_handlers_work(void) {
    gasnet_node_t next = (gasnet_node_t)((rank + 1) % size);
    expect_eq(vgasnet_AMRequestShort0(next, table[0].index), GASNET_OK);
    expect_eq(gasnet_AMRequestShort1(next, table[1].index, 40), GASNET_OK);
    expect_eq(vgasnet_AMRequestShort0(next, table[2].index), GASNET_OK);
    VGASNET_BLOCKUNTIL(calls[0] == 1 && calls[1] == 40 && calls[2] == 1);
    vgasnet_barrier_notify(3, 0);
    expect_eq(vgasnet_barrier_wait(3, 0), GASNET_OK);
}

static void names_of_errors(void) {
    expect(strcmp(gasnet_ErrorName(GASNET_OK), "GASNET_OK") == 0);
    expect(strcmp(gasnet_ErrorName(GASNET_ERR_NOT_INIT), "GASNET_ERR_NOT_INIT") == 0);
    expect(strcmp(gasnet_ErrorName(GASNET_ERR_RESOURCE), "GASNET_ERR_RESOURCE") == 0);
    expect(strcmp(gasnet_ErrorName(GASNET_ERR_BAD_ARG), "GASNET_ERR_BAD_ARG") == 0);
    expect(strcmp(gasnet_ErrorName(GASNET_ERR_NOT_READY), "GASNET_ERR_NOT_READY") == 0);
    expect(strcmp(vgasnet_ErrorName(GASNET_ERR_BARRIER_MISMATCH), "GASNET_ERR_BARRIER_MISMATCH") == 0);
    expect(strlen(gasnet_ErrorDesc(GASNET_ERR_NOT_READY)) > 0 && strlen(gasnet_ErrorDesc(12345)) > 0);
}

int main(int argc, char **argv) {
    int total = 0;
    nothing_yet();
    expect_eq(getenv("HEARTH_NODE_RANKS") ? vgasnet_init(NULL, NULL) : gasnet_init(&argc, &argv), GASNET_OK);
    rank = (int)gasnet_mynode();
    size = (int)gasnet_nodes();
    begun();
    where_nodes_are();
    cannot_attach();
    attach();
    segments();
    assigned_handlers_work();
    names_of_errors();
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", total ? "FAIL" : "ok");
    return total != 0;
}
