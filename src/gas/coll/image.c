/* image.c: images, the threads of a node that participate in collective operations.
 *
 * An image is a member of teams in the same way as a node with one image: it has its own rank, makes the calls itself,
 * and messages are addressed to it (schedule.c). gasnet_coll_init, which the thread of each image calls, creates the
 * team of all images for it. The team lives as long as the process, so that a thread may take over an image from one
 * that has ended. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "gas/coll/coll.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* leaf lock, protects the tables */
static gasnet_image_t *counts;                           /* [gas_job.size], or NULL: one image per node */
static gasnet_image_t total, offset;                     /* images of the job; number of this node's first */
static gasnet_team_handle_t *teams;                      /* [counts[gas_job.rank]] */
static _Atomic bool several;
static _Thread_local gasnet_team_handle_t mine;

static void *image_memory(size_t count, size_t bytes) {
    void *memory = calloc(count, bytes);
    if (!memory)
        gas_fail("gasnet_coll_init", "no memory for a table of %zu images", count);
    return memory;
}

/* In the first call of the process; the calls of other images must pass the same numbers. */
static void image_count(const gasnet_image_t *images) {
    counts = image_memory((size_t)gas_job.size, sizeof *counts);
    memcpy(counts, images, (size_t)gas_job.size * sizeof *counts);
    for (int i = 0; i < gas_job.size; i++) {
        if (i == gas_job.rank)
            offset = total;
        total += counts[i];
    }
    teams = image_memory(counts[gas_job.rank] > 0 ? counts[gas_job.rank] : 1, sizeof(gasnet_team_handle_t));
}

static gasnet_team_handle_t image_team_new(gasnet_image_t image) {
    gasnet_team_handle_t t = gas_team_new("gasnet_coll_init", total);
    gasnet_image_t at = 0;
    t->id = TEAM_IMAGES;
    t->rank = image;
    for (int i = 0; i < gas_job.size; i++)
        for (gasnet_image_t k = 0; k < counts[i]; k++)
            t->nodes[at++] = (gasnet_node_t)i;
    gas_team_complete(t);
    return t;
}

void gas_image_init(const gasnet_image_t *images, gasnet_image_t my_image) {
    const char *call = "gasnet_coll_init";
    bool one_each = true;
    for (int i = 0; images && i < gas_job.size; i++)
        one_each = one_each && images[i] == 1;
    if (one_each && !atomic_load(&several))
        return;
    pthread_mutex_lock(&lock);
    if (!counts)
        image_count(images);
    if (!images || memcmp(counts, images, (size_t)gas_job.size * sizeof *counts) != 0)
        gas_fail(call, "the numbers of images differ from those of an earlier call");
    if (my_image < offset || my_image - offset >= counts[gas_job.rank])
        gas_fail(call, "image %u is not on node %d, which has %u from %u on", my_image, gas_job.rank,
                 counts[gas_job.rank], offset);
    gasnet_team_handle_t *team = &teams[my_image - offset];
    if (!*team)
        *team = image_team_new(my_image);
    mine = *team;
    atomic_store(&several, true);
    pthread_mutex_unlock(&lock);
}

gasnet_team_handle_t gas_image_team(const char *call, gasnet_team_handle_t team, bool images) {
    gas_need(call, 0);
    if (UNLIKELY(!team))
        gas_fail(call, "the team handle is NULL");
    if (!images || !atomic_load_explicit(&several, memory_order_relaxed) || team != gasnetc_coll_team_all())
        return team;
    if (!mine)
        gas_fail(call, "this thread has no image: call gasnet_coll_init in it first");
    return mine;
}
