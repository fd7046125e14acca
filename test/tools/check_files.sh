# check_files.sh, for other scripts: checks of files by regular expressions. The script sets `failed` to 0.

check() { # name, command...
    local what=$1
    shift
    if "$@"; then echo "ok $what"; else echo "FAIL $what" && failed=1; fi
}

has() { # file, regular expression: some line matches
    grep -qE -- "$2" "$1" || { sed 's/^/    | /' "$1" | cut -c 1-200 | head -n 40 && false; }
}

lacks() { # file, regular expression
    ! grep -nE -- "$2" "$1"
}
