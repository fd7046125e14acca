"""The three tiers: how long the random tests run, how often the crash tests kill, how much of the matrix is covered."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Tier:
    name: str
    level: int
    seconds: int  # of a random test under MPI
    kills: int  # of a test that kills
    unit_random: tuple  # arguments of random tests without MPI
    unit_random_tsan: tuple  # under ThreadSanitizer, where faults are a tenth as fast
    unit_limit: int  # seconds
    litmus_runs: int  # of each test

    @property
    def quick(self):
        return self.level == 1

    def includes(self, tier_name):
        return self.level >= TIERS[tier_name].level


TIERS = {
    tier.name: tier
    for tier in (
        Tier("quick", 1, 1, 20, ("--seconds", "1"), (), 120, 300),
        Tier("full", 2, 10, 200, ("--operations", "10000000"), ("--operations", "2500000"), 1800, 10000),
        Tier("nightly", 3, 60, 1000, ("--operations", "100000000"), ("--operations", "25000000"), 14400, 100000),
    )
}
