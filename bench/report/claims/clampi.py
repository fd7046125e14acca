"""Figures of the paper on CLaMPI."""
from ..figures import Claim, Figure, Paper, above, at_least, at_most, below, highest, least, lowest, most, rows, same


def latency(**filters):
    """Microseconds of an access, with the interval that the program gave."""
    return rows("clampi/access", "latency_us", "low_us", "high_us", **filters)


PAPER = Paper(
    name="CLaMPI",
    title="Di Girolamo, Vella, Hoefler: Transparent Caching for RMA Systems (IPDPS 2017)",
    notes=(
        (
            'The paper assigns its two factors to different programs: the abstract has "a Barnes Hut simulation and a Local Clustering '
            'Coefficient computation up to a factor of 1.8x and 5x, respectively", the summary (VI) "~5x in the N-Body simulation and '
            '~1.8x in the Local Clustering Coefficient computation"; section IV has ~5x for both (IV-B: "up to a factor of ~3x and ~5x" '
            'over native and foMPI; IV-C1: "the 5x speedup presented by the fixed strategy"). Section IV, with the experiments, is used '
            "here: 5x and 3x for Barnes-Hut, 5x for LCC."),
        "Fig. 14's caption has \"Bodies per process: 1.5K\", its text \"N = P · 8K\". The caption's number is used here.",
    ),
    figures=[
        Figure(
            name="1",
            section="I",
            shows="latency of a get by distance",
            quote=(
                '"access latencies range from less than 100ns for a local DRAM access (less than ten nanoseconds if the access is '
                'cached on the CPU chip) up to 2-3 microseconds for remote accesses, spanning three orders of magnitude" (I)'),
            setting="2 ranks on this machine, windows without a cache; dependent random accesses",
            plot=("figures/clampi-1.svg",),
            why=(
                "The distances here are those of one machine: its caches, its memory, another process, and another process over TCP on "
                "the loopback device. The paper's network is Cray Aries."),
            claims=[
                Claim(
                    "an access to memory in the CPU's caches (64 KB in all)",
                    over=rows("match/random", "ns", "low", "high", accesses="dependent", bytes=65536, state="warm", gap_us=0, heater="off"),
                    unit="ns", given=10),
                Claim(
                    "an access to DRAM",
                    over=rows("match/random", "ns", "low", "high", accesses="dependent", bytes=1048576, state="cold", gap_us=0,
                              heater="off"),
                    unit="ns", given=100),
                Claim(
                    "get of 8 bytes from another process through shared memory",
                    over=rows("modes/loop", "ns", window="create", library="with", pattern="stream", way="bare", bytes=8),
                    each=("mpi",), unit="ns"),
                Claim(
                    "get of 8 bytes over TCP",
                    over=rows("modes/loop", "ns", window="tcp", library="without", pattern="stream", way="bare", bytes=8),
                    each=("mpi",), unit="ns"),
            ]),
        Figure(
            name="2",
            section="I",
            shows="how often Barnes-Hut gets the same data; 4 processes, 4000 bodies",
            quote='"This simulation accesses the same remote data up to 3,500 times." (I)',
            setting="4 ranks, 4000 bodies, forces at the start only; counts, which do not depend on the machine",
            plot=("barnes-hut/fig2.svg",),
            why=(
                "A property of the program, not of a cache. Each rank here has 1000 bodies, and each of them visits the top of every "
                "other rank's tree once in a step, so that 1000 is the maximum; the paper does not say how many steps it counts."),
            claims=[
                Claim(
                    "maximal repetitions of one get",
                    over=most("barnes-hut/repeats", "times"),
                    unit="times", given=3500),
            ]),
        Figure(
            name="3",
            section="II",
            shows="sizes of the gets of LCC; 2^16 vertices, 2^20 edges",
            quote=(
                '"A block size of 5 KB would allow to store the 82% of all the requests in a single block. However, the average size of'
                ' such requests is ~1 KB [...]. The remaining 18% of the entries would require 2 blocks on average." (II)'),
            setting="2 ranks, R-MAT graph of the same size, a fair sample of the vertices; counts, which do not depend on the machine",
            plot=("lcc/fig3.svg",),
            why=(
                "A property of the graph, not of a cache. The paper does not give the probabilities of its R-MAT graph, and averages "
                "over 32 nodes."),
            claims=[
                Claim(
                    "gets of at most 5 KB",
                    over=rows("lcc/blocks", "value", what="share"),
                    unit="%", given=82),
                Claim(
                    "their mean size",
                    over=rows("lcc/blocks", "value", what="mean"),
                    unit="bytes", given=1024),
                Claim(
                    "blocks of 5 KB that the larger gets would take",
                    over=rows("lcc/blocks", "value", what="blocks"),
                    unit="blocks", given=2),
            ]),
        Figure(
            name="7",
            section="IV-A1",
            shows="cost of each kind of access, by size",
            quote=(
                '"being up to 9.3x and 3.7x faster than foMPI for the 4KB and 16KB data sizes, respectively"; "the lookup cost is '
                'constant for all the access types"; "The data copy phase is not present in the failing access" (IV-A1)'),
            setting="2 ranks over TCP on the loopback device; 4 K slots, 16 MB, fixed; the parts: the cache alone, without MPI",
            plot=("clampi/fig7.svg",),
            why="The get that a hit saves uses TCP here and Aries in the paper, and each timing includes two readings of the clock.",
            claims=[
                Claim(
                    "raw get of 4 KB against a hit",
                    over=latency(setting="roomy", kind="raw", bytes=4096),
                    under=same(kind="hitting"),
                    each=("mpi",), unit="x", goal=at_least(9.3), given=9.3),
                Claim(
                    "raw get of 16 KB against a hit",
                    over=latency(setting="roomy", kind="raw", bytes=16384),
                    under=same(kind="hitting"),
                    each=("mpi",), unit="x", goal=at_least(3.7), given=3.7),
                Claim(
                    "slowest lookup of all sizes, hit or miss, against the fastest",
                    over=most("clampi/parts", "least_ns", part=("lookup", "lookup-miss")),
                    under=least("clampi/parts", "least_ns", part=("lookup", "lookup-miss")),
                    unit="x", goal=at_most(2)),
                Claim(
                    "failing access of 64 KB against a direct one, each relative to raw gets in the same run",
                    over=rows("clampi/access", "of_raw", setting="small-storage", kind="failing", bytes=65536),
                    under=same(setting="roomy", kind="direct"),
                    each=("mpi",), unit="x", goal=below(1)),
            ]),
        Figure(
            name="8",
            section="IV-A1",
            shows="share of a get that computation can hide",
            quote=(
                '"foMPI, that is able to overlap up to the 85% of the communication to computation in the 64KB case. It provides an '
                'upper-bound for the overlap that can be reached by CLaMPI"; "The failing access, instead, is able to provide a higher '
                'overlap for larger data sizes" (IV-A1)'),
            setting="2 ranks over TCP on the loopback device; computation of 1.25 times the raw get",
            plot=("clampi/fig8.svg",),
            why=(
                "The raw get is the host MPI's own, without Hearth: over TCP it moves data only inside its calls, while Aries moves it "
                "in hardware. It bounds what a cache can hide, so it was wrong to judge the raw get itself: judged is how much of this "
                "bound a direct access reaches."),
            lost=(
                "What is hidden is the same in us, 24.5 and 24.8 of MPICH's get on a Xeon (Cascade Lake), but a direct access is longer by "
                "the copy into the cache, 11 of 75 us, which begins when the data has arrived."),
            claims=[
                Claim(
                    "direct access of 64 KB, hidden, against the raw get",
                    over=rows("clampi/access", "share", setting="roomy", kind="direct", bytes=65536),
                    under=same(kind="raw"),
                    each=("mpi",), unit="x", goal=at_least(0.9)),
                Claim(
                    "raw get of 64 KB, hidden",
                    over=rows("clampi/access", "share", setting="roomy", kind="raw", bytes=65536),
                    each=("mpi",), unit="%", given=85),
                Claim(
                    "failing access of 64 KB, hidden",
                    over=rows("clampi/access", "share", setting="small-storage", kind="failing", bytes=65536),
                    each=("mpi",), unit="%"),
            ]),
        Figure(
            name="9",
            section="IV-A2",
            shows="completion time by the size of the index, fixed and adaptive",
            quote=(
                '"The fixed strategy presents poor performance when |I_w| is small w.r.t. the number of distinct gets [...]. This does '
                'not happen with the adaptive strategy"; times not given (IV-A2)'),
            setting="2 ranks over TCP on the loopback device; 20 K and 100 K gets of 1 K distinct ones",
            plot=("clampi/fig9.svg",),
            why="An adjustment costs hits; in a short run this is a larger share of the time.",
            claims=[
                Claim(
                    "adaptive against the best fixed, worst initial index, 100 K gets",
                    over=rows("clampi/fig9", "seconds", vary="index", strategy="on", gets=100000),
                    under=same(strategy="off", start=(1500, 4000)),
                    pair=("round",), each=("mpi",), pick=highest("start"), best=lowest("start"), unit="x", goal=at_most(1.15)),
                Claim(
                    "adaptive against the best fixed, worst initial index, 20 K gets",
                    over=rows("clampi/fig9", "seconds", vary="index", strategy="on", gets=20000),
                    under=same(strategy="off", start=(1500, 4000)),
                    pair=("round",), each=("mpi",), pick=highest("start"), best=lowest("start"), unit="x", goal=at_most(1.15)),
                Claim(
                    "fixed with an index of 100 against the best fixed",
                    over=rows("clampi/fig9", "seconds", vary="index", start=100, strategy="off", gets=20000),
                    under=least("clampi/fig9", "seconds", strategy="off", gets=20000),
                    each=("mpi",), unit="x"),
            ]),
        Figure(
            name="10",
            section="IV-A3",
            shows="occupied storage by victim selection",
            quote=(
                '"the Full and Positional estimate how entries are contributing to the external fragmentation: they keep the space '
                'occupation around 90% of S_w capacity" (IV-A3)'),
            setting="1.5 K slots, 1 MB, 100 K gets; counts",
            plot=("clampi/fig10.svg",),
            why="Best fit with merging of neighbours loses less to fragmentation than the paper's storage.",
            claims=[
                Claim(
                    "full",
                    over=rows("clampi/fig11", "occupied", scheme="full", slots=1500),
                    unit="%", goal=at_least(88), given=90),
                Claim(
                    "positional",
                    over=rows("clampi/fig11", "occupied", scheme="positional", slots=1500),
                    unit="%", goal=at_least(88), given=90),
                Claim(
                    "temporal against full",
                    over=rows("clampi/fig11", "occupied", scheme="temporal", slots=1500),
                    under=same(scheme="full"),
                    pair=("run",), unit="x", goal=below(1)),
            ]),
        Figure(
            name="11",
            section="IV-A3",
            shows="visited slots, hits and free space by the size of the index",
            quote=(
                '"The Full scheme provides the best hit ratio for all the considered hash table sizes"; "the number of conflicting '
                'accesses becomes negligible (i.e., < 5%) when the hash table size is set to values equal or greater than N"; "Here we '
                'set M = 16" (IV-A3)'),
            setting="1 MB, 100 K gets, 1 K to 4 K slots; counts",
            plot=("clampi/fig11.svg",),
            claims=[
                Claim(
                    "hits of full against temporal, worst index",
                    over=rows("clampi/fig11", "hit_ratio", scheme="full"),
                    under=same(scheme="temporal"),
                    pair=("run",), pick=lowest("slots"), unit="x", goal=at_least(1)),
                Claim(
                    "hits of full against positional, worst index",
                    over=rows("clampi/fig11", "hit_ratio", scheme="full"),
                    under=same(scheme="positional"),
                    pair=("run",), pick=lowest("slots"), unit="x", goal=at_least(1)),
                Claim(
                    "conflicting accesses, worst index",
                    over=rows("clampi/fig11", "conflicting", scheme="full"),
                    pick=highest("slots"), unit="%", goal=below(5), given=5),
                Claim(
                    "slots visited for a victim, maximum",
                    over=rows("clampi/fig11", "visited", scheme="full"),
                    pick=highest("slots"), unit="slots", given=16),
            ]),
        Figure(
            name="12",
            section="IV-B",
            shows="Barnes-Hut, force time per body by memory; 20 K bodies, 16 processes",
            quote=(
                '"The Force Computation time required by foMPI is 1.53 ms"; native "ranges from ~820 us with 1 MB to ~400 us with 4 '
                'MB"; adaptive "is the one presenting the best performance: in all the cases it converges to 1 MB" (IV-B)'),
            setting="4 ranks on 2 virtual hosts over TCP; memory in percent of the tree on other ranks; alternating in every round",
            plot=("barnes-hut/fig12.svg",),
            why=(
                "Absolute times are those of a TCP get on shared cores, so only ratios are comparable. The fixed cache has a sufficient "
                "index at every size here; in the paper the fixed one loses with small indices, which is Fig. 13."),
            claims=[
                Claim(
                    "blocks with half of the tree against blocks with four times that",
                    over=rows("barnes-hut/runs", "us_per_body", part="memory", share=50, cache="blocks"),
                    under=same(share=200),
                    pair=("round",), each=("setting",), unit="x", given=2.05),
                Claim(
                    "fixed against adaptive, worst initial memory",
                    over=rows("barnes-hut/runs", "us_per_body", part="memory", cache="hearth"),
                    under=same(cache="adaptive"),
                    pair=("round",), each=("setting",), pick=lowest("share"), unit="x", goal=at_least(0.95)),
                Claim(
                    "force time per body without a cache",
                    over=rows("barnes-hut/runs", "us_per_body", part="bare", cache="none"),
                    pair=("round",), each=("setting",), unit="us", given=1530),
            ]),
        Figure(
            name="13",
            section="IV-B",
            shows="Barnes-Hut, outcomes of the gets by the size of the index",
            quote=(
                '"When |I_w| = 1K, the performance of the fixed strategy is limited by the high number of conflicting accesses"; shares'
                " not given (IV-B)"),
            setting="as Fig. 12, storage for twice the tree on other ranks, index of a twentieth of its nodes",
            plot=("barnes-hut/fig13.svg",),
            claims=[
                Claim(
                    "conflicting, fixed with the small index",
                    over=rows("barnes-hut/runs", "conflicting", part="index", cache="hearth"),
                    under=same("remote"),
                    pair=("round",), each=("setting",), unit="%"),
                Claim(
                    "conflicting, adaptive with the same initial size",
                    over=rows("barnes-hut/runs", "conflicting", part="index", cache="adaptive"),
                    under=same("remote"),
                    pair=("round",), each=("setting",), unit="%"),
                Claim(
                    "force time of fixed against adaptive with the same initial size",
                    over=rows("barnes-hut/runs", "us_per_body", part="index", cache="hearth"),
                    under=same(cache="adaptive"),
                    pair=("round",), each=("setting",), unit="x", goal=above(1)),
            ]),
        Figure(
            name="14",
            section="IV-B",
            shows="Barnes-Hut, weak scaling, 16 to 128 processes",
            quote=(
                '"Both the CLaMPI strategies outperform the native and foMPI solutions up to a factor of ~3x and ~5x, respectively. '
                'With this settings, the adaptive strategy does not perform any adjustment" (IV-B)'),
            setting=(
                "4 ranks on 2 virtual hosts over TCP, and 16 to 128 simulated ranks on a simulated dragonfly with gets of about 2 us; "
                "bodies and cache scaled down together"),
            plot=("sim/fig14.svg",),
            why=(
                "The simulation charges only the work on data from gets. Its ranks have 24 bodies instead of 1.5 K. From 64 ranks on, the "
                "nodes that a rank uses fill four fifths of an index of the paper's ratio, and some of the adaptive indices grow. This "
                "pays, so the number of adjustments is shown without a goal, and the time is judged."),
            lost="As for the program above: first gets of nodes use the network with any cache.",
            claims=[
                Claim(
                    "no cache against Hearth, 4 ranks",
                    over=rows("barnes-hut/runs", "us_per_body", part="bare", cache="none", setting=("openmpi.4", "mpich.4")),
                    under=rows("barnes-hut/runs", "us_per_body", part="bare", cache="hearth"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(5), given=5),
                Claim(
                    "blocks against Hearth, 4 ranks",
                    over=rows("barnes-hut/runs", "us_per_body", part="memory", share=50, cache="blocks", setting=("openmpi.4", "mpich.4")),
                    under=rows("barnes-hut/runs", "us_per_body", part="memory", share=50, cache="hearth"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(3), given=3),
                Claim(
                    "no cache against fixed, simulated, best number of ranks",
                    over=rows("sim/barnes-hut", "us", mode="off"),
                    under=same(mode="fixed"),
                    pick=highest("ranks"), unit="x", goal=at_least(5), given=5),
                Claim(
                    "fixed against adaptive, simulated, worst number of ranks",
                    over=rows("sim/barnes-hut", "us", mode="fixed"),
                    under=same(mode="adaptive"),
                    pick=lowest("ranks"), unit="x", goal=at_least(1)),
                Claim(
                    "adjustments of all ranks, simulated, maximum",
                    over=most("sim/barnes-hut", "adjustments", mode="adaptive"),
                    unit="adjustments", given=0),
            ]),
        Figure(
            name="15",
            section="IV-C1",
            shows="LCC, time by the sizes of the cache, fixed and adaptive; 2^20 vertices, 32 processes",
            quote=(
                '"This explains the 5x speedup presented by the fixed strategy with respect to foMPI when |S_w| = 128M and |I_w| = '
                "256K. The adaptive strategy achieves a speedup similar to the one presented by the best fixed configuration, "
                'independently from the starting parameters." (IV-C1)'),
            setting="4 ranks on 2 virtual hosts over TCP; storage of 1 to 400 % of the lists on other ranks; alternating in every round",
            plot=("lcc/fig15.svg",),
            claims=[
                Claim(
                    "without a cache against the best fixed",
                    over=rows("lcc/runs", "seconds", config="without"),
                    under=rows("lcc/runs", "seconds", config="fixed", share=200),
                    pair=("round",), each=("mpi",), unit="x", goal=at_least(5), given=5),
                Claim(
                    "without a cache against adaptive, worst initial size",
                    over=rows("lcc/runs", "seconds", config="without", share=0),
                    under=rows("lcc/runs", "seconds", config="adaptive"),
                    pair=("round",), each=("mpi",), pick=lowest("share"), unit="x", goal=at_least(5), given=5),
                Claim(
                    "adaptive against the best fixed, worst initial size",
                    over=rows("lcc/runs", "seconds", config="adaptive"),
                    under=rows("lcc/runs", "seconds", config="fixed", share=200),
                    pair=("round",), each=("mpi",), pick=highest("share"), unit="x", goal=at_most(1.15)),
            ]),
        Figure(
            name="16",
            section="IV-C1",
            shows="LCC, outcomes of the gets",
            quote=(
                '"significant number of capacity/failed accesses (i.e., ~60% of the total gets)"; at 128 MB "less than 5%"; conflicting'
                ' "lower than 1% when the |I_w| is set to 256K entries"; adaptive keeps hits "always above the 60%" (IV-C1)'),
            setting="as Fig. 15; half of the lists on other ranks stands for 64 MB, twice the lists for 128 MB and 256 K entries",
            plot=("lcc/fig16.svg",),
            why=(
                "The paper's share of gets without room is that of its graph and 32 processes; there are 4 ranks here, and longer reuse "
                "of the data that fits."),
            claims=[
                Claim(
                    "capacity and failing, fixed, half of the lists",
                    over=rows("lcc/runs", "no_room", config="fixed", share=50),
                    under=same("gets"),
                    pair=("round",), each=("mpi",), unit="%", given=60),
                Claim(
                    "capacity and failing, fixed, enough storage",
                    over=rows("lcc/runs", "no_room", config="fixed", share=200),
                    under=same("gets"),
                    pair=("round",), each=("mpi",), unit="%", goal=below(5), given=5),
                Claim(
                    "conflicting, fixed, enough slots",
                    over=rows("lcc/runs", "conflicting", config="fixed", share=200),
                    under=same("gets"),
                    pair=("round",), each=("mpi",), unit="%", goal=below(1), given=1),
                Claim(
                    "hits of adaptive, worst initial size",
                    over=rows("lcc/runs", "hit_ratio", config="adaptive"),
                    pair=("round",), each=("mpi",), pick=lowest("share"), unit="%", goal=above(60), given=60),
            ]),
        Figure(
            name="17",
            section="IV-C2",
            shows="LCC, weak scaling, 16 to 128 processes",
            quote=(
                '"converging to |S_w| = 256MB with 1 adjustment and |S_w| = 512MB with 6 adjustments for the P = 64 and P = 128 case, '
                'respectively"; |S_w| = 128MB at the start; times not given (IV-C2)'),
            setting="16 to 128 simulated ranks on a simulated dragonfly with gets of about 2 us; graph and cache scaled down together",
            plot=("sim/fig17.svg",),
            why=(
                "Simulated, with graphs of a few vertices per rank, whose lists do not grow with the number of ranks as much as the "
                "paper's do."),
            claims=[
                Claim(
                    "no cache against adaptive, worst number of ranks",
                    over=rows("sim/lcc", "us", mode="off"),
                    under=same(mode="adaptive"),
                    pick=lowest("ranks"), unit="x", goal=above(1)),
                Claim(
                    "fixed against adaptive, 128 ranks",
                    over=rows("sim/lcc", "us", mode="fixed", ranks=128),
                    under=same(mode="adaptive"),
                    unit="x", goal=at_least(1)),
                Claim(
                    "storage at the end against the start, 64 ranks",
                    over=rows("sim/lcc", "storage_bytes", mode="adaptive", ranks=64),
                    under=same(mode="fixed"),
                    unit="x", given=2),
                Claim(
                    "storage at the end against the start, 128 ranks",
                    over=rows("sim/lcc", "storage_bytes", mode="adaptive", ranks=128),
                    under=same(mode="fixed"),
                    unit="x", given=4),
            ]),
        Figure(
            name="18",
            section="IV-C2",
            shows="LCC, weak scaling, outcomes of the gets",
            quote=(
                '"in the adaptive strategy statistics, the number of direct accesses increases with P, while other access types stay '
                'below the 8% of the total gets" (IV-C2)'),
            setting="as Fig. 17",
            plot=("sim/fig18.svg",),
            lost=(
                "An access counts as conflicting until the index has grown to fit; a simulated graph of a few vertices per rank has few "
                "gets after that, so the share of conflicting accesses is larger than in the paper's runs."),
            claims=[
                Claim(
                    "direct accesses of adaptive, 16 ranks",
                    over=rows("sim/lcc", "direct", mode="adaptive", ranks=16),
                    under=same("gets"),
                    unit="%"),
                Claim(
                    "direct accesses of adaptive, 128 ranks",
                    over=rows("sim/lcc", "direct", mode="adaptive", ranks=128),
                    under=same("gets"),
                    unit="%"),
                Claim(
                    "conflicting, capacity and failing of adaptive, worst number of ranks",
                    over=rows("sim/lcc", "others", mode="adaptive"),
                    under=same("gets"),
                    pick=highest("ranks"), unit="%", goal=below(8), given=8),
            ]),
    ])
