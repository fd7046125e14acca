/* dht.cpp: a distributed hash table on GASNet-EX, as UPC++ programs have them. A key belongs to the rank that its hash says.
 * That rank has an index of its keys in private memory, and their values in its segment, which may exceed memory.
 *
 *      insert    an RPC reserves space for the value at the owner; a put writes it there
 *      find      an RPC looks the key up; a get reads the value, through the caches of all nodes
 *
 * An RPC is an active message whose reply fills in a record of the caller. Many are under way at once. Every value that is
 * found is compared with what was inserted; some keys that are sought were never inserted. */
#include "pgas/job.hpp"

#include <cstring>
#include <unordered_map>

namespace {

enum : uint64_t { NONE = ~uint64_t(0) };
enum { BATCH = 32 }; /* RPCs of a rank under way */

/* ---- remote procedure calls ---- */

struct Call {
    bool done;
    uint64_t answer;
};

int pending; /* calls of this rank without an answer */

gex_AM_Arg_t low(uint64_t n) {
    return static_cast<gex_AM_Arg_t>(n & 0xffffffffu);
}

gex_AM_Arg_t high(uint64_t n) {
    return static_cast<gex_AM_Arg_t>(n >> 32);
}

uint64_t word(gex_AM_Arg_t lower, gex_AM_Arg_t upper) {
    return static_cast<uint64_t>(static_cast<uint32_t>(upper)) << 32 | static_cast<uint32_t>(lower);
}

enum { RESERVE, LOOK_UP, ANSWER, HANDLERS };
extern gex_AM_Entry_t handlers[HANDLERS];

void on_answer(gex_Token_t, gex_AM_Arg_t call_low, gex_AM_Arg_t call_high, gex_AM_Arg_t answer_low,
               gex_AM_Arg_t answer_high) {
    Call *call = reinterpret_cast<Call *>(word(call_low, call_high));
    call->answer = word(answer_low, answer_high);
    call->done = true;
    pending--;
}

void answer(gex_Token_t token, gex_AM_Arg_t call_low, gex_AM_Arg_t call_high, uint64_t value) {
    gex_AM_ReplyShort4(token, handlers[ANSWER].gex_index, 0, call_low, call_high, low(value), high(value));
}

/* ---- the part of this rank ---- */

struct Part {
    std::unordered_map<uint64_t, uint64_t> index; /* key: offset of its value */
    uint64_t used, limit;                         /* bytes of the segment */
};
Part part;

/* A key that is inserted again keeps its place. */
void on_reserve(gex_Token_t token, gex_AM_Arg_t key_low, gex_AM_Arg_t key_high, gex_AM_Arg_t bytes,
                gex_AM_Arg_t call_low, gex_AM_Arg_t call_high) {
    uint64_t key = word(key_low, key_high), at = part.used, size = static_cast<uint32_t>(bytes);
    auto found = part.index.find(key);
    if (found != part.index.end())
        at = found->second;
    else if (size > part.limit - part.used)
        at = NONE;
    else {
        part.index[key] = at;
        part.used += size;
    }
    answer(token, call_low, call_high, at);
}

void on_look_up(gex_Token_t token, gex_AM_Arg_t key_low, gex_AM_Arg_t key_high, gex_AM_Arg_t call_low,
                gex_AM_Arg_t call_high) {
    auto found = part.index.find(word(key_low, key_high));
    answer(token, call_low, call_high, found == part.index.end() ? uint64_t(NONE) : found->second);
}

gex_AM_Entry_t handlers[HANDLERS] = {
    {0, reinterpret_cast<gex_AM_Fn_t>(on_reserve), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 5, nullptr, "on_reserve"},
    {0, reinterpret_cast<gex_AM_Fn_t>(on_look_up), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 4, nullptr, "on_look_up"},
    {0, reinterpret_cast<gex_AM_Fn_t>(on_answer), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 4, nullptr, "on_answer"}};

/* ---- the table ---- */

class Table {
  public:
    Table(Job &of, uint64_t value_bytes) : job(of), bytes(value_bytes), buffers(BATCH * bytes / 8) {
    }

    /* At most BATCH keys. */
    void insert(const uint64_t *keys, int count);
    /* The number of keys that were found. Values that are wrong are counted. */
    int find(const uint64_t *keys, int count);

    uint64_t wrong = 0;

  private:
    gex_Rank_t owner(uint64_t key) const {
        return static_cast<gex_Rank_t>(mix(key) % job.size);
    }
    uint64_t *buffer(int i) {
        return &buffers[static_cast<size_t>(i) * bytes / 8];
    }
    void fill(uint64_t key, uint64_t *value) const;
    bool is_right(uint64_t key, const uint64_t *value) const;
    void wait() const;

