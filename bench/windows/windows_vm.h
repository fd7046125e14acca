/* windows_vm.h: bare copies between two processes by the kernel: the limit for operations on memory that only its owner
 * maps. */
#ifndef HEARTH_BENCH_WINDOWS_VM_H
#define HEARTH_BENCH_WINDOWS_VM_H

#include <stdbool.h>
#include <stddef.h>

/* Collective on MPI_COMM_WORLD, which has two ranks: rank 0 learns where the memory of rank 1 is. */
void vm_open(int rank, char *memory);

/* By rank 0: true on success. */
bool vm_read(void *into, size_t from, size_t bytes);
bool vm_write(const void *from, size_t into, size_t bytes);

#endif
