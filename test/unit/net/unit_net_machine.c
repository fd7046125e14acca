/* unit_net_machine.c: tests that processes find those on their machine by its id. */
#include "test.h"

#include <stdlib.h>

#include "net/boot/machine.h"

/* A job of which only this process exists. `machines`: a letter for each rank, 'a' for this machine, '-' for a rank whose user wants
 * MPI's report. */
struct fake {
    const char *machines;
    int gathers;
};

static int gather(void *arg, const void *mine, void *all, size_t bytes) {
    struct fake *f = arg;
    f->gathers++;
    for (int rank = 0; f->machines[rank]; rank++) {
        unsigned char *to = (unsigned char *)all + (size_t)rank * bytes;
        memcpy(to, mine, bytes);
        if (bytes == 1) /* an agreement */
            continue;
        if (f->machines[rank] == '-')
            memset(to, 0, bytes);
        else
            to[bytes - 1] ^= (unsigned char)(f->machines[rank] - 'a');
    }
    return 0;
}

static int lowest(const char *machines, int rank) {
    struct fake f = {.machines = machines};
    struct net_boot boot = {.rank = rank, .size = (int)strlen(machines), .arg = &f, .gather = gather};
    int found = net_machine_lowest(&boot);
    expect_eq(f.gathers, 2);
    return found;
}

TEST(the_lowest_rank_with_the_same_id)
{
    expect_eq(lowest("a", 0), 0);
    expect_eq(lowest("aaaa", 3), 0);
    expect_eq(lowest("bcdaeaa", 5), 3);
    expect_eq(lowest("bca", 2), 2);
}

TEST(a_user_who_wants_the_report_of_mpi)
{
    expect_eq(lowest("aa-a", 0), -1);
    expect_eq(lowest("-aaa", 1), -1);
}

TEST(variables_of_mpich_by_which_processes_are_alone)
{
    const char *const names[] = {"MPIR_CVAR_NOLOCAL", "MPICH_NUM_CLIQUES", "MPIR_PARAM_ODD_EVEN_CLIQUES"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setenv(names[i], "1", 1);
        expect_eq(lowest("aaa", 1), -1);
        setenv(names[i], "0", 1);
        expect_eq(lowest("aaa", 1), 0);
        unsetenv(names[i]);
    }
}
