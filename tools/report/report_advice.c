/* report_advice.c: advice to the user. Each function examines one aspect, states the number that shows the problem,
 * and names the setting. Advice is given only if the expected gain is worth a try. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "tools.h"
#include "run/strvec.h"

enum { WINDOWS = 8 }; /* windows examined: those with most gets */

static const double is_notable = 0.05, as_good_as = 0.01;

static void advice_say(struct strvec *lines, char *text) {
    strvec_add(lines, text);
    free(text);
}

/* The value for HEARTH_CACHE_SIZE, for a power of two from 1 KB on. */
static char *setting_of(uint64_t bytes) {
    static const char suffixes[] = "kmg";
    unsigned i = 0;
    for (bytes /= 1024; i < 2 && bytes % 1024 == 0; i++)
        bytes /= 1024;
    return need_text("%" PRIu64 "%c", bytes, suffixes[i]);
}

/* The measured hit ratio among the gets that the curve covers. */
static double measured(const struct window_sum *w) {
    return share(counts_hits(&w->sum), w->curve.gets);
}

static void advise_storage(const struct run *run, const struct window_sum *w, struct strvec *lines) {
    double missed = share(w->sum.capacity + w->sum.failing, w->sum.gets);
    if (missed < is_notable)
        return;
    char *head = need_text("window %s: %s capacity misses", say_window(w), say_percent(missed));
    uint64_t enough = w->curve.is_there ? curve_enough(&w->curve, as_good_as) : 0;
    double then = w->curve.is_there ? curve_at(&w->curve, enough) : 0;
    if (!w->curve.is_there)
        advice_say(lines, need_text("%s; try a larger HEARTH_CACHE_SIZE", head));
    else if (then < measured(w) + is_notable)
        advice_say(
            lines,
            need_text("%s; more memory would not help: with %s the hit ratio would be %.2f, it was %.2f",
                      head, say_bytes(enough), then, measured(w)));
    else {
        char *value = setting_of(enough);
        advice_say(
            lines,
            need_text("%s; with %s the hit ratio would be %.2f, it was %.2f: HEARTH_CACHE_SIZE=%s%s", head,
                      say_bytes(enough), then, measured(w), value,
                      enough > run->cache_bytes_most / 2 ? ", and HEARTH_CACHE_MAX larger than that" : ""));
        free(value);
    }
    free(head);
}

static void advise_index(const struct run *run, const struct window_sum *w, struct strvec *lines) {
    double missed = share(w->sum.conflicting, w->sum.gets);
    if (missed >= is_notable)
        advice_say(
            lines,
            need_text(
                "window %s: %s conflicting misses: the index is too small; HEARTH_ADAPT=on, or twice the "
                "HEARTH_INDEX_SIZE (it has %" PRIu64 " slots)",
                say_window(w), say_percent(missed), w->sum.index_slots / w->ranks));
}

static void advise_mode(const struct run *run, const struct window_sum *w, struct strvec *lines) {
    double gets = (double)w->whatif.gets, now = share(counts_hits(&w->sum), w->sum.gets);
    if (!gets || strcmp(w->mode, "transparent") != 0)
        return;
    double acquire = w->whatif.acquire / gets, always = w->whatif.always / gets;
    if (acquire >= now + is_notable)
        advice_say(lines,
                   need_text("window %s: mode transparent served %s; acquire mode would serve about %s: "
                             "HEARTH_MODE=acquire, "
                             "and HEARTH_CHECK=1 once",
                             say_window(w), say_percent(now), say_percent(acquire)));
    else if (always >= now + is_notable)
        advice_say(
            lines,
            need_text(
                "window %s: mode transparent served %s; if no rank writes what others have read, always mode "
                "would serve about %s: the info key clampi_mode=always, and HEARTH_CHECK=1 once",
                say_window(w), say_percent(now), say_percent(always)));
}

static void advise_bypass(const struct run *run, const struct window_sum *w, struct strvec *lines) {
    double bypassed = share(w->sum.bypassed, w->sum.gets);
    if (w->sum.suspended)
        advice_say(lines, need_text("window %s: the cache cost more than it saved and was suspended %" PRIu64
                                    " times, for %s of the gets; to keep it active, "
                                    "set HEARTH_SUSPEND=0",
                                    say_window(w), w->sum.suspended,
                                    say_percent(share(w->sum.suspended_gets, w->sum.gets))));
    else if (bypassed >= 0.5 && !strcmp(w->mode, "off"))
        advice_say(lines, need_text("window %s: mode off: none of its gets can be served", say_window(w)));
    else if (bypassed >= 0.5)
        advice_say(
            lines,
            need_text("window %s: %s of the gets bypassed the cache: they went to the rank's own memory, "
                      "or to ranks that "
                      "are as fast as the cache (HEARTH_BYPASS)",
                      say_window(w), say_percent(bypassed)));
}

/* A cache that is much larger than its curve requires. */
static void advise_less(const struct run *run, const struct window_sum *w, struct strvec *lines) {
    uint64_t each = w->sum.storage_bytes / w->ranks;
    if (!w->curve.is_there || curve_most(&w->curve) < is_notable)
        return;
    uint64_t enough = curve_enough(&w->curve, as_good_as);
    if (each >= 64ull << 20 && enough <= each / 8)
        advice_say(lines, need_text("window %s: its cache has %s on each rank; %s would serve as much",
                                    say_window(w), say_bytes(each), say_bytes(enough)));
}

static double advice_gets_of(const struct rank_sum *r) {
    return (double)r->sum.gets;
}

static void advise_balance(const struct run *run, struct strvec *lines) {
    struct spread s = run_spread(run, advice_gets_of);
    if (run->rank_count > 1 && s.most > 2 * s.mean)
        advice_say(lines, need_text("rank %" PRIu64
                                    " makes %.1f times as many gets as the mean: the work is not balanced",
                                    s.most_rank, s.most / s.mean));
}

void report_advice(const struct run *run, struct strvec *lines) {
    static void (*const pieces[])(const struct run *, const struct window_sum *, struct strvec *) = {
        advise_storage, advise_index, advise_mode, advise_bypass, advise_less};
    for (size_t i = 0; i < run->window_count && i < WINDOWS; i++)
        for (size_t k = 0; k < sizeof pieces / sizeof pieces[0] && run->windows[i].sum.gets; k++)
            pieces[k](run, &run->windows[i], lines);
    advise_balance(run, lines);
    if (!lines->count && run->all.gets)
        advice_say(lines, need_copy("nothing stands out"));
}
