/* report_messages.c: messages: how long the queues were, whether Hearth's matching would help, and what it did.
 *
 * A search of the unexpected messages is observed: MPI makes it in MPI_Irecv, which never waits. What these calls took beyond
 * their fastest hundredth is what matching would save, if MPI tells that the queue was long. A search of the posted receives happens
 * when a message arrives, inside a call that may also wait for it, and how many receives it passes depends on the order of the
 * messages: its time is not observed. An MPI that walks a list takes some 5 ns for each entry, and 100 ns if no entry is in a
 * cache: no estimate is more than that.
 *
 * Queues that take less than 1 % of the run, or never hold 16 receives, are not worth a try: there Hearth's matching costs as
 * much as it saves. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json_read.h"
#include "report/read/report_read.h"
#include "report/report_table.h"
#include "tools.h"

static const double entry_seconds = 5e-9, miss_seconds = 100e-9, is_notable = 0.01;
enum { SHORT = 16 };

/* ---- reading ---- */

static void queue_read_most(struct queue_sum *q, uint64_t most, uint64_t rank) {
    if (most <= q->most)
        return;
    q->most = most;
    q->most_rank = rank;
}

void report_messages_read_process(struct trouble *t, const struct json_value *process, uint64_t rank,
                                  struct run *run) {
    const struct json_value *in = json_member(process, "receives"), *queue = json_member(in, "unexpected");
    struct messages_sum *m = &run->messages;
    if (!in)
        return;
    m->is_counted = true;
    uint64_t posts = read_count(t, in, "posts");
    m->posts += posts;
    m->waiting += read_number(t, in, "mean") * (double)posts;
    queue_read_most(&m->posted, read_count(t, in, "most"), rank);
    read_histogram(t, in, "depth", m->posted.length, QUEUE_CLASSES);
    if (!queue)
        return;
    m->unexpected_samples += read_count(t, queue, "samples");
    queue_read_most(&m->unexpected, read_count(t, queue, "most"), rank);
    read_histogram(t, queue, "length", m->unexpected.length, QUEUE_CLASSES);
}

static void messages_read_matched(struct trouble *t, const struct json_value *in, struct run *run) {
    struct messages_sum *m = &run->messages;
    uint64_t rank = read_count(t, in, "rank");
    m->is_matched = true;
    m->posts += read_count(t, in, "posts");
    m->arrivals += read_count(t, in, "arrivals");
    m->matched += read_count(t, in, "matched");
    m->wildcards += read_count(t, in, "wildcards");
    m->through_mpi += read_count(t, in, "far");
    if (json_member(in, "batched")) /* not in reports of older versions */
        m->batched += read_count(t, in, "batched");
    m->sent += read_count(t, in, "node") + read_count(t, in, "far") + read_count(t, in, "self");
    m->sent_bytes +=
        read_count(t, in, "node_bytes") + read_count(t, in, "far_bytes") + read_count(t, in, "self_bytes");
    queue_read_most(&m->posted, read_count(t, in, "posted_most"), rank);
    queue_read_most(&m->unexpected, read_count(t, in, "unexpected_most"), rank);
    read_histogram(t, in, "posted_length", m->posted.length, QUEUE_CLASSES);
    read_histogram(t, in, "unexpected_length", m->unexpected.length, QUEUE_CLASSES);
    read_histogram(t, in, "depth", m->searched.length, QUEUE_CLASSES);
    if (json_member(in, "search_seconds"))
        m->search_seconds += read_number(t, in, "search_seconds");
}

static void messages_read_heater(struct trouble *t, const struct json_value *in, struct run *run) {
    struct heater_sum h = {.rank = read_count(t, in, "rank"),
                           .rounds = read_count(t, in, "rounds"),
                           .lines = read_count(t, in, "lines"),
                           .bytes = read_count(t, in, "bytes")};
    const struct json_value *core = json_member(in, "core");
    h.core = core ? core->number : -1;
    if (!h.rounds)
        return;
    run->heaters = list_grown(run->heaters, run->heater_count, 1, sizeof *run->heaters);
    run->heaters[run->heater_count++] = h;
}

void report_messages_read(struct trouble *t, struct run *run) {
    const struct json_value *messages = json_member(run->root, "messages"),
                            *heaters = json_member(run->root, "heaters");
    for (const struct json_value *v = NULL; messages && (v = json_next(messages, v));)
        messages_read_matched(t, v, run);
    for (const struct json_value *v = NULL; heaters && (v = json_next(heaters, v));)
        messages_read_heater(t, v, run);
}

