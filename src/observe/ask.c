/* ask.c: see ask.h. The size of the file is sealed, so that no access raises SIGBUS. */
#include "observe/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HIGH_NUMBER = 700 };

/* Out of the way of programs that close or reuse low numbers, as live_file.c does. */
static int ask_file(void) {
    int file = memfd_create(ASK_TITLE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0)
        return -1;
    int high = fcntl(file, F_DUPFD_CLOEXEC, HIGH_NUMBER);
    if (high >= 0)
        close(file);
    return high >= 0 ? high : file;
}

static struct ask_page *ask_map(int file) {
    void *at = mmap(NULL, sizeof(struct ask_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

struct ask_page *ask_open(void) {
    static struct ask_page own;
    int file = ask_file();
    bool is_ready = file >= 0 && !ftruncate(file, sizeof own) &&
                    !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    struct ask_page *page = is_ready ? ask_map(file) : NULL;
    if (!page && file >= 0)
        close(file);
    page = page ? page : &own;
    memcpy(page->magic, ASK_MAGIC, sizeof page->magic);
    page->pid = (int32_t)getpid();
    return page;
}

int ask_process(int pid, int number) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, number);
    int file = open(path, O_RDWR | O_CLOEXEC), err = 0;
    if (file < 0)
        return -errno;
    struct ask_page *page = lseek(file, 0, SEEK_END) == (off_t)sizeof *page ? ask_map(file) : NULL;
    if (!page)
        err = -EINVAL;
    else if (memcmp(page->magic, ASK_MAGIC, sizeof page->magic) != 0)
        err = -EINVAL;
    else
        atomic_store_explicit(&page->due, ASK_NOW, memory_order_relaxed);
    if (page)
        munmap(page, sizeof *page);
    close(file);
    return err;
}
