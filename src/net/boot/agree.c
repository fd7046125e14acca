/* agree.c: makes a collective call fail in all processes or in none.
 *
 * If one process failed alone, the others would wait for it forever. So a process that fails logs its error, still
 * takes part in the next collective exchange, and reports the failure there. */
#include "net/boot/agree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/settings.h"
#include "observe/output.h"

/* Errno values fit into a byte; any other status becomes EIO. */
static unsigned char code(int status) {
    return status == 0 ? 0 : status < 0 && status > -256 ? (unsigned char)-status : EIO;
}

static bool is_worse(int status, int than) {
    return status && (!than || (than == -EEXIST && status != -EEXIST));
}

int net_boot_agree(const struct net_boot *boot, int status) {
    unsigned char mine = code(status), all[boot->size];
    int worst = 0, err = net_boot_gather(boot, &mine, all, 1);
    if (err)
        return err;
    for (int i = 0; i < boot->size; i++)
        if (is_worse(-all[i], worst))
            worst = -all[i];
    return worst;
}

/* A byte per process is enough to tell equal complaints from others. */
struct agreed_settings {
    unsigned char complaint, report, net;
    uint32_t node_ranks;
};

static void agree_on_complaints(const struct net_boot *boot, const struct agreed_settings *all) {
    unsigned char mine = all[boot->rank].complaint;
    int same = 0, lowest = boot->rank;
    if (!mine)
        return;
    for (int i = boot->size; i--;)
        if (all[i].complaint == mine) {
            same++;
            lowest = i;
        }
    if (lowest == boot->rank)
        settings_complain(same, boot->size);
    settings_complained();
}

static void agree_on_report(const struct net_boot *boot, const struct agreed_settings *all) {
    int i = 1;
    while (i < boot->size && all[i].report == all[0].report)
        i++;
    if (i == boot->size)
        return;
    output_disable();
    if (!boot->rank)
        output_differs();
}

/* They decide which processes share memory, and how others are reached. */
static int agree_on_nodes(const struct net_boot *boot, const struct agreed_settings *all) {
    const char *name = NULL;
    for (int i = 1; i < boot->size && !name; i++)
        name = all[i].net != all[0].net                 ? "HEARTH_NET"
               : all[i].node_ranks != all[0].node_ranks ? "HEARTH_NODE_RANKS"
                                                        : NULL;
    if (name && !boot->rank)
        log_error("%s is not the same on all ranks; set it for all of them, by hearth run or an option of "
                  "the launcher "
                  "(mpirun -x %s)",
                  name, name);
    return name ? -EINVAL : 0;
}

int net_agree_on_settings(const struct net_boot *boot) {
    const struct settings *s = settings_get();
    uint32_t code = settings_complaints();
    struct agreed_settings mine = {.complaint = code ? (unsigned char)(code % 255 + 1) : 0,
                                   .report = (unsigned char)output_kind(),
                                   .net = (unsigned char)s->net,
                                   .node_ranks = (uint32_t)s->node_ranks},
                           all[boot->size];
    int err = net_boot_gather(boot, &mine, all, sizeof mine);
    if (err)
        return err;
    agree_on_complaints(boot, all);
    agree_on_report(boot, all);
    return agree_on_nodes(boot, all);
}

int net_agree_on_memory(const struct net_boot *boot, bool has, const char *what) {
    if (!has)
        log_error("no memory for %s of %d ranks: is the memory of this process limited (ulimit -v)?", what,
                  boot->size);
    return net_boot_agree(boot, has ? 0 : -ENOMEM);
}

bool net_agree_on_key(const struct net_boot *boot, uint64_t key) {
    enum { FEW = 512 }; /* ranks whose keys are on the stack: one exchange less */
    uint64_t few[boot->size <= FEW ? boot->size : 1], *all = few;
    int status = 0;
    if (boot->size > FEW) {
        all = malloc((size_t)boot->size * sizeof *all);
        status = net_agree_on_memory(boot, all, "a list");
    }
    bool same = status == 0 && net_boot_gather(boot, &key, all, sizeof key) == 0 && key != 0;
    for (int i = 0; same && i < boot->size; i++)
        same = all[i] == key;
    if (all != few)
        free(all);
    return same;
}
