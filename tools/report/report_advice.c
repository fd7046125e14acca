/* report_advice.c: advice to the user. Each function examines one aspect, states the number that shows the problem,
 * and names the setting. Advice is given only if the expected gain is worth a try. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "observe/bypass_reason.h"
#include "report/report.h"
#include "tools.h"
#include "run/strvec.h"

enum { WINDOWS = 1000, NAMED = 3 }; /* windows examined: those with most gets; named in one line */

static const double is_notable = 0.05, as_good_as = 0.01;

static void advice_say(struct strvec *lines, char *text) {
    strvec_add(lines, text);
    free(text);
}

/* ---- one line for many alike windows ---- */

/* What is to be said about a window, without its name. */
struct remark {
    const struct window_sum *window;
    char *text;
    bool is_said;
};
struct remarks {
    struct remark *of;
    size_t count;
};

static void advice_note(struct remarks *r, const struct window_sum *w, char *text) {
    r->of = list_grown(r->of, r->count, 1, sizeof *r->of);
    r->of[r->count++] = (struct remark){.window = w, .text = text};
}

/* Whether two remarks say the same, apart from numbers. */
static bool remarks_are_alike(const char *a, const char *b) {
    static const char number[] = "0123456789.";
    while (*a && *b) {
        size_t m = strspn(a, number), n = strspn(b, number);
        if (!m != !n || (!m && *a != *b))
            return false;
        a += m ? m : 1;
        b += n ? n : 1;
    }
    return *a == *b;
}

/* Says a remark for all windows like this one, with the numbers of the window that has most gets. */
static void remark_say(struct remarks *r, size_t first, struct strvec *lines) {
    char *names = need_copy(say_window(r->of[first].window)), *more;
    size_t count = 1;
    for (size_t i = first + 1; i < r->count; i++) {
        if (r->of[i].is_said || !remarks_are_alike(r->of[first].text, r->of[i].text))
            continue;
        r->of[i].is_said = true;
        if (++count > NAMED)
            continue;
        more = need_text("%s, %s", names, say_window(r->of[i].window));
        free(names);
        names = more;
    }
    if (count == 1)
        advice_say(lines, need_text("window %s: %s", names, r->of[first].text));
    else
        advice_say(lines, need_text("%zu windows (%s%s): %s (window %s; the others are alike)", count, names,
                                    count > NAMED ? ", ..." : "", r->of[first].text,
                                    say_window(r->of[first].window)));
    free(names);
}

static void remarks_say(struct remarks *r, struct strvec *lines) {
    for (size_t i = 0; i < r->count; i++)
        if (!r->of[i].is_said)
            remark_say(r, i, lines);
    for (size_t i = 0; i < r->count; i++)
        free(r->of[i].text);
    free(r->of);
}

/* ---- the remarks ---- */

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

static void advise_storage(const struct run *run, const struct window_sum *w, struct remarks *r) {
    double missed = share(w->sum.capacity + w->sum.failing, w->sum.gets);
    if (missed < is_notable)
        return;
    char *head = need_text("%s capacity misses", say_percent(missed));
    uint64_t enough = w->curve.is_there ? curve_enough(&w->curve, as_good_as) : 0;
    double then = w->curve.is_there ? curve_at(&w->curve, enough) : 0;
    if (!w->curve.is_there)
        advice_note(r, w, need_text("%s; try a larger HEARTH_CACHE_SIZE", head));
    else if (then < measured(w) + is_notable)
        advice_note(
            r, w,
            need_text("%s; more memory would not help: with %s the hit ratio would be %.2f, it was %.2f",
                      head, say_bytes(enough), then, measured(w)));
    else {
        char *value = setting_of(enough);
        advice_note(
            r, w,
            need_text("%s; with %s the hit ratio would be %.2f, it was %.2f: HEARTH_CACHE_SIZE=%s%s", head,
                      say_bytes(enough), then, measured(w), value,
                      enough > run->cache_bytes_most / 2 ? ", and HEARTH_CACHE_MAX larger than that" : ""));
        free(value);
    }
    free(head);
}

