"""Small programs: each rule is needed by one of them. Also random ones."""
from .state import OWNER, Program


def put(w):
    return [("iput", w), ("flush",)]


def get(w):
    return [("get", w)]


def say(name):
    return [("send", name)]


def hear(name):
    return [("recv", name)]


def store(w):
    return [("store", w)]


def program(*threads, processes=None, **more):
    """The operations of threads: thread i is that of process i, unless `processes` says otherwise."""
    numbers = processes or range(len(threads))
    return Program(tuple((p, tuple(operations)) for p, operations in zip(numbers, threads)), **more)


def op(name, *args):
    return [(name,) + args]


L, LS, U, UR = op("lock", 0), op("lock_shared", 0), op("unlock", 0), op("unlock_retain", 0)
ADD, LOAD, FLUSH, WAIT = op("add"), op("load"), op("flush"), op("wait")

PROGRAMS = {
    # stores of the owner
    "a store, a message": program(store(0) + say("a"), get(0) + hear("a") + get(0)),
    "two stores, two messages": program(store(0) + say("a") + store(0) + store(1) + say("b"),
                                        get(0) + get(1) + hear("a") + get(0) + hear("b") + get(0) + get(1)),
    "two readers": program(store(0) + say("a") + say("b"), get(0) + hear("a") + get(0), get(0) + hear("b") + get(0)),
    "a reader passes it on": program(store(0) + say("a"), get(0) + hear("a") + get(0) + say("b"), get(0) + hear("b") + get(0)),
    "a store beside a question": program(say("c") + store(0) + say("a"), hear("c") + get(1), get(0) + hear("a") + get(0)),
    "a store to another range of the page": program(store(2) + say("a"), get(2) + hear("a") + get(2)),
    "a store and a put in one page": program(store(0) + say("a"), put(2) + say("b"), get(0) + get(2) + hear("a") + hear("b") + get(0) + get(2)),
    "two owners on a node": program(store(0) + say("a"), hear("a") + store(3) + say("b"), get(0) + get(3) + hear("b") + get(3) + get(0), nodes=(0, 0, 1)),
    "two homes": program(store(0) + say("b"), store(3) + say("a"), get(3) + hear("a") + get(0) + get(3) + hear("b") + get(0)),
    # puts
    "a put, a message": program([], put(0) + say("a"), get(0) + hear("a") + get(0)),
    "a put beside an unrelated message": program(say("c"), put(0) + say("a"), get(0) + hear("c") + get(0) + hear("a") + get(0)),
    "two puts, completed by one flush": program([], op("iput", 0) + op("iput", 1) + FLUSH + say("a"), get(0) + get(1) + hear("a") + get(1) + get(0)),
    "its own put": program([], get(0) + put(0) + get(0)),
    "its own put, read before the flush": program([], [], op("iput", 0) + get(0) + FLUSH + get(0)),
    "its own put beside a get in flight": program([], op("iget_ask", 0) + put(0) + WAIT + get(0)),
    "direct puts, while they go on": program([], op("direct", 0) + op("dput", 0) + say("a") + op("direct_end", 0), get(0) + hear("a") + get(0)),
    "direct puts, when they have stopped": program([], op("direct", 0) + op("dput", 0) + op("direct_end", 0) + say("a"), get(0) + hear("a") + get(0)),
    "direct puts twice": program([], op("direct", 0) + op("dput", 0) + op("direct_end", 0) + say("a") + op("direct", 0) + op("dput", 1) + say("b"),
                                 get(0) + get(1) + hear("a") + get(0) + hear("b") + get(1)),
    "the counter begins again": program([], put(0) + put(1) + say("a"), get(0) + hear("a") + get(0), limit=1),
    "and again": program([], put(0) + say("a") + put(1) + put(0) + say("b"), get(0) + hear("a") + get(0) + hear("b") + get(0), limit=1),
    # gets in flight
    "a get in flight, then a question": program(store(0) + say("a"), op("iget", 0) + hear("a") + op("ask", 0) + WAIT + get(0)),
    "a get in flight after an acquire": program(store(0) + say("a"), say("c"), hear("c") + op("iget", 0) + hear("a") + op("ask", 0) + WAIT + get(0)),
    "a get issued between acquire and question": program(store(0) + say("a"), [], hear("a") + op("iget", 0) + WAIT + get(0)),
    "a get that carries the question": program(store(0) + say("a"), say("c"), hear("c") + op("iget_ask", 0) + hear("a") + WAIT + get(0)),
    "the same, with a copy of the other word": program(store(1) + say("a"), say("c"), get(1) + hear("c") + op("iget_ask", 0) + hear("a") + WAIT + get(1)),
    "the same, received before": program(store(0) + store(1) + say("a"), get(1) + hear("a") + op("iget_ask", 0) + WAIT + get(0) + get(1)),
    # threads of one process
    "a thread receives, another reads": program(store(0) + say("a"), hear("a") + say("x"), get(0) + op("take", "x") + get(0), processes=(0, 2, 2)),
    "a thread asks, another has a get in flight": program(store(0) + say("a"), hear("a") + get(0) + say("x"),
                                                          op("iget", 0) + op("take", "x") + WAIT + get(0), processes=(0, 2, 2)),
    "a thread puts, another has a get in flight": program([], put(0) + say("x"), op("iget", 0) + op("take", "x") + WAIT + get(0), processes=(0, 2, 2)),
    "two threads ask": program(store(0) + say("a") + store(1) + say("b"), hear("a") + get(0) + get(1), hear("b") + get(1) + get(0), processes=(0, 2, 2)),
    # locks
    "exclusive locks": program([], L + put(0) + U, L + get(0) + U + L + get(0) + U),
    "exclusive, then shared": program([], L + put(0) + U, LS + get(0) + U + LS + get(0) + U),
    "the owner locks itself": program(L + store(0) + U, L + get(0) + U + L + get(0) + U),
    "the owner locks itself shared": program(LS + store(0) + U, L + get(0) + U + L + get(0) + U),
    "the owner stores before its lock": program(store(0) + LS + U, L + get(0) + U + L + get(0) + U),
    "a put under a shared lock": program([], LS + put(0) + U, L + get(0) + U + L + get(0) + U),
    "an unlock completes puts": program([], L + op("iput", 0) + U, L + get(0) + U + L + get(0) + U),
    "order by a lock that wrote nothing": program(hear("m2") + store(0) + say("a"), LS + say("m") + say("m2") + hear("a") + U,
                                                  L + U + hear("m") + get(0) + L + get(0)),
    "a retained lock": program([], L + put(0) + U, LS + get(0) + UR + LS + get(0) + UR + LS + get(0) + U),
    "a retained lock and a message": program(store(0) + say("a"), LS + get(0) + UR + hear("a") + LS + get(0) + U),
    "a revoked lock passes it on": program(store(0) + say("a"), LS + hear("a") + UR, L + get(0) + U + L + get(0) + U),
    "two retain, one writes": program([], LS + get(0) + UR + L + put(0) + U, LS + get(0) + UR + LS + get(0) + U),
    "shared together, then exclusive": program([], LS + put(0) + U, LS + get(0) + U + L + get(0) + U),
    "both write by turns": program([], L + get(0) + put(0) + U + L + get(0) + U, L + get(0) + put(0) + U + L + get(0) + U),
    "two locks": program([], op("lock", 1) + put(0) + op("unlock", 1), L + get(0) + U + op("lock", 1) + get(0) + op("unlock", 1)),
    "a lock that is granted later": program([], L + put(0) + U, get(0) + op("lock_later", 0) + get(0) + U),
    "a shared lock that is granted later": program([], L + put(0) + U, get(0) + op("lock_shared_later", 0) + get(0) + UR + op("lock_shared_later", 0) + get(0) + U),
    # atomics
    "a put, an atomic": program([], put(0) + ADD, get(0) + LOAD + get(0) + LOAD + get(0)),
    "a store, an atomic, both add": program(store(0) + ADD, get(0) + ADD + get(0) + LOAD + get(0)),
    "the word has its old value again": program([], put(0) + op("swap", 1) + op("swap", 0), get(0) + LOAD + get(0)),
    "the owner stores the word": program(store(0) + op("store_word", 7), get(0) + LOAD + get(0)),
}


