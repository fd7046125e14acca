# news.awk: from a preprocessed mpi.h, every call of MPI that may bring news from another process and is not hooked by name.
#
#   awk -f news.awk calls.def quiet.txt mpi.i       one line per call: NEWS(name, kind, parameters, arguments), or NEWS_FLAG
#                                                   for those that bring none if *flag is 0
FILENAME ~ /calls\.def$/ { if (match($0, /^HOOK\([A-Za-z_]+/)) hooked[substr($0, 6, RLENGTH - 5)] = 1; next }
FILENAME ~ /quiet\.txt$/ { if ($0 !~ /^(#|$)/) quiet[++quiets] = pattern($1); next }
/^#/ { next }
{ text = text " " $0 }

function pattern(glob) { gsub(/\*/, ".*", glob); return "^" glob "$" }

function is_quiet(name,   i) {
    for (i = 1; i <= quiets; i++) if (name ~ quiet[i]) return 1
    return 0
}

# What a test can make deaf: see acquire.h.
function kind_of(name) {
    if (name ~ /^(M?[Rr]ecv|Mrecv|Sendrecv)/) return "RECV"
    if (name ~ /^Ssend/) return "SEND_SYNC"
    if (name ~ /[Pp]robe/) return "PROBE"
    if (name ~ /^File_/) return "FILE"
    if (name ~ /^(Barrier|Bcast|Gather|Scatter|Allgather|Alltoall|Reduce|Allreduce|Scan|Exscan|Neighbor_)/) return "COLLECTIVE"
    return "GENERIC"
}

# The name of a parameter: its last word, behind which only brackets may stand.
function argument(parameter) {
    gsub(/\[[^]]*\]/, "", parameter)
    sub(/[ \t]+$/, "", parameter)
    match(parameter, /[A-Za-z_][A-Za-z0-9_]*$/)
    return substr(parameter, RSTART, RLENGTH)
}

function emit(name, parameters,   n, i, list, arguments, flag) {
    if (name in hooked || name in done || is_quiet(name) || parameters ~ /\.\.\./) return
    done[name] = 1
    n = split(parameters, list, ",")
    if (n == 1 && list[1] ~ /^[ \t]*void[ \t]*$/) n = 0
    for (i = 1; i <= n; i++) {
        arguments = arguments (i > 1 ? ", " : "") argument(list[i])
        if (list[i] ~ /int[ \t]*\*[ \t]*flag[ \t]*$/) flag = 1
    }
    printf "%s(%s, %s, (%s), (%s))\n", flag ? "NEWS_FLAG" : "NEWS", name, kind_of(name), parameters, arguments
}

END {
    gsub(/[ \t\n]+/, " ", text)
    count = split(text, parts, ";")
    for (p = 1; p <= count; p++) {
        if (!match(parts[p], /[^A-Za-z0-9_]int MPI_[A-Z][A-Za-z0-9_]* ?\(/)) continue
        rest = substr(parts[p], RSTART + 9)
        open = index(rest, "(")
        name = substr(rest, 1, open - 1)
        sub(/ $/, "", name)
        rest = substr(rest, open + 1)
        emit(name, substr(rest, 1, index_of_end(rest) - 1))
    }
}

# The bracket that closes the list of parameters.
function index_of_end(s,   i, depth, c) {
    depth = 1
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "(") depth++
        if (c == ")" && --depth == 0) return i
    }
    return length(s) + 1
}
