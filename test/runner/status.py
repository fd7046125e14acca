"""Records a whole run of a tier as data: test/status/TIER-PLATFORM.json. doc/status.py makes doc/status.md of the newest of each.

Only with --record or RECORD=1 in the environment, because a record changes a file that git tracks. The tiers that are not
tiers of test/run are recorded by test/status/record.py."""
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = "test/status"
OWN = (":!" + FOLDER, ":!doc/status.md")  # records of one release are made one after the other: they do not make a tree dirty


def output(*command):
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def commit():
    changed = output("git", "status", "--porcelain", "--", ".", *OWN)
    return output("git", "rev-parse", "HEAD"), None if changed is None else bool(changed)


def processor():
    """Its model, as lscpu names it; on aarch64 /proc/cpuinfo has only numbers."""
    found = re.search(r"^Model name: *(.*)", output("lscpu") or "", re.M)
    return re.sub(r"\((R|TM)\)", "", found.group(1)).strip() if found else platform.machine()


def distribution():
    try:
        pairs = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', Path("/etc/os-release").read_text(), re.M))
    except OSError:
        pairs = {}
    return pairs.get("PRETTY_NAME", platform.system()), pairs.get("ID", platform.system().lower()) + pairs.get("VERSION_ID", "")


def mpis():
    found = []
    for flavour, title, macros in (("mpich", "MPICH", ("MPICH_VERSION",)),
                                   ("openmpi", "Open MPI", ("OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION"))):
        compiler = output("packaging/mpis.sh", flavour)
        if compiler:
            text = subprocess.run([compiler, "-E", "-dM", "-x", "c", "-"], input="#include <mpi.h>\n", capture_output=True, text=True).stdout
            values = [re.search(rf'^#define {macro} "?([\d.\w]+)"?', text, re.M) for macro in macros]
            if all(values):
                found.append(f"{title} {'.'.join(value.group(1) for value in values)}")
    return found


def write(tier, counts, failures, skips, seconds, place=None, versions=None, note=None, folder=None):
    """Writes the record; returns its path. failures, skips: pairs of a name and a reason."""
    hash_, dirty = commit()
    title, short = distribution()
    place = place or f"{platform.machine()}-{short}"
    shown = [{"name": name, "reason": reason.replace(str(ROOT) + "/", "")} for name, reason in sorted(failures)]
    record = {
        "tier": tier, "platform": place, "commit": hash_, "dirty": dirty,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "kernel": platform.release(), "distribution": title},
        "mpis": mpis() if versions is None else versions,
        "passed": counts[0], "failed": counts[1], "skipped": counts[2], "minutes": round(seconds / 60, 1),
        "failures": shown,
        "skips": [{"name": name, "reason": reason} for name, reason in sorted(skips)],
    }
    if note:
        record["note"] = note
    path = Path(folder or ROOT / FOLDER) / f"{tier}-{place}.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


# ---- the runs of test/run ----

def add_option(parser):
    parser.add_argument("--record", action="store_true", default=bool(os.environ.get("RECORD")),
                        help=f"record the run in {FOLDER}, for doc/status.md; only of a whole tier")


def record_run(chosen, report):
    if not chosen.record:
        return
    if chosen.k or chosen.m or chosen.t:
        print("not recorded: -k, -m and -t choose a part of the tier", file=sys.stderr)
        return
    counts = [report.count("passed"), report.count("failed", "flaky"), report.count("skipped")]
    failures = [(r.name, f"{r.status}: {r.reason}") for r in report.failures()]
    skips = [(r.name, r.reason) for r in report.results if r.status == "skipped"]
    path = write(chosen.tier, counts, failures, skips, time.monotonic() - report.began)
    print(f"recorded in {path.relative_to(ROOT)}; make docs writes doc/status.md")
