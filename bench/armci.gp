# armci.gp: one SVG per figure and kind of operation, from patch.csv in the current directory. gnuplot -e "mpi='mpich'; ways='rows helper'; buffers='2x4k'" armci.gp
# A point per round: columns figure,mpi,config,round,kind,bytes,row,clients,targets,batches,mbps.
set datafile separator ","
set datafile missing NaN
set terminal svg size 900,560 dynamic background "white"
set key outside right
set grid
set logscale x 2
set logscale y
set xlabel "bytes"
set ylabel "MB/s"
rate(f, c, k, n) = (strcol(1) eq f && strcol(2) eq mpi && strcol(3) eq c && strcol(5) eq k && column(8) == n ? column(11) : NaN)
where(f, c, k, n) = (rate(f, c, k, n) == rate(f, c, k, n) ? column(6) : NaN)

do for [k in "get acc"] {
    kind = (k eq "get" ? "non-contiguous get" : "accumulate")
    set output "fig3_".k.".svg"
    set title "Fig. 3: ".kind.", ".mpi
    plot for [c in ways] "patch.csv" every ::1 using (where("fig3", c, k, 1)):(rate("fig3", c, k, 1)) smooth unique with linespoints title c
    set output "fig5_".k.".svg"
    set title "Fig. 5: ".kind.", ".mpi
    plot for [c in "rule rule-often float"] "patch.csv" every ::1 using (where("fig5", c, k, 1)):(rate("fig5", c, k, 1)) smooth unique with linespoints title c
    set output "fig6_".k.".svg"
    set title "Fig. 6: ".kind.", ".mpi
    plot for [c in buffers] "patch.csv" every ::1 using (where("fig6", c, k, 1)):(rate("fig6", c, k, 1)) smooth unique with linespoints title c
    do for [n = 1:2] {
        set output sprintf("fig7_%s_%d.svg", k, n)
        set title sprintf("Fig. 7: %s, %d clients live, %s", kind, n, mpi)
        plot for [c in "intimation no-intimation 4x128k"] "patch.csv" every ::1 using (where("fig7", c, k, n)):(rate("fig7", c, k, n)) smooth unique with linespoints title c
    }
}
