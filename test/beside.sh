# For scripts whose checks do not depend on each other and mostly wait for launchers to end: runs them side by side; to be sourced. Uses dir of
# the caller, and sets failed.
# shellcheck shell=bash disable=SC2030,SC2031,SC2034,SC2154 # dir and failed are those of the caller

besides=0

beside() { # command...: in the background, with a folder of its own as dir
    local number=$besides
    besides=$((besides + 1))
    while [ "$(jobs -rp | wc -l)" -ge "${at_once:-3}" ]; do wait -n; done
    mkdir "$dir/$number"
    (
        # Two mpiruns of Open MPI that begin at once may fail to make the folder for all sessions of a user.
        [ "${TMPDIR:-}" != "$dir" ] || export TMPDIR=$dir/$number
        dir=$dir/$number failed=0
        "$@"
        exit $failed
    ) >"$dir/$number.log" 2>&1 &
    beside[number]=$!
}

# Prints what they have printed, in the order in which they were started.
wait_beside() {
    local number
    for ((number = 0; number < besides; number++)); do
        wait "${beside[number]}" || failed=1
        cat "$dir/$number.log"
    done
}
