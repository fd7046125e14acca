# The jobs of a build of builds.sh, to be sourced. They count in $passed and $failed.

job() { # name, command that must succeed
    local name=$1
    shift
    if "$@" >"$logs/$name.log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $build: $name: $logs/$name.log"
    fi
}

launch() { # options, program
    test/launch.sh "$mpi" 2 --timeout 120 "$@"
}

quiet() { # command: succeeds, and Hearth prints no error and no warning
    "$@" >"$logs/quiet.out" 2>&1
    local status=$?
    cat "$logs/quiet.out"
    [ $status = 0 ] && ! grep -E '^hearth.*(error|warning):' "$logs/quiet.out"
}

says() { # regular expression, command: prints such a line
    local line=$1
    shift
    "$@" 2>&1 | tee "$logs/says.out"
    grep -qE "$line" "$logs/says.out"
}

has_line() { # a line of the build's cache
    grep -x "$1" "$tree/CMakeCache.txt"
}

# What every build can do, with its defaults. Over MPI, only programs with MPI_THREAD_MULTIPLE have served windows between nodes: the tests
# ask for it in their configuration servempi. The others are left to MPI, and a warning says so, as they were asked for.
usual_jobs() {
    local hearth=(--preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never) nodes=(--env HEARTH_NODE_RANKS=1) net=ucx config=serve1
    local single=(quiet)
    ! leaves_out ucx || net=mpi config=servempi single=(says 'warning: windows across nodes are left to MPI: over MPI messages a helper needs MPI_THREAD_MULTIPLE')
    job served quiet launch "${hearth[@]}" "${nodes[@]}" --env HEARTH_WINDOWS=serve --env HEARTH_TEST_CONFIG=$config "$tree/test/mpi_suite" --programs smoke,served_ops
    job single "${single[@]}" launch "${hearth[@]}" "${nodes[@]}" --env HEARTH_WINDOWS=serve "$tree/test/mpi_suite" --programs smoke
    job messages quiet launch "${hearth[@]}" --env HEARTH_MATCH=on --env HEARTH_TEST_CONFIG=match "$tree/test/p2p_suite" --programs order,types
    job layout launch "$tree/test/mpi_layout"
    job armci quiet launch "${nodes[@]}" "$tree/test/armci_suite" --programs atomics,order
    job gasnet quiet launch "${nodes[@]}" --env HEARTH_NVM_DIR="$logs" "$tree/test/gas_suite" --programs rma,order
    job network launch --env HEARTH_NET=$net "$tree/test/net_echo"
    if [ "$without" = fortran ]; then
        job no_fortran_tests has_line HEARTH_MPIFORT:FILEPATH=
    else # the files that are installed name no folder of the sources; no_fortran.sh's compiler is in one
        job install test/install/test_install.sh "$mpi" "$tree"
    fi
}

# What was left out is asked for.
jobs_without_ucx() {
    local ask=(--env HEARTH_NODE_RANKS=1 --env HEARTH_NET=ucx) line='error: network ucx: built without UCX'
    job ask_ucx_served says "$line" launch "${ask[@]}" --env HEARTH_WINDOWS=serve --preload "$tree/lib/libhearth-mpi.so" "$tree/test/mpi_suite" --programs smoke
    job ask_ucx_armci says "$line" launch "${ask[@]}" "$tree/test/armci_suite" --programs atomics
    job ask_ucx_gasnet says "$line" launch "${ask[@]}" "$tree/test/gas_suite" --programs rma
    job default_net says '^HEARTH_NET=mpi$' "$tree/bin/hearth" info -c
}

jobs_without_xxhash() {
    job ask_nvm says 'error: segments: HEARTH_NVM=on, but this build cannot' launch --env HEARTH_NVM=on "$tree/test/gas_suite" --programs rma
    job ask_examine says 'this build cannot read segments: install xxHash' "$tree/bin/hearth" info --nvm "$tree/CMakeCache.txt"
    job default_nvm says '^HEARTH_NVM=off$' "$tree/bin/hearth" info -c
}

jobs_without_uring() {
    leaves_out xxhash || job ask_uring says 'error: cannot start io_uring for .*: this build has no liburing' launch --env HEARTH_NVM_ENGINE=uring \
        --env HEARTH_NVM_DIR="$logs" "$tree/test/gas_suite" --programs rma
}

jobs_without_ncurses() {
    job ask_screen says 'built without ncurses .*: use hearth top --once' "$tree/bin/hearth" top
}

jobs_without_hwloc() {
    job ask_heater says 'warning: heater: built without hwloc' launch --env HEARTH_HEATER=on --env HEARTH_MATCH=on \
        --preload "$tree/lib/libhearth-mpi.so" "$tree/test/p2p_suite" --programs order
}

jobs_of_build() {
    local library
    usual_jobs
    for library in ucx xxhash uring ncurses hwloc; do
        ! leaves_out $library || "jobs_without_$library"
    done
}
