/* open_store.c: the files of a node's segments, opened by its leader.
 *
 * Named segments are either all new or all found: the files of an earlier job of the same shape, which must have a
 * checkpoint in common. The newest one that all ranks have prepared is restored; a rank that has prepared a newer one
 * still holds the one before. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/settings.h"
#include "pages/pages_internal.h"

enum { IN_FLIGHT = 64 /* reads and writes of a file */ };

const char *pages_folder(void) {
    static _Thread_local char path[PATH_MAX];
    const char *set = settings_get()->nvm_dir, *temporary = secure_getenv("TMPDIR");
    settings_path(*set ? set : temporary && *temporary ? temporary : "/var/tmp", path, sizeof path);
    return path;
}

static struct store_options options_for(const struct pages *p, int rank, uint64_t bytes) {
    const struct settings *set = settings_get();
    return (struct store_options){.kind = p->named ? STORE_AGAIN : STORE_TEMPORARY,
                                  .folder = pages_folder(),
                                  .name = set->nvm_name,
                                  .rank = rank,
                                  .ranks = p->world->size,
                                  .page_bytes = (size_t)1 << p->shift,
                                  .bytes = bytes,
                                  .engine = (enum store_engine_name)set->nvm_engine,
                                  .depth = IN_FLIGHT,
                                  .threads = 4,
                                  .buffered = set->nvm_buffered,
                                  .throttle = set->nvm_throttle};
}

static uint64_t chosen_epoch;

void pages_choose_epoch(uint64_t epoch) {
    chosen_epoch = epoch;
}

uint64_t pages_chosen_epoch(void) {
    return chosen_epoch ? chosen_epoch : settings_get()->nvm_epoch;
}

/* State of this rank's file, for comparison with the others. */
enum { NOT_THERE, FOUND };
struct finding {
    int32_t has; /* the rank has a segment at all */
    int32_t found, status, clean;
    uint64_t prepared, older, tried, identity;
};

static void open_one(struct pages *p, int local, const uint64_t *bytes, struct finding *f) {
    int rank = net_world_member(p->world, p->world->node, local);
    struct store_options o = options_for(p, rank, bytes[rank]);
    struct store_found found = {0};
    *f = (struct finding){.has = bytes[rank] > 0};
    if (!f->has)
        return;
    int status = pages_store_open(&o, &p->homes[local].store, &found);
    if (status == -ENOENT && p->named)
        return;
    f->status = status;
    f->found = status == 0 ? FOUND : NOT_THERE;
    f->clean = found.clean;
    f->prepared = found.prepared;
    f->older = found.older;
    f->tried = found.tried;
    f->identity = found.identity;
}

static int make_one(struct pages *p, int local, const uint64_t *bytes, uint64_t identity) {
    int rank = net_world_member(p->world, p->world->node, local);
    struct store_options o = options_for(p, rank, bytes[rank]);
    if (bytes[rank] == 0)
        return 0;
    o.kind = STORE_NEW;
    o.identity = identity;
    int status = pages_store_open(&o, &p->homes[local].store, NULL);
    p->homes[local].made = status == 0;
    return status;
}

void pages_forget_stores(struct pages *p) {
    for (int i = 0; p->homes && i < p->world->local_count; i++) {
        int rank = net_world_member(p->world, p->world->node, i);
        struct store_options o = options_for(p, rank, 0);
        if (p->homes[i].made)
            pages_store_forget(&o);
        p->homes[i].made = false;
    }
}

/* ---- agreement ---- */

struct verdict {
    int status;
    bool again; /* the files were found */
    bool clean; /* all of them: nothing was written after the checkpoint */
    uint64_t epoch, tried;
};

static struct verdict stores_judge(const struct pages *p, const struct finding *all) {
    struct verdict v = {.clean = true, .epoch = UINT64_MAX};
    uint64_t identity = 0;
    int found = -1, missing = -1;
    for (int i = 0; i < p->world->size; i++) {
        const struct finding *f = &all[i];
        if (!f->has)
            continue;
        if (f->status != 0)
            return (struct verdict){.status = f->status};
        if (f->found == NOT_THERE) {
            missing = i;
            continue;
        }
        if (found >= 0 && f->identity != identity) {
            if (p->world->rank == 0)
                log_error("segments %s: the files of ranks %d and %d belong to different jobs: remove them, "
                          "or choose another HEARTH_NVM_NAME",
                          settings_get()->nvm_name, found, i);
            return (struct verdict){.status = -ESTALE};
        }
        found = i;
        identity = f->identity;
        v.clean &= f->clean != 0;
        v.epoch = f->prepared < v.epoch ? f->prepared : v.epoch;
        v.tried = f->tried > v.tried ? f->tried : v.tried;
    }
    v.again = found >= 0;
    if (found >= 0 && missing >= 0) {
        if (p->world->rank == 0)
            log_error(
                "segments %s: the file of rank %d exists and that of rank %d does not: restore all files, or "
                "remove them",
                settings_get()->nvm_name, found, missing);
        v.status = -ENOENT;
    }
    return v;
}

