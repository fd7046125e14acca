/* fault_kind.h: whether a fault was a read, a write or an instruction fetch, from the signal. */
#ifndef HEARTH_PAGES_FAULT_KIND_H
#define HEARTH_PAGES_FAULT_KIND_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

enum fault_kind { FAULT_READ, FAULT_WRITE, FAULT_FETCH };

/* Callable in a signal handler of SIGSEGV. Where the system does not report the kind, FAULT_WRITE: this is correct, but then
 * pages that are only read are taken from other nodes. */
enum fault_kind pages_fault_kind(const siginfo_t *info, const ucontext_t *context);

/* The access of an instruction of RISC-V, on any machine. `bits`: its first 32 bits; of a compressed one, the lower half counts. */
enum fault_kind pages_fault_kind_riscv(uint32_t bits);

#endif
