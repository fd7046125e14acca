"""report_sample.py FILE [NAME=VALUE...]: writes the report of a run that never was, for tests of hearth report.

  ranks=8 nodes=2    ranks, dealt to the nodes in turn
  seconds=10         run time; faster=2 divides it and the times in MPI
  seed=1 noise=0.02  the times vary from seed to seed by that share
  name=TEXT          name of the first window; the second has none
  calls=4            MPI functions with time in them
  targets=1          each rank gets from its two neighbours, puts to rank 0, and sends to the rank that is half of all away
  mode=transparent   mode of the windows; in any other one 9 of 10 gets hit
"""
import json, random, sys

NAMES = ["MPI_Win_flush", "MPI_Get", "MPI_Barrier", "MPI_Allreduce", "MPI_Send", "MPI_Recv", "MPI_Wait", "MPI_Put", "MPI_Bcast", "MPI_Win_fence"]
COUNTS = """invalidations dropped adjustments bytes_served bytes_fetched elided entries index_slots storage_bytes used_bytes
free_regions visited nonempty evictions ahead_fetched ahead_used suspended suspended_gets""".split()

BINS = 40


def window(number, name, rank, o):
    gets = 1000 * (rank + 1) // number
    hits = gets * 9 // 10 if o["mode"] != "transparent" else gets // 10
    record = {"window": number, "name": name, "mode": o["mode"], "operations": "mpi", "rank": rank, "hit_ratio": hits / gets, "gets": gets,
              "full_hits": hits, "partial_hits": 0, "pending_hits": 0, "direct": gets - hits, "conflicting": 0, "capacity": 0, "failing": 0,
              "bypassed": 0, **{c: 0 for c in COUNTS}}
    record.update(bytes_served=hits * 1024, bytes_fetched=(gets - hits) * 1024, elided=hits, entries=64, index_slots=128,
                  storage_bytes=1 << 20, used_bytes=65536)
    return record


def spread(total, rank):
    """A total over the bins of the time line, more in the bins of that rank's turn."""
    weights = [1 + 3 * (i % 8 == rank % 8) for i in range(BINS)]
    parts = [total * w // sum(weights) for w in weights]
    parts[0] += total - sum(parts)
    return parts


def targets(rank, o):
    n = o["ranks"]
    gets = sum(window(w, "", rank, o)["gets"] for w in (1, 2))
    rows = {(rank - 1) % n: [gets // 3, 0, 0]}
    rows.setdefault((rank + 1) % n, [0, 0, 0])[0] += gets - gets // 3
    rows.setdefault(0, [0, 0, 0])[1] = 10
    rows.setdefault((rank + n // 2) % n, [0, 0, 0])[2] = 500
    ranks = sorted(rows)
    sums = {"gets": 0, "get_bytes": 0, "puts": 0, "put_bytes": 0, "messages": 0, "message_bytes": 0, "nanoseconds": 0}
    return {"ranks": ranks, "gets": [rows[t][0] for t in ranks], "get_bytes": [rows[t][0] * 1024 for t in ranks],
            "puts": [rows[t][1] for t in ranks], "put_bytes": [rows[t][1] * 8 for t in ranks],
            "messages": [rows[t][2] for t in ranks], "message_bytes": [rows[t][2] * 4096 for t in ranks],
            "nanoseconds": [rows[t][0] * 2000 + rows[t][1] * 100 + rows[t][2] * 1500 for t in ranks], "others": {"targets": 0, **sums}}


def process(rank, o, dice):
    factor = (1 + o["noise"] * dice.uniform(-1, 1)) / o["faster"]
    seconds = o["seconds"] * factor
    calls = [{"call": NAMES[i % len(NAMES)] + ("" if i < len(NAMES) else str(i)), "count": 100 * (i + 1),
              "seconds": 0.25 * seconds * (1 + rank % 3) / 3 / (i + 1), "longest": 0.01 * seconds} for i in range(o["calls"])]
    own = [window(w, "", rank, o) for w in (1, 2)]
    gets, hits = sum(w["gets"] for w in own), sum(w["full_hits"] for w in own)
    columns = {"gets": spread(gets, rank), "hits": spread(hits, rank), "bytes_served": spread(hits * 1024, rank),
               "bytes_fetched": spread((gets - hits) * 1024, rank), "entries": [64] * BINS, "used_bytes": [65536] * BINS,
               "storage_bytes": [1 << 20] * BINS, "free_regions": [3 + i % 5 for i in range(BINS)]}
    made = {"rank": rank, "host": f"node{rank % o['nodes']}", "pid": 1000 + rank, "seconds": seconds,
            "mpi": {"seconds": sum(c["seconds"] for c in calls), "calls": calls},
            "series": {"step_seconds": seconds / BINS, **columns}, "sizes": [0] * 10 + [gets], "event_count": 0, "events": [], "callers_others": 0,
            "callers": [{"file": "app", "offset": 64, "function": "read", "window": 1, "gets": gets, "hits": hits, "bytes": gets * 1024}],
            "reuse_lost": 0, "reuse": [{"window": 1, "gets": own[0]["gets"], "share": 1, "distinct_bytes": 65536,
                                        "cache_bytes": [4096, 1 << 16, 1 << 20], "hits": [own[0]["gets"] // 10, own[0]["gets"] // 5, own[0]["gets"] // 2]}]}
    if o["targets"]:
        made["targets"] = targets(rank, o)
    return made


def sample(o):
    dice = random.Random(o["seed"])
    windows = [window(w, n, r, o) for w, n in ((1, o["name"]), (2, "")) for r in range(o["ranks"])]
    job = {"command": "./app input", "mpi": "an MPI", "begun": 1794843277 + o["seed"], "cache_bytes": 1 << 20, "cache_bytes_most": 1 << 28,
           "settings": {"HEARTH_MODE": o["mode"]}}
    return {"hearth": "0.1.0", "format": 2, "ranks": o["ranks"], "job": job, "windows": windows,
            "processes": [process(r, o, dice) for r in range(o["ranks"])]}


if __name__ == "__main__":
    o = {"ranks": 8, "nodes": 2, "seconds": 10.0, "faster": 1.0, "seed": 1, "noise": 0.02, "name": "graph", "calls": 4, "targets": 1,
         "mode": "transparent"}
    for setting in sys.argv[2:]:
        name, _, value = setting.partition("=")
        o[name] = type(o[name])(value)
    json.dump(sample(o), open(sys.argv[1], "w"), indent=1)