static void say_lacking(int rank, const struct finding *f, uint64_t wanted) {
    char other[32] = "";
    if (f->older)
        snprintf(other, sizeof other, " and %llu", (unsigned long long)f->older);
    log_error(
        "segments %s: the file of rank %d does not hold checkpoint %llu (HEARTH_NVM_EPOCH); it has %llu%s",
        settings_get()->nvm_name, rank, (unsigned long long)wanted, (unsigned long long)f->prepared, other);
}

/* Selects an older checkpoint, which all ranks must have. Restoring it discards newer ones. */
static void choose_older(const struct pages *p, const struct finding *all, struct verdict *v) {
    uint64_t wanted = pages_chosen_epoch();
    bool says = p->world->rank == 0;
    if (!v->again && says)
        log_error("segments %s: there are no files, and so no checkpoint %llu (HEARTH_NVM_EPOCH)",
                  settings_get()->nvm_name, (unsigned long long)wanted);
    for (int i = 0; i < p->world->size && v->again; i++) {
        const struct finding *f = &all[i];
        if (!f->has || f->prepared == wanted || f->older == wanted)
            continue;
        if (says)
            say_lacking(i, f, wanted);
        v->status = -ESTALE;
        return;
    }
    v->status = v->again ? 0 : -ESTALE;
    v->epoch = wanted;
}

/* Distributes the findings of the leaders to all ranks: each rank contributes the finding of its own segment, which its
 * leader has put into shared memory. */
static int stores_exchange(struct pages *p, const struct net_boot *boot, const struct finding *mine,
                           struct finding *all) {
    struct net_world *w = p->world;
    struct finding *board = net_world_share(w, boot, (size_t)w->local_count * sizeof *board);
    if (!board)
        return -ENOMEM;
    if (w->local == 0)
        memcpy(board, mine, (size_t)w->local_count * sizeof *board);
    int status = net_boot_barrier(boot);
    return status ? status : net_boot_gather(boot, &board[w->local], all, sizeof *all);
}

static int agree_on_identity(const struct net_boot *boot, uint64_t *identity) {
    uint64_t mine = 0, *all = malloc((size_t)boot->size * sizeof *all);
    int status = net_agree_on_memory(boot, all, "the identity of the files");
    if (status == 0 && getrandom(&mine, sizeof mine, 0) != sizeof mine)
        mine = random_mix(clock_ns()) ^ (uint64_t)getpid(); /* getrandom failed */
    if (status == 0)
        status = net_boot_gather(boot, &mine, all, sizeof mine);
    if (status == 0)
        *identity = all[0];
    free(all);
    return status;
}

static int stores_settle(struct pages *p, const struct net_boot *boot, const uint64_t *bytes,
                         const struct verdict *v) {
    bool leads = p->world->local == 0;
    uint64_t identity = 0;
    int status = v->again ? 0 : agree_on_identity(boot, &identity);
    for (int i = 0; status == 0 && leads && i < p->world->local_count; i++)
        if (!v->again)
            status = make_one(p, i, bytes, identity);
        else if (p->homes[i].store)
            status = pages_store_select(p->homes[i].store, v->epoch);
    return net_boot_agree(boot, status);
}

/* Warns that everything the previous job wrote after this checkpoint is lost. */
static void say_what_was_found(const struct pages *p, const struct verdict *v) {
    if (p->world->rank == 0 && v->again && !v->clean)
        log_warn("segments %s: the previous job did not end with success; this one starts from its "
                 "checkpoint %llu",
                 settings_get()->nvm_name, (unsigned long long)v->epoch);
}

int pages_open_stores(struct pages *p, const struct net_boot *boot, const uint64_t *bytes, uint64_t *epoch,
                      uint64_t *tried) {
    struct net_world *w = p->world;
    struct finding *mine = calloc((size_t)w->local_count, sizeof *mine);
    struct finding *all = malloc((size_t)w->size * sizeof *all);
    struct verdict v = {0};
    int status = net_agree_on_memory(boot, mine && all, "what the files hold");
    for (int i = 0; status == 0 && w->local == 0 && i < w->local_count; i++) {
        open_one(p, i, bytes, &mine[i]);
        if (mine[i].status != 0) /* the others would most likely fail in the same way */
            break;
    }
    if (status == 0)
        status = stores_exchange(p, boot, mine, all);
    if (status == 0) {
        v = stores_judge(p, all);
        if (v.status == 0 && p->named && pages_chosen_epoch() > 0)
            choose_older(p, all, &v);
        status = v.status;
    }
    if (status == 0 && p->named)
        status = stores_settle(p, boot, bytes, &v);
    if (status == 0 && p->named)
        say_what_was_found(p, &v);
    *epoch = status == 0 && p->named && v.again ? v.epoch : 0;
    *tried = *epoch ? v.tried : 0;
    free(mine);
    free(all);
    return status;
}

int pages_close_stores(struct pages *p, bool keep) {
    int status = 0;
    for (int i = 0; p->homes && i < p->world->local_count; i++) {
        if (!keep && p->homes[i].store)
            pages_store_give_up(p->homes[i].store);
        int one = pages_store_close(p->homes[i].store);
        status = status ? status : one;
        p->homes[i].store = NULL;
    }
    return status;
}
