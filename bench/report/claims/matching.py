"""Figures of the paper on matching and hot caching."""
from ..figures import Claim, Figure, Paper, above, at_least, at_most, highest, lowest, rows, same


def engine(**filters):
    """Nanoseconds per message of the queues alone, with the interval that the program gave."""
    return rows("match/engine", "ns", "low", "high", **filters)


HEATED_ACCESS = (
    "A heated line is in the last-level cache, or in those of the heater's core. On a Xeon (Sapphire Rapids) an access then takes 80 ns, "
    "0 to 1000 us after the caches were emptied alike, and 115 ns without the heater: the ratio of these latencies is all that any heater "
    "can gain. On the paper's machines it was 22.9 of 47.5 ns, and 22.8 of 38.5.")

PAPER = Paper(
    name="Matching",
    title="Dosanjh et al.: The Case for Semi-Permanent Cache Occupancy (ICPP 2018)",
    notes=(
        (
            "The paper measures on two machines, Sandy Bridge (Figs. 4, 6) and Broadwell (Figs. 5, 7); there is one here, and the rows "
            "of both show the same measurements beside the paper's statements on each."),
    ),
    figures=[
        Figure(
            name="1",
            section="2.3",
            shows="lengths of the queues of three patterns: mesh refinement, sweeps, halo exchange; 64 K to 256 K simulated processes",
            quote=(
                'AMR: "most list lengths maintain zero to mid-hundreds of elements"; "extremes do occur out to the mid 400s"; Sweep3D: '
                '"queue lengths into the low hundreds of elements"; Halo3D: "relatively few elements in the queue" (2.3)'),
            setting=(
                "the program halo on 4 ranks, counted in Hearth's queues: a solver with a halo exchange (cg), many meshes on a rank "
                "(fds), many threads of a rank (stencil)"),
            plot=("match/fig1.svg",),
            why=(
                "The paper's traces come from another simulator and other programs; a halo exchange is in both. Queue lengths depend on "
                "the pattern and the number of meshes or threads of a rank, not on the machine."),
            claims=[
                Claim(
                    "longest queue of posted receives, halo exchange (cg)",
                    over=rows("match/longest", "posted_most", program="cg"),
                    unit="receives"),
                Claim(
                    "longest queue of posted receives, many meshes (fds)",
                    over=rows("match/longest", "posted_most", program="fds"),
                    unit="receives"),
                Claim(
                    "longest queue of posted receives, many threads (stencil)",
                    over=rows("match/longest", "posted_most", program="stencil"),
                    unit="receives"),
            ]),
        Figure(
            name="4",
            section="4.2",
            shows=(
                "linked lists of arrays on Sandy Bridge: bandwidth by size with 1024 in front (a), rate by depth for 1 byte (b) and 4 "
                "KB (c)"),
            quote=(
                '"On both systems, we observe up to a 2x performance benefit for small and medium message sizes"; "a large jump from '
                "the baseline to the first linked list of arrays, and a slight increase [...]. the performance gain stops once we reach"
                ' 8 elements per array" (4.2); "up to 4x for micro-benchmarks" (abstract)'),
            setting="the queues alone, caches emptied before each message, and through MPI on 2 ranks of this machine, warm",
            plot=("match/fig4a_engine.svg",),
            why=(
                "The queues alone wait for no network, and gain more; through MPI, warm, a list in the order of its allocation suits "
                "hardware prefetching best."),
            claims=[
                Claim(
                    "(a) list against arrays of 8, queues alone, cold, best size up to 64 KB",
                    over=engine(kind="bandwidth", structure="list", heated=0, state="cold", bytes=at_most(65536)),
                    under=engine(kind="bandwidth", structure="lla-8", heated=0, state="cold"),
                    pick=highest("bytes"), unit="x", goal=at_least(2), given=2),
                Claim(
                    "(a) list against arrays of 8, through MPI, best size up to 64 KB",
                    over=rows("match/mpi", "ns", kind="bandwidth", config="list", state="warm", bytes=at_most(65536)),
                    under=rows("match/mpi", "ns", kind="bandwidth", config="lla-8", state="warm"),
                    pair=("round",), each=("mpi",), pick=highest("bytes"), unit="x", goal=at_least(2), given=2),
                Claim(
                    "(b) list against arrays of 2, queues alone, cold, 1024 in front, 1 byte",
                    over=engine(kind="rate", queue="posted", structure="list", heated=0, bytes=1, depth=1024, state="cold"),
                    under=same(structure="lla-2"),
                    unit="x", goal=above(1)),
                Claim(
                    "(b) arrays of 8 against arrays of 64",
                    over=engine(kind="rate", queue="posted", structure="lla-8", heated=0, bytes=1, depth=1024, state="cold"),
                    under=same(structure="lla-64"),
                    unit="x"),
                Claim(
                    "(b) list against arrays of 8, best depth",
                    over=engine(kind="rate", queue="posted", structure="list", heated=0, bytes=1, state="cold"),
                    under=same(structure="lla-8"),
                    pick=highest("depth"), unit="x", goal=at_least(4), given=4),
                Claim(
                    "(c) list against arrays of 8, queues alone, cold, 1024 in front, 4 KB",
                    over=engine(kind="rate", queue="posted", structure="list", heated=0, bytes=4096, depth=1024, state="cold"),
                    under=same(structure="lla-8"),
                    unit="x", goal=above(1)),
            ]),
        Figure(
            name="5",
            section="4.2",
            shows="the same on Broadwell",
            quote=(
                '"On both systems, we observe up to a 2x performance benefit for small and medium message sizes by increasing the '
                'spacial locality. However, this appears to be limited for large messages" (4.2)'),
            setting="as Fig. 4, and Hearth's own queues (fast), against a list in random order, as an aged heap returns it",
            plot=("match/fig4b_mpi_posted.svg",),
            claims=[
                Claim(
                    "(a) list against arrays of 8, queues alone, cold, 1 MB",
                    over=engine(kind="bandwidth", structure="list", heated=0, state="cold", bytes=1048576),
                    under=same(structure="lla-8"),
                    unit="x"),
                Claim(
                    "(b) host MPI against the library, 1024 in front, 1 byte",
                    over=rows("match/mpi", "ns", kind="size", config="host", depth=1024, bytes=1),
                    under=same(config="fast"),
                    pair=("round",), each=("mpi",), unit="x", goal=at_least(2), given=2),
                Claim(
                    "(b) list in random order against fast, queues alone, cold, 1024 in front, 1 byte",
                    over=engine(kind="rate", queue="posted", structure="list-random", heated=0, bytes=1, depth=1024, state="cold"),
                    under=same(structure="fast"),
                    unit="x", goal=at_least(4), given=4),
                Claim(
                    "(c) host MPI against the library, nothing in front, 4 KB",
                    over=rows("match/mpi", "ns", kind="size", config="host", depth=0, bytes=4096),
                    under=same(config="fast"),
                    pair=("round",), each=("mpi",), unit="x", goal=at_least(1)),
            ]),
        Figure(
            name="6",
            section="4.3",
            shows="hot caching on Sandy Bridge: bandwidth (a), rate for 1 byte (b) and 4 KB (c)",
            quote=(
                '"On Sandy Bridge, we observed an increase in performance corresponding to increased temporal locality"; "(which reduce'
                ' 47.5 ns to 22.9 ns)" for random accesses (4.3)'),
            setting="the queues alone, without and with the heater on another core; caches emptied, then time for the heater",
            plot=("match/fig6b_engine_1000us.svg",),
            why="The heater helps only data that it had time to warm: right after the caches were emptied it has not completed a round.",
            lost=HEATED_ACCESS,
            claims=[
                Claim(
                    "random accesses, 1 MB, 1 ms after the caches were emptied",
                    over=rows("match/random", "ns", "low", "high", accesses="dependent", bytes=1048576, state="cold", gap_us=1000,
                              heater="off"),
                    under=same(heater="on"),
                    unit="x", goal=at_least(2.07), given=2.07),
                Claim(
                    "(a) list, 1024 in front, 100 us, best size",
                    over=engine(kind="bandwidth", structure="list", heated=1, state="cold", gap_us=100, heater="off"),
                    under=same(heater="on"),
                    pick=highest("bytes"), unit="x", goal=above(1)),
                Claim(
                    "(b) list, 1 byte, 1024 in front, 1 ms",
                    over=engine(kind="rate", queue="posted", structure="list", heated=1, bytes=1, depth=1024, state="cold", gap_us=1000,
                                heater="off"),
                    under=same(heater="on"),
                    unit="x", goal=above(1)),
                Claim(
                    "(b) arrays of 8, the same",
                    over=engine(kind="rate", queue="posted", structure="lla-8", heated=1, bytes=1, depth=1024, state="cold", gap_us=1000,
                                heater="off"),
                    under=same(heater="on"),
                    unit="x", goal=above(1)),
                Claim(
                    "(c) list, 4 KB, 1024 in front, 1 ms",
                    over=engine(kind="rate", queue="posted", structure="list", heated=1, bytes=4096, depth=1024, state="cold",
                                gap_us=1000, heater="off"),
                    under=same(heater="on"),
                    unit="x", goal=above(1)),
            ]),
        Figure(
            name="7",
            section="4.3",
            shows="hot caching on Broadwell",
            quote=(
                '"For Broadwell, we see a negative result from cache heating"; "reducing the iteration runtime from 38.5 ns to 22.8 ns"'
                " for random accesses (4.3)"),
            setting="as Fig. 6, right after the caches were emptied, and the cost of the heater for a computing thread",
            plot=("match/fig6b_engine_0us.svg",),
            lost=(
                HEATED_ACCESS + " A thread beside the heater shares the last-level cache and the memory with it; with little time to warm, "
                "only this cost shows."),
            claims=[
                Claim(
                    "random accesses, 1 MB, 1 ms after the caches were emptied",
                    over=rows("match/random", "ns", "low", "high", accesses="dependent", bytes=1048576, state="cold", gap_us=1000,
                              heater="off"),
                    under=same(heater="on"),
                    unit="x", goal=at_least(1.69), given=1.69),
                Claim(
                    "(b) list, 1 byte, at once, worst depth",
                    over=engine(kind="once", state="cold", heater="off"),
                    under=same(heater="on"),
                    pick=lowest("depth"), unit="x", goal=at_least(1)),
                Claim(
                    "time of a computing thread with the heater against without, worst",
                    over=rows("match/cost", "ratio", "low", "high", kernel=("arithmetic", "l2", "l3", "stream")),
                    pick=highest("kernel", "bytes"), unit="x", goal=at_most(1.03)),
                Claim(
                    "time of a thread that only writes the heated memory, every line of it in turn, the same",
                    over=rows("match/cost", "ratio", "low", "high", kernel="writes"),
                    pick=highest("bytes"), unit="x"),
            ]),
        Figure(
            name="8",
            section="4.4.1",
            shows="AMG2013, scaling on Broadwell",
            quote=(
                '"These runs are not of large enough scale to show any clear trends for run-time, but show runtime improvements for '
                'with increased spacial locality at 2.9%" (4.4.1)'),
            setting=(
                "the program halo in the mode cg, a conjugate gradient solver on a periodic grid, so that each of two ranks exchanges "
                "26 messages, like most ranks of a large job: AMG2013 is not available here; host MPI's matching against Hearth's, and "
                "lists against Hearth's queues; alternating in every round"),
            plot=("figures/matching-9.svg",),
            why=(
                "A program with few messages gains little from matching, in the paper and here; its gain with the library comes from the"
                " library's own transport inside a node."),
            claims=[
                Claim(
                    "host MPI against the library, worst number of other posted receives",
                    over=rows("halo/runs", "us_step", mode="cg", config="host"),
                    under=same(config="fast"),
                    pair=("round",), each=("setting",), pick=lowest("case"), unit="x", goal=at_least(1.03), given=1.03),
                Claim(
                    "queues as lists against Hearth's own, the same",
                    over=rows("halo/runs", "us_step", mode="cg", config="list"),
                    under=same(config="fast"),
                    pair=("round",), each=("setting",), pick=lowest("case"), unit="x", given=1.03),
            ]),
        Figure(
            name="9",
            section="4.4.2",
            shows="MiniFE, 512 processes, by the length of the queue",
            quote='"Using LLA at 2048 queue sizes results in a 2.3% improvement to runtime" (4.4.2)',
            setting=(
                "the program halo in the mode cg, as Fig. 8, with 2048 other posted receives; alternating in every round"),
            plot=("figures/matching-9.svg",),
            why=(
                "MiniFE has 26 neighbours on most of its 512 ranks. Two ranks on a grid with edges have one, and of a step of 650 us only "
                "5 us are a search behind 2048 receives: on a Xeon (Cascade Lake) lists then took 1.00 of the time of Hearth's queues. On "
                "the periodic grid the number of messages is that of MiniFE."),
            lost="A list of 2048 receives in the order of its allocation is searched in some 5 us, in a step that takes hundreds.",
            claims=[
                Claim(
                    "queues as lists against Hearth's own, 2048 other posted receives",
                    over=rows("halo/runs", "us_step", mode="cg", case="pad 2048", config="list"),
                    under=same(config="fast"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(1.02), given=1.02),
                Claim(
                    "host MPI against the library, 2048 other posted receives",
                    over=rows("halo/runs", "us_step", mode="cg", case="pad 2048", config="host"),
                    under=same(config="fast"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(1.02), given=1.02),
            ]),
        Figure(
            name="10",
            section="4.5",
            shows="Fire Dynamics Simulator, scaling",
            quote=(
                '"a marked performance increase at 1024 with 1.21x for linked list of arrays"; "resulting in a 2x speedup at 4k '
                'processes"; "At 1024 processes, linked list of arrays with hot caching performs 14.5% better than the baseline" (4.5)'),
            setting=(
                "the program halo in the mode fds: 1000 meshes in all on 2 or 4 ranks, thousands of receives out of order, persistent "
                "requests that MPI_Startall starts, as in FDS; alternating in every round"),
            plot=("figures/matching-10.svg",),
            why=(
                "FDS itself at 4 K processes is not run here; many meshes per rank make the queues as long. The gain of the whole "
                "program is bounded by its computation, and, with more ranks than cores, by the time that ranks wait for each other."),
            lost=(
                "Four ranks on two hosts share two cores, and nine tenths of a step are the exchange over TCP, which is the same for both "
                "queues. On one node the queues decide."),
            claims=[
                Claim(
                    "queues as lists against Hearth's own",
                    over=rows("halo/runs", "us_step", mode="fds", case="10x10x10 shuffled", config="list"),
                    under=same(config="fast"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(2), given=2),
                Claim(
                    "host MPI against the library",
                    over=rows("halo/runs", "us_step", mode="fds", case="10x10x10 shuffled", config="host"),
                    under=same(config="fast"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(2), given=2),
            ]),
        Figure(
            name="Table 1",
            section="2.3",
            shows="threads, queue lengths and mean search depths of decompositions",
            quote='ten rows, such as "32x32 5pt 124 128 128 32.51" and "1x1x256 27pt 256 2066 6146 1294.49" (Table 1)',
            setting="computed from the decomposition; depths from threads that race, 10 trials",
            plot=("match/table1.svg",),
            why="Depths depend on the timing of threads: the paper's receivers have a hardware thread each, here they share two cores.",
            claims=[
                Claim(
                    "queue length against the paper's, worst row up",
                    over=rows("match/stencil", "length"),
                    under=same("paper_length"),
                    pick=highest("block", "stencil"), unit="x", goal=at_most(1), given=1),
                Claim(
                    "queue length against the paper's, worst row down",
                    over=rows("match/stencil", "length"),
                    under=same("paper_length"),
                    pick=lowest("block", "stencil"), unit="x", goal=at_least(1), given=1),
                Claim(
                    "mean depth against the paper's, worst row up",
                    over=rows("match/stencil", "depth"),
                    under=same("paper_depth"),
                    pick=highest("block", "stencil"), unit="x", given=1),
                Claim(
                    "mean depth against the paper's, worst row down",
                    over=rows("match/stencil", "depth"),
                    under=same("paper_depth"),
                    pick=lowest("block", "stencil"), unit="x", given=1),
            ]),
    ])
