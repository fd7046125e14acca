"""The rules of reuse by validation. Each can be switched off: the mutant then reads stale data in some program (programs.py)."""

RULES = {
    # the home
    "data_before_stamp": "a put that Hearth executes writes its data first, then stamps it, then acknowledges it",
    "scan_before_answer": "the home scans before it reads its stamps for an answer",
    "scan_stamps": "what a scan lists is stamped, so that later questions learn of it, too",
    "one_scan_at_a_time": "scan, stamps and answers are one critical section, also with several helpers",
    "scan_serves_those_before": "a scan answers only the questions that had arrived when it began",
    "page_stamps_all": "a store changes all ranges of its page: the kernel does not say which",
    "direct_is_changed": "while a process may write a part directly, the part counts as changed",
    "direct_end_stamps": "when that process has stopped, the part is stamped once more",
    "generation_compared": "a stamp of an earlier generation of the counter validates nothing",
    # the process that reads
    "scan_before_fetch": "a get that carries the question is read after the scan",
    "answer_drops_flights": "an answer also drops gets in flight to what it lists, of all threads",
    "answer_for_its_acquire": "an answer validates for the acquire at which its question was sent",
    "put_end_drops": "a process drops its copies and gets in flight of what it has put, when the put is complete",
    "homes_apart": "a validation by one home says nothing about copies from another",
    "threads_share": "an acquire by one thread is one of all threads of the process",
    # synchronisation
    "receive_acquires": "a receive is an acquire",
    "release_raises_a": "every release of a lock raises A, as an exclusive lock comes after shared ones",
    "exclusive_raises_e": "an exclusive release raises E",
    "revocation_raises_a": "a retained lock is released when it is revoked",
    "revocation_waits": "an exclusive lock waits until retained ones were given up",
    "own_release_known": "a process knows the counts of its grant plus its own release, not those at its release",
    "locks_apart": "each lock has counts of its own",
    "grant_before_hit": "no hit under a lock whose grant has not arrived",
    "count_compared": "an atomic acquires if the word's count differs: its value may be the old one again",
    "value_compared": "an atomic acquires if the word's value differs: its owner may have stored it",
}


class Rules:
    """All rules hold, but one."""

    def __init__(self, without=None):
        assert without is None or without in RULES, without
        for rule in RULES:
            setattr(self, rule, rule != without)
