/* launcher_options.c: tables of the launchers' options: those that take values, and the common ones that do not. They cannot be
 * complete: launcher_line.c guesses where an option is not listed. Names are between blanks, without dashes. */
#include "run/launcher/launcher_options.h"

#include <string.h>

struct syntax {
    const char *none, *one, *two; /* NULL: there are none */
    bool joins;                   /* -n4 means -n 4 */
};

static const struct syntax syntaxes[LAUNCHER_KINDS] = {
    [LAUNCHER_OPENMPI] =
        {.one = " n np c N npernode npersocket cpus-per-proc cpus-per-rank H host hostfile machinefile "
                "default-hostfile wd wdir x path prefix map-by rank-by bind-to rf rankfile slot-list cpu-set "
                "cpu-list am tune app output-filename output stdin tmpdir timeout report-pid report-uri "
                "report-events ompi-server server-wait-time hnp xterm max-restarts preload-files personality "
                "ppr max-vm-size mca-base-env-list debugger display runtime-options dvm dvm-uri tag rmaps "
                "pid namespace rtos pset ",
         .none = " oversubscribe nooversubscribe allow-run-as-root report-bindings tag-output "
                 "timestamp-output display-map display-allocation verbose v q quiet get-stack-traces "
                 "use-hwthread-cpus nolocal novm bynode byslot bycore ",
         .two = " mca gmca omca prtemca pmixmca "},
    [LAUNCHER_HYDRA] =
        {.one = " n np f hosts host hostfile machinefile ppn perhost wdir wd path configfile launcher "
                "bootstrap launcher-exec bootstrap-exec rmk topolib bind-to map-by membind binding demux "
                "iface genvlist envlist usize prepend-pattern outfile-pattern errfile-pattern nameserver "
                "order-nodes localhost gpus-per-proc timeout ckpoint-interval ckpoint-prefix ckpoint-num "
                "ckpointlib soft arch gwdir gpath ",
         .none = " genvall genvnone envall envnone verbose v info print-all-exitcodes prepend-rank l profile "
                 "disable-auto-cleanup disable-hostname-propagation skip-launch-node pmi-port enable-x "
                 "disable-x ",
         .two = " genv env "},
    [LAUNCHER_SRUN] =
        {.one = " account acctg-freq bb bbf begin chdir cluster-constraint clusters comment constraint "
                "container container-id core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu "
                "cpus-per-task deadline delay-boot dependency distribution epilog error exclude export "
                "extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres "
                "gres-flags het-group hint input job-name jobid licenses mail-type mail-user mcs-label mem "
                "mem-bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout network nodefile nodelist nodes "
                "ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode output "
                "partition power priority profile prolog qos relative reservation signal slurmd-debug "
                "sockets-per-node switches task-epilog task-prolog thread-spec threads threads-per-core time "
                "time-min tmp tres-per-task uid wait wckey "},
    [LAUNCHER_APRUN] =
        {.one = " a arch cc cpu-binding cp cpu-binding-file d cpus-per-pe D debug e environment-override F "
                "access-mode j cpus-per-cu L node-list l node-list-file m memory-per-pe M mpmd-env n pes N "
                "pes-per-node p protection-domain P pipes r specialized-cpus R relaunch S "
                "pes-per-numa-node sl numa-nodes-list sn numa-nodes-per-node t cpu-time-limit ",
         .none = " b bypass-app-transfer B batch-args C reconnect k q quiet ss strict-memory-containment T "
                 "sync-output u v verbose z zone-sort ",
         .joins = true},
    [LAUNCHER_JSRUN] =
        {.one =
             " n nrs p np a tasks_per_rs c cpu_per_rs g gpu_per_rs r rs_per_host K rs_per_socket b bind d "
             "launch_distribution E env F env_eval D env_no_propagate l latency_priority M smpiargs e "
             "stdio_mode h chdir k stdio_stderr o stdio_stdout t stdio_input m memory_per_rs U erf_input f "
             "appfile P pre_post_exec X exit_on_error H launch_node_task L use_spindle ",
         .none = " i immediate S save_resources V version T allocate_only ",
         .joins = true},
    [LAUNCHER_FLUX] =
        {.one =
             " n ntasks N nodes c cores-per-task g gpus-per-task cores tasks-per-node tasks-per-core "
             "gpus-per-node t time-limit o setopt S setattr q queue B bank job-name env env-remove env-file "
             "rlimit cwd input output error dependency requires urgency taskmap add-file begin-time signal "
             "wait-event conf cc bcc ",
         .none = " x exclusive l label-io u unbuffered v verbose quiet dry-run ",
         .joins = true},
    [LAUNCHER_SITE] = {.one = " n np o N c p A m T Q E f B M R t D K e s offset ntasks nodes ",
                       .none = " x v h ",
                       .joins = true},
};

static const char srun_letters[] = "ABcCdDeFGiJLmMnNopPqrStTUwWx";

bool launcher_option_is_srun_letter(char letter) {
    return letter && strchr(srun_letters, letter);
}

static bool lists(const char *table, const char *name, size_t length) {
    for (const char *at = table; at && (at = strchr(at, ' ')) && at[1]; at++)
        if (!strncmp(at + 1, name, length) && at[1 + length] == ' ')
            return true;
    return false;
}

static bool takes(const struct syntax *s, const char *name, size_t length, int values) {
    return lists(values == 0 ? s->none : values == 1 ? s->one : s->two, name, length);
}

/* An unknown mpirun may be either. */
bool launcher_option_takes(enum launcher_kind kind, const char *name, size_t length, int values) {
    if (kind != LAUNCHER_OTHER)
        return takes(&syntaxes[kind], name, length, values);
    return takes(&syntaxes[LAUNCHER_OPENMPI], name, length, values) ||
           takes(&syntaxes[LAUNCHER_HYDRA], name, length, values);
}

bool launcher_option_is_joined(enum launcher_kind kind, const char *word) {
    return syntaxes[kind].joins && word[0] == '-' && word[1] != '-' && word[1] && word[2] &&
           lists(syntaxes[kind].one, word + 1, 1);
}