/* ---- the tables ---- */

static uint64_t queue_sum(const struct queue_sum *q) {
    uint64_t sum = 0;
    for (int i = 0; i < QUEUE_CLASSES; i++)
        sum += q->length[i];
    return sum;
}

/* Each class counts as its middle. */
static double queue_mean(const struct queue_sum *q) {
    double sum = 0;
    for (int i = 1; i < QUEUE_CLASSES; i++)
        sum += (i < 2 ? 1 : 0.75 * (double)(1ull << i)) * (double)q->length[i];
    uint64_t all = queue_sum(q);
    return all ? sum / (double)all : 0;
}

static const char *say_class(int i) {
    static char texts[4][64];
    static unsigned turn;
    char *text = texts[turn++ % 4];
    uint64_t least = i ? 1ull << (i - 1) : 0;
    if (i < 2)
        snprintf(text, sizeof texts[0], "%" PRIu64, least);
    else
        snprintf(text, sizeof texts[0], "%" PRIu64 " to %" PRIu64, least, 2 * least - 1);
    return text;
}

static const char *say_share(uint64_t part, uint64_t whole) {
    return part ? say_percent(share(part, whole)) : "";
}

static const char *say_some(uint64_t count) {
    return count ? say_count(count) : "";
}

static int queue_classes(const struct queue_sum *a, const struct queue_sum *b, const struct queue_sum *c) {
    int n = QUEUE_CLASSES;
    while (n > 1 && !a->length[n - 1] && !b->length[n - 1] && !c->length[n - 1])
        n--;
    return n;
}

static void counted_table(const struct messages_sum *m, struct tables *tables) {
    static const struct queue_sum none;
    struct table *t = tables_add(tables, "Messages: receives that waited at each post of one", 3);
    table_row(t, "Receives", "Posts", "Share");
    for (int i = 0; i < queue_classes(&m->posted, &none, &none); i++)
        table_row(t, say_class(i), say_count(m->posted.length[i]), say_share(m->posted.length[i], m->posts));
    table_note(
        t,
        "At most %s receives waited at a time, on rank %" PRIu64
        ", and %.1f in the mean of all posts. A receive waits from its post until the program is told that "
        "it is complete; MPI's own queue is at most that long.",
        say_count(m->posted.most), m->posted.most_rank, m->posts ? m->waiting / (double)m->posts : 0);
    if (m->unexpected_samples)
        table_note(t,
                   "Unexpected messages in MPI_COMM_WORLD: at most %s, on rank %" PRIu64
                   "; %.1f in the mean of %s samples.",
                   say_count(m->unexpected.most), m->unexpected.most_rank, queue_mean(&m->unexpected),
                   say_count(m->unexpected_samples));
    else
        table_note(t,
                   "The queue of unexpected messages was not observed: this MPI does not tell its length.");
}

static void matched_table(const struct messages_sum *m, const struct run *run, struct tables *tables) {
    struct table *t =
        tables_add(tables, "Messages, matched by Hearth: lengths of the queues, entries searched", 4);
    uint64_t searches = queue_sum(&m->searched);
    table_row(t, "Entries", "Receives posted", "Unexpected messages", "Searches");
    for (int i = 0; i < queue_classes(&m->posted, &m->unexpected, &m->searched); i++)
        table_row(t, say_class(i), say_some(m->posted.length[i]), say_some(m->unexpected.length[i]),
                  say_some(m->searched.length[i]));
    table_note(t, "%s messages with %s were sent, %s of them through MPI.", say_count(m->sent),
               say_bytes(m->sent_bytes), say_percent(share(m->through_mpi, m->sent)));
    if (m->batched)
        table_note(t,
                   "%s of those through MPI left together with others: one MPI_Startall sent them, or they "
                   "had waited for space.",
                   say_percent(share(m->batched, m->through_mpi)));
    table_note(
        t,
        "Of %s messages that arrived, %s found a receive that was posted; %s of %s receives had a wildcard.",
        say_count(m->arrivals), say_percent(share(m->matched, m->arrivals)), say_count(m->wildcards),
        say_count(m->posts));
    table_note(t, "%s searches examined %.1f entries in the mean, and took %s of each rank's time.",
               say_count(searches), queue_mean(&m->searched),
               say_seconds(run->rank_count ? m->search_seconds / (double)run->rank_count : 0));
    table_note(t,
               "The queues held at most %s receives (rank %" PRIu64
               ") and %s unexpected messages (rank %" PRIu64 ").",
               say_count(m->posted.most), m->posted.most_rank, say_count(m->unexpected.most),
               m->unexpected.most_rank);
}

