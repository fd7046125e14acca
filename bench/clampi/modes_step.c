/* modes_step.c: counts the instructions of one library inside a program, by single-stepping.
 *
 *   modes_step LIBRARY FILE PROGRAM [ARGUMENT]...
 *
 * LIBRARY is the beginning of its file's name; several files may have it. With MODES_STEP_TRACE=FILE in the environment, that file gets
 * the instructions of the library in order, one "OFFSET FILE" per line, and an empty line behind each interval: bench/walks/walks.py.
 *
 * Between a SIGUSR1 and a SIGUSR2 that the program sends to itself, its main thread is single-stepped. An
 * instruction counts for the library if it is in the library, or in the C library while the library is the
 * caller; else for the program. MPI, which is everything else, runs freely up to a breakpoint at its return
 * address. Stepping through it would take long, and would never end where it retries an exclusive store, which
 * every step invalidates. Each interval gives a line in FILE: instructions of the library, of the program.
 * Under an MPI launcher this applies to rank 0; the other ranks run normally.
 *
 * A profiler (callgrind) does not work here: it follows calls by the stack pointer and loses track where
 * functions end in jumps, so that the program's loop was counted as the library's. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined __powerpc64__ || defined __riscv
#include <asm/ptrace.h>
#endif

enum { MOST_RANGES = 4096 };
static const uint64_t most_steps = 20000000; /* limit, for a loop that stepping prevents from ending */

enum owner { THE_MPI, THE_PROGRAM, THE_LIBRARY, THE_C_LIBRARY };

struct range {
    uint64_t start, end;
    enum owner owner;
    uint64_t shift; /* from an offset in the file to an address */
    char path[256]; /* of the library */
};

static struct range ranges[MOST_RANGES];
static unsigned range_count;
static pid_t child;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "modes_step: %s: %s\n", what, strerror(errno));
    if (child > 0)
        kill(child, SIGKILL);
    exit(1);
}

/* ---- the machine ---- */

struct place {
    uint64_t pc, back; /* back: the return address, if pc is the first instruction of a function */
};

#if defined __aarch64__ || defined __powerpc64__ || defined __riscv /* the return address is in a register */
#if defined __aarch64__
static const uint64_t trap = 0xd4200000, trap_mask = 0xffffffff; /* brk #0: pc stays on it */
#define REGISTERS     struct user_regs_struct
#define PC(regs)      (regs).pc
#define RETURNS(regs) (regs).regs[30]
#elif defined __powerpc64__
static const uint64_t trap = 0x7fe00008, trap_mask = 0xffffffff; /* trap */
#define REGISTERS     struct pt_regs
#define PC(regs)      (regs).nip
#define RETURNS(regs) (regs).link
#else /* Linux does not single-step on RISC-V: the first step fails */
static const uint64_t trap = 0x9002, trap_mask = 0xffff; /* c.ebreak */
#define REGISTERS     struct user_regs_struct
#define PC(regs)      (regs).pc
#define RETURNS(regs) (regs).ra
#endif

static struct place where(void) {
    REGISTERS regs;
    struct iovec io = {&regs, sizeof regs};
    if (ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &io))
        fail("reading registers");
    return (struct place){.pc = PC(regs), .back = RETURNS(regs)};
}

static void step_back(void) {
}
#elif defined __x86_64__
static const uint64_t trap = 0xcc, trap_mask = 0xff; /* int3: one byte, and pc is behind it */

static struct user_regs_struct registers(void) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, child, NULL, &regs))
        fail("reading registers");
    return regs;
}

static struct place where(void) {
    struct user_regs_struct regs = registers();
    return (struct place){.pc = regs.rip,
                          .back = (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)regs.rsp, NULL)};
}

static void step_back(void) {
    struct user_regs_struct regs = registers();
    regs.rip--;
    if (ptrace(PTRACE_SETREGS, child, NULL, &regs))
        fail("writing registers");
}
#else
#error "modes_step.c needs to know this machine's registers and its breakpoint"
#endif

/* ---- attribution of instructions ---- */

static enum owner owner_of_file(const char *path, const char *program, const char *library) {
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (!strcmp(path, program))
        return THE_PROGRAM;
    if (!strncmp(name, library, strlen(library)))
        return THE_LIBRARY;
    bool plain = !strncmp(name, "libc.so", 7) || !strncmp(name, "libm.so", 7) || !strncmp(name, "ld-", 3) ||
                 !strncmp(name, "ld64.so", 7) || !strcmp(name, "[vdso]");
    return plain ? THE_C_LIBRARY : THE_MPI;
}

