"""Figures of the paper on vGASNet."""
from ..figures import Claim, Figure, Paper, above, at_least, at_most, inverse, rows, same


def page_rate(name, page, row, window, goal):
    """Pages that another node holds, 1 MB at a time, relative to bare messages of 1 MB from as much memory."""
    return Claim(
        name,
        over=rows("vgasnet/fetch", "mbps", config="none", case="coop", page=page, piece=1048576, row=row),
        under=rows("vgasnet/link", "mbps", config="spread", what="stream", bytes=1048576, window=window),
        pair=("round",), unit="%", goal=at_least(goal))


PAPER = Paper(
    name="vGASNet",
    title="Matsumiya, Endo: Scalable RMA-based Communication Library Featuring Node-local NVMs",
    notes=(
        (
            "The paper's pages have 4 MB, its network is FDR InfiniBand and its NVM a SATA disk of about 450 MB/s. \"As the paper's\" "
            "below is an NVM throttled to a fifteenth of the network's rate here, about the ratio of the paper's disks to its network."),
    ),
    figures=[
        Figure(
            name="7",
            section="IV-B",
            shows="fetching a page from NVM, from its home's memory, from another node's (cooperative), and by gasnet_get",
            quote=(
                '"Cache" and "Cooperative-caching" "are much better than that of "NVM""; "When a page size is 1 MB or larger, '
                'throughputs of the two cases are comparable to or better than gasnet_get(). Also, the gap between "Cache" and '
                '"Cooperative-caching" are very small"; numbers not given (IV-B)'),
            setting="3 ranks on virtual hosts of their own; NVM as the paper's; pages of 1 MB",
            plot=("vgasnet/fig7_paper.svg",),
            lost=(
                "gasnet_get here is Hearth's own with segments in memory, which copies once less and involves two nodes: a page goes "
                "through a frame of the pool, and three nodes share two cores."),
            claims=[
                Claim(
                    "another node's memory against NVM",
                    over=rows("vgasnet/fetch", "mbps", config="paper", case="coop", page=1048576, piece=1048576, row=0),
                    under=same(case="nvm"),
                    pair=("round",), unit="x", goal=above(1)),
                Claim(
                    "another node's memory against its home's",
                    over=rows("vgasnet/fetch", "mbps", config="paper", case="coop", page=1048576, piece=1048576, row=0),
                    under=same(case="home"),
                    pair=("round",), unit="x", goal=at_least(0.9)),
                Claim(
                    "another node's memory against gasnet_get",
                    over=rows("vgasnet/fetch", "mbps", config="paper", case="coop", page=1048576, piece=1048576, row=0),
                    under=same(config="plain", case="plain"),
                    pair=("round",), unit="x", goal=at_least(0.9)),
            ]),
        Figure(
            name="limits",
            section="own",
            shows="pages of another node against bare messages, and an operation of a few bytes on a page that a third node holds",
            quote=(
                "1 MB at 70 % of the bare rate alone and 80 % in a row; in pages of 64 KB 50 % and 60 %; an operation in at most 2.2 bare "
                "round trips, if each node has a core"),
            setting=(
                "3 ranks on virtual hosts of their own, without a limit of the NVM; bare messages of 1 MB by the same network layer, one "
                "alone or four in flight; the operation is simulated"),
            why=(
                "Bare messages are sent from as much memory as the pages have: from one buffer, which stays in the CPU's caches, they are "
                "faster. Three nodes on two cores wait for each other's cores; the simulation shows the protocol alone: three messages, "
                "where a bare round trip has two."),
            lost=(
                "Both cores are busy. On a Xeon (Cascade Lake) each MB of a row takes 1.0 ms of the cores, and a bare message at most 0.65; "
                "each MB is copied into the kernel, out of it, into the frame and to the caller, at some 6 GB/s. Received by rendezvous it "
                "took as long, as UCX copies it over TCP, too. On a Xeon (Sapphire Rapids), with faster copies, the same pages had 111 % and "
                "96 %, those of 64 KB 63 % and 72 %."),
            claims=[
                page_rate("1 MB alone, one page", 1048576, 0, 1, 70),
                page_rate("1 MB alone, pages of 64 KB", 65536, 0, 1, 50),
                page_rate("1 MB in a row, one page each", 1048576, 1, 4, 80),
                page_rate("1 MB in a row, pages of 64 KB", 65536, 1, 4, 60),
                Claim(
                    "put of a byte into a page that a third node holds, against a bare message with its answer, simulated",
                    over=rows("sim/pages", "mean_us", pattern="third", mode="hearth"),
                    under=same(mode="bare"),
                    unit="x", goal=at_most(2.2)),
            ]),
        Figure(
            name="8",
            section="IV-C2",
            shows="all nodes read one node's segment in order",
            quote=(
                '"Compared with 1 node, 32 nodes under vGASNet obtained 3.23 – 11.1 times faster throughput"; "cooperative-caching '
                'reduces the throughput of vGASNet when the data size is small"; "cooperative-caching gains 1.34 – 1.92 times '
                'throughput when the size is larger than cache pool size" (IV-C2)'),
            setting=(
                "4 ranks on virtual hosts of their own, pools of 32 MB, 3 passes over 64 MB; NVM as the paper's; and up to 42 simulated"
                " nodes"),
            plot=("vgasnet/fig8.svg", "sim/fig8_pages.svg"),
            lost=(
                "The first of the three passes reads the NVM with any cache, and takes as long with cooperation as without. If the other two "
                "ran at the rate of gasnet_get without pages, 2.36 GB/s on a Xeon (Sapphire Rapids), the ratio would be 2.15x. They had 1.6 to "
                "2.1 GB/s."),
            claims=[
                Claim(
                    "cooperative against not, data twice a pool",
                    over=inverse("vgasnet/walk", "mbps", what="fig", coop=0, nvm="paper", order="sequence", bytes=67108864),
                    under=same(coop=1),
                    pair=("round",), unit="x", goal=at_least(1.9), given=1.92),
                Claim(
                    "cooperative against not, data half a pool",
                    over=inverse("vgasnet/walk", "mbps", what="fig", coop=0, nvm="paper", order="sequence", bytes=16777216),
                    under=same(coop=1),
                    pair=("round",), unit="x"),
                Claim(
                    "32 nodes against 1, simulated, data twice a pool",
                    over=rows("sim/pages", "mbps", pattern="seq", data_in_pools=2, mode="hearth", nodes=32),
                    under=same(nodes=1),
                    unit="x", goal=at_least(3.23), given=3.23),
            ]),
        Figure(
            name="9",
            section="IV-C3",
            shows="all nodes read one node's segment, each in an order of its own",
            quote=(
                '"Surprisingly, the throughputs of multiple nodes are faster than sequential cases"; "even if the data size is smaller '
                'than cache pool, cooperative-caching provides higher scalability"; numbers not given (IV-C3)'),
            setting="as Fig. 8",
            plot=("vgasnet/fig9.svg", "sim/fig9_pages.svg"),
            claims=[
                Claim(
                    "cooperative against not, data twice a pool",
                    over=inverse("vgasnet/walk", "mbps", what="fig", coop=0, nvm="paper", order="shuffle", bytes=67108864),
                    under=same(coop=1),
                    pair=("round",), unit="x", goal=above(1)),
                Claim(
                    "in random order against in order, cooperative, data twice a pool",
                    over=inverse("vgasnet/walk", "mbps", what="fig", coop=1, nvm="paper", order="sequence", bytes=67108864),
                    under=same(order="shuffle"),
                    pair=("round",), unit="x"),
                Claim(
                    "cooperative against not, 32 nodes, simulated, data half a pool",
                    over=rows("sim/pages", "mbps", pattern="random", data_in_pools=0.5, mode="cc", nodes=32),
                    under=same(mode="nocc"),
                    unit="x", goal=above(1)),
            ]),
        Figure(
            name="10",
            section="IV-C4",
            shows="all nodes put one byte into the same page",
            quote=(
                '"vGASNet with cooperative-caching is 23.5 – 33.7 times faster than vGASNet without cooperative-caching"; "138 times '
                'slower than GASNet" (IV-C4)'),
            setting=(
                "4 ranks on virtual hosts of their own; NVM as the paper's; pages of 4 MB as in the paper, without small operations; "
                "then with them, pages of 64 KB"),
            plot=("vgasnet/fig10.svg",),
            why="Small operations are Hearth's own: a put of some bytes is executed at the page's owner instead of fetching the page.",
            lost=(
                "A put waits for two transfers of a page on average. Without cooperation each of them waits for one write of the NVM, and "
                "for no read, as the home keeps the page that it writes: 97 to 102 writes and no read for 128 puts. On a Xeon (Cascade Lake) "
                "such a put takes 59 ms, and two transfers of 4 MB at the rate of bare messages between two nodes take 2.6 ms: that would "
                "be 23x. Four nodes on two cores take 3.1 to 3.7 ms. If the home read each page back, as slowly as it writes it, the ratio "
                "would be twice as high."),
            claims=[
                Claim(
                    "cooperative against not, pages of 4 MB",
                    over=rows("vgasnet/share", "us", config="pages", coop=0, small=0, write_back="nvm", nvm="paper", page="4m", way="put",
                              free=0),
                    under=same(coop=1),
                    pair=("round",), unit="x", goal=at_least(23.5), given=23.5),
                Claim(
                    "cooperative against GASNet, pages of 4 MB (slower)",
                    over=rows("vgasnet/share", "us", config="pages", coop=1, small=0, write_back="nvm", nvm="paper", page="4m", way="put",
                              free=0),
                    under=rows("vgasnet/share", "us", config="plain", way="put", free=0),
                    pair=("round",), unit="x", given=138),
                Claim(
                    "with small operations against GASNet (slower)",
                    over=rows("vgasnet/share", "us", config="pages", coop=1, small="1k", way="put", free=0),
                    under=rows("vgasnet/share", "us", config="plain", way="put", free=0),
                    pair=("round",), unit="x", goal=at_most(138), given=138),
            ]),
        Figure(
            name="11",
            section="IV-D",
            shows="DGEMM in UPC++ by SUMMA, weak scaling",
            quote=(
                '"“In memory” is 1.12 – 1.59 times faster than “In memory (w/o CC)”"; "“Out-of-core” is 1.25 – 1.53 times faster than '
                '“Out-of-core (w/o CC)”"; "“Out-of-core” is 1.03 – 1.16 times faster than “In memory”"; "on one node, “Out-of-core” is '
                '51 % slower than “GASNet”" (IV-D)'),
            setting=(
                "the program dgemm: 4 ranks on 2 virtual hosts, and 1 and 2 ranks on one node in memory; NVM throttled to the paper's "
                "ratio of NVM rate to compute rate; alternating in every round"),
            plot=("figures/vgasnet-11.svg",),
            why=(
                "The paper's out-of-core matrices are larger than those in memory, which is why they are faster per node; here both have"
                " the same size. The conclusion (VI) gives 1.12 – 1.53 for both gains together; those of IV-D are used here."),
            lost=(
                "In memory on two nodes a page is here or at its home: no third node has it. Each page crosses the network once, and BLAS "
                "takes nine tenths of the time. On a Xeon (Sapphire Rapids) the four ranks reach 28.1 GFLOP/s, and 27.8 without cooperation: "
                "1.12x would be 31.1, where two ranks on one node, which need no network, reach 30.1."),
            claims=[
                Claim(
                    "in memory, cooperative against not",
                    over=rows("dgemm/runs", "gflops", setting="hosts.4", line="memory"),
                    under=same(line="memory-alone"),
                    pair=("round",), unit="x", goal=at_least(1.12), given=1.12),
                Claim(
                    "out of core, cooperative against not",
                    over=rows("dgemm/runs", "gflops", setting="hosts.4", line="out"),
                    under=same(line="out-alone"),
                    pair=("round",), unit="x", goal=at_least(1.25), given=1.53),
                Claim(
                    "out of core against in memory",
                    over=rows("dgemm/runs", "gflops", setting="hosts.4", line="out"),
                    under=same(line="memory"),
                    pair=("round",), unit="x", given=1.03),
                Claim(
                    "in memory against GASNet, one rank",
                    over=rows("dgemm/runs", "gflops", setting="node.1", line="memory"),
                    under=same(line="dram"),
                    pair=("round",), unit="x", goal=at_least(0.49), given=0.49),
                Claim(
                    "in memory against GASNet, 4 ranks on 2 hosts",
                    over=rows("dgemm/runs", "gflops", setting="hosts.4", line="memory"),
                    under=same(line="dram"),
                    pair=("round",), unit="x"),
            ]),
    ])
