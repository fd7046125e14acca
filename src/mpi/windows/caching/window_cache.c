/* window_cache.c: the cache of a window: its creation at the first get that wants it, and the mode in which it is used. All
 * caches share one memory budget. */
#include "mpi/windows/caching/window_cache.h"

#include <errno.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/memory.h"
#include "mpi/host/hooks.h"
#include "mpi/windows/caching/admission.h"
#include "mpi/windows/caching/inflight/rma_verify.h"
#include "mpi/windows/caching/record/record.h"
#include "mpi/windows/caching/window/score.h"
#include "observe/output.h"

static struct memory_budget budget;

void rma_window_cache_start(void) {
    budget.limit = settings_get()->cache_max;
    rma_record_start(&budget);
}

/* A warning only the first time: all windows share one budget, and the report lists each of them. */
static void say_no_memory(const struct window *w, int err) {
    static bool said;
    char name[MPI_MAX_OBJECT_NAME];
    rma_window_name(w, name);
    log_print(said ? LOG_INFO : LOG_WARN,
              "window %llu '%s': no memory for its cache (%s); its gets go to MPI uncached",
              (unsigned long long)w->serial, name,
              err == -EDQUOT ? "HEARTH_CACHE_MAX is used up: raise it, or lower HEARTH_CACHE_SIZE"
                             : "the system has none left");
    said = true;
}

static void note_resized(void *window, enum cache_part part, uint64_t from, uint64_t to) {
    const struct window *w = window;
    log_debug(LOG_CACHE, "window %llu: its %s %s from %llu to %llu %s: %llu gets, %llu hits",
              (unsigned long long)w->serial, part == CACHE_INDEX ? "index" : "storage",
              to > from ? "grows" : "shrinks", (unsigned long long)from, (unsigned long long)to,
              part == CACHE_INDEX ? "slots" : "bytes", (unsigned long long)w->count.gets,
              (unsigned long long)w->count.hits);
    rma_record_event(window, part == CACHE_INDEX ? RECORD_INDEX : RECORD_STORAGE, from, to);
}

static void open_cache(struct window *w) {
    struct cache_config config;
    cache_config_from(&config, settings_get());
    config.budget = &budget;
    config.resized = note_resized;
    config.resized_arg = w;
    int err = cache_open(&config, &w->cache);
    if (!err) {
        log_debug(
            LOG_CACHE,
            "window %llu: a cache of %llu bytes and %llu slots is made, %s; HEARTH_CACHE_MAX leaves %llu "
            "bytes",
            (unsigned long long)w->serial, (unsigned long long)config.storage_bytes,
            (unsigned long long)config.index_slots, config.adaptive ? "which adapts" : "of fixed size",
            (unsigned long long)(budget.limit - atomic_load_explicit(&budget.used, memory_order_relaxed)));
        if (w->mode == MODE_TRANSPARENT && output_is_wanted() &&
            cache_whatif_open(&budget, &w->analysis.whatif))
            w->analysis.whatif = NULL; /* continue without the what-if analysis */
        rma_record_cache(w, &budget);
        return;
    }
    w->cache = NULL;
    w->cache_refused = true;
    say_no_memory(w, err);
}

struct cache *rma_window_cache(struct window *w) {
    if (LIKELY(w->cache != NULL) || w->cache_refused)
        return w->cache;
    rma_lock();
    if (!w->cache && !w->cache_refused)
        open_cache(w);
    rma_unlock();
    return w->cache;
}

/* ---- the mode ---- */

const char *rma_window_mode_word(enum mode mode) {
    static const char *const words[] = {"transparent", "always", "user", "off", "acquire", "auto"};
    return words[mode];
}

enum mode rma_window_enter_mode(struct window *w, enum mode mode) {
    w->fresh.is_auto = false;
    return mode == MODE_AUTO ? rma_verify_enter(w) : mode;
}

void rma_window_set_mode(struct window *w, enum mode mode) {
    rma_lock();
    rma_admission_settle(w);
    mode = rma_window_enter_mode(w, mode);
    log_debug(LOG_CACHE, "window %llu: mode %s instead of %s%s", (unsigned long long)w->serial,
              rma_window_mode_word(mode), rma_window_mode_word(w->mode),
              w->mode != mode && w->cache ? "; cached data is invalid" : "");
    if (w->mode == MODE_OFF && mode != MODE_OFF)
        rma_inflight_assume_busy(w);
    if (w->mode != mode && w->cache)
        cache_invalidate(w->cache);
    w->mode = mode;
    if (mode == MODE_ACQUIRE)
        atomic_store_explicit(&rma_window_acquires, true, memory_order_relaxed);
    rma_admission_resume(w);
    rma_unlock();
}

/* The key of the original CLaMPI takes numbers. */
static int mode_from_number(const char *value) {
    return value[0] >= '1' && value[0] <= '3' && !value[1] ? value[0] - '1' : -1;
}

bool rma_window_mode_from(MPI_Info info, enum mode *mode) {
    static const char *const keys[] = {"clampi_mode", "CLAMPI_MODE"};
    static const char words[] = "transparent|always|user|off|acquire|auto";
    for (int i = 0; info != MPI_INFO_NULL && i < 2; i++) {
        char value[MPI_MAX_INFO_VAL + 1];
        int flag = 0;
        if (host_Info_get(info, keys[i], MPI_MAX_INFO_VAL, value, &flag) != MPI_SUCCESS || !flag)
            continue;
        int found = settings_word(words, value);
        if (found < 0)
            found = mode_from_number(value);
        if (found < 0 && !log_is_first_rank())
            continue; /* all ranks give the same info, as a rule: one line per job */
        else if (found < 0)
            log_warn("info key %s=%.80s is not one of %s (or 1, 2, 3); it is ignored", keys[i], value, words);
        else {
            *mode = (enum mode)found;
            return true;
        }
    }
    return false;
}

int hook_Win_set_info(MPI_Win win, MPI_Info info) {
    struct window *w = rma_window_find(win);
    enum mode mode;
    int rc = host_Win_set_info(win, info);
    acquire(EVENT_COLLECTIVE);
    if (w && rc == MPI_SUCCESS)
        rma_score_from_info(w, info);
    if (w && rc == MPI_SUCCESS && rma_window_mode_from(info, &mode))
        rma_window_set_mode(w, mode);
    return rc;
}
