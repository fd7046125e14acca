# barnes_hut.gp: one SVG per figure, from the tables in the current directory. gnuplot -e "setting='openmpi.4'" barnes_hut.gp
set datafile separator ","
set datafile missing NaN
set terminal svg size 800,500 dynamic background "white"
set key outside right
set grid

set output "fig2.svg"
set title "Fig. 2: repetitions of the same get, 4 ranks, 4000 bodies"
set xlabel "times"
set ylabel "distinct gets"
set logscale y
plot "repeats.csv" every ::1 using 1:2 with impulses title ""
unset logscale

# runs.csv: setting,round,part,share,memory,cache,layout,bodies,us_per_body,hit_ratio,remote,gets
set output "fig12.svg"
set title "Fig. 12: force time per body by memory (".setting.")"
set xlabel "memory, % of the tree on other ranks"
set ylabel "us per body"
set logscale xy
took(c, p) = (strcol(1) eq setting && strcol(3) eq p && strcol(6) eq c ? column(9) : NaN)
at(c, p) = (took(c, p) == took(c, p) ? column(4) : NaN)
plot for [c in "blocks hearth adaptive"] "runs.csv" every ::1 using (at(c, "memory")):(took(c, "memory")) smooth unique with linespoints title (c eq "hearth" ? "fixed" : c), \
     for [c in "none blocks hearth adaptive"] "" every ::1 using (at(c, "bare")):(took(c, "bare")) with points title (c eq "hearth" ? "fixed" : c)." (fewer bodies)"
unset logscale y

set output "fig13.svg"
set title "Fig. 13: shares of the gets (".setting.")"
set ylabel "share of the remote nodes"
set yrange [0:1]
share(c, n) = (strcol(1) eq setting && strcol(3) eq "memory" && strcol(6) eq c ? column(n) / column(11) : NaN)
small(c, n) = (strcol(1) eq setting && strcol(3) eq "index" && strcol(6) eq c ? column(n) / column(11) : NaN)
plot for [c in "hearth adaptive"] "runs.csv" every ::1 using (at(c, "memory")):(1 - share(c, 12)) smooth unique with linespoints title "hits, ".(c eq "hearth" ? "fixed" : c), \
     for [c in "hearth adaptive"] "" every ::1 using (at(c, "memory")):(share(c, 17) + share(c, 18)) smooth unique with linespoints title "no room, ".(c eq "hearth" ? "fixed" : c), \
     for [c in "hearth adaptive"] "" every ::1 using (at(c, "index")):(small(c, 16)) with points title "conflicting, small index, ".(c eq "hearth" ? "fixed" : c)