static void read_ranges(const char *library) {
    char name[64], line[4096 + 128], program[4096] = "", path[4096];
    snprintf(name, sizeof name, "/proc/%d/exe", child);
    if (readlink(name, program, sizeof program - 1) < 0)
        fail(name);
    snprintf(name, sizeof name, "/proc/%d/maps", child);
    FILE *file = fopen(name, "r");
    if (!file)
        fail(name);
    range_count = 0;
    while (range_count < MOST_RANGES && fgets(line, sizeof line, file)) {
        struct range *r = &ranges[range_count];
        char access[8];
        path[0] = 0;
        uint64_t offset;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095s", &r->start, &r->end, access,
                   &offset, path) >= 4 &&
            access[2] == 'x') {
            r->owner = owner_of_file(path, program, library);
            r->shift = r->start - offset;
            snprintf(r->path, sizeof r->path, "%s", path);
            range_count++;
        }
    }
    fclose(file);
}

/* NULL: in no file. */
static const struct range *range_of(uint64_t pc) {
    static unsigned last;
    if (last < range_count && pc >= ranges[last].start && pc < ranges[last].end)
        return &ranges[last];
    for (last = 0; last < range_count; last++)
        if (pc >= ranges[last].start && pc < ranges[last].end)
            return &ranges[last];
    return NULL;
}

/* ---- stepping ---- */

/* Returns the signal for which the program stopped; if the program has ended, this one ends too. */
static int resume(int how, int signal) {
    int status;
    if (ptrace(how, child, NULL, (void *)(intptr_t)signal))
        fail("resuming the program");
    if (waitpid(child, &status, __WALL) != child)
        fail("waiting for the program");
    if (WIFEXITED(status))
        exit(WEXITSTATUS(status));
    if (WIFSIGNALED(status))
        exit(128 + WTERMSIG(status));
    return WSTOPSIG(status);
}

static void poke(uint64_t address, uint64_t word) {
    if (ptrace(PTRACE_POKETEXT, child, (void *)address, (void *)word))
        fail("setting a breakpoint");
}

/* Lets the program run up to this address. Other signals are delivered to it. */
static void run_to(uint64_t address) {
    errno = 0;
    uint64_t word = (uint64_t)ptrace(PTRACE_PEEKTEXT, child, (void *)address, NULL);
    if (errno)
        fail("reading the program's code");
    poke(address, (word & ~trap_mask) | trap);
    for (int signal = 0; (signal = resume(PTRACE_CONT, signal)) != SIGTRAP;)
        ;
    poke(address, word);
    step_back();
    if (where().pc != address) {
        errno = EINVAL;
        fail("MPI did not return to where it was called from");
    }
}

/* Tracer and program alternate, so one core suffices for both. On another core the tracer would disturb the rank there. */
static void share_core(void) {
    cpu_set_t cores;
    if (!sched_getaffinity(child, sizeof cores, &cores))
        sched_setaffinity(0, sizeof cores, &cores);
}

static void trace(FILE *file, const struct range *r, uint64_t pc) {
    if (file && r && r->owner == THE_LIBRARY)
        fprintf(file, "%" PRIx64 " %s\n", pc - r->shift, r->path);
}

static void count(const char *library, FILE *out, FILE *steps_out) {
    uint64_t counts[2] = {0, 0}; /* of the program, of the library */
    bool in_library = false;
    share_core();
    read_ranges(library);
    for (uint64_t steps = 0; steps < most_steps; steps++) {
        struct place at = where();
        const struct range *range = range_of(at.pc);
        enum owner owner = range ? range->owner : THE_MPI;
        if (owner == THE_MPI) {
            run_to(at.back);
            continue;
        }
        if (owner != THE_C_LIBRARY)
            in_library = owner == THE_LIBRARY;
        counts[in_library]++;
        trace(steps_out, range, at.pc);
        int signal = resume(PTRACE_SINGLESTEP, 0);
        if (signal == SIGUSR2) {
            fprintf(out, "%" PRIu64 ",%" PRIu64 "\n", counts[true], counts[false]);
            fflush(out);
            if (steps_out)
                fprintf(steps_out, "\n"), fflush(steps_out);
            return;
        }
    }
    errno = ELOOP;
    fail("no end after many steps");
}

static bool is_first_rank(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    return !rank || !strcmp(rank, "0");
}

int main(int argc, char **argv) {
    if (argc > 3 && !is_first_rank()) {
        execvp(argv[3], argv + 3);
        fail(argv[3]);
    }
    FILE *out = argc > 3 ? fopen(argv[2], "w") : NULL;
    if (!out) {
        fprintf(stderr, "usage: modes_step LIBRARY FILE PROGRAM [ARGUMENT]...   (FILE must be writable)\n");
        return 2;
    }
    child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            fail("being traced is not allowed here");
        execvp(argv[3], argv + 3);
        fail(argv[3]);
    }
    const char *steps = getenv("MODES_STEP_TRACE");
    FILE *steps_out = steps ? fopen(steps, "w") : NULL;
    int status, signal = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        fail("starting the program");
    if (!WIFSTOPPED(status))
        return 1;
    for (;;) {
        signal = resume(PTRACE_CONT, signal);
        if (signal != SIGUSR1)
            continue;
        count(argv[1], out, steps_out);
        signal = 0;
    }
}
