/* unit_tools.c: tests the parts of `hearth run` that decide without running anything: command lines, quoting, ELF
 * files. */
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "base/clock.h"
#include "base/log.h"
#include "run/compose.h"
#include "run/elf.h"
#include "run/launcher/flavour.h"
#include "run/launcher/launcher.h"
#include "run/strvec.h"

/* ---- help ---- */

/* Splits at single blanks. */
static struct strvec split(const char *text) {
    struct strvec w = {0};
    char *copy = strdup(text), *rest = copy;
    for (char *word; (word = strsep(&rest, " "));)
        strvec_add(&w, word);
    free(copy);
    return w;
}

/* The programs found in a command line, each followed by a blank. */
static const char *programs(enum launcher_kind kind, const char *text) {
    static char out[256];
    struct strvec w = split(text);
    struct launcher_line line = launcher_read(kind, w.of, 0, w.count);
    out[0] = 0;
    for (size_t i = 0; i < line.count; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s ", w.of[line.parts[i].program]);
    launcher_free(&line);
    strvec_free(&w);
    return out;
}

/* The command line with /lib/libhearth-mpi.so and HEARTH_A=1 inserted; "refused" if that is not possible. */
static const char *composed(enum launcher_kind kind, const char *text) {
    static char out[1024];
    struct program list[4] = {{.word = "x"}, {.word = "y"}, {.word = "z"}, {.word = "u"}};
    struct strvec w = split(text), settings = split("HEARTH_A=1"), result = {0};
    struct launcher_line line = launcher_read(kind, w.of, 0, w.count);
    struct composition c = {&w, kind, 0, &line, list, "/lib/libhearth-mpi.so", &settings};
    int err = compose(&c, &result);
    char *quoted = err ? strdup("refused") : strvec_quoted(&result);
    snprintf(out, sizeof out, "%s", quoted);
    free(quoted);
    launcher_free(&line);
    strvec_free(&w);
    strvec_free(&settings);
    strvec_free(&result);
    return out;
}

/* ---- command lines ---- */

TEST(the_program_comes_after_the_options_and_their_values)
{
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun -n 2 sh x"), "sh ");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun sh -n 2"), "sh ");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun --mca env sh -x ls --oversubscribe cat"), "cat ");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun -H a,b --map-by ppr:1:node --bind-to none -- sh ls"),
                "sh ");
    expect_text(programs(LAUNCHER_HYDRA, "mpiexec -genv ls sh -f cat -ppn 2 env true"), "env ");
    expect_text(programs(LAUNCHER_HYDRA, "mpiexec -l -print-all-exitcodes sh"), "sh ");
    expect_text(programs(LAUNCHER_SRUN, "srun -n2 -N 1 --mpi=pmi2 --cpu-bind sh --exclusive true"), "true ");
    expect_text(programs(LAUNCHER_SRUN, "srun -ln 4 sh"), "sh ");
}

TEST(each_part_of_a_line_with_colons_has_one)
{
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun -n 1 sh a b : -n 2 cat -x : ls"), "sh cat ls ");
    expect_text(programs(LAUNCHER_HYDRA, "mpiexec -n 1 sh : -env ls cat -n 1 true"), "sh true ");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun : : sh"), "sh ");
}

TEST(an_option_that_is_not_known_may_have_a_value)
{
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun --new-option 17 sh x"), "sh ");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun --new-option sh x"), "sh ");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun --new-option ./not-there x"), "./not-there ");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun --new-option ./not-there"), "./not-there ");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun -n 2 ./not-there sh"), "./not-there ");
}

TEST(lines_that_end_early_have_none)
{
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun"), "");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun -n"), "");
    expect_text(programs(LAUNCHER_HYDRA, "mpiexec -genv A"), "");
    expect_text(programs(LAUNCHER_SRUN, "srun -n"), "");
    expect_text(programs(LAUNCHER_SRUN, "srun --export"), "");
    expect_text(programs(LAUNCHER_OPENMPI, "mpirun --"), "");
}

TEST(only_the_ranks_get_the_preload)
{
    unsetenv("LD_PRELOAD");
    expect_text(composed(LAUNCHER_OPENMPI, "mpirun -n 1 sh a : cat"),
                "mpirun -n 1 /usr/bin/env LD_PRELOAD=/lib/libhearth-mpi.so HEARTH_A=1 sh a : "
                "/usr/bin/env LD_PRELOAD=/lib/libhearth-mpi.so HEARTH_A=1 cat");
}

