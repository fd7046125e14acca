# For tests that count files left in /dev/shm; to be sourced first. Runs the script again with its own /dev/shm, which
# no other job sees, so that it may run beside others. Where no such mount is possible, left_in_shm finds nothing and
# prints the reason.
# shellcheck shell=bash
if [ "${TEST_OWN_SHM:-}" = "" ]; then
    export TEST_OWN_SHM=no
    ((UID == 0)) && map=() || map=(--map-root-user)
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount "${map[@]}" sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm' 2>/dev/null &&
        TEST_OWN_SHM=yes exec unshare --mount "${map[@]}" sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec "$@"' sh "$0" "$@"
    echo 'no /dev/shm of its own: what is left there is not looked at'
fi

left_in_shm() { # prints the files of Hearth there
    [ "$TEST_OWN_SHM" = yes ] || return 0
    find /dev/shm -mindepth 1 -iname '*hearth*' ! -iname '*hearth-store*' 2>/dev/null | paste -sd ' '
}