static void heater_table(const struct run *run, struct tables *tables) {
    struct table *t = tables_add(tables, "Heater: keeps the queues in the cache", 5);
    table_row(t, "Rank", "Rounds", "Lines touched", "Memory", "Core");
    for (size_t i = 0; i < run->heater_count; i++) {
        const struct heater_sum *h = &run->heaters[i];
        char core[32];
        snprintf(core, sizeof core, "%.0f", h->core);
        table_row(t, say_plain(h->rank), say_count(h->rounds), say_count(h->lines), say_bytes(h->bytes),
                  h->core < 0 ? "none" : core);
    }
}

void report_messages_tables(const struct run *run, struct tables *tables) {
    const struct messages_sum *m = &run->messages;
    if (m->is_matched && (m->posts || m->sent))
        matched_table(m, run, tables);
    else if (m->is_counted && m->posts)
        counted_table(m, tables);
    if (run->heater_count)
        heater_table(run, tables);
}

/* ---- the verdict ---- */

/* What an MPI that walks lists spends on searches, by the lengths of the queues. */
static double messages_walked(const struct run *run) {
    const struct messages_sum *m = &run->messages;
    double entries = m->waiting + (double)m->posts * queue_mean(&m->unexpected);
    return run->rank_count ? entries * entry_seconds / (double)run->rank_count : 0;
}

/* The time of calls beyond that of their fastest hundredth. A late call has lost its core, unless a search can take that long. */
static double seconds_of_searches(const struct call_sum *c, double longest) {
    bool has_lost = c->late && c->late_seconds > longest * (double)c->late;
    return fmax(c->seconds - c->fastest_seconds - (has_lost ? c->late_seconds : 0), 0);
}

/* What a rank would save, if that was observed; else 0. */
static double messages_saved(const struct run *run) {
    const struct messages_sum *m = &run->messages;
    double saved = 0, longest = (double)m->unexpected.most * miss_seconds;
    double most = (double)m->posts * queue_mean(&m->unexpected) * miss_seconds;
    for (size_t i = 0; i < run->call_count; i++) {
        const struct call_sum *c = &run->calls[i];
        if (!strcmp(c->name, "MPI_Irecv") || !strcmp(c->name, "MPI_Irecv_c"))
            saved += seconds_of_searches(c, longest);
    }
    bool is_observed = m->unexpected_samples && m->unexpected.most >= SHORT;
    return is_observed && run->rank_count ? fmin(saved, most) / (double)run->rank_count : 0;
}

uint64_t report_messages_most(const struct run *run) {
    const struct messages_sum *m = &run->messages;
    return m->posted.most > m->unexpected.most ? m->posted.most : m->unexpected.most;
}

bool report_messages_are_short(const struct run *run) {
    return report_messages_most(run) < SHORT;
}

bool report_messages_are_cheap(const struct run *run) {
    return report_messages_are_short(run) ||
           fmax(messages_walked(run), messages_saved(run)) < is_notable * run->seconds;
}

char *report_messages_verdict(const struct run *run) {
    const struct messages_sum *m = &run->messages;
    uint64_t most = report_messages_most(run);
    double ranks = run->rank_count ? (double)run->rank_count : 1;
    if (m->is_matched && m->sent)
        return need_text(
            "Messages: Hearth matched %s; the queues were at most %s deep, and searching them took %s.",
            say_count(m->arrivals), say_count(most), say_seconds(m->search_seconds / ranks));
    if (m->is_matched || !m->is_counted || !m->posts)
        return need_copy("");
    if (report_messages_are_cheap(run))
        return need_text("Messages: queues are at most %s deep, matching is not worth switching on.",
                         say_count(most));
    double saved = messages_saved(run);
    if (saved >= is_notable * run->seconds)
        return need_text("Messages: up to %s unexpected messages wait, and MPI_Irecv walks them. Matching "
                         "(HEARTH_MATCH=on) would save about %s (%s of the run).",
                         say_count(run->messages.unexpected.most), say_seconds(saved),
                         say_percent(saved / run->seconds));
    return need_text("Messages: queues are up to %s deep, which costs an MPI that walks them some %s (%s of "
                     "the run). What matching (HEARTH_MATCH=on) would save was not observed; hearth tune "
                     "measures it.",
                     say_count(most), say_seconds(messages_walked(run)),
                     say_percent(fmin(messages_walked(run) / run->seconds, 1)));
}
