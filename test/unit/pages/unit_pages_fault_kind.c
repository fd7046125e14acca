/* unit_pages_fault_kind.c: tests that loads, stores and instruction fetches are told apart, by real faults, and by the
 * encodings of RISC-V. */
#include "test.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pages/local/fault_kind.h"

/* Read by the address sanitizer, if there is one: it must not handle faults. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "handle_segv=0:handle_sigbus=0";
}

static char *page;
static size_t page_bytes;
static sigjmp_buf after_fetch;
static volatile sig_atomic_t faults;
static enum fault_kind seen;

static void handle(int number, siginfo_t *info, void *context) {
    seen = pages_fault_kind(info, context);
    faults++;
    if (seen == FAULT_FETCH)
        siglongjmp(after_fetch, 1);
    if (faults > 2 || mprotect(page, page_bytes, PROT_READ | PROT_WRITE))
        _exit(3);
}

static void protect(int access) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (!page)
        page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, NULL);
    faults = 0;
    if (page == MAP_FAILED || mprotect(page, page_bytes, access))
        abort();
}

/* Emulators of a process do not pass all of this on: see test/foreign/units.sh. */
static bool is_emulated(void) {
    return getenv("HEARTH_TEST_EMULATED") != NULL;
}

/* The kind of a load: under emulation it may be unknown, and is a write then. */
static enum fault_kind read_kind(void) {
    static int kind = -1;
    if (!is_emulated())
        return FAULT_READ;
    if (kind < 0) {
        protect(PROT_NONE);
        (void)*(volatile uint64_t *)page;
        kind = (int)seen;
        printf("reads are %s here\n", seen == FAULT_READ ? "known" : "not known");
    }
    return (enum fault_kind)kind;
}

#define EXPECT_LOAD(type)                                                                                    \
    do {                                                                                                     \
        enum fault_kind kind = read_kind();                                                                  \
        protect(PROT_NONE);                                                                                  \
        (void)*(volatile type *)(page + 64);                                                                 \
        expect_eq(faults, 1);                                                                                \
        expect_eq(seen, kind);                                                                               \
    } while (0)

#define EXPECT_STORE(type, access)                                                                           \
    do {                                                                                                     \
        protect(access);                                                                                     \
        *(volatile type *)(page + 64) = 1;                                                                   \
        expect_eq(faults, 1);                                                                                \
        expect_eq(seen, FAULT_WRITE);                                                                        \
    } while (0)

TEST(loads)
{
    EXPECT_LOAD(uint8_t);
    EXPECT_LOAD(int16_t);
    EXPECT_LOAD(uint32_t);
    EXPECT_LOAD(uint64_t);
    EXPECT_LOAD(float);
    EXPECT_LOAD(double);
}

TEST(stores)
{
    EXPECT_STORE(uint8_t, PROT_NONE);
    EXPECT_STORE(uint16_t, PROT_READ);
    EXPECT_STORE(uint32_t, PROT_NONE);
    EXPECT_STORE(uint64_t, PROT_READ);
    EXPECT_STORE(float, PROT_READ);
    EXPECT_STORE(double, PROT_NONE);
}

/* Emulation of x86 reports a read. */
TEST(an_atomic_addition_is_a_write)
{
    protect(PROT_READ);
    atomic_fetch_add((_Atomic uint64_t *)page, 1);
    expect_eq(faults, 1);
    if (!is_emulated())
        expect_eq(seen, FAULT_WRITE);
}

TEST(an_instruction_fetch)
{
    if (is_emulated())
        return;
    protect(PROT_READ | PROT_WRITE);
    void (*code)(void);
    memcpy(&code, &(void *){page}, sizeof code);
    if (!sigsetjmp(after_fetch, 1))
        code();
    expect_eq(seen, FAULT_FETCH);
}

TEST(instructions_of_riscv)
{
    static const uint32_t loads[] = {
        0x0005b503 /* ld a0,0(a1) */,     0x00a58503 /* lb a0,10(a1) */,    0x0005e503 /* lwu a0,0(a1) */,
        0x0005b507 /* fld fa0,0(a1) */,   0x0205f007 /* vle64.v v0,(a1) */, 0x1005b52f /* lr.d a0,(a1) */,
        0xffff6188 /* c.ld a0,0(a1) */,   0x00004188 /* c.lw a0,0(a1) */,   0x00002188 /* c.fld fa0,0(a1) */,
        0x00006502 /* c.ldsp a0,0(sp) */, 0x00008188 /* c.lbu a0,0(a1) */,  0x00004502 /* c.lwsp a0,0(sp) */};
    static const uint32_t stores[] = {0x00a5b023 /* sd a0,0(a1) */,     0x00a58023 /* sb a0,0(a1) */,
                                      0x00a5b027 /* fsd fa0,0(a1) */,   0x0205f027 /* vse64.v v0,(a1) */,
                                      0x18c5b52f /* sc.d a0,a2,(a1) */, 0x00c5b52f /* amoadd.d a0,a2,(a1) */,
                                      0xffffe188 /* c.sd a0,0(a1) */,   0x0000c188 /* c.sw a0,0(a1) */,
                                      0x0000a188 /* c.fsd fa0,0(a1) */, 0x0000e02a /* c.sdsp a0,0(sp) */,
                                      0x00008988 /* c.sb a0,0(a1) */,   0x0045a00f /* cbo.zero (a1) */};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        expect_eq(pages_fault_kind_riscv(loads[i]), FAULT_READ);
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        expect_eq(pages_fault_kind_riscv(stores[i]), FAULT_WRITE);
}
