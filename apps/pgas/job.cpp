/* job.cpp: see job.hpp. */
#include "pgas/job.hpp"

#include <vgasnet.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

double seconds_now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

Job::Job(int argc, char **argv, const char *program, const char *description)
    : rank(0), size(0), team(GEX_TM_INVALID), name(program), about(description), asks_help(false),
      is_started(false), endpoint(GEX_EP_INVALID) {
    gex_Client_t client;
    if (gex_Client_Init(&client, &endpoint, &team, "PGAS", &argc, &argv, 0) != GASNET_OK)
        std::exit(1);
    rank = gex_TM_QueryRank(team);
    size = gex_TM_QuerySize(team);
    words.assign(argv + 1, argv + argc);
    json = value_of("json");
    for (size_t i = 0; i < words.size(); i++)
        asks_help |= words[i] == "--help";
}

/* ---- options ---- */

/* Removes the option from the command line. */
std::string Job::value_of(const std::string &option) {
    for (size_t i = 0; i + 1 < words.size(); i++)
        if (words[i] == "--" + option) {
            std::string value = words[i + 1];
            words.erase(words.begin() + (ptrdiff_t)i, words.begin() + (ptrdiff_t)i + 2);
            return value;
        }
    return "";
}

uint64_t Job::option(const char *option, uint64_t fallback, const char *text) {
    std::string value = value_of(option);
    help += "  --" + std::string(option) + " N   " + text + " (" + std::to_string(fallback) + ")\n";
    if (value.empty())
        return fallback;
    char *end = nullptr;
    uint64_t number = std::strtoull(value.c_str(), &end, 10);
    unsigned shift = *end == 'k' ? 10 : *end == 'm' ? 20 : *end == 'g' ? 30 : 0;
    if (value[0] < '0' || value[0] > '9' || end[shift ? 1 : 0] != '\0' || number == 0)
        bad = "--" + std::string(option) + " " + value + ": must be a number above 0, k, m or g at the end";
    return number << shift;
}

bool Job::refuses() {
    if (asks_help && rank == 0)
        std::printf("%s [OPTION]...   %s\n%s  --json FILE   write the results to FILE\n", name, about,
                    help.c_str());
    if (!asks_help && bad.empty() && !words.empty())
        bad = "unknown option " + words[0] + ", or one without a value";
    if (!asks_help && !bad.empty() && rank == 0)
        std::fprintf(stderr, "%s: %s\n", name, bad.c_str());
    return asks_help || !bad.empty();
}

/* ---- the job ---- */

void Job::attach(uint64_t bytes, gex_AM_Entry_t *handlers, size_t count) {
    gex_Segment_t mine;
    uint64_t whole = (bytes + GASNET_PAGESIZE) / GASNET_PAGESIZE * GASNET_PAGESIZE;
    if (gex_EP_RegisterHandlers(endpoint, handlers, count) != GASNET_OK ||
        gex_Segment_Attach(&mine, team, whole) != GASNET_OK)
        fail("no segment of " + std::to_string(whole) + " bytes");
    segments.resize(size);
    for (gex_Rank_t i = 0; i < size; i++) {
        void *base = nullptr;
        gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, i, &base, nullptr, nullptr, 0));
        segments[i] = static_cast<char *>(base);
    }
    barrier();
    is_started = true;
}

void Job::barrier() {
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

uint64_t Job::sum(uint64_t mine) {
    uint64_t all = 0;
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(team, &all, &mine, GEX_DT_U64, sizeof mine, 1, GEX_OP_ADD, nullptr, nullptr, 0));
    return all;
}

double Job::most(double mine) {
    double all = 0;
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(team, &all, &mine, GEX_DT_DBL, sizeof mine, 1, GEX_OP_MAX, nullptr, nullptr, 0));
    return all;
}

/* ---- the end ---- */

void Job::result(const char *what, double value) {
    results.push_back(std::make_pair(std::string(what), value));
}

/* Counters of a node are added by its first rank. */
void Job::add_counters() {
    std::vector<gasnet_nodeinfo_t> nodes(size);
    vgasnet_stats_t s;
    bool first = true;
    gasnet_getNodeInfo(nodes.data(), static_cast<int>(size));
    for (gex_Rank_t i = 0; i < rank; i++)
        first &= nodes[i].supernode != nodes[rank].supernode;
    vgasnet_stats(&s);
    result("hits", static_cast<double>(sum(s.hits)));
    result("misses", static_cast<double>(sum(s.misses)));
    result("smalls", static_cast<double>(sum(s.smalls)));
    result("from_nvm", static_cast<double>(sum(first ? s.from_nvm : 0)));
    result("from_home", static_cast<double>(sum(first ? s.from_home : 0)));
    result("from_peers", static_cast<double>(sum(first ? s.from_peers : 0)));
    result("evicted", static_cast<double>(sum(first ? s.evicted : 0)));
    result("nvm_reads", static_cast<double>(sum(first ? s.nvm_reads : 0)));
    result("nvm_writes", static_cast<double>(sum(first ? s.nvm_writes : 0)));
}

bool Job::write_json() const {
    std::FILE *file = std::fopen(json.c_str(), "w");
    if (!file)
        return false;
    std::fprintf(file, "{\n  \"ranks\": %u", size);
    for (size_t i = 0; i < results.size(); i++)
        std::fprintf(file, ",\n  \"%s\": %.9g", results[i].first.c_str(), results[i].second);
    std::fprintf(file, "\n}\n");
    return std::fclose(file) == 0;
}

void Job::end(int code) {
    if (is_started && !results.empty()) {
        add_counters();
        for (size_t i = 0; rank == 0 && i < results.size(); i++)
            std::printf("%-14s %.9g\n", results[i].first.c_str(), results[i].second);
        if (rank == 0 && !json.empty() && !write_json())
            fail(json + " cannot be written");
    }
    std::fflush(stdout);
    barrier();
    gasnet_exit(code);
}

void Job::fail(const std::string &why) {
    std::fprintf(stderr, "%s: rank %u: %s\n", name, rank, why.c_str());
    std::fflush(stderr);
    gasnet_exit(1);
}
