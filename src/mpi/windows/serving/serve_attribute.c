/* serve_attribute.c: queries about served windows that the host's window of the same handle answers wrongly: it was created
 * over existing memory, and shares none, or is an empty one. */
#include <stdlib.h>

#include "mpi/host/hooks.h"
#include "mpi/windows/serving/serve_access.h"
#include "mpi/windows/serving/serve_sync.h"

/* ---- attributes ---- */

/* Of a window whose handle is an empty one of the host. */
static void correct_memory(struct served *s, int key, void *value) {
    if (key == MPI_WIN_BASE)
        *(void **)value = s->dynamic ? MPI_BOTTOM : (void *)(uintptr_t)s->own_base;
    else if (key == MPI_WIN_SIZE)
        *(MPI_Aint **)value = &s->own_bytes;
    else if (key == MPI_WIN_DISP_UNIT)
        *(int **)value = &s->own_unit;
}

/* The processes of a node see each other's stores without any call: the memory model is unified. */
int serve_Win_get_attr(MPI_Win win, int key, void *value, int *flag) {
    static int allocated = MPI_WIN_FLAVOR_ALLOCATE, created = MPI_WIN_FLAVOR_CREATE,
               dynamic = MPI_WIN_FLAVOR_DYNAMIC, unified = MPI_WIN_UNIFIED;
    int rc = serve_host.Win_get_attr(win, key, value, flag);
    struct served *s = rc == MPI_SUCCESS && *flag ? serve_find(win) : NULL;
    if (s && key == MPI_WIN_MODEL)
        *(int **)value = &unified;
    else if (s && key == MPI_WIN_CREATE_FLAVOR && (s->memory || s->stand_in))
        *(int **)value = s->memory ? &allocated : s->dynamic ? &dynamic : &created;
    else if (s && s->stand_in)
        correct_memory(s, key, value);
    return rc;
}

int hook_Win_get_attr(MPI_Win win, int key, void *value, int *flag) {
    return host_Win_get_attr(win, key, value, flag);
}

int serve_Win_get_group(MPI_Win win, MPI_Group *group) {
    const struct served *s = serve_find(win);
    return serve_sync_fences(s) ? host_Comm_group(s->sync, group) : serve_host.Win_get_group(win, group);
}

int hook_Win_get_group(MPI_Win win, MPI_Group *group) {
    return host_Win_get_group(win, group);
}

/* ---- dynamic windows: memory of others is reached through the kernel, attached or not; this rank's own by loads and stores ---- */

static bool attached_add(struct served *s, uint64_t begin, uint64_t bytes) {
    serve_lock();
    struct serve_range *more = realloc(s->attached, (s->attached_count + 1) * sizeof *more);
    if (more) {
        s->attached = more;
        more[s->attached_count++] = (struct serve_range){begin, begin + bytes};
    }
    serve_unlock();
    return more;
}

static void attached_remove(struct served *s, uint64_t begin) {
    serve_lock();
    size_t i = 0;
    while (i < s->attached_count && s->attached[i].begin != begin)
        i++;
    if (i < s->attached_count)
        s->attached[i] = s->attached[--s->attached_count];
    serve_unlock();
}

bool serve_attached_has(MPI_Win win, uint64_t begin, uint64_t end) {
    const struct served *s = serve_find(win);
    bool has = false;
    serve_lock();
    for (size_t i = 0; s && i < s->attached_count && !has; i++)
        has = s->attached[i].begin <= begin && end <= s->attached[i].end;
    serve_unlock();
    return has;
}

int serve_Win_attach(MPI_Win win, void *base, MPI_Aint size) {
    struct served *s = serve_find(win);
    int rc = s && s->stand_in && s->dynamic ? MPI_SUCCESS : serve_host.Win_attach(win, base, size);
    if (rc != MPI_SUCCESS || !s || !s->dynamic || attached_add(s, (uint64_t)(uintptr_t)base, (uint64_t)size))
        return rc;
    return serve_access_refuse(win, MPI_ERR_NO_MEM);
}

int serve_Win_detach(MPI_Win win, const void *base) {
    struct served *s = serve_find(win);
    if (s && s->dynamic)
        attached_remove(s, (uint64_t)(uintptr_t)base);
    return s && s->stand_in && s->dynamic ? MPI_SUCCESS : serve_host.Win_detach(win, base);
}

/* ---- memory that can be loaded and stored directly (MPI 4.1, 12.2.3) ---- */

struct segment_view {
    MPI_Aint bytes, unit;
    void *base;
};

/* MPI_PROC_NULL: the first rank with memory that is mapped here; if there is none, the last rank of this node. */
static int first_with_memory(const struct served *s) {
    int i = 0;
    while (i < s->here_count - 1 && !(s->here[i]->bytes && s->here[i]->mapped))
        i++;
    return s->here[i]->head.rank;
}

/* The memory of a rank, empty if it is not mapped here. */
static int view_segment(struct served *s, int rank, struct segment_view *v) {
    if (rank == MPI_PROC_NULL)
        rank = first_with_memory(s);
    if ((unsigned)rank >= (unsigned)s->size)
        return serve_access_refuse(s->handle, MPI_ERR_RANK);
    const struct served_target *t = serve_target_make(s, rank);
    if (!t)
        return serve_access_refuse(s->handle, MPI_ERR_NO_MEM);
    *v = (struct segment_view){.unit = (MPI_Aint)t->unit};
    if (t->mapped) {
        v->bytes = (MPI_Aint)t->bytes;
        v->base = (void *)(uintptr_t)t->base;
    }
    return MPI_SUCCESS;
}

/* Whether the host answers: with an error, if the window is a dynamic one or an argument is missing. */
static bool is_for_host(const struct served *s, const void *bytes, const void *unit, const void *base) {
    return !s || s->dynamic || !bytes || !unit || !base;
}

int serve_Win_shared_query(MPI_Win win, int rank, MPI_Aint *bytes, int *unit, void *base) {
    struct served *s = serve_find(win);
    struct segment_view v = {0};
    if (is_for_host(s, bytes, unit, base))
        return serve_host.Win_shared_query(win, rank, bytes, unit, base);
    int rc = view_segment(s, rank, &v);
    if (rc != MPI_SUCCESS)
        return rc;
    *bytes = v.bytes;
    *unit = (int)v.unit;
    memcpy(base, &v.base, sizeof v.base);
    return MPI_SUCCESS;
}

int hook_Win_shared_query(MPI_Win win, int rank, MPI_Aint *bytes, int *unit, void *base) {
    return host_Win_shared_query(win, rank, bytes, unit, base);
}

#if HEARTH_MPI_COUNTS
int serve_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *bytes, MPI_Aint *unit, void *base) {
    struct served *s = serve_find(win);
    struct segment_view v = {0};
    if (is_for_host(s, bytes, unit, base))
        return serve_host.Win_shared_query_c(win, rank, bytes, unit, base);
    int rc = view_segment(s, rank, &v);
    if (rc != MPI_SUCCESS)
        return rc;
    *bytes = v.bytes;
    *unit = v.unit;
    memcpy(base, &v.base, sizeof v.base);
    return MPI_SUCCESS;
}

int hook_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *bytes, MPI_Aint *unit, void *base) {
    return host_Win_shared_query_c(win, rank, bytes, unit, base);
}
#endif
