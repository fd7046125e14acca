/* nomemory.c: tests that all ranks refuse pages for which one rank has no memory, and that hearth top shows nothing
 * of them. Linked with the objects of the library. ranks: 2; configs: off; timeout: 60 */
#include "test.h"

#include <errno.h>

#include "gas/process/gas_comm.h"
#include "observe/live.h"

static bool refuses; /* memory for the page that hearth top reads */
static int shown;

void *__real_hearth_core_live_alloc(size_t bytes);
void *__wrap_hearth_core_live_alloc(size_t bytes);
void *__wrap_hearth_core_live_alloc(size_t bytes) {
    return refuses ? NULL : __real_hearth_core_live_alloc(bytes);
}

void __wrap_hearth_core_live_show(const void *object, const struct live_field *fields, unsigned count);
void __real_hearth_core_live_show(const void *object, const struct live_field *fields, unsigned count);
void __wrap_hearth_core_live_show(const void *object, const struct live_field *fields, unsigned count) {
    shown++;
    if (object)
        __real_hearth_core_live_show(object, fields, count);
}

CASE(no_memory_for_pages) {
    struct pages_events events = {.arg = NULL};
    struct pages *p = NULL;
    shown = 0;
    refuses = test_rank == 0;
    expect_eq(pages_open(&gas_job.boot, gas_job.world, &gas_comm.all, 1 << 20, &events, &p), -ENOMEM);
    refuses = false;
    expect(p == NULL);
    expect_eq(shown, 0);
}
