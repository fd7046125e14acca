/* file.c: the processes that have a file open, for pre-barriers before calls that are collective over it (prebarrier.c).
 * MPI has no query for them, and files carry no attributes. If some process is reached through MPI, each open file is
 * in a list here. */
#include <stdlib.h>

#include "mpi/host/acquire.h"
#include "mpi/host/hooks.h"
#include "mpi/messages/collective/prebarrier.h"

struct open_file {
    MPI_File file;
    struct prebarrier prebarrier;
    struct open_file *next;
};

static struct open_file *files;

static void file_link(struct open_file *f) {
    p2p_lock();
    f->next = files;
    files = f;
    p2p_unlock();
}

static void file_note(MPI_File file, struct prebarrier prebarrier) {
    struct open_file *f = malloc(sizeof *f);
    if (!f)
        p2p_out_of_memory("the list of open files");
    f->file = file;
    f->prebarrier = prebarrier;
    file_link(f);
}

void p2p_prebarrier_file_slow(MPI_File file) {
    p2p_lock();
    struct open_file *f = files;
    while (f && f->file != file)
        f = f->next;
    p2p_unlock();
    if (f)
        p2p_prebarrier_repeat(&f->prebarrier);
}

/* NULL: the file is not in the list. */
static struct open_file *file_unlink(MPI_File file) {
    p2p_lock();
    struct open_file **link = &files, *f;
    while ((f = *link) && f->file != file)
        link = &f->next;
    if (f)
        *link = f->next;
    p2p_unlock();
    return f;
}

static void file_forget(struct open_file *f) {
    p2p_prebarrier_drop(&f->prebarrier);
    free(f);
}

int hook_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file) {
    p2p_prebarrier_all(comm);
    p2p_enter();
    int rc = host_File_open(comm, path, mode, info, file);
    p2p_leave();
    struct prebarrier prebarrier = {NULL, 0};
    if (p2p_prebarrier_is_needed())
        prebarrier = p2p_prebarrier_number(comm, rc == MPI_SUCCESS);
    if (prebarrier.comm)
        file_note(*file, prebarrier);
    acquire(EVENT_FILE);
    return rc;
}

/* The file leaves the list before MPI closes it, because from then on another thread may get the same handle. */
int hook_File_close(MPI_File *file) {
    struct open_file *f = file && p2p_prebarrier_is_needed() ? file_unlink(*file) : NULL;
    if (f)
        p2p_prebarrier_repeat(&f->prebarrier);
    p2p_enter();
    int rc = host_File_close(file);
    p2p_leave();
    if (f && rc == MPI_SUCCESS)
        file_forget(f);
    else if (f)
        file_link(f);
    acquire(EVENT_FILE);
    return rc;
}