TEST(what_else_is_preloaded_stays_first)
{
    expect_text(
        composed(LAUNCHER_OPENMPI, "mpirun -x LD_PRELOAD=/a.so:/b/libhearth-mpi.so sh"),
        "mpirun -x LD_PRELOAD=/a.so:/b/libhearth-mpi.so /usr/bin/env LD_PRELOAD=/a.so:/lib/libhearth-mpi.so "
        "HEARTH_A=1 sh");
    expect_text(
        composed(LAUNCHER_HYDRA, "mpiexec -genv LD_PRELOAD /a.so sh"),
        "mpiexec -genv LD_PRELOAD /a.so /usr/bin/env LD_PRELOAD=/a.so:/lib/libhearth-mpi.so HEARTH_A=1 sh");
    setenv("LD_PRELOAD", "/c.so", 1);
    expect_text(composed(LAUNCHER_HYDRA, "mpiexec sh"),
                "mpiexec /usr/bin/env LD_PRELOAD=/c.so:/lib/libhearth-mpi.so HEARTH_A=1 sh");
    expect_text(
        composed(LAUNCHER_HYDRA, "mpiexec env -i B=2 LD_PRELOAD=/d.so sh -c x"),
        "mpiexec env -i B=2 LD_PRELOAD=/d.so LD_PRELOAD=/d.so:/lib/libhearth-mpi.so HEARTH_A=1 sh -c x");
    setenv("LD_PRELOAD", "/c.so /b/libhearth-mpi.so.1:libhearth-mpi.so:/b/notlibhearth-mpi.so", 1);
    expect_text(
        composed(LAUNCHER_HYDRA, "mpiexec sh"),
        "mpiexec /usr/bin/env LD_PRELOAD=/c.so:/b/notlibhearth-mpi.so:/lib/libhearth-mpi.so HEARTH_A=1 sh");
    setenv("LD_PRELOAD", "/c.so", 1);
    expect_text(composed(LAUNCHER_HYDRA, "mpiexec env -u LD_PRELOAD sh"),
                "mpiexec env -u LD_PRELOAD LD_PRELOAD=/lib/libhearth-mpi.so HEARTH_A=1 sh");
    unsetenv("LD_PRELOAD");
}

TEST(srun_exports_where_no_word_can_stand_before_the_program)
{
    expect_text(composed(LAUNCHER_SRUN, "srun -n 2 --multi-prog file"),
                "srun --export=ALL,LD_PRELOAD=/lib/libhearth-mpi.so,HEARTH_A=1 -n 2 --multi-prog file");
    expect_text(composed(LAUNCHER_SRUN, "srun --export=B,LD_PRELOAD=/a.so,C --multi-prog file"),
                "srun --export=B,C,LD_PRELOAD=/a.so:/lib/libhearth-mpi.so,HEARTH_A=1 "
                "--multi-prog file");
    expect_text(composed(LAUNCHER_SRUN, "srun --export B --bcast sh"),
                "srun --export B,LD_PRELOAD=/lib/libhearth-mpi.so,HEARTH_A=1 --bcast sh");
    log_set_level(LOG_ERROR);
    expect_text(composed(LAUNCHER_SRUN, "srun --export=NONE --multi-prog file"), "refused");
}

/* ---- quoting ---- */

TEST(other_launchers_have_their_own_options)
{
    expect(
        !strcmp(programs(LAUNCHER_APRUN, "aprun -n 4 -N2 -cc cpu -e A=1 -ss ./a x : -n 1 ./b"), "./a ./b "));
    expect(!strcmp(programs(LAUNCHER_JSRUN, "jsrun -n 4 -a1 --smpiargs=off --bind packed:2 -E A=1 ./a x"),
                   "./a "));
    expect(!strcmp(programs(LAUNCHER_FLUX, "run -N2 -n 4 --env=A=1 -o cpu-affinity=off -x ./a x"), "./a "));
    expect(!strcmp(programs(LAUNCHER_SITE, "ibrun -n 4 -o 0 ./a x"), "./a "));
    expect(!strcmp(programs(LAUNCHER_SITE, "ccc_mprun -n 4 -c2 -E --exclusive ./a x"), "./a "));
    expect(!strcmp(programs(LAUNCHER_OPENMPI, "prun --dvm-uri file:x -n 4 --map-by core ./a x"), "./a "));
}

