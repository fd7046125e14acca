/* supply.c: memory from the system, registered with the heater while in use.
 *
 * The heater reads at any time and takes no lock, so registered memory must not be unmapped. heater_retire returns
 * only when the heater will not read it again, which may take a while. Engines therefore release memory only when
 * they are closed, and reuse it until then. */
#include "match/engine/supply.h"

#include <errno.h>

#include "base/log.h"
#include "heater/heater.h"
#include "observe/live.h"

static int supply_refuse(struct supply *supply, size_t bytes) {
    if (!supply->told)
        log_warn("match: no memory to extend the queues (%zu bytes): receives or messages may be refused; "
                 "reduce the number that are pending at a time",
                 bytes);
    supply->told = true;
    return -ENOMEM;
}

static int supply_note(struct supply *supply, const struct memory *memory, size_t warm) {
    supply->bytes += memory->bytes;
    if (supply->heated)
        heater_add(memory->base, warm);
    return 0;
}

int supply_take(struct supply *supply, struct memory *memory, size_t bytes, size_t warm) {
    return memory_open(memory, bytes, NULL) ? supply_refuse(supply, bytes)
                                            : supply_note(supply, memory, warm);
}

int supply_take_shown(struct supply *supply, struct memory *memory, size_t bytes, size_t warm) {
    return live_memory_open(memory, bytes, NULL) ? supply_refuse(supply, bytes)
                                                 : supply_note(supply, memory, warm);
}

void supply_return(struct supply *supply, struct memory *memory) {
    if (!memory->base)
        return;
    if (supply->heated)
        heater_retire(memory->base);
    supply->bytes -= memory->bytes;
    live_memory_close(memory);
}