class Writer:
    """Writes a thread of a random program: few names, so that the threads meet; some end early, in a receive or lock that nobody serves."""

    def __init__(self, rng, process, words):
        self.rng, self.process, self.words = rng, process, words
        self.held, self.flies, self.puts, self.direct = None, False, False, None
        self.operations = []

    def add(self, name, *args):
        self.operations.append((name,) + args)

    def write(self):
        w = self.rng.choice(self.words)
        if OWNER[w] == self.process and self.rng.random() < 0.7:
            self.add("store", w)
        elif self.direct is not None and self.rng.random() < 0.5:
            self.add("dput", self.rng.choice([w for w in self.words if OWNER[w] == self.direct] or [0]))
        else:
            self.add("iput", w)
            self.puts = True

    def lock(self):
        if self.held is None:
            self.held = self.rng.choice((0, 0, 1)), self.rng.choice(("lock", "lock_shared"))
            self.add(self.held[1] + self.rng.choice(("", "_later")), self.held[0])
        else:
            self.add("unlock_retain" if self.held[1] == "lock_shared" and self.rng.random() < 0.5 else "unlock", self.held[0])
            self.held, self.puts = None, False

    def flight(self):
        self.add(*(("wait",) if self.flies else (self.rng.choice(("iget", "iget_ask")), self.rng.choice(self.words))))
        self.flies = not self.flies

    def directly(self):
        if self.direct is None:
            self.direct = 0
            self.add("direct", 0)
        else:
            self.add("direct_end", self.direct)
            self.direct = None

    def atomic(self):
        kinds = [("add",), ("load",), ("load",), ("swap", 0)] + ([("store_word", self.rng.randint(5, 9))] if self.process == 0 else [])
        self.add(*self.rng.choice(kinds))

    def step(self):
        kind = self.rng.choice("get get get write write send recv recv lock lock atomic flight flush direct".split())
        if kind == "get":
            self.add("get", self.rng.choice(self.words))
        elif kind in ("send", "recv"):
            self.add(kind, self.rng.choice("aab"))
        elif kind == "flush" and self.puts:
            self.add("flush")
            self.puts = False
        elif kind == "direct" and self.process and self.rng.random() < 0.5:
            self.directly()
        elif kind == "flight" and (self.process or self.flies):
            self.flight()
        elif kind in ("write", "lock", "atomic"):
            getattr(self, kind)()

    def finish(self):
        if self.flies:
            self.add("wait")
        if self.puts:
            self.add("flush")
        if self.held:
            self.add("unlock", self.held[0])
        return tuple(self.operations)


def random_program(rng):
    words = rng.choice(((0,), (0, 1), (0, 2), (0, 3)))
    processes = rng.choice(((0, 1), (0, 2), (0, 1, 2), (0, 1, 2), (0, 2, 2), (1, 2, 2)))
    threads = []
    for p in processes:
        writer = Writer(rng, p, words)
        for _ in range(rng.randint(2, 6)):
            writer.step()
        threads.append((p, writer.finish()))
    return Program(tuple(threads), nodes=rng.choice(((0, 1, 2), (0, 1, 2), (0, 0, 1))), limit=rng.choice((1, 99, 99)))