TEST(other_launchers_pass_variables_in_their_own_ways)
{
#define OURS "LD_PRELOAD=/lib/libhearth-mpi.so"
    unsetenv("LD_PRELOAD");
    expect(!strcmp(composed(LAUNCHER_APRUN, "aprun -n 4 ./x : -n 1 ./y"),
                   "aprun -n 4 -e " OURS " -e HEARTH_A=1 ./x : -n 1 -e " OURS " -e HEARTH_A=1 ./y"));
    expect(
        !strcmp(composed(LAUNCHER_JSRUN, "jsrun -n 4 ./x a"), "jsrun -n 4 -E " OURS " -E HEARTH_A=1 ./x a"));
    expect(
        !strcmp(composed(LAUNCHER_FLUX, "run -n4 ./x a"), "run -n4 --env=" OURS " --env=HEARTH_A=1 ./x a"));
    expect(!strcmp(
        composed(LAUNCHER_FLUX, "run --env=LD_PRELOAD=/t.so -n4 ./x"),
        "run --env=LD_PRELOAD=/t.so -n4 --env=LD_PRELOAD=/t.so:/lib/libhearth-mpi.so --env=HEARTH_A=1 ./x"));
    expect(!strcmp(composed(LAUNCHER_SITE, "ibrun ./x a"), "ibrun /usr/bin/env " OURS " HEARTH_A=1 ./x a"));
#undef OURS
}

TEST(a_shell_reads_back_what_was_quoted)
{
    static const char *const words[] = {
        "plain", "",    "a b", "it's", "'",  "$HOME", "`x`",       "a\\b",     "\"",    "*", "~",
        "=",     "a=b", "#",   ";",    "&&", "-n",    "tab\there", "\xc3\xa4", "{a,b}", "!", "''"};
    struct strvec w = split("printf %s|");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        strvec_add(&w, words[i]);
    char *text = strvec_quoted(&w), expected[512] = "", got[512] = "";
    FILE *shell = popen(text, "r");
    expect(shell && fread(got, 1, sizeof got - 1, shell) > 0);
    expect_eq(pclose(shell), 0);
    for (size_t i = 2; i < w.count; i++)
        strcat(strcat(expected, w.of[i]), "|");
    expect_text(got, expected);
    free(text);
    strvec_free(&w);
}

TEST(a_first_word_is_not_taken_for_an_assignment)
{
    struct strvec w = split("a=b c=d");
    char *text = strvec_quoted(&w);
    expect_text(text, "'a=b' c=d");
    free(text);
    strvec_free(&w);
}

/* ---- ELF ---- */

TEST(this_program_is_read)
{
    struct elf e;
    bool has_libc = false;
    expect_eq(elf_read("/proc/self/exe", &e), 0);
    expect_eq(e.kind, ELF_DYNAMIC);
    for (size_t i = 0; i < e.needed_count; i++)
        has_libc |= !strncmp(e.needed[i], "libc.so", 7);
    expect(has_libc);
    elf_free(&e);
    expect(elf_defines("/proc/self/exe", "strvec_quoted"));
    expect(!elf_defines("/proc/self/exe", "MPI_Init"));
    expect_eq(flavour_of_file("/proc/self/exe").flavour, FLAVOUR_NONE);
}

TEST(what_is_no_program_is_said_to_be_none)
{
    struct elf e;
    expect(elf_read("/not/there", &e) < 0);
    expect(elf_read("/", &e) < 0);
    expect_eq(elf_read("/etc/passwd", &e), 0);
    expect_eq(e.kind, ELF_NOT);
    expect_eq(flavour_of_file("/etc/passwd").flavour, FLAVOUR_NONE);
}

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static char *read_file(const char *path, size_t *bytes) {
    struct stat st;
    int file = open(path, O_RDONLY);
    char *copy = file >= 0 && !fstat(file, &st) ? malloc((size_t)st.st_size) : NULL;
    *bytes = copy && read(file, copy, (size_t)st.st_size) == st.st_size ? (size_t)st.st_size : 0;
    close(file);
    return copy;
}

