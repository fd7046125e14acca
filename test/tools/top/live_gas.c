/* live_gas.c: two ranks, each a node of its own: writes 50 pages of the other's segment, and reads them twice.
 * live_gas FOLDER */
#include <string.h>
#include <vgasnet.h>

#include "steps.h"

enum { PAGES = 50, PAGE = 65536 };

static void barrier(void) {
    vgasnet_barrier_notify(0, 0);
    if (vgasnet_barrier_wait(0, 0) != GASNET_OK)
        vgasnet_exit(1);
}

int main(int argc, char **argv) {
    static char buffer[PAGE];
    gasnet_seginfo_t segments[2];
    if (vgasnet_init(&argc, &argv) != GASNET_OK || vgasnet_nodes() != 2 ||
        vgasnet_attach(NULL, 0, PAGES * PAGE, 0) != GASNET_OK ||
        vgasnet_getSegmentInfo(segments, 2) != GASNET_OK)
        vgasnet_exit(1);
    steps_folder = argc > 1 ? argv[1] : ".";
    gasnet_node_t me = vgasnet_mynode(), peer = 1 - me;
    char *there = segments[peer].addr;
    barrier();
    memset(buffer, 7, PAGE);
    for (int i = 0; i < PAGES; i++)
        vgasnet_put(peer, there + (size_t)i * PAGE, buffer, PAGE);
    barrier();
    steps_wait(1, (int)me);
    barrier();
    for (int i = 0; i < 2 * PAGES; i++)
        vgasnet_get(buffer, peer, there + (size_t)(i % PAGES) * PAGE, PAGE);
    barrier();
    steps_wait(2, (int)me);
    barrier();
    vgasnet_exit(0);
}
