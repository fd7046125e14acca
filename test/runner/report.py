"""The output: a progress line, failures as they happen, all of them at the end, and junit.xml."""
import json
import os
import re
import shutil
import sys
import time
from xml.sax.saxutils import escape, quoteattr

WORTH = re.compile(r"FAIL|ERROR|error:|expected|does not end")


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def excerpt(log, lines=12):
    """The lines of a log that look like the reason of a failure, and its end, without the checks that passed."""
    try:
        text = open(log, errors="replace").read().splitlines()
    except OSError:
        return []
    told = [line for line in text if not line.startswith("ok ")]
    early = [line for line in told[:-lines] if WORTH.search(line)][:8]
    return early + (["..."] if early else []) + told[-lines:]


class Report:
    def __init__(self, jobs, cores, tier, logs, verbose):
        self.cores, self.tier, self.logs, self.verbose = cores, tier, logs, verbose
        self.results = []
        self.once = {}  # failed, to be run again
        self.total = sum(len(job.tests()) for job in jobs)
        self.failing = 0
        self.began = self.said = time.monotonic()
        self.tty = sys.stdout.isatty()
        self.times = self.read_times()
        self.left = {job.name: self.expected(job) for job in jobs}
        self.worked = self.guessed = 0.001  # core seconds that finished jobs took, and were expected to take
        self.current = ""
        self.took = []  # seconds and name of each job that has ended

    # ---- durations of earlier runs ----

    def times_file(self):
        return os.path.join(self.logs, "times.json")

    def read_times(self):
        try:
            with open(self.times_file()) as file:
                return {name: times for name, times in json.load(file).items() if isinstance(times, list)}
        except (OSError, ValueError, AttributeError):
            return {}

    def expected(self, job):
        """Seconds times cores, from an earlier run if there was one."""
        guess = job.limit / 6 if job.name.startswith("test_") else 3 if "random" in job.name else 0.5 * len(job.tests()) + 0.5
        if self.tier.quick and job.name.startswith("unit_") and not job.name.endswith(".asan"):
            guess = 10  # too slow for ASan
        return self.times.get(job.name, [guess])[0] * (self.cores if job.alone else min(job.cores, self.cores))

    # ---- progress ----

    def started(self, job):
        self.current = job.name
        self.tick()

    def tick(self):
        now = time.monotonic()
        if now - self.said < (0.2 if self.tty else 30):
            return
        self.said = now
        left = sum(self.left.values()) / self.cores * self.worked / self.guessed
        line = f"{len(self.results)} of {self.total} done, {self.failing} failed, about {minutes(left)} left"
        if self.tty:
            room = shutil.get_terminal_size().columns - 1
            sys.stdout.write("\r" + f"{line}  {self.current}"[:room].ljust(room))
        else:
            sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def say(self, text):
        if self.tty:
            sys.stdout.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
        print(text, flush=True)

    def done(self, job, seconds, core_seconds):
        share = self.cores if job.alone else min(job.cores, self.cores)
        self.worked += seconds * share
        self.guessed += self.left.pop(job.name, 0)
        self.times[job.name] = [round(seconds, 2), round(core_seconds, 2)]
        self.took.append((seconds, core_seconds, job.name))
        if job.limit / 2 < seconds < job.limit:
            self.say(f"slow   {job.name}: {seconds:.0f} s of at most {job.limit}")

    def ended(self, result):
        self.results.append(result)
        self.once.pop(result.name, None)
        if result.status == "skipped":
            self.say(f"skip   {result.name}: {result.reason}")
        elif result.status != "passed":
            self.say(f"{'FAIL ' if result.status == 'failed' else 'flaky'}  {result.name}: {result.reason}")
        elif self.verbose:
            self.say(f"ok     {result.name:<50} {result.seconds:6.1f} s")

    def failed_once(self, results):
        for result in results:
            self.failing += result.status == "failed"
            if result.status == "failed":
                self.once[result.name] = result
                self.say(f"failed {result.name}: {result.reason}; it will be run again, alone")

    # ---- the end ----

    def count(self, *statuses):
        return sum(result.status in statuses for result in self.results)

    def failures(self):
        return [r for r in self.results if r.status in ("failed", "flaky")]

    def stop(self):
        """The run ends early: what failed once counts as failed."""
        self.say(f"stopped: {len(self.results)} of {self.total} done")
        self.results += self.once.values()
        self.close()

    def close(self):
        """Returns whether all tests passed."""
        if self.tty:
            self.say("")
        for result in self.failures():
            self.show(result)
        self.write_times()
        self.write_junit()
        self.show_slowest()
        flaky = self.count("flaky")
        took = minutes(time.monotonic() - self.began)
        for result in self.failures():
            print(f"{'FAIL ' if result.status == 'failed' else 'flaky'}  {result.name}: {result.reason}")
        print(f"{took} minutes; {os.path.join(self.logs, 'junit.xml')}" + (f"; {flaky} flaky, counted as failed" if flaky else ""))
        print(f"{self.count('passed')} passed, {self.count('failed', 'flaky')} failed, {self.count('skipped')} skipped", flush=True)
        return not self.failures()

    def show(self, result):
        print(f"\n{result.status.upper()} {result.name}: {result.reason}")
        print(f"  again: test/run -k '^{re.escape(result.name)}$' {self.tier.name}")
        for log in filter(None, (result.first_log, result.log)):
            print(f"  from {log}:")
            for line in excerpt(log):
                print(f"    | {line}")

    def show_slowest(self, most=20):
        if len(self.took) < 2 * most:
            return
        print(f"the slowest {most} of {len(self.took)} jobs: seconds, CPU seconds")
        for seconds, core_seconds, name in sorted(self.took, reverse=True)[:most]:
            print(f"  {seconds:6.1f} {core_seconds:6.1f}  {name}")

    def write_times(self):
        with open(self.times_file(), "w") as file:
            json.dump(self.times, file, indent=0, sort_keys=True)

    def write_junit(self):
        with open(os.path.join(self.logs, "junit.xml"), "w") as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
            file.write(f'<testsuite name="hearth.{self.tier.name}" tests="{len(self.results)}" failures="{len(self.failures())}" '
                       f'skipped="{self.count("skipped")}" time="{time.monotonic() - self.began:.1f}">\n')
            for result in sorted(self.results, key=lambda r: r.name):
                file.write(self.junit_case(result))
            file.write("</testsuite>\n")

    @staticmethod
    def junit_case(result):
        program, _, variant = result.name.partition(".")
        case = f'<testcase classname={quoteattr(variant or "all")} name={quoteattr(program)} time="{result.seconds:.1f}"'
        if result.status == "passed":
            return case + "/>\n"
        if result.status == "skipped":
            return case + f"><skipped message={quoteattr(result.reason)}/></testcase>\n"
        text = re.sub(r"[^\t\n\x20-\x7e\u00a0-\ud7ff]", "?", "\n".join(excerpt(result.first_log or result.log, 40)))
        return case + f'><failure type="{result.status}" message={quoteattr(result.reason)}>{escape(text)}</failure></testcase>\n'
