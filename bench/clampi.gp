# clampi.gp: one SVG per figure, from the CSV files in the current directory. gnuplot -e "mpi='openmpi'" clampi.gp
set datafile separator ","
set datafile missing NaN
set terminal svg size 800,500 dynamic background "white"
set key outside right
set grid
kinds = "raw hitting direct conflicting capacity failing"
setting(k) = (k eq "conflicting" ? "small-index" : (k eq "capacity" || k eq "failing") ? "small-storage" : "roomy")
of(k, column) = (strcol(1) eq mpi && strcol(2) eq setting(k) && strcol(3) eq k && strcol(column) ne "" ? column(column) : NaN)

set logscale x 2
set xlabel "bytes"

set output "fig7.svg"
set title "Fig. 7: latency by kind of access (".mpi.", TCP)"
set ylabel "us"
set logscale y
plot for [k in kinds] "access.csv" every ::1 using 4:(of(k, 6)):(of(k, 7)):(of(k, 8)) with yerrorlines title k

set output "fig8.svg"
set title "Fig. 8: share of the communication hidden by computation (".mpi.", TCP)"
set ylabel "share"
unset logscale y
set yrange [0:1]
plot for [k in "raw direct capacity failing"] "access.csv" every ::1 using 4:(of(k, 14)) with linespoints title k
set yrange [*:*]

set output "hit.svg"
set title "Full hit + flush and bare copy (".mpi.", TCP)"
set ylabel "ns"
set logscale y
mine(column) = (strcol(1) eq mpi ? column(column) : NaN)
plot "hit.csv" every ::1 using 2:(mine(3)) with linespoints title "hit + flush", \
     "" every ::1 using 2:(60 + 1.06 * mine(5)) with lines title "60 + 1.06 x memcpy", \
     "" every ::1 using 2:(mine(5)) with linespoints title "memcpy", \
     "" every ::1 using 2:(mine(7)) with linespoints title "raw get"

set output "stream.svg"
set title "Stream without reuse against an uncached window (".mpi.", TCP)"
set ylabel "time / time uncached"
unset logscale y
streamed(w, f, column) = (strcol(1) eq mpi && strcol(2) eq "with" && strcol(3) eq w && strcol(4) eq f ? column(column) : NaN)
plot for [w in "transparent always"] for [f in "each batch"] "stream.csv" every ::1 \
     using 5:(streamed(w, f, 9)):(streamed(w, f, 10)):(streamed(w, f, 11)) with yerrorlines title w.(f eq "each" ? ", flush each" : ", flush for 8"), 1.02 title "limit"

set output "fig9.svg"
set title "Fig. 9: completion time by initial index size (".mpi.", TCP)"
set xlabel "slots"
set ylabel "seconds"
set xrange [64:8192]
set logscale y
took(a, g) = (strcol(1) eq mpi && strcol(2) eq "index" && strcol(4) eq a && column(5) == g ? column(6) : NaN)
plot for [g in "20000 100000"] "fig9.csv" every ::1 using 3:(took("off", int(g))) with points title "fixed, ".g." gets", \
     for [g in "20000 100000"] "" every ::1 using 3:(took("on", int(g))) with points title "adaptive, ".g." gets"
unset logscale
set xrange [*:*]

set output "fig10.svg"
set title "Fig. 10: occupied storage by get, 1.5 K slots, 1 MB"
set xlabel "get"
set ylabel "occupied share"
set yrange [0.5:1]
set xtics 20000
plot for [s in "full temporal positional"] "fig10.csv" every ::1 using 6:(strcol(3) eq s && column(5) == 0 ? column(7) : NaN) with lines title s
set yrange [*:*]
set xtics autofreq

set output "fig11.svg"
set terminal svg size 800,1000 dynamic background "white"
set multiplot layout 3,1
set xlabel "slots"
scheme(s, column) = (strcol(3) eq s ? column(column) : NaN)
set title "Fig. 11: visited slots per eviction"
set ylabel "slots"
plot for [s in "full temporal positional"] "fig11.csv" every ::1 using 2:(scheme(s, 10)) smooth unique with linespoints title s
set title "hit ratio"
set ylabel "share"
plot for [s in "full temporal positional"] "fig11.csv" every ::1 using 2:(scheme(s, 8)) smooth unique with linespoints title s
set title "free storage, and non-empty slots of those visited"
plot for [s in "full temporal positional"] "fig11.csv" every ::1 using 2:(1 - scheme(s, 9)) smooth unique with linespoints title "free, ".s, \
     for [s in "full temporal positional"] "" every ::1 using 2:(scheme(s, 11)) smooth unique with linespoints title "non-empty, ".s
unset multiplot