    Job &job;
    uint64_t bytes; /* of a value */
    std::vector<uint64_t> buffers;
    Call calls[BATCH];
};

void Table::fill(uint64_t key, uint64_t *value) const {
    for (uint64_t i = 0; i < bytes / 8; i++)
        value[i] = mix(key * 4096 + i);
}

bool Table::is_right(uint64_t key, const uint64_t *value) const {
    uint64_t difference = 0;
    for (uint64_t i = 0; i < bytes / 8; i++)
        difference |= value[i] ^ mix(key * 4096 + i);
    return difference == 0;
}

void Table::wait() const {
    GASNET_BLOCKUNTIL(pending == 0);
}

void Table::insert(const uint64_t *keys, int count) {
    for (int i = 0; i < count; i++) {
        calls[i].done = false;
        pending++;
        uint64_t record = reinterpret_cast<uintptr_t>(&calls[i]);
        gex_AM_RequestShort5(job.team, owner(keys[i]), handlers[RESERVE].gex_index, 0, low(keys[i]), high(keys[i]),
                             static_cast<gex_AM_Arg_t>(bytes), low(record), high(record));
        fill(keys[i], buffer(i));
    }
    wait();
    for (int i = 0; i < count; i++) {
        if (calls[i].answer == NONE)
            job.fail("the segment of rank " + std::to_string(owner(keys[i])) + " is full");
        gex_RMA_PutNBI(job.team, owner(keys[i]), job.segment(owner(keys[i])) + calls[i].answer, buffer(i), bytes,
                       GEX_EVENT_DEFER, 0);
    }
    gex_NBI_Wait(GEX_EC_PUT, 0);
}

int Table::find(const uint64_t *keys, int count) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        calls[i].done = false;
        pending++;
        uint64_t record = reinterpret_cast<uintptr_t>(&calls[i]);
        gex_AM_RequestShort4(job.team, owner(keys[i]), handlers[LOOK_UP].gex_index, 0, low(keys[i]), high(keys[i]),
                             low(record), high(record));
    }
    wait();
    for (int i = 0; i < count; i++)
        if (calls[i].answer != NONE)
            gex_RMA_GetNBI(job.team, buffer(i), owner(keys[i]), job.segment(owner(keys[i])) + calls[i].answer, bytes,
                           0);
    gex_NBI_Wait(GEX_EC_GET, 0);
    for (int i = 0; i < count; i++)
        if (calls[i].answer != NONE) {
            found++;
            wrong += !is_right(keys[i], buffer(i));
        }
    return found;
}

/* ---- the program ---- */

struct Options {
    uint64_t keys, bytes, finds, seed;
};

/* Each rank inserts every size-th key. */
double insert_all(Job &job, Table &table, const Options &o) {
    uint64_t keys[BATCH];
    double start = seconds_now();
    for (uint64_t key = job.rank; key < o.keys;) {
        int count = 0;
        for (; count < BATCH && key < o.keys; key += job.size)
            keys[count++] = key;
        table.insert(keys, count);
    }
    job.barrier();
    return job.most(seconds_now() - start);
}

/* One key in 16 was not inserted. Returns how many were, of which `found` were found. */
uint64_t find_all(Job &job, Table &table, const Options &o, uint64_t seed, uint64_t *found) {
    uint64_t keys[BATCH], inserted = 0;
    for (uint64_t i = 0; i < o.finds;) {
        int count = 0;
        for (; count < BATCH && i < o.finds; i++) {
            uint64_t n = mix(seed * 1000003 + i * job.size + job.rank);
            keys[count] = n % 16 ? n / 16 % o.keys : o.keys + n % 1000;
            inserted += keys[count++] < o.keys;
        }
        *found += static_cast<uint64_t>(table.find(keys, count));
    }
    return inserted;
}

} // namespace

int main(int argc, char **argv) {
    Job job(argc, argv, "dht", "a distributed hash table: inserts keys, and finds them again");
    Options o;
    o.keys = job.option("keys", 2000, "number of keys");
    o.bytes = job.option("bytes", 4096, "size of a value, rounded up to 8 bytes") + 7;
    o.bytes -= o.bytes % 8;
    o.finds = job.option("finds", 2000, "keys that each rank looks for, twice; the first time is not timed");
    o.seed = job.option("seed", 1, "selects the keys that are looked for");
    if (job.refuses())
        job.end(2);
    uint64_t share = o.keys / job.size;
    part.limit = (share + share / 4 + 64) * o.bytes;
    job.attach(part.limit, handlers, HANDLERS);

    Table table(job, o.bytes);
    double inserting = insert_all(job, table, o);
    uint64_t found = 0;
    uint64_t wanted = find_all(job, table, o, o.seed, &found); /* not timed: caches have what was inserted */
    job.barrier();
    double start = seconds_now();
    wanted += find_all(job, table, o, o.seed + 1, &found);
    job.barrier();
    double finding = job.most(seconds_now() - start);
    uint64_t entries = job.sum(part.index.size()), wrong = job.sum(table.wrong);
    wanted = job.sum(wanted);
    found = job.sum(found);
    job.result("keys", static_cast<double>(o.keys));
    job.result("bytes", static_cast<double>(o.bytes));
    job.result("insert_seconds", inserting);
    job.result("seconds", finding);
    job.result("finds_per_s", static_cast<double>(o.finds * job.size) / finding);
    if (job.rank == 0 && (entries != o.keys || found != wanted || wrong != 0))
        std::fprintf(stderr, "dht: %llu of %llu keys are there, %llu of %llu were found, %llu values are wrong\n",
                     static_cast<unsigned long long>(entries), static_cast<unsigned long long>(o.keys),
                     static_cast<unsigned long long>(found), static_cast<unsigned long long>(wanted),
                     static_cast<unsigned long long>(wrong));
    job.end(entries != o.keys || found != wanted || wrong != 0);
}
