/* vm.h: operations on memory of other processes of the node that is not mapped here, by process_vm_readv and
 * process_vm_writev. The target takes no part. */
#ifndef HEARTH_MPI_SERVE_VM_H
#define HEARTH_MPI_SERVE_VM_H

#include "data/data.h"
#include "tables/shape.h"

/* A side of a copy: its first byte, here or in the other process, and its shape. */
struct vm_side {
    uint64_t first;
    const struct shape *shape;
};

enum vm_direction { VM_READ, VM_WRITE };

/* Copies `bytes` packed bytes. Returns 0 or a negative code: -EPERM, -ESRCH (the process has ended), -EFAULT (it has
 * no such memory). */
int serve_vm_copy(int pid, enum vm_direction direction, const struct vm_side *here,
                  const struct vm_side *there, uint64_t bytes);

/* The same with packed bytes [from, from + bytes) of the other process's side. */
int serve_vm_copy_from(int pid, enum vm_direction direction, const struct vm_side *here,
                       const struct vm_side *there, uint64_t from, uint64_t bytes);

int serve_vm_copy_flat(int pid, enum vm_direction direction, uint64_t here, uint64_t there, uint64_t bytes);

/* As data_update_element. `reads`: the old value is needed. */
int serve_vm_update_element(int pid, struct net_lock_table *locks, data_kernel *combine, uint64_t to,
                            const void *operand, void *old, size_t bytes, bool reads);

/* As data_update_wait; `u->to` is an address in the other process. */
int serve_vm_update(int pid, struct net_lock_table *locks, const struct data_update *u);

/* As data_update_try. *done: the bytes done. */
int serve_vm_update_try(int pid, struct net_lock_table *locks, const struct data_update *u, uint64_t *done);

/* As data_swap_if. -EAGAIN: the lock is held elsewhere and `waits` is false. */
int serve_vm_swap_if(int pid, struct net_lock_table *locks, enum data_type type, uint64_t element,
                     const void *expected, const void *desired, void *old, bool waits);

/* Whether the kernel lets this process read a byte of the other one; writing requires the same permission. */
bool serve_vm_is_allowed(int pid, uint64_t address);

#endif
