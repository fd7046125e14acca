/* fault_kind.c: reads the kind of a fault from what each architecture's signal frame holds.
 *
 *      aarch64     a record with the syndrome register of the exception
 *      x86-64      the error code of the page fault
 *      ppc64       the number of the exception, and DSISR
 *      riscv64     nothing: the instruction at the program counter is decoded */
#include "pages/local/fault_kind.h"

#include <stdbool.h>
#include <string.h>

#if defined(__aarch64__)

/* The signal frame is a sequence of records. */
enum fault_kind pages_fault_kind(const siginfo_t *info, const ucontext_t *context) {
    enum { MAGIC = 0x45535201, FETCH_BELOW = 0x20, FETCH = 0x21, CACHE = 1 << 8, WRITE = 1 << 6 };
    const unsigned char *at = (const unsigned char *)&context->uc_mcontext.__reserved;
    const unsigned char *end = at + sizeof(context->uc_mcontext.__reserved);
    while (end - at >= 16) {
        uint32_t head[2];
        uint64_t syndrome;
        memcpy(head, at, sizeof(head));
        if (!head[0] || head[1] < sizeof(head))
            break;
        if (head[0] == MAGIC) {
            memcpy(&syndrome, at + sizeof(head), sizeof(syndrome));
            uint32_t class = (uint32_t)(syndrome >> 26) & 63;
            if (class == FETCH_BELOW || class == FETCH)
                return FAULT_FETCH;
            /* Cache maintenance instructions are reported as writes, but do not write. */
            return syndrome & WRITE && !(syndrome & CACHE) ? FAULT_WRITE : FAULT_READ;
        }
        at += head[1];
    }
    return FAULT_WRITE;
}

#elif defined(__x86_64__)

enum fault_kind pages_fault_kind(const siginfo_t *info, const ucontext_t *context) {
    enum { WRITE = 2, FETCH = 16 };
    unsigned long long code = (unsigned long long)context->uc_mcontext.gregs[REG_ERR];
    return code & FETCH ? FAULT_FETCH : code & WRITE ? FAULT_WRITE : FAULT_READ;
}

#elif defined(__powerpc64__)

/* Emulators of a process leave both registers 0: then the kind is unknown. */
enum fault_kind pages_fault_kind(const siginfo_t *info, const ucontext_t *context) {
    enum { TRAP = 40, DSISR = 42, DATA = 0x300, INSTRUCTION = 0x400, IS_STORE = 0x02000000 };
    unsigned long trap = context->uc_mcontext.gp_regs[TRAP] & ~0xful;
    if (trap == INSTRUCTION)
        return FAULT_FETCH;
    return trap == DATA && !(context->uc_mcontext.gp_regs[DSISR] & IS_STORE) ? FAULT_READ : FAULT_WRITE;
}

#elif defined(__riscv)

/* An instruction that could not be fetched must not be read here. It may begin in the page before. */
enum fault_kind pages_fault_kind(const siginfo_t *info, const ucontext_t *context) {
    uintptr_t pc = (uintptr_t)context->uc_mcontext.__gregs[REG_PC], address = (uintptr_t)info->si_addr;
    uint16_t low, high = 0;
    if (address - pc < sizeof(uint32_t))
        return FAULT_FETCH;
    memcpy(&low, (const void *)pc, sizeof low);
    if ((low & 3) == 3) /* else a compressed one, which may be the last of its page */
        memcpy(&high, (const char *)pc + sizeof low, sizeof high);
    return pages_fault_kind_riscv((uint32_t)high << 16 | low);
}

#else

enum fault_kind pages_fault_kind(const siginfo_t *info, const ucontext_t *context) {
    return FAULT_WRITE;
}

#endif

/* ---- instructions of RISC-V ---- */

/* The floating-point opcodes are those of vectors too. Of the atomic ones only a load-reserved does not write. */
static bool is_full_load(uint32_t bits) {
    enum { LOAD = 0x03, LOAD_FP = 0x07, ATOMIC = 0x2f, LOAD_RESERVED = 2 };
    uint32_t opcode = bits & 0x7f;
    return opcode == LOAD || opcode == LOAD_FP || (opcode == ATOMIC && bits >> 27 == LOAD_RESERVED);
}

/* Quadrants 0 and 2 have the loads and stores, relative to a register and to the stack: 1, 2 and 3 load. In quadrant 0, 4
 * are bytes and halves, of which bit 11 distinguishes the stores. */
static bool is_compressed_load(uint32_t bits) {
    uint32_t quadrant = bits & 3, operation = bits >> 13 & 7;
    if (quadrant == 0 && operation == 4)
        return !(bits & 1 << 11);
    return quadrant != 1 && operation >= 1 && operation <= 3;
}

enum fault_kind pages_fault_kind_riscv(uint32_t bits) {
    bool is_load = (bits & 3) == 3 ? is_full_load(bits) : is_compressed_load(bits & 0xffff);
    return is_load ? FAULT_READ : FAULT_WRITE;
}
