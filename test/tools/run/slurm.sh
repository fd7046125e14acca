#!/usr/bin/env bash
# Runs a command under a private Slurm on the loopback device:   slurm.sh COMMAND... All its files, its key and its
# sockets are in a folder of its own. The folder and the daemons are removed at the end. Needs root.
set -uo pipefail
for program in munged slurmctld slurmd srun sinfo; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null || { echo "no $program here: install slurm, as packaging/setup.sh full does" && exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "needs root, to start Slurm's daemons" && exit 77; }
PATH=$PATH:/usr/sbin
dir=$(mktemp -d)
trap 'stop; rm -rf "$dir"' EXIT
host=$(hostname -s) port=$((20000 + RANDOM % 10000))

stop() {
    local name pid
    for name in slurmd ctld munged; do
        pid=$(cat "$dir/$name.pid" 2>/dev/null) || continue
        kill "$pid" 2>/dev/null
        for _ in {1..50}; do kill -0 "$pid" 2>/dev/null && sleep 0.1 || break; done
    done
}

configure() {
    cat <<END
ClusterName=hearth
SlurmctldHost=$host(127.0.0.1)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.sock
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/ctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/ctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
END
}

is_idle() {
    sinfo -h -o %T 2>/dev/null | grep -q idle
}

chmod 755 "$dir"
mkdir "$dir/state" "$dir/spool"
(umask 077 && head -c 1024 /dev/urandom >"$dir/munge.key")
configure >"$dir/slurm.conf"
export SLURM_CONF=$dir/slurm.conf
munged --force --key-file="$dir/munge.key" --socket="$dir/munge.sock" --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" \
    --seed-file="$dir/munged.seed" && slurmctld -f "$SLURM_CONF" && slurmd -f "$SLURM_CONF"
for _ in {1..300}; do is_idle && break || sleep 0.1; done
if ! is_idle; then
    echo "Slurm does not start here:"
    tail -n 5 "$dir/ctld.log" "$dir/slurmd.log"
    exit 77
fi
"$@"
