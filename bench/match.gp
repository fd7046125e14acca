# match.gp: one SVG per figure, from the CSV files in the current directory:
# gnuplot -e "mpi='openmpi'; configs='host list fast'; sizes='1 4096'" match.gp
set datafile separator ","
set datafile missing NaN
set terminal svg size 900,560 dynamic background "white"
set key outside right
set grid
structures = "list list-random lla-2 lla-4 lla-8 lla-16 lla-32 lla-64 fast"

# A message rate in millions per second of the engine: columns kind,queue,structure,heated,bytes,depth,state,gap,heater,samples,ns
rate(s, q, bytes, state) = (strcol(1) eq "rate" && strcol(2) eq q && strcol(3) eq s && column(4) == 0 && column(5) == bytes && strcol(7) eq state && column(8) == 0 ? 1000 / column(11) : NaN)
heated(s, on, gap) = (strcol(1) eq "rate" && strcol(2) eq "posted" && strcol(3) eq s && column(4) == 1 && column(5) == 1 && strcol(7) eq "cold" && column(8) == gap && strcol(9) eq on ? 1000 / column(11) : NaN)
band(s, state) = (strcol(1) eq "bandwidth" && strcol(3) eq s && column(4) == 0 && strcol(7) eq state ? column(5) * 1000 / column(11) : NaN)
hot(s, on) = (strcol(1) eq "bandwidth" && strcol(3) eq s && column(4) == 1 && strcol(7) eq "cold" && strcol(9) eq on ? column(5) * 1000 / column(11) : NaN)
# ... and through MPI: kind,mpi,config,round,queue,order,bytes,depth,state,gap,heater,samples,ns
through(k, c, q, bytes) = (strcol(1) eq k && strcol(2) eq mpi && strcol(3) eq c && strcol(5) eq q && column(7) == bytes && strcol(9) eq "warm" ? 1000 / column(13) : NaN)
mband(c) = (strcol(1) eq "bandwidth" && strcol(2) eq mpi && strcol(3) eq c ? column(7) * 1000 / column(13) : NaN)

set logscale xy
set xlabel "bytes"
set ylabel "MB/s"
set output "fig4a_engine.svg"
set title "Figs. 4a, 5a: engine alone, 1024 in front, cold"
plot for [s in structures] "engine.csv" every ::1 using 5:(band(s, "cold")) with linespoints title s
set output "fig4a_mpi.svg"
set title "Figs. 4a, 5a: through ".mpi.", 1024 in front, warm"
plot for [c in configs] "mpi.csv" every ::1 using 7:(mband(c)) with linespoints title c
set output "fig6a_engine.svg"
set title "Figs. 6a, 7a: engine alone, 1024 in front, cold for 100 us, without and with the heater"
plot for [s in "list list-random lla-8 fast"] for [on in "off on"] "engine.csv" every ::1 using 5:(hot(s, on)) with linespoints title s.(on eq "on" ? " + heater" : "")

set xlabel "entries in front + 1"
set ylabel "million messages/s"
do for [bytes in sizes] {
    do for [state in "cold warm"] {
        set output "fig4".(bytes eq "1" ? "b" : "c")."_engine_".state.".svg"
        set title "Figs. 4, 5: engine alone, posted receives, ".bytes." B, ".state
        plot for [s in structures] "engine.csv" every ::1 using (column(6) + 1):(rate(s, "posted", int(bytes), state)) with linespoints title s
    }
    do for [q in "posted unexpected"] {
        set output "fig4".(bytes eq "1" ? "b" : "c")."_mpi_".q.".svg"
        set title "Figs. 4, 5: through ".mpi.", ".q." queue, ".bytes." B, warm"
        plot for [c in configs] "mpi.csv" every ::1 using (column(8) + 1):(through("rate", c, q, int(bytes))) with points title c
    }
}
set output "fig4b_engine_unexpected.svg"
set title "Engine alone, unexpected messages, 1 B, cold"
plot for [s in structures] "engine.csv" every ::1 using (column(6) + 1):(rate(s, "unexpected", 1, "cold")) with linespoints title s
do for [gap in "0 10 100 1000"] {
    set output "fig6b_engine_".gap."us.svg"
    set title "Figs. 6b, 7b: engine alone, 1 B, cold for ".gap." us, without and with the heater"
    plot for [s in "list list-random lla-2 lla-8 lla-64 fast"] for [on in "off on"] "engine.csv" every ::1 using (column(6) + 1):(heated(s, on, int(gap))) with linespoints title s.(on eq "on" ? " + heater" : "")
}

set xlabel "bytes"
set ylabel "ns per access"
unset logscale y
set output "random.svg"
set title "Sec. 4.3: dependent random accesses"
accessed(state, gap, on) = (strcol(1) eq "dependent" && strcol(3) eq state && column(4) == gap && strcol(5) eq on ? column(7) : NaN)
plot "random.csv" every ::1 using 2:(accessed("warm", 0, "off")) with linespoints title "warm", \
     for [gap in "0 10 100 1000"] for [on in "off on"] "" every ::1 using 2:(accessed("cold", int(gap), on)) with linespoints title "cold, ".gap." us".(on eq "on" ? " + heater" : "")

set output "table1.svg"
set title "Table 1: mean search depth"
set xlabel "queue length"
set ylabel "entries"
set logscale xy
plot "stencil.csv" every ::1 using 5:13 with points pt 7 title "paper", "" every ::1 using 5:7:8:9 with yerrorbars title "here"

set output "fig1.svg"
set title "Fig. 1: length of the queue of receives that an arriving message searches"
set xlabel "below"
set ylabel "arrivals"
long(p) = (strcol(1) eq p ? column(2) : NaN)
plot for [p in "cg fds stencil"] "lengths.csv" every ::1 using (long(p)):3 with linespoints title "halo ".p
