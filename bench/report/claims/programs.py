"""Whole programs, as their users would run them."""
from ..figures import Claim, Figure, Paper, above, at_least, at_most, highest, lowest, rows, same

PAPER = Paper(
    name="Programs",
    title=(
        "whole programs, as Hearth's users would run them: 4 ranks on 2 virtual hosts over TCP, against the same program without Hearth"),
    figures=[
        Figure(
            name="lcc",
            section="own",
            shows="Local Clustering Coefficient of an R-MAT graph",
            quote="at least 5x (adaptive, from any initial size)",
            setting=(
                "4 ranks on 2 virtual hosts over TCP, which share 2 cores: waiting ranks yield theirs; the largest graph that takes 5 s "
                "without a cache; alternating in every round"),
            plot=("lcc/fig15.svg",),
            why="The compared time is that of the whole count, with and without the library in the same program.",
            lost=(
                "The first get of every list uses the network with any cache: the share of hits below shows how many gets remain."),
            claims=[
                Claim(
                    "without the library against adaptive, worst initial size",
                    over=rows("lcc/runs", "seconds", config="without", share=0),
                    under=rows("lcc/runs", "seconds", config="adaptive"),
                    pair=("round",), each=("mpi",), pick=lowest("share"), unit="x", goal=at_least(5)),
                Claim(
                    "without the library against its default settings",
                    over=rows("lcc/runs", "seconds", config="without"),
                    under=same(config="defaults"),
                    pair=("round",), each=("mpi",), unit="x", goal=at_least(5)),
                Claim(
                    "gets served by the cache, adaptive, worst initial size",
                    over=rows("lcc/runs", "hit_ratio", config="adaptive"),
                    pair=("round",), each=("mpi",), pick=lowest("share"), unit="%"),
                Claim(
                    (
                        "time of the missed gets at the cost of a get without the library, relative to the time with the adaptive cache "
                        "(near 100 %: nothing else is left to gain)"),
                    over=rows("lcc/runs", "missed_share", config="adaptive"),
                    pair=("round",), each=("mpi",), pick=highest("share"), unit="%"),
            ]),
        Figure(
            name="barnes-hut",
            section="own",
            shows="forces of a Barnes-Hut simulation",
            quote="at least 5x over no cache, and at least 3x over the program's own cache of blocks",
            setting=(
                "4 ranks on 2 virtual hosts over TCP; memory for half of the tree on other ranks, near the value in the caption of the "
                "paper's Fig. 14; alternating in every round"),
            plot=("barnes-hut/fig12.svg",),
            why="The cache of blocks has the same memory, and the block size that was fastest in the first round.",
            lost=(
                "A body visits nodes that no cache holds yet: the share of hits below shows how many gets remain. Compared with blocks, "
                "the gain depends on the layout of the tree in memory: in tree order a block fetches the neighbours that are needed "
                "next, with scattered nodes it fetches nothing useful."),
            claims=[
                Claim(
                    "no cache against Hearth, fixed",
                    over=rows("barnes-hut/runs", "us_per_body", part="bare", cache="none", setting=("openmpi.4", "mpich.4")),
                    under=rows("barnes-hut/runs", "us_per_body", part="bare", cache="hearth"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(5)),
                Claim(
                    "no cache against Hearth, adaptive with the same initial size",
                    over=rows("barnes-hut/runs", "us_per_body", part="bare", cache="none", setting=("openmpi.4", "mpich.4")),
                    under=rows("barnes-hut/runs", "us_per_body", part="bare", cache="adaptive"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(5)),
                Claim(
                    "blocks against Hearth, nodes in the order of the tree",
                    over=rows("barnes-hut/runs", "us_per_body", part="memory", share=50, cache="blocks", setting=("openmpi.4", "mpich.4")),
                    under=rows("barnes-hut/runs", "us_per_body", part="memory", share=50, cache="hearth"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(3)),
                Claim(
                    "blocks against Hearth, nodes scattered in memory",
                    over=rows("barnes-hut/runs", "us_per_body", part="scattered", share=50, cache="blocks",
                              setting=("openmpi.4", "mpich.4")),
                    under=rows("barnes-hut/runs", "us_per_body", part="scattered", share=50, cache="hearth"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(3)),
                Claim(
                    "share of remote nodes that needed no get, with Hearth, in the runs without blocks",
                    over=rows("barnes-hut/runs", "hit_ratio", part="bare", cache="hearth", setting=("openmpi.4", "mpich.4")),
                    pair=("round",), each=("setting",), unit="%"),
                Claim(
                    "time of the missed gets at the cost of a get without the library, relative to the time with Hearth (near 100 %: "
                    "nothing else is left to gain)",
                    over=rows("barnes-hut/runs", "missed_share", part="bare", cache="hearth", setting=("openmpi.4", "mpich.4")),
                    pair=("round",), each=("setting",), unit="%"),
            ]),
        Figure(
            name="dgemm",
            section="own",
            shows="DGEMM by SUMMA, matrices on NVM with pools that do not hold them",
            quote="at least 1.5x, cooperative caching against none, with throttled NVM",
            setting=(
                "4 ranks on 2 virtual hosts; out of core; NVM throttled to the paper's ratio of NVM rate to compute rate; alternating in"
                " every round"),
            plot=("figures/vgasnet-11.svg",),
            why=(
                "Both lines are Hearth's: a page that another node holds comes from that node in one, and from its home's NVM in the "
                "other."),
            lost="The time inside BLAS, below, is the same with any cache, and bounds the gain.",
            claims=[
                Claim(
                    "out of core, cooperative against not",
                    over=rows("dgemm/runs", "gflops", setting="hosts.4", line="out"),
                    under=same(line="out-alone"),
                    pair=("round",), unit="x", goal=at_least(1.5)),
                Claim(
                    "share of the time inside BLAS, cooperative",
                    over=rows("dgemm/runs", "blas", setting="hosts.4", line="out"),
                    pair=("round",), unit="%"),
                Claim(
                    "reads of the NVM, not cooperative against cooperative",
                    over=rows("dgemm/runs", "nvm_reads", setting="hosts.4", line="out-alone"),
                    under=same(line="out"),
                    pair=("round",), unit="x"),
            ]),
        Figure(
            name="pgas",
            section="own",
            shows="GASNet-EX: calls beside GASNet-1, and C++ programs on it, with data of four times a pool",
            quote="at least 1.5x, cooperative caching against none; calls as fast as those of GASNet-1",
            setting=(
                "calls: 2 ranks, each a node, segments in pages; programs: 4 ranks on 4 virtual hosts, NVM throttled to the paper's ratio"
                " of NVM rate to network rate; alternating in every round"),
            why=(
                "A call of GASNet-EX is a thin layer over the same code. Programs: a page that another node holds comes from that node, "
                "and not from its home's NVM."),
            claims=[
                Claim(
                    "8-byte get that hits, ns more than gasnet_get",
                    over=rows("pgas/calls", "value", config="nodes", operation="get", interface="difference"),
                    pair=("round",), goal=at_most(10)),
                Claim(
                    "active message and reply to oneself, against GASNet-1",
                    over=rows("pgas/calls", "value", config="nodes", operation="message", interface="ratio"),
                    pair=("round",), unit="x", goal=at_most(1.05)),
                Claim(
                    "active message and reply, against GASNet-1",
                    over=rows("pgas/calls", "value", config=("nodes", "node"), operation="trip", interface="ratio"),
                    pair=("round",), each=("config",), unit="x", goal=at_most(1.05)),
                Claim(
                    "fetch-and-add at the owner, against a bare round trip",
                    over=rows("pgas/calls", "value", config="nodes", operation="fetch", interface="ratio"),
                    pair=("round",), unit="x", goal=at_most(1.3)),
                Claim(
                    "program, cooperative against not",
                    over=rows("pgas/runs", "seconds", program=("dht", "stencil"), line="alone"),
                    under=same(line="coop"),
                    pair=("round",), each=("program",), unit="x", goal=at_least(1.5)),
            ]),
        Figure(
            name="dft",
            section="own",
            shows="exchange-correlation kernel of density functional theory on Global Arrays",
            quote="faster than Debian's ARMCI-MPI, by at least half of what messages that cost nothing would gain",
            setting=(
                "4 ranks on 2 virtual hosts over TCP; tasks of 128 points; ARMCI-MPI and Hearth's libarmci in the same program, "
                "alternating in every round; ranks that wait in MPI yield their cores, Open MPI's by its setting, MPICH's by "
                "bench/yield.c"),
            plot=("figures/armci-dft.svg",),
            why=(
                "ARMCI-MPI serves a get while its target is inside MPI itself; the helper thread serves it at once. Four ranks share two "
                "cores, so that computing alone takes twice the compute time of a rank, with any library. The former goal, 3x, was wrong: on "
                "MPICH, ARMCI-MPI whose ranks yield takes only twice as long as computing alone, and on Open MPI 3x would leave some 5 us of "
                "both cores for a get or accumulate over TCP, with all its system calls. So the compute time is the limit."),
            claims=[
                Claim(
                    "ARMCI-MPI against libarmci, 4 ranks",
                    over=rows("dft/runs", "seconds", part="whole", config="stock", ranks=4, points=128),
                    under=same(config="helper"),
                    pair=("round",), each=("mpi",), unit="x", goal=above(1)),
                Claim(
                    "compute time of a rank with ARMCI-MPI, share of the time with libarmci (50 %: messages cost nothing)",
                    over=rows("dft/runs", "compute", part="whole", config="stock", ranks=4, points=128),
                    under=rows("dft/runs", "seconds", part="whole", config="helper", ranks=4, points=128),
                    pair=("round",), each=("mpi",), unit="%", goal=at_least(25)),
                Claim(
                    "ARMCI-MPI against libarmci, 4 ranks, tasks of 512 points",
                    over=rows("dft/runs", "seconds", part="whole", config="stock", ranks=4, points=512),
                    under=same(config="helper"),
                    pair=("round",), each=("mpi",), unit="x"),
                Claim(
                    "ARMCI-MPI against libarmci, 4 ranks, MPICH without yielding, whose ranks poll while they wait",
                    over=rows("dft/runs", "seconds", part="polls", config="stock", ranks=4, points=128),
                    under=same(config="helper"),
                    pair=("round",), each=("mpi",), unit="x"),
                Claim(
                    "compute time of a rank, share of the time with ARMCI-MPI",
                    over=rows("dft/runs", "compute", part="whole", config="stock", ranks=4, points=128),
                    under=same("seconds"),
                    pair=("round",), each=("mpi",), unit="%"),
                Claim(
                    "compute time of a rank, share of the time with libarmci",
                    over=rows("dft/runs", "compute", part="whole", config="helper", ranks=4, points=128),
                    under=same("seconds"),
                    pair=("round",), each=("mpi",), unit="%"),
                Claim(
                    "a get, with libarmci",
                    over=rows("dft/runs", "us_get", part="whole", config="helper", ranks=4, points=128),
                    pair=("round",), each=("mpi",), unit="us"),
            ]),
        Figure(
            name="halo",
            section="own",
            shows="a program in the style of the Fire Dynamics Simulator: many meshes on a rank, thousands of receives out of order",
            quote="at least 2x",
            setting=(
                "4 ranks on 2 virtual hosts over TCP, where the host MPI's waiting ranks yield their cores, 4 and 2 ranks on one node; "
                "host MPI's matching against Hearth's; alternating in every round"),
            plot=("figures/matching-10.svg",),
            why="The compared time is that of a whole step, including the computation.",
            lost=(
                "The part of the step outside the exchange, below, cannot become shorter; and with more ranks than cores the exchange "
                "mostly waits for a core, whichever library matches."),
            claims=[
                Claim(
                    "without the library against with, 4 ranks on 2 hosts",
                    over=rows("halo/runs", "us_step", mode="fds", case="10x10x10 shuffled", config="host",
                              setting=("openmpi.hosts.4", "mpich.hosts.4")),
                    under=rows("halo/runs", "us_step", mode="fds", case="10x10x10 shuffled", config="fast"),
                    pair=("round",), each=("setting",), unit="x", goal=at_least(2)),
                Claim(
                    "without the library against with, one node",
                    over=rows("halo/runs", "us_step", mode="fds", case="10x10x10 shuffled", config="host",
                              setting=("openmpi.node.2", "mpich.node.2", "openmpi.node.4", "mpich.node.4")),
                    under=rows("halo/runs", "us_step", mode="fds", case="10x10x10 shuffled", config="fast"),
                    pair=("round",), each=("setting",), unit="x"),
                Claim(
                    "the exchange's share of a step, with the library",
                    over=rows("halo/runs", "us_exchange", mode="fds", case="10x10x10 shuffled", config="fast"),
                    under=same("us_step"),
                    pair=("round",), each=("setting",), unit="%"),
            ]),
    ])
