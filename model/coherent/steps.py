"""The steps of the model: successors(state) yields every state after one step of a thread, of a home, or of the network."""
from .state import OWNER, PAGE, WORDS, Flight, Put, Scan, joined, put_at


class Stale(Exception):
    """A copy was used that is older than a write which happened before."""


class Steps:
    def __init__(self, program, rules):
        self.program, self.rules = program, rules
        self.home_of = tuple(program.nodes[owner] for owner in OWNER)

    # ---- parts of a state ----

    @staticmethod
    def with_home(s, h, home):
        return s._replace(homes=put_at(s.homes, h, home))

    @staticmethod
    def with_process(s, p, process):
        return s._replace(processes=put_at(s.processes, p, process))

    @staticmethod
    def with_thread(s, t, thread):
        return s._replace(threads=put_at(s.threads, t, thread))

    def process_of(self, t):
        return self.program.threads[t][0]

    def threads_of(self, p):
        return [t for t, (process, _) in enumerate(self.program.threads) if process == p]

    def advance(self, s, t, **changes):
        thread = s.threads[t]
        return self.with_thread(s, t, thread._replace(at=thread.at + 1, step=0, **changes))

    def words_of(self, h):
        return [w for w in WORDS if self.home_of[w] == h]

    def knows(self, s, t, known):
        thread = s.threads[t]
        return self.with_thread(s, t, thread._replace(known=joined(thread.known, known)))

    # ---- the home ----

    def stamped(self, home, words=(), pages=()):
        home = home._replace(stamp=home.stamp + 1)
        if home.stamp > self.program.limit:
            home = home._replace(stamp=1, generation=home.generation + 1, ranges=(0,) * len(home.ranges), pages=(0,) * len(home.pages))
        for w in words:
            home = home._replace(ranges=put_at(home.ranges, w, home.stamp))
        for page in pages:
            home = home._replace(pages=put_at(home.pages, page, home.stamp))
        return home

    def changed(self, h, home, listed, generation, stamp):
        """The words of this home that have changed since."""
        if self.rules.generation_compared and generation != home.generation:
            return tuple(self.words_of(h))
        if home.direct and self.rules.direct_is_changed:
            return tuple(self.words_of(h))

        def by_store(w):
            if not self.rules.page_stamps_all and w != PAGE.index(PAGE[w]):
                return False
            return home.pages[PAGE[w]] > stamp or PAGE[w] in listed

        return tuple(w for w in self.words_of(h) if home.ranges[w] > stamp or by_store(w))

    def answered(self, h, home, listed, questions):
        found = {(who, self.changed(h, home, listed, generation, stamp), home.generation, home.stamp) for who, generation, stamp in questions}
        return home._replace(answers=home.answers | found)

    def home_steps(self, s, h):
        home = s.homes[h]
        if home.queue and (not home.scans or not self.rules.one_scan_at_a_time):
            pages = tuple(sorted({PAGE[w] for w in self.words_of(h)}))
            scan, begun = Scan(pages, home.queue, ()), home._replace(queue=frozenset())
            if not self.rules.scan_before_answer:
                begun = self.answered(h, begun, (), scan.served)
                scan = scan._replace(served=frozenset())
            yield self.with_home(s, h, begun._replace(scans=begun.scans + (scan,)))
        for i, scan in enumerate(home.scans):
            yield self.with_home(s, h, self.scan_step(h, home, i, scan))

    def scan_step(self, h, home, i, scan):
        if scan.todo:
            page, listed = scan.todo[0], scan.listed
            if home.open[page]:
                home, listed = home._replace(open=put_at(home.open, page, False)), listed + (page,)
            return home._replace(scans=put_at(home.scans, i, Scan(scan.todo[1:], scan.served, listed)))
        if self.rules.scan_stamps and scan.listed:
            home = self.stamped(home, pages=scan.listed)
        served = scan.served
        if not self.rules.scan_serves_those_before:
            served, home = served | home.queue, home._replace(queue=frozenset())
        home = self.answered(h, home, scan.listed, served)
        return home._replace(scans=home.scans[:i] + home.scans[i + 1:])

    # ---- copies ----

    def acquired(self, s, t):
        p, thread = self.process_of(t), s.threads[t]
        if not self.rules.threads_share:
            return self.with_thread(s, t, thread._replace(acquires=thread.acquires + 1))
        process = s.processes[p]
        return self.with_process(s, p, process._replace(acquires=process.acquires + 1))

    def acquires(self, s, t):
        return s.processes[self.process_of(t)].acquires if self.rules.threads_share else s.threads[t].acquires

    def is_valid(self, s, t, h):
        valid = s.processes[self.process_of(t)].valid
        return (valid[h] if self.rules.homes_apart else max(valid)) >= self.acquires(s, t)

    def dropped(self, s, p, words, flights=True):
        process = s.processes[p]
        s = self.with_process(s, p, process._replace(copies=tuple(None if w in words else c for w, c in enumerate(process.copies))))
        for t in self.threads_of(p) if flights else ():
            flight = s.threads[t].flight
            if flight and flight.word in words:
                s = self.with_thread(s, t, s.threads[t]._replace(flight=flight._replace(keep=False)))
        return s

    def ask(self, s, h, t, who):
        home, seen = s.homes[h], s.processes[self.process_of(t)].seen[h]
        return self.with_home(s, h, home._replace(queue=home.queue | {(who,) + seen}))

    @staticmethod
    def answer_for(s, h, who):
        return next((a for a in s.homes[h].answers if a[0] == who), None)

    def take_answer(self, s, h, t, answer, acquire):
        _, words, generation, stamp = answer
        p, home = self.process_of(t), s.homes[h]
        s = self.with_home(s, h, home._replace(answers=home.answers - {answer}))
        s = self.dropped(s, p, words, self.rules.answer_drops_flights)
        process = s.processes[p]
        acquire = acquire if self.rules.answer_for_its_acquire else self.acquires(s, t)
        return self.with_process(s, p, process._replace(seen=put_at(process.seen, h, max(process.seen[h], (generation, stamp))),
                                                        valid=put_at(process.valid, h, max(process.valid[h], acquire))))

    @staticmethod
    def check(thread, w, version):
        if version < thread.known[w]:
            raise Stale("read version %d of word %d, knows %d" % (version, w, thread.known[w]))

    # ---- what runs beside the threads: gets and puts in flight, grants ----

    def flight_steps(self, s, t):
        thread, flight = s.threads[t], s.threads[t].flight
        if not flight or flight.data is not None:
            return
        h = self.home_of[flight.word]
        if flight.asked is None or not self.rules.scan_before_fetch or self.answer_for(s, h, ("flight", t)):
            yield self.with_thread(s, t, thread._replace(flight=flight._replace(data=s.memory[flight.word])))

    def landed(self, s, t):
        """The get in flight is complete; None: not yet."""
        flight = s.threads[t].flight
        h = self.home_of[flight.word]
        answer = self.answer_for(s, h, ("flight", t)) if flight.asked is not None else None
        if flight.data is None or (flight.asked is not None and not answer):
            return None
        if answer:
            listed = flight.word in answer[1]
            s = self.take_answer(s, h, t, answer, flight.asked)
            if listed:  # its data was read after the scan
                s = self.with_thread(s, t, s.threads[t]._replace(flight=flight))
        flight, p = s.threads[t].flight, self.process_of(t)
        process = s.processes[p]
        if flight.keep:
            s = self.with_process(s, p, process._replace(copies=put_at(process.copies, flight.word, flight.data)))
        return self.with_thread(s, t, s.threads[t]._replace(flight=None))

    def put_steps(self, s, t):
        thread = s.threads[t]
        for i, put in enumerate(thread.puts):
            write_first = self.rules.data_before_stamp
            if put.version is None and (write_first or put.stamped):
                done = s._replace(memory=put_at(s.memory, put.word, s.writes + 1), writes=s.writes + 1)
                yield self.with_thread(done, t, thread._replace(puts=put_at(thread.puts, i, put._replace(version=s.writes + 1))))
            elif not put.stamped and (not write_first or put.version is not None):
                h = self.home_of[put.word]
                done = self.with_home(s, h, self.stamped(s.homes[h], words=[put.word]))
                yield self.with_thread(done, t, thread._replace(puts=put_at(thread.puts, i, put._replace(stamped=True))))

    def flushed(self, s, t):
        """All puts are complete; None: not yet."""
        thread, known = s.threads[t], s.threads[t].known
        if any(put.version is None or not put.stamped for put in thread.puts):
            return None
        for put in thread.puts:
            known = put_at(known, put.word, max(known[put.word], put.version))
        if self.rules.put_end_drops:
            s = self.dropped(s, self.process_of(t), [put.word for put in thread.puts])
        return self.with_thread(s, t, s.threads[t]._replace(known=known, puts=()))

    # ---- locks ----

    def lock_steps(self, s, t, k, exclusive):
        """The states in which the lock is granted, or in which one more retained lock was given up."""
        lock, p = s.locks[k], self.process_of(t)
        if not exclusive and p in lock.retained:  # no message
            s = self.knows(s, t, lock.known[0])
            yield s._replace(locks=put_at(s.locks, k, lock._replace(retained=lock.retained - {p}, sharers=lock.sharers | {p}))), True
            return
        if lock.holder is not None or (exclusive and lock.sharers - {p}):
            return
        if exclusive and lock.retained and self.rules.revocation_waits:
            for r in lock.retained:
                counts = (lock.counts[0] + self.rules.revocation_raises_a, lock.counts[1])
                yield s._replace(locks=put_at(s.locks, k, lock._replace(counts=counts, retained=lock.retained - {r}))), False
            return
        s = self.knows(s, t, lock.known[exclusive])
        slot, which = k if self.rules.locks_apart else 0, 0 if exclusive else 1
        if s.processes[p].counts[slot][which] != lock.counts[which]:
            s = self.acquired(s, t)
        process = s.processes[p]
        s = self.with_process(s, p, process._replace(counts=put_at(process.counts, slot, lock.counts)))
        lock = lock._replace(holder=p) if exclusive else lock._replace(sharers=lock.sharers | {p})
        yield s._replace(locks=put_at(s.locks, k, lock)), True

    def unlocked(self, s, t, k, retain):
        lock, p, known = s.locks[k], self.process_of(t), s.threads[t].known
        exclusive = lock.holder == p
        keep = retain and not exclusive
        more = (int((exclusive or self.rules.release_raises_a) and not keep), int(exclusive and self.rules.exclusive_raises_e))
        counts = (lock.counts[0] + more[0], lock.counts[1] + more[1])
        slot = k if self.rules.locks_apart else 0
        process = s.processes[p]
        granted = process.counts[slot]
        mine = (granted[0] + more[0], granted[1] + more[1]) if self.rules.own_release_known else counts
        s = self.with_process(s, p, process._replace(counts=put_at(process.counts, slot, mine)))
        told = (joined(lock.known[0], known) if exclusive else lock.known[0], joined(lock.known[1], known))
        lock = lock._replace(holder=None if exclusive else lock.holder, sharers=lock.sharers - {p}, counts=counts, known=told,
                             retained=lock.retained | {p} if keep else lock.retained)
        return s._replace(locks=put_at(s.locks, k, lock))

    def granted(self, s, t):
        """What was read under the lock counts as read from now on."""
        for w, version in s.threads[t].early:
            self.check(s.threads[t], w, version)
        return self.with_thread(s, t, s.threads[t]._replace(waits_for=None, early=()))

    def grant_steps(self, s, t):
        if s.threads[t].waits_for:
            for after, granted in self.lock_steps(s, t, *s.threads[t].waits_for):
                yield self.granted(after, t) if granted else after

    # ---- operations of threads, by name ----

    def do_store(self, s, t, w):
        """The owner's own. The kernel opens a page that is protected; the store retires only while it is open."""
        h = self.home_of[w]
        home, thread = s.homes[h], s.threads[t]
        if not home.open[PAGE[w]]:
            yield self.with_home(s, h, home._replace(open=put_at(home.open, PAGE[w], True)))
            return
        s = s._replace(memory=put_at(s.memory, w, s.writes + 1), writes=s.writes + 1)
        yield self.advance(s, t, known=put_at(thread.known, w, s.writes))

    def do_iput(self, s, t, w):
        yield self.advance(s, t, puts=s.threads[t].puts + (Put(w),))

    def do_flush(self, s, t):
        done = self.flushed(s, t)
        if done:
            yield self.advance(done, t)

    def do_direct(self, s, t, h):
        home = s.homes[h]
        yield self.advance(self.with_home(s, h, home._replace(direct=home.direct | {self.process_of(t)})), t)

    def do_dput(self, s, t, w):
        s = self.dropped(s, self.process_of(t), [w])
        s = s._replace(memory=put_at(s.memory, w, s.writes + 1), writes=s.writes + 1)
        yield self.advance(s, t, known=put_at(s.threads[t].known, w, s.writes))

    def do_direct_end(self, s, t, h):
        home = s.homes[h]
        home = home._replace(direct=home.direct - {self.process_of(t)})
        if self.rules.direct_end_stamps:
            home = self.stamped(home, words=self.words_of(h))
        yield self.advance(self.with_home(s, h, home), t)

    def do_send(self, s, t, name):
        yield self.advance(s._replace(messages=s.messages | {(name, s.threads[t].known)}), t)

    def do_recv(self, s, t, name):
        for _, known in [m for m in s.messages if m[0] == name]:
            after = self.knows(s, t, known)
            yield self.advance(self.acquired(after, t) if self.rules.receive_acquires else after, t)

    def do_take(self, s, t, name):
        """What a thread of the same process has sent, through memory: no call of MPI."""
        for _, known in [m for m in s.messages if m[0] == name]:
            yield self.advance(self.knows(s, t, known), t)

    def do_ask(self, s, t, h):
        if s.threads[t].step == 0:
            s = self.ask(s, h, t, ("thread", t))
            yield self.with_thread(s, t, s.threads[t]._replace(step=2, asked=self.acquires(s, t)))
            return
        answer = self.answer_for(s, h, ("thread", t))
        if answer:
            yield self.advance(self.take_answer(s, h, t, answer, s.threads[t].asked), t)

    def do_iget(self, s, t, w):
        yield self.advance(s, t, flight=Flight(w, None, True))

    def do_iget_ask(self, s, t, w):
        s = self.ask(s, self.home_of[w], t, ("flight", t))
        yield self.advance(s, t, flight=Flight(w, self.acquires(s, t), True))

    def do_wait(self, s, t):
        done = self.landed(s, t)
        if done:
            yield self.advance(done, t)

    def do_get(self, s, t, w):
        """Step 0: a load, a hit, a question or a get; 1: until the get is complete; 2: until the answer is there."""
        thread, p, h = s.threads[t], self.process_of(t), self.home_of[w]
        if self.program.nodes[p] == h:
            yield self.advance(s, t)
        elif thread.step == 1:
            done = self.landed(s, t)
            if done:
                yield self.advance(done, t)
        elif thread.step == 2:
            answer = self.answer_for(s, h, ("thread", t))
            if answer:
                s = self.take_answer(s, h, t, answer, thread.asked)
                yield self.with_thread(s, t, s.threads[t]._replace(step=0))
        elif self.is_valid(s, t, h) and s.processes[p].copies[w] is not None and not (thread.waits_for and self.rules.grant_before_hit):
            self.check(thread, w, s.processes[p].copies[w])
            early = thread.early + ((w, s.processes[p].copies[w]),) if thread.waits_for else ()
            yield self.advance(s, t, early=early)
        elif thread.waits_for:
            return
        elif not self.is_valid(s, t, h) and not (thread.flight and thread.flight.asked is not None):
            s = self.ask(s, h, t, ("thread", t))
            yield self.with_thread(s, t, s.threads[t]._replace(step=2, asked=self.acquires(s, t)))
        elif thread.flight:  # one at a time: fetched, not kept
            yield self.advance(s, t)
        else:
            yield self.with_thread(s, t, thread._replace(step=1, flight=Flight(w, None, True)))

    def lock_op(self, s, t, k, exclusive):
        for after, granted in self.lock_steps(s, t, k, exclusive):
            yield self.advance(after, t) if granted else after

    def do_lock(self, s, t, k):
        return self.lock_op(s, t, k, True)

    def do_lock_shared(self, s, t, k):
        return self.lock_op(s, t, k, False)

    def do_lock_later(self, s, t, k):
        yield self.advance(s, t, waits_for=(k, True))

    def do_lock_shared_later(self, s, t, k):
        yield self.advance(s, t, waits_for=(k, False))

    def unlock_op(self, s, t, k, retain):
        if s.threads[t].waits_for:
            return
        done = self.flushed(s, t)
        if done:
            yield self.advance(self.unlocked(done, t, k, retain), t)

    def do_unlock(self, s, t, k):
        return self.unlock_op(s, t, k, False)

    def do_unlock_retain(self, s, t, k):
        return self.unlock_op(s, t, k, True)

    def atomic(self, s, t, new):
        """An atomic that returns the word's value; new(value): what it writes, None for a load."""
        p, word = self.process_of(t), s.word
        s = self.knows(s, t, word.known)
        count, value = s.processes[p].word
        if (self.rules.count_compared and word.count != count) or (self.rules.value_compared and word.value != value):
            s = self.acquired(s, t)
        if new is not None:
            word = word._replace(count=word.count + 1, value=new(word.value), known=s.threads[t].known)
        process = s.processes[p]
        s = self.with_process(s, p, process._replace(word=(word.count, word.value)))
        yield self.advance(s._replace(word=word), t)

    def do_add(self, s, t):
        return self.atomic(s, t, lambda value: value + 1)

    def do_swap(self, s, t, value):
        return self.atomic(s, t, lambda _: value)

    def do_load(self, s, t):
        return self.atomic(s, t, None)

    def do_store_word(self, s, t, value):
        """The owner's plain store to the atomic word."""
        known = joined(s.word.known, s.threads[t].known)
        yield self.advance(s._replace(word=s.word._replace(value=value, known=known)), t)

    # ---- all of them ----

    def successors(self, s):
        for h in range(len(s.homes)):
            yield from self.home_steps(s, h)
        for t, (_, operations) in enumerate(self.program.threads):
            yield from self.flight_steps(s, t)
            yield from self.put_steps(s, t)
            yield from self.grant_steps(s, t)
            if s.threads[t].at < len(operations):
                name, *args = operations[s.threads[t].at]
                yield from getattr(self, "do_" + name)(s, t, *args)

    def is_finished(self, s):
        return all(thread.at == len(operations) for thread, (_, operations) in zip(s.threads, self.program.threads))
