# results.gp: plots from tables of several benches, from build/results; each only if its tables exist.
set datafile separator ","
set datafile missing NaN
set terminal svg size 800,500 dynamic background "white"
set key outside right
set grid
there(file) = (system("test -s ".file." && wc -l <".file." || echo 0") + 0 > 1)

# modes/loop.csv: mpi,window,library,pattern,way,bytes,gets,ns; clampi/hit.csv: mpi,bytes,hit_least_ns,hit_median_ns,copy_least_ns,copy_median_ns,raw_ns
if (there("modes/loop.csv") && there("clampi/hit.csv")) {
    set output "figures/clampi-1.svg"
    set title "Fig. 1: latency of a get by distance, without a cache"
    set xlabel "bytes"
    set ylabel "ns"
    set logscale x 2
    set logscale y
    bare(m, w, l) = (strcol(1) eq m && strcol(2) eq w && strcol(3) eq l && strcol(4) eq "stream" && strcol(5) eq "bare" ? column(8) : NaN)
    at(m, w, l) = (bare(m, w, l) == bare(m, w, l) ? column(6) : NaN)
    copied(m) = (strcol(1) eq m ? column(5) : NaN)
    plot for [m in "openmpi mpich"] "modes/loop.csv" every ::1 using (at(m, "tcp", "without")):(bare(m, "tcp", "without")) smooth unique with linespoints title m.", TCP", \
         for [m in "openmpi mpich"] "" every ::1 using (at(m, "create", "with")):(bare(m, "create", "with")) smooth unique with linespoints title m.", shared memory", \
         "clampi/hit.csv" every ::1 using 2:(copied("openmpi")) with lines title "memcpy"
}

# The following plots name their columns.
set datafile columnheaders

# halo: a point for each run
if (there("halo/runs.csv")) {
    set xlabel ""
    unset logscale
    set ylabel "ms per step"
    set yrange [0:*]
    set style data points
    places = "openmpi.node.2 openmpi.node.4 openmpi.hosts.4 mpich.node.2 mpich.node.4 mpich.hosts.4"
    place(s) = (sum [i = 1:words(places)] (word(places, i) eq s ? i : 0))
    set xrange [0:words(places) + 1]
    set xtics rotate by -30 ("" 0)
    set for [i = 1:words(places)] xtics add (word(places, i) i)
    shift(c) = (c eq "host" ? -0.2 : c eq "list" ? 0 : 0.2)
    step(m, k, c) = (strcol("mode") eq m && strcol("case") eq k && strcol("config") eq c ? column("us_step") / 1000 : NaN)
    at_place(m, k, c) = (step(m, k, c) == step(m, k, c) ? place(strcol("setting")) + shift(c) : NaN)
    set output "figures/matching-10.svg"
    set title "Fig. 10: a program in the style of FDS, time of a step"
    plot for [c in "host list fast"] "halo/runs.csv" using (at_place("fds", "10x10x10 shuffled", c)):(step("fds", "10x10x10 shuffled", c)) title c
}
if (there("halo/runs.csv")) {
    set output "figures/matching-9.svg"
    set title "Fig. 9: conjugate gradients with 2048 other posted receives, time of an iteration"
    plot for [c in "host list fast"] "halo/runs.csv" using (at_place("cg", "pad 2048", c)):(step("cg", "pad 2048", c)) title c
    set xtics norotate autofreq
    set xrange [*:*]
    set yrange [*:*]
}

# dft: messages by size
if (there("dft/sizes.csv")) {
    set output "figures/armci-2.svg"
    set title "Fig. 2: messages of dft by size"
    set xlabel "bytes, below"
    set ylabel "messages"
    set logscale x 2
    sent(k) = (strcol("call") eq k ? column("messages") : NaN)
    plot for [k in "get acc read_inc"] "dft/sizes.csv" using (column("below")):(sent(k)) with linespoints title k
    unset logscale
}

# dft: a point for each run
if (there("dft/runs.csv")) {
    set output "figures/armci-dft.svg"
    set title "Figs. 3, 5 to 8, right halves: dft on 4 ranks, tasks of 128 points"
    set xlabel ""
    set ylabel "seconds"
    set yrange [0:*]
    ways = "stock helper rows lists rule float 2x3k 2x4k 4x16k 4x128k intimation no-intimation"
    way(c) = (sum [i = 1:words(ways)] (word(ways, i) eq c ? i : 0))
    set xrange [0:words(ways) + 1]
    set xtics rotate by -40 ("" 0)
    set for [i = 1:words(ways)] xtics add (word(ways, i) i)
    took(m) = (strcol("mpi") eq m && column("ranks") == 4 && column("points") == 128 ? column("seconds") : NaN)
    of(m) = (took(m) == took(m) ? way(strcol("config")) + (m eq "openmpi" ? -0.1 : 0.1) : NaN)
    plot for [m in "openmpi mpich"] "dft/runs.csv" using (of(m)):(took(m)) with points title m
    set xtics norotate autofreq
    set xrange [*:*]
    set yrange [*:*]
}

# dgemm: a point for each run
if (there("dgemm/runs.csv")) {
    set output "figures/vgasnet-11.svg"
    set title "Fig. 11: DGEMM"
    set xlabel ""
    set ylabel "GFLOP/s"
    set yrange [0:*]
    kinds = "dram memory memory-alone out out-alone"
    kind(c) = (sum [i = 1:words(kinds)] (word(kinds, i) eq c ? i : 0))
    set xrange [0:words(kinds) + 1]
    set xtics rotate by -30 ("" 0)
    set for [i = 1:words(kinds)] xtics add (word(kinds, i) i)
    speed(s) = (strcol("setting") eq s ? column("gflops") : NaN)
    column_of(s) = (speed(s) == speed(s) ? kind(strcol("line")) : NaN)
    plot for [s in "hosts.4 node.1 node.2"] "dgemm/runs.csv" using (column_of(s)):(speed(s)) with points title s
    set xtics norotate autofreq
    set xrange [*:*]
    set yrange [*:*]
}
