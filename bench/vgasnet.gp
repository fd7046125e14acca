# vgasnet.gp: one SVG per figure, from the tables in the current directory. gnuplot -e "rates='450m paper'" vgasnet.gp
# A point is the mean of the rounds.
set datafile separator ","
set datafile missing NaN
set terminal svg size 900,560 dynamic background "white"
set key outside right
set grid
set logscale x 2
set logscale y
set ylabel "MB/s"

# fetch.csv: config,round,case,page,piece,row,samples,us,low,high,mbps
fetched(r, c) = (strcol(1) eq r && strcol(3) eq c && column(6) == 0 && column(4) == column(5) ? column(11) : NaN)
page(r, c) = (fetched(r, c) == fetched(r, c) ? column(4) / 1024 : NaN)
set xlabel "KB of a page"
do for [r in rates] {
    set output "fig7_".r.".svg"
    set title "Fig. 7: fetching a page, NVM ".(r eq "none" ? "unthrottled" : r)
    plot for [c in "nvm home coop"] "fetch.csv" every ::1 using (page(r, c)):(fetched(r, c)) smooth unique with linespoints title c, \
        "fetch.csv" every ::1 using (page("plain", "plain")):(fetched("plain", "plain")) smooth unique with linespoints title "GASNet"
}

# walk.csv: what,coop,nvm,pool,round,order,page,piece,bytes,ranks,pass,mbps
walked(r, c, o) = (strcol(1) eq "fig" && strcol(2) eq c && strcol(3) eq r && strcol(6) eq o ? column(12) : NaN)
data(r, c, o) = (walked(r, c, o) == walked(r, c, o) ? column(9) / 1048576 : NaN)
set xlabel "MB of data"
do for [o in "sequence shuffle"] {
    set output (o eq "sequence" ? "fig8.svg" : "fig9.svg")
    set title (o eq "sequence" ? "Fig. 8: sequential access" : "Fig. 9: random access")
    plot for [r in rates] for [c in "1 0"] "walk.csv" every ::1 using (data(r, c, o)):(walked(r, c, o)) smooth unique with linespoints \
        title (c eq "1" ? "cooperative, " : "not, ").r
}

# share.csv: config,coop,small,write_back,nvm,page,round,way,free,ranks,samples,us
shared(c, r, w) = (strcol(1) eq "pages" && strcol(2) eq c && strcol(3) eq "0" && strcol(4) eq w && strcol(5) eq r && column(9) == 0 ? column(12) : NaN)
kb(p) = (p eq "64k" ? 64 : 4096)
where(c, r, w) = (shared(c, r, w) == shared(c, r, w) ? kb(strcol(6)) : NaN)
set xlabel "KB of a page"
set ylabel "us a put"
set output "fig10.svg"
set title "Fig. 10: false sharing, no small operations"
plot for [r in rates] for [c in "1 0"] for [w in "nvm dram"] "share.csv" every ::1 using (where(c, r, w)):(shared(c, r, w)) smooth unique \
    with linespoints title (c eq "1" ? "cooperative, " : "not, ").r.", to ".w
