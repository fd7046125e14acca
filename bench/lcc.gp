# lcc.gp: one SVG per figure, from the tables in the current directory. gnuplot -e "mpi='openmpi'" lcc.gp
set datafile separator ","
set datafile missing NaN
set terminal svg size 800,500 dynamic background "white"
set key outside right
set grid

set output "fig3.svg"
set title "Fig. 3: sizes of the gets of lcc, 2^16 vertices, 2^20 edges before removal of duplicates"
set xlabel "bytes"
set ylabel "gets"
set logscale xy
plot "sizes.csv" every ::1 using 1:2 with points pt 7 ps 0.4 title "gets of a size", 5120 title "" with dots
unset logscale

# runs.csv: mpi,round,config,share,slots,scale,counted,seconds,us_per_vertex
set output "fig15.svg"
set title "Fig. 15: time per vertex by initial storage (".mpi.", 4 ranks on 2 hosts, TCP)"
set xlabel "initial storage, % of the lists on other ranks"
set ylabel "us per vertex"
set logscale x 2
set xrange [0.5:800]
set yrange [0:*]
took(c) = (strcol(1) eq mpi && strcol(3) eq c ? column(9) : NaN)
at(c) = (took(c) == took(c) ? column(4) : NaN)
plot "runs.csv" every ::1 using (strcol(1) eq mpi && strcol(3) eq "without" ? 0.7 : NaN):(took("without")) with points title "without", \
     "" every ::1 using (at("adaptive")):(took("adaptive")) with points pt 7 title "adaptive", \
     "" every ::1 using (at("fixed")):(took("fixed")) with points title "fixed"

set output "fig16.svg"
set title "Fig. 16: shares of the gets (".mpi.")"
set ylabel "share of all gets"
set yrange [0:1]
share(c, n) = (strcol(1) eq mpi && strcol(3) eq c ? column(n) / column(10) : NaN)
whole(c) = (strcol(1) eq mpi && strcol(3) eq c ? column(11) : NaN)
plot for [c in "adaptive fixed"] "runs.csv" every ::1 using (at(c)):(whole(c)) with points title "hits, ".c, \
     for [c in "adaptive fixed"] "" every ::1 using (at(c)):(share(c, 13)) with points title "conflicting, ".c, \
     for [c in "adaptive fixed"] "" every ::1 using (at(c)):(share(c, 14) + share(c, 15)) with points title "capacity or failing, ".c
