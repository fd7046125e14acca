/* values.c: tests operations on register values: the low-order bytes, and zeros above the bytes that are read. */
#include "test.h"

#include <string.h>

TEST_SEGMENT(65536)

static char *at(gasnet_node_t node, size_t offset) {
    return (char *)test_segments[node].addr + (size_t)test_rank * 256 + offset;
}

/* Does what a store of the value's type would do. */
static void store(void *to, uint64_t value, size_t bytes) {
    unsigned char *t = to;
    union {
        uint16_t number;
        unsigned char first;
    } order = {.number = 1};
    for (size_t i = 0; i < bytes; i++)
        t[order.first ? i : bytes - 1 - i] = (unsigned char)(value >> 8 * i);
}

static uint64_t low(uint64_t value, size_t bytes) {
    return bytes == 8 ? value : value & (((uint64_t)1 << 8 * bytes) - 1);
}

CASE(size_of_the_type) {
    expect_eq(SIZEOF_GASNET_REGISTER_VALUE_T, sizeof(gasnet_register_value_t));
    expect(sizeof(gasnet_register_value_t) >= sizeof(void *));
}

CASE(all_sizes_and_places) {
    for (gasnet_node_t node = 0; node < (gasnet_node_t)test_size; node++)
        for (size_t bytes = 1; bytes <= sizeof(gasnet_register_value_t); bytes++)
            for (size_t offset = 0; offset < 9; offset++) {
                uint64_t value = test_number(test_rank, offset, (int)bytes) | 0x8080808080808080u;
                unsigned char got[32], wanted[32];
                gasnet_memset(node, at(node, 0), 0x33, sizeof got);
                memset(wanted, 0x33, sizeof wanted);
                store(wanted + 8 + offset, value, bytes);
                if (offset % 3 == 0)
                    gasnet_put_val(node, at(node, 8 + offset), value, bytes);
                else if (offset % 3 == 1)
                    gasnet_wait_syncnb(gasnet_put_nb_val(node, at(node, 8 + offset), value, bytes));
                else {
                    gasnet_put_nbi_val(node, at(node, 8 + offset), value, bytes);
                    gasnet_wait_syncnbi_puts();
                }
                gasnet_get(got, node, at(node, 0), sizeof got);
                expect_bytes(got, wanted, sizeof got);
                expect(gasnet_get_val(node, at(node, 8 + offset), bytes) == low(value, bytes));
                gasnet_valget_handle_t h = gasnet_get_nb_val(node, at(node, 8 + offset), bytes);
                expect(gasnet_wait_syncnb_valget(h) == low(value, bytes));
            }
}

CASE(many_values_under_way) {
    enum { COUNT = 2000 };
    static gasnet_valget_handle_t handles[COUNT];
    gasnet_node_t node = (gasnet_node_t)((test_rank + 1) % test_size);
    gasnet_put_val(node, at(node, 64), 0x1122334455667788u, 8);
    for (int i = 0; i < COUNT; i++)
        handles[i] = gasnet_get_nb_val(node, at(node, 64), 4);
    uint32_t wanted;
    uint64_t all = 0x1122334455667788u;
    memcpy(&wanted, &all, sizeof wanted);
    for (int i = COUNT - 1; i >= 0; i--)
        expect_eq(gasnet_wait_syncnb_valget(handles[i]), wanted);
}

/* ---- errors: each ends the job, see test_fail.sh ---- */

ON_CALL(value_of_nine_bytes) {
    gasnet_put_val(0, at(0, 0), 1, 9);
}

ON_CALL(value_of_no_bytes) {
    expect_eq(gasnet_get_val(0, at(0, 0), 0), 0);
}
