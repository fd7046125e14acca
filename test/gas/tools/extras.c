/* extras.c: tests the extensions of vGASNet over GASNet, and the alternative name of every call. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <vgasnet.h>

enum { SEGMENT = 1 << 20 };
TEST_SEGMENT(SEGMENT)

static bool has_pages(void) {
    const char *nvm = getenv("HEARTH_NVM");
    return !nvm || strcmp(nvm, "off") != 0;
}

CASE(the_same_by_another_name) {
    gasnet_node_t node = (vgasnet_mynode() + 1) % vgasnet_nodes();
    char *to = (char *)test_segments[node].addr + (size_t)test_rank * 1024;
    uint64_t value = test_number(test_rank, 0, 0), got = 0;
    vgasnet_wait_syncnb(vgasnet_put_nb(node, to, &value, 8));
    vgasnet_get(&got, node, to, 8);
    expect(got == value);
    vgasnet_memset(node, to, 1, 8);
    expect(vgasnet_get_val(node, to, 8) == 0x0101010101010101u);
    vgasnet_begin_nbi_accessregion();
    vgasnet_put_nbi_val(node, to, 7, 1);
    vgasnet_wait_syncnb(vgasnet_end_nbi_accessregion());
    expect_eq(vgasnet_get_val(node, to, 1), 7);
}

CASE(counts) {
    vgasnet_stats_t before, after;
    gasnet_node_t node = (gasnet_node_t)((test_rank + 1) % test_size);
    char data[1000] = {0}, *to = (char *)test_segments[node].addr + (size_t)test_rank * 1024;
    vgasnet_stats(&before);
    for (int i = 0; i < 10; i++) {
        gasnet_put(node, to, data, 1000);
        gasnet_get(data, node, to, 500);
        gasnet_get_nbi(data, node, to, 500);
        gasnet_wait_syncnbi_gets();
        gasnet_memset(node, to, 0, 100);
    }
    vgasnet_stats(&after);
    expect_eq(after.puts - before.puts, 10);
    expect_eq(after.put_bytes - before.put_bytes, 10000);
    expect_eq(after.gets - before.gets, 20);
    expect_eq(after.get_bytes - before.get_bytes, 10000);
    expect_eq(after.memsets - before.memsets, 10);
    expect_eq(after.memset_bytes - before.memset_bytes, 1000);
    expect(after.far_puts - before.far_puts == 0 || after.far_puts - before.far_puts == 10);
    expect_eq(after.far_puts - before.far_puts, after.far_memsets - before.far_memsets);
}

/* Neither changes the data. */
CASE(prefetch_and_hints) {
    gasnet_node_t node = (gasnet_node_t)((test_rank + 1) % test_size);
    size_t part = SEGMENT / 4;
    char *at = (char *)test_segments[node].addr + (size_t)(test_rank % 4) * part, *sent = malloc(part),
         *got = malloc(part);
    if (!sent || !got)
        abort();
    static const int hints[] = {VGASNET_HINT_READ_MOSTLY, VGASNET_HINT_NO_CACHE, VGASNET_HINT_NORMAL};
    for (int i = 0; i < 3; i++) {
        expect_eq(vgasnet_hint(node, at, part, hints[i]), GASNET_OK);
        test_fill(sent, part, test_rank, i);
        gasnet_put_bulk(node, at, sent, part);
        vgasnet_prefetch(node, at, part);
        vgasnet_prefetch(node, at, 0);
        gasnet_put_val(node, at + 4000, 0x1234, 2);
        uint16_t value = 0x1234;
        memcpy(sent + 4000, &value, sizeof value);
        gasnet_get_bulk(got, node, at, part);
        expect_bytes(got, sent, part);
    }
    expect_eq(vgasnet_hint(node, at, part, 3), GASNET_ERR_BAD_ARG);
    expect_eq(vgasnet_hint(node, at, part, -1), GASNET_ERR_BAD_ARG);
    free(sent);
    free(got);
}

/* Segments without a name cannot be checkpointed. */
CASE(checkpoints_need_a_name) {
    uint64_t epoch = 42;
    SKIP_IF(has_pages() && getenv("HEARTH_NVM_NAME"), "the segments have a name");
    expect_eq(vgasnet_epoch(), 0);
    expect_eq(vgasnet_last_epoch(), 0);
    expect_eq(vgasnet_open(1), GASNET_ERR_NOT_INIT); /* too late */
    expect_eq(vgasnet_checkpoint(&epoch), GASNET_ERR_BAD_ARG);
    expect_eq(epoch, 42);
}