/* Changes up to 8 bytes, of the headers or anywhere. */
static void damage(int file, const char *original, size_t bytes, uint64_t *state, size_t places[8]) {
    for (int i = 0; i < 8; i++) {
        size_t from = draw(state) % 2 ? 0 : draw(state) % bytes, span = from ? bytes - from : 1024;
        places[i] = from + draw(state) % (span < bytes ? span : bytes);
        char byte = draw(state) % 3 ? (char)draw(state) : (char)(original[places[i]] + 1);
        expect_eq(pwrite(file, &byte, 1, (off_t)places[i]), 1);
    }
}

/* Whatever is read, no invalid memory is accessed: the sanitizers check that. */
TEST(damaged_files_are_survived)
{
    const char *given = getenv("HEARTH_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : clock_ns(), state = seed;
    char path[] = "/tmp/unit_tools.XXXXXX";
    size_t bytes, places[8];
    char *original = read_file("/bin/true", &bytes);
    int file = mkstemp(path);
    printf("seed: HEARTH_TEST_SEED=%llu\n", (unsigned long long)seed);
    expect(original && bytes && write(file, original, bytes) == (ssize_t)bytes);
    for (int round = 0; round < 2000; round++) {
        struct elf e;
        damage(file, original, bytes, &state, places);
        if (!elf_read(path, &e))
            elf_free(&e);
        elf_defines(path, "MPI_Init");
        flavour_of_file(path);
        for (int i = 0; i < 8; i++)
            expect_eq(pwrite(file, &original[places[i]], 1, (off_t)places[i]), 1);
    }
    for (size_t length = 0; length < bytes; length += 1 + length / 16) { /* and truncated ones */
        struct elf e;
        expect_eq(ftruncate(file, (off_t)(bytes - length)), 0);
        if (!elf_read(path, &e))
            elf_free(&e);
    }
    close(file);
    unlink(path);
    free(original);
}

/* A library that needs `needed` others, with `folders` search folders: a header, two program headers, the dynamic
 * section and its strings. */
static void write_greedy_library(int file, size_t needed, size_t folders) {
    enum { ADDRESS = 0x10000, NAME = 1, RPATH = 3 };
    size_t strings = RPATH + folders + 1, entries = needed + 4,
           at = sizeof(ElfW(Ehdr)) + 2 * sizeof(ElfW(Phdr));
    size_t strings_at = at + entries * sizeof(ElfW(Dyn)), bytes = strings_at + strings;
    char *image = calloc(1, bytes);
    ElfW(Ehdr) *header = (ElfW(Ehdr) *)(void *)image;
    ElfW(Phdr) *parts = (ElfW(Phdr) *)(header + 1);
    ElfW(Dyn) *dynamic = (ElfW(Dyn) *)(parts + 2);
    int self = open("/proc/self/exe", O_RDONLY);
    expect_eq(read(self, header, sizeof *header), sizeof *header);
    close(self);
    header->e_phoff = sizeof *header;
    header->e_phnum = 2;
    header->e_shnum = 0;
    parts[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_vaddr = ADDRESS, .p_filesz = bytes};
    parts[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC, .p_offset = at, .p_filesz = entries * sizeof *dynamic};
    for (size_t i = 0; i < needed; i++)
        dynamic[i] = (ElfW(Dyn)){.d_tag = DT_NEEDED, .d_un.d_val = NAME};
    dynamic[needed] = (ElfW(Dyn)){.d_tag = DT_RPATH, .d_un.d_val = RPATH};
    dynamic[needed + 1] = (ElfW(Dyn)){.d_tag = DT_STRTAB, .d_un.d_val = ADDRESS + strings_at};
    dynamic[needed + 2] = (ElfW(Dyn)){.d_tag = DT_STRSZ, .d_un.d_val = strings};
    image[strings_at + NAME] = 'x';
    memset(image + strings_at + RPATH, ':', folders);
    expect_eq(pwrite(file, image, bytes, 0), bytes);
    free(image);
}

/* Without a limit the search would take hours. */
TEST(a_library_that_names_everything_is_given_up)
{
    char path[64];
    int file = memfd_create("unit_tools", MFD_CLOEXEC);
    struct elf e;
    write_greedy_library(file, 30000, 100000);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    expect_eq(elf_read(path, &e), 0);
    expect_eq(e.kind, ELF_LIBRARY);
    expect_eq(e.needed_count, 30000);
    elf_free(&e);
    expect_eq(flavour_of_file(path).flavour, FLAVOUR_NONE);
    close(file);
}
