"""One-sided operations inside a node: windows that Hearth serves, against the MPI library's."""
from ..figures import Claim, Figure, Paper, at_least, at_most, below, highest, lowest, rows, same

SETTING = (
    "2 ranks on one node; two windows of each kind of memory in one program, one of the MPI library and one served, not cached; "
    "alternating in every round")
SMALL = ("get", "put", "fetch_and_op")

PAPER = Paper(
    name="Windows",
    title="one-sided operations inside a node, executed by Hearth (HEARTH_WINDOWS=serve), against those of the MPI library",
    figures=[
        Figure(
            name="small",
            section="own",
            shows="operations of 8 bytes, each with its flush",
            quote="at most 80 ns in memory of MPI_Win_allocate and MPI_Alloc_mem; in other memory never slower than the MPI library",
            setting=SETTING,
            why="In memory that both processes map, the caller executes the operation; other memory needs system calls.",
            lost="A system call takes longer than 80 ns.",
            claims=[
                Claim(
                    "get, put and fetch_and_op, worst",
                    over=rows("windows/runs", "served", operation=SMALL, memory=("allocate", "alloc_mem")),
                    pair=("round",), each=("mpi",), pick=highest("operation", "memory"), unit="ns", goal=at_most(80)),
                Claim(
                    "the MPI library against Hearth, memory of malloc, worst",
                    over=rows("windows/runs", "host", operation=SMALL, memory="malloc"),
                    under=same("served"),
                    pair=("round",), each=("mpi",), pick=lowest("operation"), unit="x", goal=at_least(1)),
                Claim(
                    "the MPI library against Hearth, compare_and_swap and accumulate, worst",
                    over=rows("windows/runs", "host", operation=("compare_and_swap", "accumulate")),
                    under=same("served"),
                    pair=("round",), each=("mpi",), pick=lowest("operation", "memory"), unit="x"),
                Claim(
                    "the MPI library against Hearth, exclusive lock, put and unlock, worst",
                    over=rows("windows/runs", "host", operation="lock_put"),
                    under=same("served"),
                    pair=("round",), each=("mpi",), pick=lowest("memory"), unit="x"),
                Claim(
                    "the MPI library against Hearth, a window made and freed, worst",
                    over=rows("windows/runs", "host", operation="create"),
                    under=same("served"),
                    pair=("round",), each=("mpi",), pick=lowest("memory"), unit="x"),
            ]),
        Figure(
            name="large",
            section="own",
            shows="a get of 1 MB, a get of 64 KB in rows of 8 bytes, and an accumulate of 64 KB",
            quote="95 % of memcpy; at least 3x the MPI library for rows and accumulates",
            setting=SETTING,
            why="memcpy of 1 MB between two buffers of the caller is measured in the same round.",
            lost="The kernel copies memory that the caller does not map, page by page and row by row.",
            claims=[
                Claim(
                    "memcpy against a get of 1 MB, worst",
                    over=rows("windows/runs", "limit", operation="get_1m"),
                    under=same("served"),
                    pair=("round",), each=("mpi",), pick=lowest("memory"), unit="%", goal=at_least(95)),
                Claim(
                    "the MPI library against Hearth, get of 64 KB in rows of 8 bytes, worst",
                    over=rows("windows/runs", "host", operation="get_rows"),
                    under=same("served"),
                    pair=("round",), each=("mpi",), pick=lowest("memory"), unit="x", goal=at_least(3)),
                Claim(
                    "the MPI library against Hearth, accumulate of 64 KB, worst",
                    over=rows("windows/runs", "host", operation="accumulate_64k"),
                    under=same("served"),
                    pair=("round",), each=("mpi",), pick=lowest("memory"), unit="x", goal=at_least(3)),
            ]),
        Figure(
            name="computing",
            section="own",
            shows="a get of 8 bytes from a rank that computes for 100 ms at a time without calling MPI",
            quote="p99 below 1 ms",
            setting=SETTING,
            why="The target takes no part in the operation.",
            lost="The caller lost its core to another process.",
            claims=[
                Claim(
                    "p99, worst",
                    over=rows("windows/runs", "served", operation="get_computing_p99"),
                    pair=("round",), each=("mpi",), pick=highest("memory"), unit="ns", goal=below(1000000)),
                Claim(
                    "p50 of the MPI library, worst",
                    over=rows("windows/runs", "host", operation="get_computing_p50"),
                    pair=("round",), each=("mpi",), pick=highest("memory"), unit="ns"),
            ]),
    ])
