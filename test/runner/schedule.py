"""Runs jobs in parallel, as many as the cores allow; jobs that must run alone come last, one by one. How many cores a job
keeps busy is an estimate, so while cores are seen idle, more jobs run beside those that fit.

A test that fails is run once more, alone. If it then passes it is flaky: both logs are kept, and it counts as a
failure."""
import os
import select
import signal
import subprocess
import time

from . import job as jobs

GRACE = 10  # seconds beyond a job's limit, in which a launcher can clean up
IDLE = 0.5  # cores that must be idle before one more job runs
BESIDE = 4  # jobs at the same time, per core
TICK = 0.1  # seconds after which time limits, idle cores and the progress line are looked at, if no job ends


def session(leader):
    """The processes of a session, by /proc/PID/stat."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if int(file.read().rpartition(")")[2].split()[3]) == leader:
                    found.append(int(pid))
        except (OSError, ProcessLookupError):
            pass
    return found


class IdleCores:
    """Measures how many cores were idle, from /proc/stat."""
    SPAN = 0.25  # seconds that a measurement takes at least

    def __init__(self):
        self.restart()

    @staticmethod
    def ticks():
        """Returns all ticks of all cores, and the idle ones."""
        with open("/proc/stat") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        return sum(fields), fields[3] + fields[4]

    def restart(self):
        self.began, self.start = time.monotonic(), self.ticks()

    def count(self, cores):
        """The idle cores since the last measurement; 0 if that is not long ago."""
        if time.monotonic() - self.began < self.SPAN:
            return 0
        (all_before, idle_before), (all_now, idle_now) = self.start, self.ticks()
        self.restart()
        return cores * (idle_now - idle_before) / max(1, all_now - all_before)


class Endings:
    """Waits until a child may have ended. To ask all of them again and again would keep a core from the tests."""

    def __init__(self):
        self.end, write = os.pipe()
        os.set_blocking(self.end, False)
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def wait(self, seconds):
        if select.select([self.end], [], [], seconds)[0]:
            os.read(self.end, 4096)


class Running:
    def __init__(self, job, log):
        self.job, self.log = job, log
        self.began = time.monotonic()
        self.asked_to_end = False
        with open(log, "wb") as out:
            self.process = subprocess.Popen(job.command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                            start_new_session=True)

    def seconds(self):
        return time.monotonic() - self.began

    def signal(self, number):
        """To all of its processes: a launcher under `timeout` is in a process group of its own, but in the same session."""
        for pid in session(self.process.pid):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def reaped(self):
        """Returns whether it has ended; then sets its exit status and its CPU time."""
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid == 0:
            return False
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.core_seconds = usage.ru_utime + usage.ru_stime
        return True

    def ended(self):
        """Returns whether it has ended; a job over its limit is ended."""
        if self.reaped():
            return True
        over = self.seconds() - self.job.limit - GRACE
        if over > 5:
            self.signal(signal.SIGKILL)
        elif over > 0 and not self.asked_to_end:
            self.asked_to_end = True
            self.signal(signal.SIGTERM)
        return False


class Scheduler:
    def __init__(self, cores, logs, report):
        self.cores, self.logs, self.report = cores, logs, report
        self.running = []
        self.idle = IdleCores()
        self.endings = Endings()

    def log_of(self, job, again):
        return os.path.join(self.logs, job.name + (".again" if again else "") + ".log")

    def fits(self, job):
        """Jobs that compute share the cores; in addition run jobs that mostly wait, one more than there are cores."""
        if not self.running:
            return True
        waits = [r for r in self.running if r.job.waits()]
        if job.waits():
            return len(waits) <= self.cores
        used = sum(min(r.job.cores, self.cores) for r in self.running if not r.job.waits())
        return used == 0 or used + job.cores <= self.cores

    def next_beside(self, jobs):
        """A job that may run beside the others while cores are idle: none that needs all of them."""
        if len(self.running) >= BESIDE * self.cores or self.idle.count(self.cores) < IDLE:
            return None
        return next((job for job in jobs if job.cores < self.cores), None)

    def start(self, job, again=False):
        self.running.append(Running(job, self.log_of(job, again)))
        self.report.started(job)

    def ended(self):
        over = [r for r in self.running if r.ended()]
        self.running = [r for r in self.running if r not in over]
        return over

    def wait(self):
        """Returns the jobs that have ended, at least one."""
        while not (over := self.ended()):
            self.report.tick()
            self.endings.wait(TICK)
        return over

    def run(self, all_jobs):
        together = [job for job in all_jobs if not job.alone]
        failed = []
        while together or self.running:
            job = next((job for job in together if self.fits(job)), None) or self.next_beside(together)
            if job:
                together.remove(job)
                self.start(job)
                self.idle.restart()
                continue
            over = self.ended()
            for ended in over:
                failed += self.take(ended)
            self.report.tick()
            if not over:
                self.endings.wait(TICK)
        for job in all_jobs:
            if job.alone:
                failed += self.run_alone(job)
        for job, first in failed:
            self.run_again(job, first)

    def run_alone(self, job):
        self.start(job)
        return [pair for ended in self.wait() for pair in self.take(ended)]

    def take(self, ended):
        """Reports the tests that passed; returns those to run again, each with its first result."""
        again = []
        for result in jobs.results(ended.job, ended.process.returncode, ended.seconds(), ended.log):
            if result.status in ("failed", "missing"):
                program = [p for p, test in ended.job.programs.items() if test == result.name]
                again.append((ended.job.only(program) if program else ended.job, result))
            else:
                self.report.ended(result)
        self.report.done(ended.job, ended.seconds(), ended.core_seconds)
        if again:
            self.report.failed_once([first for _, first in again])
        return again

    def run_again(self, job, first):
        self.start(job, again=True)
        ended = self.wait()[0]
        result = jobs.results(ended.job, ended.process.returncode, ended.seconds(), ended.log)[0]
        if result.status == "passed" and first.status == "failed":
            result.status, result.reason, result.first_log = "flaky", first.reason, first.log
        elif result.status == "missing":
            result.status = "failed"
        self.report.ended(result)

    def stop(self):
        for r in self.running:
            r.signal(signal.SIGTERM)
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline and not all(r.process.returncode is not None or r.reaped() for r in self.running):
            time.sleep(0.05)
        for r in self.running:
            r.signal(signal.SIGKILL)
