# sync_calls.awk: lists, from the preprocessed headers of an MPI, every call that can be a sync event and is not hooked by name. Extensions,
# MPIX_*, are treated as any other call.
#
#   awk -f sync_calls.awk calls.def nonsync.txt mpi.i       one line per call: SYNC_CALL(name, kind, parameters, arguments), or SYNC_CALL_FLAG
#                                                   for those that are no sync event if *flag is 0
#   awk -f sync_calls.awk hooked.i nonsync.txt mpi.i        the same; hooked.i is host/hooked.h preprocessed, and names only the calls
#                                                   that are hooked on this MPI. calls.def counts with all its lines
#   awk -f sync_calls.awk hooked.i nonsync.txt mpi.exports mpi.i         only calls that the library exports: mpi.exports lists them,
#                                                   one per line; an empty list is ignored
#   awk -v inside=1 -v mpi=MPI -f sync_calls.awk hooked.i nonsync.txt waits.txt ...
#                                                   the same, but for collectives that are replaced by their non-blocking
#                                                   equivalent on this MPI, mpich or openmpi,
#                                                   SYNC_CALL_NONBLOCKING(name, equivalent, kind, parameters, arguments, its arguments),
#                                                   and SYNC_CALL_COMM, SYNC_CALL_OPEN for other calls that are collective
#                                                   over comm, or over an open file fh
FILENAME ~ /calls\.def$/ {
    if (match($0, /^(HOOK|POLL|BLOCK|BLOCK_END|PRE|PREBARRIER|PREBARRIER_WIN|PREBARRIER_FREE|PREBARRIER_WAIT)\([A-Za-z_]+/)) { sub(/^[A-Z_]+\(/, ""); match($0, /^[A-Za-z_]+/); hooked["MPI_" substr($0, 1, RLENGTH)] = 1 }
    next
}
FILENAME ~ /hooked\.i$/ {
    while (match($0, /HEARTH_HOOKED [A-Za-z_]+/)) { hooked["MPI_" substr($0, RSTART + 14, RLENGTH - 14)] = 1; $0 = substr($0, RSTART + RLENGTH) }
    next
}
FILENAME ~ /nonsync\.txt$/ { if ($0 !~ /^(#|$)/) nonsync[++nonsyncs] = pattern($1); next }
FILENAME ~ /waits\.txt$/ { if ($0 !~ /^(#|$)/) { waiting[++waits] = pattern($1); way[waits] = $2; where[waits] = $0 } next }
FILENAME ~ /mpi\.exports$/ { exported[$1] = 1; exports++; next }
/^#/ { next }
{ text = text " " $0 }

# Names in these files are given without MPI_, those of extensions in full.
function pattern(glob) { gsub(/\*/, ".*", glob); return (glob ~ /^MPIX_/ ? "^" : "^MPI_") glob "$" }

function is_nonsync(name,   i) {
    for (i = 1; i <= nonsyncs; i++) if (name ~ nonsync[i]) return 1
    return 0
}

function bare(name) { return substr(name, 5) }

# Calls whose *flag tells whether anything has arrived. In other calls a flag is an ordinary result.
function asks(name) { return name ~ /^MPI_(Test|Iprobe|Improbe|Parrived|Request_get_status|Win_test)/ }

# The kind of sync event, which a test can make Hearth ignore: see acquire.h.
function kind_of(name) {
    if (name ~ /^MPIX_/) return "GENERIC"
    name = bare(name)
    if (name ~ /^(M?[Rr]ecv|Mrecv|Sendrecv)/) return "RECV"
    if (name ~ /^Ssend/) return "SEND_SYNC"
    if (name ~ /[Pp]robe/) return "PROBE"
    if (name ~ /^File_/) return "FILE"
    if (name ~ /^(Barrier|Bcast|Gather|Scatter|Allgather|Alltoall|Reduce|Allreduce|Scan|Exscan|Neighbor_)/) return "COLLECTIVE"
    return "GENERIC"
}

# The name of a parameter: its last word, optionally followed by brackets.
function argument(parameter) {
    gsub(/\[[^]]*\]/, "", parameter)
    sub(/[ \t]+$/, "", parameter)
    match(parameter, /[A-Za-z_][A-Za-z0-9_]*$/)
    return substr(parameter, RSTART, RLENGTH)
}

# The matching line of waits.txt, or 0.
function waits_as(name,   i) {
    sub(/_c$/, "", name)
    for (i = 1; i <= waits; i++) if (name ~ waiting[i]) return i
    return 0
}

# Barrier -> Ibarrier, if that call exists and may replace it on this MPI.
function nonblocking_of(name,   nonblocking, line) {
    nonblocking = "MPI_I" tolower(substr(name, 5, 1)) substr(name, 6)
    line = waits_as(name)
    return line && way[line] == "nonblocking" && index(where[line] " ", " " mpi " ") && (nonblocking in declared) ? nonblocking : ""
}

function emit(name, parameters,   n, i, list, arguments, flag) {
    if (name in hooked || name in done || is_nonsync(name) || parameters ~ /\.\.\./) return
    if (exports && !(name in exported)) return
    done[name] = 1
    n = split(parameters, list, ",")
    if (n == 1 && list[1] ~ /^[ \t]*void[ \t]*$/) n = 0
    for (i = 1; i <= n; i++) {
        arguments = arguments (i > 1 ? ", " : "") argument(list[i])
        if (asks(name) && list[i] ~ /int[ \t]*\*[ \t]*flag[ \t]*$/) flag = 1
    }
    if (inside && nonblocking_of(name) != "")
        printf "SYNC_CALL_NONBLOCKING(%s, %s, %s, (%s), (%s), (%s, &request))\n", name, nonblocking_of(name), kind_of(name), parameters, arguments, arguments
    else if (inside && parameters ~ /MPI_File fh(,|$)/ && waits_as(name) && way[waits_as(name)] == "file")
        printf "SYNC_CALL_OPEN(%s, %s, (%s), (%s))\n", name, kind_of(name), parameters, arguments
    else if (inside && name !~ /^MPIX_/ && parameters ~ /MPI_Comm comm(,|$)/) # the participants of an extension are unknown
        printf "SYNC_CALL_COMM(%s, %s, (%s), (%s))\n", name, kind_of(name), parameters, arguments
    else
        printf "%s(%s, %s, (%s), (%s))\n", flag ? "SYNC_CALL_FLAG" : "SYNC_CALL", name, kind_of(name), parameters, arguments
}

# The name in a declaration; "" if it does not declare a call that returns an int. Sets `after` to the position after the name.
function name_in(part) {
    if (!match(part, /[^A-Za-z0-9_]int MPIX?_[A-Z][A-Za-z0-9_]* ?\(/)) return ""
    after = RSTART + RLENGTH
    part = substr(part, RSTART + 5, RLENGTH - 6)
    sub(/ $/, "", part)
    return part
}

END {
    gsub(/[ \t\n]+/, " ", text)
    count = split(text, parts, ";")
    for (p = 1; p <= count; p++) declared[name_in(parts[p])] = 1
    for (p = 1; p <= count; p++) {
        name = name_in(parts[p])
        if (name == "") continue
        rest = substr(parts[p], after)
        emit(name, substr(rest, 1, index_of_end(rest) - 1))
    }
}

# Position of the parenthesis that closes the parameter list.
function index_of_end(s,   i, depth, c) {
    depth = 1
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "(") depth++
        if (c == ")" && --depth == 0) return i
    }
    return length(s) + 1
}
