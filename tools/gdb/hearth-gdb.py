# hearth-gdb.py: shows Hearth's structures in gdb: caches, queues of messages, windows.
#
#   (gdb) source PREFIX/share/hearth/hearth-gdb.py
#   (gdb) hearth windows          every window of this process, with its cache
#   (gdb) hearth cache EXPR       the entries of a cache
#   (gdb) hearth queues [EXPR]    the receives and messages of an engine; default: that of the preload library
#   (gdb) print *w                of a struct window, struct cache, struct cache_entry, struct match: what counts of it
#
# It reads memory only, and needs the debug information of the libraries.
import gdb

ANY = -1  # MATCH_ANY_SOURCE, MATCH_ANY_TAG
LISTED = 20  # entries that a summary lists
MODES = ("transparent", "always", "user", "off", "acquire", "auto")


def number(value):
    """An integer, also of an _Atomic one, which gdb shows as a value of that type."""
    return int(value)


def signed(value):
    return value - (1 << 32) if value >= 1 << 31 else value


def wildcard(value, any_word):
    return any_word if value == ANY else str(value)


class Entries:
    """The entries of a cache: (number, struct cache_entry), in the order of the storage."""

    def __init__(self, cache):
        self.pool, self.ready = cache["pool"], number(cache["ready"])
        self.kinds = {field.enumval: field.name for field in gdb.lookup_type("enum kind").fields()}

    def state(self, entry):
        kind = self.kinds.get(number(entry["kind"]), "?").replace("KIND_", "")
        stale = kind == "CACHED" and number(entry["stamp"]) | 1 != self.ready
        return "STALE" if stale else kind

    def __iter__(self):
        at = number(self.pool[0]["next"])
        while at:
            entry = self.pool[at]
            if self.state(entry) in ("CACHED", "STALE", "PENDING"):
                yield at, entry
            at = number(entry["next"])


class CachePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        c, count = self.value, self.value["count"]
        return (
            f"cache of {number(c['cached'])} entries, {number(c['pending'])} pending, {number(c['stale'])} stale; "
            f"{number(c['used_bytes'])} of {number(c['storage_bytes'])} bytes used, {number(c['regions'])} free regions, "
            f"{number(c['slot_count'])} slots; {number(c['clock'])} gets, {number(c['placed'])} entries made, {number(count['evictions'])} evictions"
        )


class EntryPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        e = self.value
        return (
            f"rank {number(e['target'])}, address {number(e['disp']):#x}, {number(e['bytes'])} bytes at {number(e['offset'])} of the storage, "
            f"accessed at {number(e['last'])}"
        )


