/* serving.c: windows of MPI_Win_allocate, and calls on them; see serving.h. */
#include "serving.h"

struct allocated allocate_window(MPI_Comm comm, size_t bytes, int unit, const char *where) {
    struct allocated w;
    MPI_Info info = MPI_INFO_NULL;
    if (where) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "hearth_windows", where);
    }
    MPI_Win_allocate((MPI_Aint)(bytes + 63) / 64 * 64, unit, info, comm, &w.base, &w.win);
    if (where)
        MPI_Info_free(&info);
    memset(w.base, 0, bytes);
    MPI_Barrier(comm);
    return w;
}

int64_t get_number(MPI_Win win, int target, int index) {
    int64_t value = -1;
    MPI_Get(&value, 1, MPI_INT64_T, target, 8 * index, 1, MPI_INT64_T, win);
    MPI_Win_flush(target, win);
    return value;
}

void put_number(MPI_Win win, int target, int index, int64_t value) {
    MPI_Put(&value, 1, MPI_INT64_T, target, 8 * index, 1, MPI_INT64_T, win);
    MPI_Win_flush(target, win);
}

int64_t add_number(MPI_Win win, int target, int index, int64_t value) {
    int64_t old = -1;
    MPI_Fetch_and_op(&value, &old, MPI_INT64_T, target, 8 * index, MPI_SUM, win);
    MPI_Win_flush(target, win);
    return old;
}

int64_t load_number(const struct allocated *w, int index) {
    return __atomic_load_n((int64_t *)(void *)w->base + index, __ATOMIC_SEQ_CST);
}

void store_number(const struct allocated *w, int index, int64_t value) {
    __atomic_store_n((int64_t *)(void *)w->base + index, value, __ATOMIC_SEQ_CST);
}

void *attribute(MPI_Win win, int key) {
    void *value = NULL;
    int flag = 0;
    MPI_Win_get_attr(win, key, &value, &flag);
    expect(flag);
    return value;
}
