# news.awk: from a preprocessed mpi.h, every call of MPI that may bring news from another process and is not hooked by name.
#
#   awk -f news.awk calls.def quiet.txt mpi.i       one line per call: NEWS(name, kind, parameters, arguments), or NEWS_FLAG
#                                                   for those that bring none if *flag is 0
#   awk -v inside=1 -f news.awk ...                 the same, but for collectives that have a twin which does not block
#                                                   NEWS_TWIN(name, twin, kind, parameters, arguments, twin's arguments),
#                                                   and NEWS_COMM, NEWS_OPEN for other calls that are collective
#                                                   over comm, or over an open file fh
FILENAME ~ /calls\.def$/ {
    if (match($0, /^(HOOK|BLOCK|MEET|MEET_WIN|MEET_FREE|MEET_WAIT)\([A-Za-z_]+/)) { sub(/^[A-Z_]+\(/, ""); match($0, /^[A-Za-z_]+/); hooked[substr($0, 1, RLENGTH)] = 1 }
    next
}
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

# Barrier -> Ibarrier, if there is such a call.
function twin_of(name,   twin) {
    twin = "I" tolower(substr(name, 1, 1)) substr(name, 2)
    return kind_of(name) == "COLLECTIVE" && (twin in declared) ? twin : ""
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
    if (inside && twin_of(name) != "")
        printf "NEWS_TWIN(%s, %s, %s, (%s), (%s), (%s, &request))\n", name, twin_of(name), kind_of(name), parameters, arguments, arguments
    else if (inside && parameters ~ /MPI_File fh(,|$)/ && name ~ /_all|_ordered|set_size|preallocate|set_view|set_info|set_atomicity|sync|seek_shared/)
        printf "NEWS_OPEN(%s, %s, (%s), (%s))\n", name, kind_of(name), parameters, arguments
    else if (inside && parameters ~ /MPI_Comm comm(,|$)/)
        printf "NEWS_COMM(%s, %s, (%s), (%s))\n", name, kind_of(name), parameters, arguments
    else
        printf "%s(%s, %s, (%s), (%s))\n", flag ? "NEWS_FLAG" : "NEWS", name, kind_of(name), parameters, arguments
}

END {
    gsub(/[ \t\n]+/, " ", text)
    count = split(text, parts, ";")
    for (p = 1; p <= count; p++)
        if (match(parts[p], /[^A-Za-z0-9_]int MPI_[A-Z][A-Za-z0-9_]* ?\(/)) {
            name = substr(parts[p], RSTART + 9, RLENGTH - 10)
            sub(/ $/, "", name)
            declared[name] = 1
        }
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
