/* fuzz_gas_arrive.c: feeds active messages of another node to the helper and to a rank of this node. Each block of
 * the input is
 *
 *      operation | header bytes | payload bytes, 2 | answer bytes | header | payload
 *
 * Header, payload and answer are allocated with their exact length, so that a sanitizer detects accesses beyond it.
 * In a job a refused block ends the process; here it ends the input. A queued message can be executed: its fields are
 * within their limits. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gas/am/am_remote.h"

enum { RANKS = 4, CLIENT = 2, MOST_BLOCKS = 200, BOXES = 10 << 20 };

struct gas gas_job;
static const uint32_t node_of[RANKS] = {0, 0, 1, 1}, local_of[RANKS] = {0, 1, 0, 1};
static struct net_world world = {
    .size = RANKS, .nodes = 2, .local_count = 2, .node_of = node_of, .local_of = local_of};
static _Alignas(128) char boxes[BOXES];
static jmp_buf refused;

/* ---- stubs ---- */

void __wrap__exit(int status);
void __wrap__exit(int status) {
    (void)status;
    longjmp(refused, 1);
}

void *__wrap_hearth_core_net_world_share(struct net_world *w, const struct net_boot *boot, size_t bytes);
void *__wrap_hearth_core_net_world_share(struct net_world *w, const struct net_boot *boot, size_t bytes) {
    (void)w, (void)boot;
    fuzz_must(bytes <= sizeof boxes);
    return boxes;
}

void __wrap_gas_box_quit(int local, int code);
void __wrap_gas_box_quit(int local, int code) {
    (void)code;
    fuzz_must(local >= 0 && local < world.local_count);
}

/* ---- the rank: it takes the messages ---- */

static void check_message(const struct am_message *m) {
    fuzz_must(m->source == CLIENT && m->kind <= GASNETC_LONG && m->count <= AM_ARGS &&
              gas_remote_payload(m) <= AM_MEDIUM);
}

static void run(int queue, int what) {
    (void)queue;
    struct am_box *b = gas_box_mine();
    int index = what & ~AM_IS_REPLY;
    fuzz_must(index < AM_SLOTS);
    if (what & AM_IS_REPLY) {
        check_message(&b->slots[index].reply);
        return;
    }
    check_message(&b->places[index].request);
    fuzz_must(b->places[index].slot < AM_SLOTS && !(atomic_load(&b->free_places) & (uint32_t)1 << index));
    gas_bits_set(&b->free_places, index);
}

static void take_parked(void) {
    struct am_parked p;
    while (gas_box_take_parked(&p)) {
        fuzz_must(p.source == CLIENT && p.slot < AM_SLOTS && p.bytes <= AM_MEDIUM);
        gas_box_unpark();
    }
}

static void take_all(void) {
    while (gas_box_take_all(run))
        ;
    take_parked();
}

/* ---- the blocks ---- */

static void *take_bytes(struct fuzz_input *in, size_t bytes) {
    void *data = malloc(bytes ? bytes : 1);
    fuzz_must(data != NULL);
    fuzz_take(in, data, bytes);
    return data;
}

static void run_block(struct fuzz_input *in) {
    static net_serve *const handlers[] = {gas_am_serve_part, gas_am_serve, gas_am_serve_pull,
                                          gas_am_serve_reply};
    unsigned operation = fuzz_take_byte(in);
    size_t header_bytes = fuzz_take_byte(in) % (NET_HEADER + 1), bytes = fuzz_take_byte(in);
    bytes |= (size_t)fuzz_take_byte(in) << 8;
    size_t answer_bytes = fuzz_take_byte(in);
    /* volatile: they are freed after a longjmp */
    char *volatile header = take_bytes(in, header_bytes), *volatile payload = take_bytes(in, bytes),
                   *volatile answer = answer_bytes ? malloc(answer_bytes) : NULL;
    if (setjmp(refused) == 0) {
        struct net_block b = {.client = CLIENT,
                              .header = header,
                              .header_bytes = header_bytes,
                              .payload = payload,
                              .bytes = bytes,
                              .answer = answer,
                              .answer_bytes = answer_bytes};
        fuzz_must(handlers[operation % 4](NULL, &b) == NET_DONE);
    } else
        in->left = 0;
    free(header);
    free(payload);
    free(answer);
    if (operation & 4)
        take_all();
}

/* Prepares the boxes for the next input. The queues of this rank are empty, since each input ends by taking all messages.
 * Nothing takes messages from the other rank's box, so it is cleared. */
static void reset(uint8_t in_use) {
    size_t head =
        sizeof(struct am_box) + ((size_t)world.local_count + AM_REMOTE_QUEUES) * sizeof(struct am_queue);
    memset((char *)gas_box_of(1), 0, head);
    atomic_store(&gas_box_of(1)->free_places, UINT32_MAX);
    /* 3: so that some messages are parked */
    atomic_store(&gas_box_mine()->free_places, in_use & 128 ? 3 : UINT32_MAX);
    for (int i = 0; i < 8; i++)
        atomic_store(&gas_box_mine()->slots[i].in_use, in_use >> i & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input in = {data, size};
    if (!gas_job.world) {
        gas_job.world = &world;
        gas_job.size = RANKS;
        fuzz_must(gas_box_open() == 0);
    }
    fuzz_must(gas_arrive_open() == 0);
    reset(fuzz_take_byte(&in));
    for (int i = 0; i < MOST_BLOCKS && in.left > 0; i++)
        run_block(&in);
    take_all();
    gas_arrive_close();
    return 0;
}