class Queue:
    """One of the two queues of an engine: (source, tag, context, item), in their order."""

    def __init__(self, engine, name):
        self.engine, self.name = engine, name

    def __iter__(self):
        fast = gdb.lookup_type("struct fast").pointer()
        q = self.engine["state"].address.cast(fast).dereference()[self.name]
        return self.binned(q) if q["binned"] else self.arrays(q["arrays"])

    @staticmethod
    def key(entry):
        who = number(entry["who"])
        return signed(who >> 32), signed(who & 0xFFFFFFFF), number(entry["context"]), entry["item"]

    def arrays(self, a):
        for slot in range(number(a["tail"])):
            if number(a["live"][slot // 64]) >> slot % 64 & 1:
                yield self.key(a["entries"][slot].dereference())

    def binned(self, q):
        """In bins each chain begins at a key; the sequence number of an entry is its place in the queue."""
        bins, pool, found = q["bins"], q["pool"], {}
        entry_type = gdb.lookup_type("struct fast_entry")
        for i in range(number(bins["mask"]) + 1):
            one = bins["bins"][i]
            for k in range(number(one["count"])):
                at = number(one["firsts"][k])
                while at != 0xFFFFFFFF and at not in found:
                    clz = 32 - (at + number(pool["first"])).bit_length()
                    address = number(pool["origins"][clz]) + at * entry_type.sizeof
                    found[at] = gdb.Value(address & (1 << 64) - 1).cast(entry_type.pointer()).dereference()
                    at = number(found[at]["link"]["next"])
        for entry in sorted(found.values(), key=lambda e: number(e["order"])):
            yield self.key(entry)


class MatchPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        e = self.value
        return (
            f"engine with {number(e['posted']['now'])} receives posted (at most {number(e['posted']['most'])}) and "
            f"{number(e['unexpected']['now'])} messages unexpected (at most {number(e['unexpected']['most'])}), {number(e['matched'])} matched"
        )


class WindowPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        w = self.value
        count = w["count"]
        gets = number(count["gets"]) + number(count["bypassed_fast"])
        bypassed = number(count["bypassed"]) + number(count["bypassed_fast"])
        suspended = number(w["admission"]["resume_at"]) != (1 << 64) - 1
        state = (
            "closed" if not w["open"] else "not cacheable" if not w["cacheable"] else "suspended" if suspended else "bypassing" if w["bypassing"] else "caching"
        )
        epochs = [name for name, flag in (("lock_all", "locked_all"), ("fence", "fenced")) if w["epoch"][flag]]
        return (
            f"window {number(w['serial'])} of {number(w['size'])} ranks, mode {MODES[number(w['mode'])]}, {state}, "
            f"operations by {'Hearth' if w['served'] else 'MPI'}, epochs: {', '.join(epochs) or 'none of all targets'}; "
            f"{gets} gets, {number(count['hits'])} hits, {bypassed} bypassed, {number(count['elided'])} flushes elided"
        )


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("hearth")
    for name, printer in (("cache", CachePrinter), ("cache_entry", EntryPrinter), ("match", MatchPrinter), ("window", WindowPrinter)):
        collection.add_printer(name, f"^{name}$", printer)
    return collection


class Hearth(gdb.Command):
    """Shows what Hearth holds: hearth windows, hearth cache EXPR, hearth queues [EXPR]."""

    def __init__(self):
        super().__init__("hearth", gdb.COMMAND_DATA, prefix=True)


class HearthWindows(gdb.Command):
    """Lists the windows of this process, with their caches."""

    def __init__(self):
        super().__init__("hearth windows", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        none = True
        for window in sorted(self.windows(), key=lambda w: number(w["serial"])):
            none = False
            print(WindowPrinter(window).to_string())
            if number(window["cache"]):
                print("    " + CachePrinter(window["cache"].dereference()).to_string())
        if none:
            print("no windows")

    @staticmethod
    def windows():
        for table in gdb.lookup_static_symbols("buckets"):
            if not table.symtab.filename.endswith("window/window.c"):
                continue
            buckets = table.value()
            for i in range(buckets.type.range()[1] + 1):
                at = buckets[i]
                while number(at):
                    yield at.dereference()
                    at = at["next"]


class HearthCache(gdb.Command):
    """Lists the entries of a cache: hearth cache EXPR, a struct cache or a pointer to one."""

    def __init__(self):
        super().__init__("hearth cache", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        cache = gdb.parse_and_eval(argument)
        cache = cache.dereference() if cache.type.strip_typedefs().code == gdb.TYPE_CODE_PTR else cache
        entries, print_all = Entries(cache), CachePrinter(cache)
        print(print_all.to_string())
        for at, entry in entries:
            print(f"    {at}: {entries.state(entry)} {EntryPrinter(entry).to_string()}")


class HearthQueues(gdb.Command):
    """Lists the receives and the messages of an engine: hearth queues [EXPR]; default: that of the preload library."""

    def __init__(self):
        super().__init__("hearth queues", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        engine = gdb.parse_and_eval(argument or "p2p_engine")
        if engine.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
            if not number(engine):
                print("messages are not matched by Hearth (HEARTH_MATCH)")
                return
            engine = engine.dereference()
        print(MatchPrinter(engine).to_string())
        if "fast" not in str(engine["structure"]):  # gdb shows the name of the table that it points to
            print("    only queues of HEARTH_MATCH_QUEUE=fast are listed")
            return
        for name in ("posted", "unexpected"):
            for at, (source, tag, context, item) in enumerate(Queue(engine, name)):
                if at == LISTED:
                    print(f"    {name}: further ones are not listed")
                    break
                print(f"    {name}: source {wildcard(source, 'any')}, tag {wildcard(tag, 'any')}, context {context}, item {item}")


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
Hearth(), HearthWindows(), HearthCache(), HearthQueues()
