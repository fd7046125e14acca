#!/usr/bin/env python3
"""Checks what hearth top --once --json has printed about one process, or about each of several: PID,PID.

    top_check.py FILE PID absent                     the process is not shown
    top_check.py FILE PID EXPRESSION...              each expression is true of its values, such as "gets == 100"; rate.gets is a rate per
                                                     second; process.rank and job.ranks are other fields of the process and its job
"""
import json
import re
import sys
from types import SimpleNamespace


def find(report, pid):
    found = [(j, p) for j in report["jobs"] for p in j["processes"] if p["pid"] == pid]
    if len(found) > 1:
        sys.exit(f"process {pid} is shown {len(found)} times")
    return found[0] if found else (None, None)


def check_sums(job):
    for name, value in job["values"].items():
        parts = [p["values"][name] for p in job["processes"]]
        if value != (max(parts) if name == "page_bytes" else sum(parts)):
            sys.exit(f"{name} of the job is {value}, and of its processes {parts}")


def main():
    path, pids, *wanted = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    if report["format"] != 1:
        sys.exit("not format 1")
    for pid in pids.split(","):
        check(report, pid, wanted)


def check(report, pid, wanted):
    job, process = find(report, int(pid))
    if wanted == ["absent"]:
        if process:
            sys.exit(f"process {pid} is shown")
        return
    if not process:
        sys.exit(f"process {pid} is not shown")
    check_sums(job)
    names = dict(process["values"], rate=SimpleNamespace(**process["rates"]), process=SimpleNamespace(**process),
                 threads=process["threads"], job=SimpleNamespace(**job))
    for expression in wanted:
        if not eval(expression, {"__builtins__": {"abs": abs, "len": len}}, names):  # pylint: disable=eval-used
            words = sorted({w for w in re.findall(r"[a-z_.]+", expression) if w in process["values"]})
            sys.exit(f"not so: {expression}; " + ", ".join(f"{w} = {process['values'][w]}" for w in words))


main()
