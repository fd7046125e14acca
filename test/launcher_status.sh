# Whether a launcher reports the status of its ranks; to be sourced.

# Hydra of MPICH 4.2 returns 0 in about one of ten runs whose ranks end with an error, without Hearth too.
loses_status() { # MPI
    local launcher
    [ "$1" = mpich ] && launcher=$("$here/../packaging/mpis.sh" mpich mpirun) && "$launcher" --version 2>/dev/null | grep -E 'Version: +4\.2' >/dev/null
}

# Hydra's proxy returns 1 ("Hangup") for a rank whose connection closes before the proxy has waited for the rank.
status_fits() { # MPI, status of the launcher, expected
    [ "$2" = "$3" ] || { [ "$2" = 0 ] && loses_status "$1"; } || { [ "$1$2" = mpich1 ] && [ "$3" != 0 ]; }
}
