# sim.gp: one SVG per figure, from the tables in the current directory; figures of a simulation that was not run are omitted.
set datafile separator ","
set datafile missing NaN
set terminal svg size 800,500 dynamic background "white"
set key outside right
set grid
there(file) = (system("test -s ".file." && wc -l <".file." || echo 0") + 0 > 1)
set xlabel "ranks"
set logscale x 2

# lcc.csv, barnes-hut.csv: ranks,mode,per_rank,us,hit_ratio,gets,bytes,direct,conflicting,capacity,failing,adjustments,index_slots,storage_bytes,others
took(m) = (strcol(2) eq m ? column(4) : NaN)
share(m, n) = (strcol(2) eq m ? column(n) / column(6) : NaN)
if (there("barnes-hut.csv")) {
    set output "fig14.svg"
    set title "Fig. 14: Barnes-Hut, weak scaling, simulated"
    set ylabel "us per body"
    plot for [m in "off fixed adaptive"] "barnes-hut.csv" every ::1 using 1:(took(m)) with linespoints title m
}
if (there("lcc.csv")) {
    set output "fig17.svg"
    set title "Fig. 17: LCC, weak scaling, simulated"
    set ylabel "us per vertex"
    plot for [m in "off fixed adaptive"] "lcc.csv" every ::1 using 1:(took(m)) with linespoints title m
    set output "fig18.svg"
    set title "Fig. 18: LCC, shares of the gets, simulated"
    set ylabel "share"
    set yrange [0:1]
    plot for [m in "fixed adaptive"] "lcc.csv" every ::1 using 1:(share(m, 8)) with linespoints title "direct, ".m, \
         for [m in "fixed adaptive"] "" every ::1 using 1:(share(m, 10) + share(m, 11)) with linespoints title "no room, ".m, \
         for [m in "fixed adaptive"] "" every ::1 using 1:(share(m, 9)) with linespoints title "conflicting, ".m
    set yrange [*:*]
}

# pages.csv: pattern,data_in_pools,mode,nodes,pages,frames,page_bytes,seconds,mbps,operations_per_s
if (there("pages.csv")) {
    set xlabel "nodes"
    set logscale y
    set ylabel "MB/s"
    rate(p, m, d) = (strcol(1) eq p && strcol(3) eq m && column(2) == d ? column(9) : NaN)
    do for [p in "seq random"] {
        set output (p eq "seq" ? "fig8_pages.svg" : "fig9_pages.svg")
        set title (p eq "seq" ? "Fig. 8: sequential access, simulated" : "Fig. 9: random access, simulated")
        plot for [d in "0.5 2"] for [m in "cc nocc"] "pages.csv" every ::1 using 4:(rate(p, m, real(d))) with linespoints title (m eq "cc" ? "cooperative, " : "not, ").d." pools"
    }
    set output "fig10_pages.svg"
    set title "Fig. 10: false sharing, simulated"
    set ylabel "puts/s"
    puts(m) = (strcol(1) eq "false" && strcol(3) eq m && column(7) == 4194304 ? column(10) : NaN)
    plot for [m in "cc nocc hearth gasnet"] "pages.csv" every ::1 using 4:(puts(m)) with points title m
}
