/* test.c: begins and ends a job of ARMCI tests, and computes the expected nodes. */
#include "test.h"

#include <mp3.h>
#include <stdlib.h>
#include <string.h>

bool test_ours;

/* ---- nodes ---- */

static int ranks_to_a_node(void) {
    const char *topology = getenv("HEARTH_ARMCI_TOPOLOGY"), *most = getenv("HEARTH_NODE_RANKS");
    if (!test_ours || !topology || strcmp(topology, "real") != 0)
        return 1;
    return most && atoi(most) > 0 && atoi(most) < test_size ? atoi(most) : test_size;
}

int test_node(int rank) {
    return rank / ranks_to_a_node();
}

int test_nodes(void) {
    return test_node(test_size - 1) + 1;
}

int test_master(int node) {
    return node * ranks_to_a_node();
}

/* ---- the job ---- */

static void begin(int *argc, char ***argv) {
    MP_INIT(*argc, *argv);
    MP_MYID(&test_rank);
    MP_PROCS(&test_size);
    test_ours = getenv("HEARTH_TEST_CONFIG") != NULL;
}

static void open_armci(int *argc, char ***argv) {
    (void)argc, (void)argv;
    ARMCI_Init();
}

static void end(int status) {
    (void)status;
    ARMCI_Finalize();
    MP_FINALIZE();
}

const struct test_job test_job = {
    .member = "rank", .seconds = 120, .begin = begin, .open = open_armci, .end = end};
