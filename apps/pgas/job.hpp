/* job.hpp: what the C++ programs of this folder share: a job of GASNet-EX with its options, segments and reductions, and the
 * report. A program is used by all ranks alike:
 *
 *      Job job(argc, argv, "dht", "...");
 *      uint64_t keys = job.option("keys", 1000, "how many");
 *      if (job.refuses())
 *          return job.end(2);
 *      job.attach(bytes, handlers, count);
 */
#ifndef HEARTH_APPS_PGAS_JOB_HPP
#define HEARTH_APPS_PGAS_JOB_HPP

#define GASNET_SEQ 1 /* one thread makes calls, and handlers run in it */
#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/* A number that depends on all bits of `n`. */
inline uint64_t mix(uint64_t n) {
    n += 0x9e3779b97f4a7c15u;
    n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9u;
    n = (n ^ (n >> 27)) * 0x94d049bb133111ebu;
    return n ^ (n >> 31);
}

double seconds_now();

class Job {
  public:
    Job(int argc, char **argv, const char *name, const char *about);
    Job(const Job &) = delete;
    Job &operator=(const Job &) = delete;

    /* The value of --name N; N may end in k, m or g. */
    uint64_t option(const char *name, uint64_t fallback, const char *help);
    /* After the last option: whether the program must end, because the command line is wrong or asks for help. Rank 0 has
     * printed why. */
    bool refuses();

    /* Collective: registers the handlers, and creates a segment of at least this size in each rank. */
    void attach(uint64_t bytes, gex_AM_Entry_t *handlers, size_t count);
    char *segment(gex_Rank_t of) const {
        return segments[of];
    }

    gex_Rank_t rank, size;
    gex_TM_t team;

    void barrier();
    uint64_t sum(uint64_t mine);
    double most(double mine);

    /* Results for the report, in order. The same on all ranks. */
    void result(const char *what, double value);
    /* Prints the results and the counters of pages, to standard output and to the file of --json. Ends the process. */
    [[noreturn]] void end(int code);
    /* Ends the job after a line. For errors of one rank. */
    [[noreturn]] void fail(const std::string &why);

  private:
    std::string value_of(const std::string &name);
    void add_counters();
    bool write_json() const;

    const char *name, *about;
    std::vector<std::string> words; /* of the command line, as far as they are not understood */
    std::string help, json, bad;
    bool asks_help, is_started;
    gex_EP_t endpoint;
    std::vector<char *> segments;
    std::vector<std::pair<std::string, double>> results;
};

#endif
