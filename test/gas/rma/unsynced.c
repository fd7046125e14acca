/* unsynced.c: tests the end of a job with pending operations, with handles and without, short and long, of a thread
 * that has ended and of one that has not: all segments are closed as usual. timeout: 40 */
#define GASNET_PAR 1
#include <gasnet.h>
#include <pthread.h>
#include <stdlib.h>

enum { WORDS = 20000, LONG = 4 << 20 };
static uint64_t values[WORDS];
static char data[LONG];
static char *target;
static gasnet_node_t other;

static void *start(void *arg) {
    uint64_t *words = (uint64_t *)(void *)target;
    for (int i = 0; i < WORDS; i++) {
        gasnet_put_nbi(other, words + i, &values[i], 8);
        gasnet_get_nbi(&values[i], other, words + i, 8);
        gasnet_handle_t h = gasnet_put_nb_bulk(other, words + i, &values[i], 8);
        (void)h;
    }
    gasnet_put_nbi_bulk(other, target, data, LONG);
    gasnet_handle_t h = gasnet_get_nb_bulk(data, other, target, LONG);
    (void)h;
    return arg;
}

int main(int argc, char **argv) {
    GASNET_SAFE(gasnet_init(&argc, &argv));
    GASNET_SAFE(gasnet_attach(NULL, 0, LONG, 0));
    gasnet_seginfo_t *info = calloc(gasnet_nodes(), sizeof *info);
    if (!info)
        return 1;
    GASNET_SAFE(gasnet_getSegmentInfo(info, (int)gasnet_nodes()));
    other = (gasnet_mynode() + 1) % gasnet_nodes();
    target = info[other].addr;
    free(info);
    pthread_t thread;
    if (pthread_create(&thread, NULL, start, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    start(NULL);
    return 0;
}
