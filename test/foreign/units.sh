# Runs unit tests under emulation of a process. To be sourced.
#
#   run_units FOLDER LOGS LABEL [EMULATOR...]     all unit_* of FOLDER; counts in $passed, $failed and $skipped

passed=0 failed=0 skipped=0
unit_lines='' # of those that failed or were skipped

# Programs that need what qemu-user does not emulate: userfaultfd, io_uring, process_vm_readv, limits of the address space, a process
# that executes itself, faults that the program resolves while other threads run, robust mutexes (the lock table). These are not
# released when their holder dies; on RISC-V they cannot be made. Programs that tell from /proc what memory another process has touched.
not_emulated() { # label, name
    case $1/$2 in
    */unit_pages_local | */unit_pages_faults | */unit_pages_store_faults | */unit_net | */unit_net_heap | */unit_heater) return 0 ;;
    */unit_net_pull | */unit_serve_vm | */unit_net_lock_table) return 0 ;;
    Nehalem/unit_net_memory_limit | Haswell/unit_net_memory_limit) return 0 ;;
    Nehalem/unit_pages_job_replay | Haswell/unit_pages_job_replay | Nehalem/unit_pages_nodes_random | Haswell/unit_pages_nodes_random) return 0 ;;
    riscv64/unit_data_accumulate | riscv64/unit_data_atomic | riscv64/unit_data_patch_random | riscv64/unit_net_helper) return 0 ;;
    riscv64/unit_fuzz_data_shape) return 0 ;;
    *) return 1 ;;
    esac
}

tell() { # a line
    echo "$1"
    unit_lines+=$1$'\n'
}

run_unit() { # program, log, emulator...
    local program=$1 log=$2 arguments=()
    shift 2
    [ $# = 0 ] || export HEARTH_TEST_EMULATED=1 ASKS=2000 # for tests of what emulators pass on in part; of 100000 sleeps
    case $(basename "$program") in *_random) arguments=(--seconds 2) ;; *_crash) arguments=(--kills 14) ;; *_replay) arguments=(--operations 50) ;; esac
    timeout -k 5 "${LIMIT:-900}" "$@" "$program" "${arguments[@]}" >"$log" 2>&1
}

run_units() { # folder, logs, label, emulator...
    local folder=$1 logs=$2 label=$3 program name status
    shift 3
    mkdir -p "$logs"
    for program in "$folder"/unit_*; do
        name=$(basename "$program")
        [[ $name =~ ${UNITS:-.} ]] || continue
        [ $# -gt 0 ] && not_emulated "$label" "$name" && skipped=$((skipped + 1)) && tell "skip $name on $label: needs a real kernel" && continue
        status=0
        run_unit "$program" "$logs/$name.$label.log" "$@" || status=$?
        case $status in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) && tell "skip $name on $label: $(tail -n 1 "$logs/$name.$label.log")" ;;
        *)
            failed=$((failed + 1))
            tell "FAIL $name on $label: exit status $status; $logs/$name.$label.log"
            ;;
        esac
    done
}

say_units() { # prints the counts; fails if a test has
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
