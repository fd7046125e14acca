/* fuzz_armci_serve.c: feeds blocks of ARMCI operations of another node to the helper's handler. Each block of the
 * input is
 *
 *      kind | header bytes | payload bytes / 4 | answer bytes / 4 | header | payload
 *
 * Addresses in it are relative to the memory of this node. Header, payload and answer are allocated with their exact
 * length, so that a sanitizer detects accesses beyond it. In a job a refused block ends the process; here it ends the
 * input. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "armci/request/armci_count.h"
#include "armci/request/guard.h"
#include "armci/job/armci_internal.h"
#include "armci/request/locks.h"
#include "armci/request/armci_serve.h"
#include "armci/request/ops.h"
#include "fuzz.h"

enum { MEMORY = 4096, RANKS = 4, MOST_RESUMES = 64 };

struct armci armci_job;
static _Alignas(64) char memory[MEMORY];
static jmp_buf refused;
static unsigned held; /* operations left until a list of mappings, or a lock, appears to be in use */

/* ---- stubs of the rest of ARMCI and of the network ---- */

void __wrap__exit(int status);
void __wrap__exit(int status) {
    (void)status;
    longjmp(refused, 1);
}

int __wrap_hearth_core_net_shared_check(const void *low, size_t bytes, char **base, size_t *size);
int __wrap_hearth_core_net_shared_check(const void *low, size_t bytes, char **base, size_t *size) {
    (void)base, (void)size;
    size_t offset = (size_t)((uintptr_t)low - (uintptr_t)memory);
    return offset > MEMORY || bytes > MEMORY - offset ? -1 : 0;
}

bool __wrap_hearth_core_net_lock_table_try(struct net_lock_table *s, const void *at);
bool __wrap_hearth_core_net_lock_table_try(struct net_lock_table *s, const void *at) {
    (void)s, (void)at;
    return held == 0 || --held > 0;
}

/* Of an element that lies in two blocks of the table. */
bool __wrap_hearth_core_net_lock_table_try_range(struct net_lock_table *s, const void *at, size_t bytes);
bool __wrap_hearth_core_net_lock_table_try_range(struct net_lock_table *s, const void *at, size_t bytes) {
    (void)s, (void)at, (void)bytes;
    return true;
}

void __wrap_hearth_core_net_lock_table_unlock_range(struct net_lock_table *s);
void __wrap_hearth_core_net_lock_table_unlock_range(struct net_lock_table *s) {
    (void)s;
}

void __wrap_hearth_core_net_lock_table_unlock(struct net_lock_table *s, const void *at);
void __wrap_hearth_core_net_lock_table_unlock(struct net_lock_table *s, const void *at) {
    (void)s, (void)at;
}

void net_reply(struct net *n, int helper, uint64_t reply, const void *data, size_t bytes) {
    (void)n, (void)helper, (void)data;
    fuzz_must(reply < RANKS && bytes == sizeof(int64_t));
}

/* ---- stubs of the requesting side, which no block reaches ---- */

union counted armci_counters;

void armci_guard_lock(void) {
    abort();
}

void armci_guard_unlock(void) {
    abort();
}

void armci_fail(const char *call, const char *format, ...) {
    (void)call, (void)format;
    abort();
}

void armci_find_check(const char *call, int rank, const void *low, const void *high) {
    (void)call, (void)rank, (void)low, (void)high;
    abort();
}

void net_start(struct net *n, int node, struct net_op *op) {
    (void)n, (void)node, (void)op;
    abort();
}

void net_wait_done(struct net *n, int node, struct net_op *op) {
    (void)n, (void)node, (void)op;
    abort();
}

void net_progress(struct net *n) {
    (void)n;
    abort();
}

struct mailbox *net_mailbox(struct net *n) {
    (void)n;
    abort();
}

void net_answer_local(struct net *n, int cell, int64_t answer) {
    (void)n, (void)cell, (void)answer;
    abort();
}

/* ---- the blocks ---- */

static void relocate(void *at) {
    uint64_t address;
    memcpy(&address, at, sizeof address);
    address += (uint64_t)(uintptr_t)memory;
    memcpy(at, &address, sizeof address);
}

static void relocate_at(char *bytes, size_t length, size_t offset) {
    if (offset + sizeof(uint64_t) <= length)
        relocate(bytes + offset);
}

static void relocate_all(unsigned kind, char *header, size_t header_bytes, char *payload, size_t bytes) {
    struct op_vector v;
    if (kind <= OP_ACC)
        relocate_at(header, header_bytes, offsetof(struct op_patch, patch));
    else if (kind == OP_RMW || kind == OP_FLAG)
        relocate_at(header, header_bytes, 0);
    else if (kind <= OP_ACCV && header_bytes >= sizeof v) {
        memcpy(&v, header, sizeof v);
        for (uint32_t i = 0; i < v.count && (size_t)(i + 1) * 8 <= bytes; i++)
            relocate(payload + (size_t)i * 8);
    }
}

static void *take_bytes(struct fuzz_input *in, size_t bytes) {
    void *data = malloc(bytes ? bytes : 1);
    fuzz_must(data != NULL);
    fuzz_take(in, data, bytes);
    return data;
}

static void serve(net_serve *handler, struct net_block *b) {
    for (unsigned i = 0; handler(NULL, b) == NET_LATER; i++)
        fuzz_must(i < MOST_RESUMES); /* each call makes progress */
}

static void run_block(struct fuzz_input *in) {
    unsigned kind = fuzz_take_byte(in) % OP_KINDS;
    size_t header_bytes = fuzz_take_byte(in) % (NET_HEADER + 1), bytes = (size_t)fuzz_take_byte(in) * 4,
           answer_bytes = (size_t)fuzz_take_byte(in) * 4;
    /* volatile: they are freed after a longjmp */
    char *volatile header = take_bytes(in, header_bytes), *volatile payload = take_bytes(in, bytes),
                   *volatile answer = answer_bytes ? malloc(answer_bytes) : NULL;
    relocate_all(kind, header, header_bytes, payload, bytes);
    if (setjmp(refused) == 0) {
        struct net_block b = {.client = 1,
                              .header = header,
                              .header_bytes = header_bytes,
                              .payload = payload,
                              .bytes = bytes,
                              .answer = answer,
                              .answer_bytes = answer_bytes,
                              .reply = 1};
        serve(armci_service.handlers[kind], &b);
        /* No other operation produces an answer. */
        fuzz_must(answer_bytes == 0 || kind == OP_GET || kind == OP_GETV || kind == OP_RMW);
    } else
        in->left = 0;
    free(header);
    free(payload);
    free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input in = {data, size};
    held = fuzz_take_byte(&in) % 8;
    fuzz_must(armci_locks_create(1, 0, 2) == 0);
    while (in.left > 0)
        run_block(&in);
    armci_locks_close_all();
    return 0;
}
