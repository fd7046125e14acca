"""The states of the model. All values are immutable, so that a state can be remembered.

Words 0 to 2 belong to process 0, word 3 to process 1. Words 0 and 2 lie in one page. A process lies on a node of its own, unless the
program says otherwise; a node is the home of the words of its processes. The version of a word is the number of its write."""
from typing import NamedTuple, Optional

OWNER = (0, 0, 0, 1)
PAGE = (0, 1, 0, 2)
PAGES = 3
WORDS = range(len(OWNER))
NOTHING = (0,) * len(OWNER)


class Scan(NamedTuple):
    """One pass over the home's pages, for the questions in `served`."""

    todo: tuple
    served: frozenset
    listed: tuple


class Home(NamedTuple):
    stamp: int = 0
    generation: int = 0
    ranges: tuple = NOTHING  # by word: the stamp of the last put that Hearth executed there
    pages: tuple = (0,) * PAGES  # by page: the stamp of the last scan that listed it
    open: tuple = (False,) * PAGES  # the kernel has recorded a store since the last scan
    direct: frozenset = frozenset()  # processes that may write without the home
    queue: frozenset = frozenset()  # questions that have arrived: (who, generation, stamp)
    scans: tuple = ()
    answers: frozenset = frozenset()  # (who, words, generation, stamp)


class Lock(NamedTuple):
    holder: Optional[int] = None
    sharers: frozenset = frozenset()
    retained: frozenset = frozenset()
    counts: tuple = (0, 0)  # A, E
    known: tuple = (NOTHING, NOTHING)  # to those who lock it shared, exclusively


class Word(NamedTuple):
    """The atomic word of node 0."""

    count: int = 0
    value: int = 0
    known: tuple = NOTHING


class Process(NamedTuple):
    """What the threads of a process share."""

    copies: tuple
    seen: tuple  # by home: generation and stamp of the last answer
    valid: tuple  # by home: the acquire for which the copies were validated
    counts: tuple  # by lock
    acquires: int = 0
    word: tuple = (0, 0)  # count and value that the last atomic has seen


class Flight(NamedTuple):
    """A get that is not complete. It carries a question, unless asked is None: the acquire at which it was sent."""

    word: int
    asked: Optional[int]
    keep: bool
    data: Optional[int] = None


class Put(NamedTuple):
    word: int
    version: Optional[int] = None
    stamped: bool = False


class Thread(NamedTuple):
    at: int = 0
    step: int = 0
    known: tuple = NOTHING  # versions that happened before
    flight: Optional[Flight] = None
    puts: tuple = ()
    waits_for: Optional[tuple] = None  # a lock that was not granted yet: number, whether exclusive
    early: tuple = ()  # word and version of hits that did not wait for it, in the mutant
    asked: int = 0  # the acquire at which its question was sent
    acquires: int = 0  # its own ones, in the mutant that counts them apart


class State(NamedTuple):
    memory: tuple
    writes: int
    homes: tuple
    messages: frozenset
    locks: tuple
    word: Word
    processes: tuple
    threads: tuple


class Program(NamedTuple):
    threads: tuple  # of each: its process, its operations
    nodes: tuple = (0, 1, 2)  # of each process
    limit: int = 99  # of the counter of stamps


def start(program):
    homes, locks = max(program.nodes) + 1, 2
    process = Process((None,) * len(OWNER), ((0, 0),) * homes, (0,) * homes, ((-1, -1),) * locks)
    return State(NOTHING, 0, (Home(),) * homes, frozenset(), (Lock(),) * locks, Word(), (process,) * len(program.nodes),
                 (Thread(),) * len(program.threads))


def put_at(values, i, value):
    return values[:i] + (value,) + values[i + 1:]


def joined(a, b):
    return tuple(map(max, a, b))
