/* file.c: the processes that have a file open, for pre-barriers before calls that are collective over it (prebarrier.c).
 * MPI has no query for them, and files carry no attributes. If some process is reached through MPI, each open file is
 * in a list here. */
#include <stdlib.h>

#include "mpi/core/acquire.h"
#include "mpi/core/hooks.h"
#include "mpi/p2p/collective/prebarrier.h"

struct open_file {
    MPI_File file;
    struct prebarrier prebarrier;
    struct open_file *next;
};

static struct open_file *files;

static void file_note(MPI_File file, struct prebarrier prebarrier) {
    struct open_file *f = malloc(sizeof *f);
    if (!f)
        p2p_out_of_memory("the list of open files");
    f->file = file;
    f->prebarrier = prebarrier;
    p2p_lock();
    f->next = files;
    files = f;
    p2p_unlock();
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

static void file_forget(MPI_File file) {
    p2p_lock();
    struct open_file **link = &files, *f;
    while ((f = *link) && f->file != file)
        link = &f->next;
    if (f)
        *link = f->next;
    p2p_unlock();
    if (!f)
        return;
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

int hook_File_close(MPI_File *file) {
    MPI_File closed = file ? *file : MPI_FILE_NULL;
    p2p_prebarrier_file(closed);
    p2p_enter();
    int rc = host_File_close(file);
    p2p_leave();
    if (p2p_prebarrier_is_needed() && rc == MPI_SUCCESS)
        file_forget(closed);
    acquire(EVENT_FILE);
    return rc;
}
