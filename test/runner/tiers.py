"""The three tiers. `quick` runs a part of the matrix, `full` all of it, `nightly` the tests that have a longer form:
random tests, litmus tests, tests that kill."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Tier:
    name: str
    level: int
    seconds: float  # of a random test under MPI
    kills: int  # of a test that kills
    unit_seconds: float  # of a random test without MPI
    unit_limit: int  # time limit of a program without MPI
    litmus_runs: int  # of each test

    @property
    def quick(self):
        return self.level == 1

    @property
    def only_long(self):
        return self.level == 3

    def includes(self, tier_name):
        return self.level >= TIERS[tier_name].level


TIERS = {
    tier.name: tier
    for tier in (
        Tier("quick", level=1, seconds=0.3, kills=10, unit_seconds=0.5, unit_limit=120, litmus_runs=100),
        Tier("full", level=2, seconds=3, kills=40, unit_seconds=10, unit_limit=900, litmus_runs=1000),
        Tier("nightly", level=3, seconds=10, kills=200, unit_seconds=60, unit_limit=3600, litmus_runs=10000),
    )
}