static void advise_index(const struct run *run, const struct window_sum *w, struct remarks *r) {
    double missed = share(w->sum.conflicting, w->sum.gets);
    if (missed >= is_notable)
        advice_note(r, w,
                    need_text("%s conflicting misses: the index is too small; HEARTH_ADAPT=on, or twice the "
                              "HEARTH_INDEX_SIZE (it has %" PRIu64 " slots)",
                              say_percent(missed), w->sum.index_slots / w->ranks));
}

static void advise_mode(const struct run *run, const struct window_sum *w, struct remarks *r) {
    double gets = (double)w->whatif.gets, now = share(counts_hits(&w->sum), w->sum.gets);
    if (!gets || strcmp(w->mode, "transparent") != 0)
        return;
    double acquire = w->whatif.acquire / gets, always = w->whatif.always / gets;
    if (acquire >= now + is_notable)
        advice_note(r, w,
                    need_text("mode transparent served %s; acquire mode would serve about %s: "
                              "HEARTH_MODE=acquire, "
                              "and HEARTH_CHECK=1 once",
                              say_percent(now), say_percent(acquire)));
    else if (always >= now + is_notable)
        advice_note(
            r, w,
            need_text("mode transparent served %s; if no rank writes what others have read, always mode "
                      "would serve about %s: the info key clampi_mode=always, and HEARTH_CHECK=1 once",
                      say_percent(now), say_percent(always)));
}

/* The most frequent reason. */
static void advise_reason(const struct window_sum *w, struct remarks *r) {
    int most = 0;
    for (int i = 1; i < BYPASS_REASONS; i++)
        most = w->why[i] > w->why[most] ? i : most;
    if (w->why[most])
        advice_note(r, w,
                    need_text("%s of the gets bypassed the cache: %s",
                              say_percent(share(w->why[most], w->sum.gets)), bypass_reason_text(most)));
}

static void advise_bypass(const struct run *run, const struct window_sum *w, struct remarks *r) {
    double bypassed = share(w->sum.bypassed, w->sum.gets);
    if (w->sum.suspended)
        advice_note(r, w,
                    need_text("the cache cost more than it saved and was suspended %" PRIu64
                              " times, for %s of the gets; before the last time it had taken %s and saved "
                              "%s; to keep it active, "
                              "set HEARTH_SUSPEND=0",
                              w->sum.suspended, say_percent(share(w->sum.suspended_gets, w->sum.gets)),
                              say_seconds(w->cache_seconds.took), say_seconds(w->cache_seconds.saved)));
    else if (bypassed >= 0.5 && !strcmp(w->mode, "off"))
        advice_note(r, w, need_text("mode off: none of its gets can be served"));
    else if (bypassed >= 0.5)
        advise_reason(w, r);
}

static void advise_operations(const struct run *run, const struct window_sum *w, struct remarks *r) {
    if (w->why_operations)
        advice_note(r, w,
                    need_text("%s executed its operations: %s", w->is_served ? "Hearth" : "the MPI library",
                              w->why_operations));
}

/* A cache that is much larger than its curve requires. */
static void advise_less(const struct run *run, const struct window_sum *w, struct remarks *r) {
    uint64_t each = w->sum.storage_bytes / w->ranks;
    if (!w->curve.is_there || curve_most(&w->curve) < is_notable)
        return;
    uint64_t enough = curve_enough(&w->curve, as_good_as);
    if (each >= 64ull << 20 && enough <= each / 8)
        advice_note(r, w,
                    need_text("its cache has %s on each rank; %s would serve as much", say_bytes(each),
                              say_bytes(enough)));
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
    static void (*const pieces[])(const struct run *, const struct window_sum *, struct remarks *) = {
        advise_storage, advise_index, advise_mode, advise_bypass, advise_operations, advise_less};
    struct remarks remarks = {0};
    for (size_t i = 0; i < run->window_count && i < WINDOWS; i++)
        for (size_t k = 0; k < sizeof pieces / sizeof pieces[0] && run->windows[i].sum.gets; k++)
            pieces[k](run, &run->windows[i], &remarks);
    remarks_say(&remarks, lines);
    advise_balance(run, lines);
    if (!lines->count && run->all.gets)
        advice_say(lines, need_copy("nothing stands out"));
}
