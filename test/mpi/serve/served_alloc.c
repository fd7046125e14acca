/* served_alloc.c: tests memory of MPI_Alloc_mem: the other processes of the node map it when a window is created over it.
 *
 * configs: serve */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/random.h"
#include "serving.h"

static char *alloc_mem(size_t bytes, const char *where) {
    char *memory = NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (where) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "hearth_windows", where);
    }
    expect_eq(MPI_Alloc_mem((MPI_Aint)bytes, info, &memory), MPI_SUCCESS);
    if (where)
        MPI_Info_free(&info);
    memset(memory, 0, bytes);
    return memory;
}

#ifdef __SANITIZE_THREAD__ /* it leaves few addresses that are free in all processes */
enum { FEW_ADDRESSES = true };
#else
enum { FEW_ADDRESSES = false };
#endif

/* Whether the memory of the next rank is mapped here. */
static bool is_shared(MPI_Win win) {
    MPI_Aint bytes = 0;
    int unit;
    char *base;
    MPI_Win_shared_query(win, peer(), &bytes, &unit, &base);
    return bytes > 0;
}

/* All add to the next rank's numbers, at the beginning and the end. */
static void use_created(char *base, size_t bytes, bool shared) {
    int last = (int)(bytes / 8) - 1;
    MPI_Win win;
    MPI_Win_create(base, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    expect(FEW_ADDRESSES || is_shared(win) == shared);
    MPI_Win_lock_all(0, win);
    add_number(win, peer(), 0, 5);
    put_number(win, peer(), last, 7);
    barrier();
    struct allocated w = {win, base};
    expect_eq(load_number(&w, 0), 5);
    expect_eq(load_number(&w, last), 7);
    expect_eq(get_number(win, peer(), last), 7);
    barrier();
    store_number(&w, 0, 0);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

CASE(memory_is_shared) {
    const size_t sizes[] = {128, 4096, 100032, 3 << 20};
    SKIP_IF(!test_served(), "of the MPI below");
    for (int i = 0; i < 4; i++) {
        char *first = alloc_mem(sizes[i], NULL), *second = alloc_mem(sizes[i], NULL);
        expect_eq((uintptr_t)first % 64, 0);
        use_created(first, sizes[i], true);
        use_created(second, sizes[i], true);
        use_created(second + sizes[i] / 128 * 64, sizes[i] - sizes[i] / 128 * 64, true); /* its end */
        MPI_Free_mem(first);
        use_created(second, sizes[i], true);
        MPI_Free_mem(second);
    }
}

/* The call is not collective: ranks may use different memory, or have none. */
CASE(of_some_ranks) {
    SKIP_IF(!test_served(), "of the MPI below");
    bool is = test_rank % 2;
    char *memory = is ? alloc_mem(4096, NULL) : alloc_mem(4096, "host");
    use_created(memory, 4096, peer() % 2);
    expect_eq(MPI_Free_mem(memory), MPI_SUCCESS);
    test_return_errors(true);
    char *none = NULL;
    MPI_Info host;
    MPI_Info_create(&host);
    MPI_Info_set(host, "hearth_windows", "host");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* it would end the program */
    const MPI_Aint wrong[] = {-1};
#else
    const MPI_Aint wrong[] = {-1, (MPI_Aint)1 << 60}; /* MPICH 4.0 does not notice that there is no memory */
#endif
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        MPI_Aint bytes = wrong[i];
        int class, expected;
        MPI_Error_class(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &none), &class);
        MPI_Error_class(MPI_Alloc_mem(bytes, host, &none), &expected);
        expect_eq(class, expected);
    }
    MPI_Info_free(&host);
    test_return_errors(false);
    barrier();
}

/* Another rank has something else at that address: it reaches the memory through the kernel. */
CASE(at_an_address_in_use) {
    SKIP_IF(!test_served() || test_size > 2, "of two ranks, served");
    enum { PAGE = 4096 };
    char *memory = alloc_mem(2 * PAGE, NULL), *there = memory, *here;
    MPI_Bcast(&there, sizeof there, MPI_BYTE, 0, MPI_COMM_WORLD);
    here = test_rank == 1 ? mmap(there, PAGE, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
                          : NULL;
    expect(here != MAP_FAILED);
    use_created(memory, 2 * PAGE, test_rank == 0);
    if (here)
        munmap(here, PAGE);
    use_created(memory, 2 * PAGE, true);
    MPI_Free_mem(memory);
}

/* In random order; each block keeps its contents. */
CASE(many_times) {
    enum { BLOCKS = 200, ROUNDS = 5000 };
    static struct {
        unsigned char *base;
        size_t bytes;
    } blocks[BLOCKS];
    struct random r;
    random_seed(&r, (uint64_t)test_rank);
    for (int i = 0; i < ROUNDS; i++) {
        int which = (int)random_below(&r, BLOCKS);
        size_t bytes = blocks[which].bytes;
        if (bytes) {
            expect_eq(blocks[which].base[0], which);
            expect_eq(blocks[which].base[bytes - 1], which);
            MPI_Free_mem(blocks[which].base);
            blocks[which].bytes = 0;
        } else {
            blocks[which].bytes = bytes = (size_t)1 << random_below(&r, 18);
            blocks[which].base = (unsigned char *)alloc_mem(bytes, NULL);
            blocks[which].base[0] = blocks[which].base[bytes - 1] = (unsigned char)which;
        }
    }
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].bytes)
            MPI_Free_mem(blocks[i].base);
    memset(blocks, 0, sizeof blocks);
}
