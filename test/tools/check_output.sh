# check_output.sh, for other scripts: checks of `out`, the output of a command, and `status`, its exit code. The script sets `failed` to 0.

check() { # name, exit code, regular expression, number of lines that match it
    local count
    count=$(grep -cE -- "$3" <<<"$out")
    if [ "$status" = "$2" ] && [ "$count" = "${4:-1}" ]; then
        echo "ok $1"
    else
        echo "FAIL $1: exit code $status instead of $2, or $count lines instead of ${4:-1} like: $3"
        sed 's/^/    | /' <<<"$out" | head -40
        failed=1
    fi
}
