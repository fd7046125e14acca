/* gasnet.c: each node writes into the segment of the next, and reads its own segment with a plain load. Segments are
 * files in HEARTH_NVM_DIR; HEARTH_NVM=off keeps them in memory.
 * build: mpicc.openmpi gasnet.c -o gasnet $(pkg-config --cflags --libs hearth-vgasnet-openmpi)
 * run:   mpirun.openmpi -n 2 ./gasnet */
#define GASNET_PAR
#include <gasnet.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    GASNET_SAFE(gasnet_init(&argc, &argv));
    GASNET_SAFE(gasnet_attach(NULL, 0, 16 * GASNET_PAGESIZE, 0));
    gasnet_node_t me = gasnet_mynode(), nodes = gasnet_nodes(), next = (me + 1) % nodes;
    gasnet_seginfo_t *segments = malloc(nodes * sizeof *segments);
    GASNET_SAFE(gasnet_getSegmentInfo(segments, (int)nodes));
    gasnet_put(next, segments[next].addr, &me, sizeof me);
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    GASNET_SAFE(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
    gasnet_node_t found = *(gasnet_node_t *)segments[me].addr, wanted = (me + nodes - 1) % nodes;
    if (me == 0)
        printf("gasnet: %u nodes, written by %u\n", (unsigned)nodes, (unsigned)found);
    free(segments);
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    GASNET_SAFE(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS));
    gasnet_exit(found != wanted);
}
