"""A job: one command with a time limit. It runs one test or, if it is a suite, one test per program."""
import re
from dataclasses import dataclass, field


@dataclass
class Job:
    name: str
    command: list
    limit: int  # seconds
    cores: float = 1  # that it keeps busy
    alone: bool = False  # nothing else may run beside it
    programs: dict = field(default_factory=dict)  # of a suite: the test name of each program

    def prolong(self, factor):
        """Multiplies the time limit; the launcher has one of its own."""
        self.limit *= factor
        if "--timeout" in self.command:
            self.command[self.command.index("--timeout") + 1] = str(self.limit)

    def waits(self):
        """Returns whether it waits most of the time."""
        return self.cores <= 0.5

    def tests(self):
        return list(self.programs.values()) or [self.name]

    def only(self, programs):
        """The same suite with some of its programs."""
        chosen = {program: self.programs[program] for program in programs}
        command = list(self.command)
        command[command.index("--programs") + 1] = ",".join(chosen)
        name = next(iter(chosen.values())) if len(chosen) == 1 else self.name
        return Job(name, command, self.limit, self.cores, self.alone, chosen)


@dataclass
class Result:
    """The result of one test."""
    name: str
    status: str  # passed, failed, skipped, flaky, or missing: the job ended before this test
    seconds: float
    log: str
    reason: str = ""
    first_log: str = ""  # of a flaky test: the log of the failure


def why(status, limit):
    if status in (-15, -9, 124, 137):
        return f"not finished in {limit} s"
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"


def results(job, status, seconds, log):
    """The results of a job that ended with this exit status."""
    if job.programs:
        return suite_results(job, status, log)
    if status == 0:
        return [Result(job.name, "passed", seconds, log)]
    if status == 77:
        lines = open(log, errors="replace").read().split("\n")
        return [Result(job.name, "skipped", seconds, log, next((l for l in reversed(lines) if l.strip()), ""))]
    return [Result(job.name, "failed", seconds, log, why(status, job.limit))]


MARK = re.compile(r"^== (\S+?)(?:: (ok|FAIL), \d+ cases, ([\d.]+) s)?$")


def suite_results(job, status, log):
    ended, begun = {}, None
    for line in open(log, errors="replace"):
        mark = MARK.match(line.rstrip())
        if mark and mark.group(2):
            ended[mark.group(1)] = (mark.group(2), float(mark.group(3)))
            begun = None
        elif mark:
            begun = mark.group(1)
    found = []
    for program, test in job.programs.items():
        if program in ended:
            passed = ended[program][0] == "ok"
            found.append(Result(test, "passed" if passed else "failed", ended[program][1], log,
                                "" if passed else "a case failed"))
        else:
            found.append(Result(test, "failed" if program == begun else "missing", 0, log, why(status, job.limit)))
    if status != 0 and all(result.status == "passed" for result in found):  # it failed at its end
        found[-1].status, found[-1].reason = "failed", why(status, job.limit) + " after the last case"
    return found
