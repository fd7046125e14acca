/* fuzz_elf.c: feeds ELF files to the reader. The first byte chooses which fields of the header are set to those of
 * this machine, as few inputs would pass the checks otherwise. */
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/elf.h"
#include "run/launcher/flavour.h"
#include "fuzz.h"

enum { NATIVE = 1, SIZES = 2 };

static ElfW(Ehdr) own;

static void read_own(void) {
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    fuzz_must(self >= 0 && read(self, &own, sizeof own) == (ssize_t)sizeof own);
    close(self);
}

static void repair(uint8_t *file, size_t size, unsigned what) {
    ElfW(Ehdr) header;
    if (size < sizeof header)
        return;
    memcpy(&header, file, sizeof header);
    if (what & NATIVE) {
        memcpy(header.e_ident, own.e_ident, sizeof header.e_ident);
        header.e_machine = own.e_machine;
    }
    if (what & SIZES) {
        header.e_phentsize = sizeof(ElfW(Phdr));
        header.e_shentsize = sizeof(ElfW(Shdr));
    }
    memcpy(file, &header, sizeof header);
}

static void check_strings(const struct elf *e) {
    size_t bytes = 0;
    for (size_t i = 0; i < e->needed_count; i++)
        bytes += strlen(e->needed[i]);
    bytes += e->soname ? strlen(e->soname) : 0;
    bytes += e->rpath ? strlen(e->rpath) : 0;
    bytes += e->runpath ? strlen(e->runpath) : 0;
    fuzz_must(bytes < SIZE_MAX / 2); /* reads all of them */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input in = {data, size};
    unsigned what = fuzz_take_byte(&in);
    struct elf e;
    if (!own.e_machine)
        read_own();
    uint8_t *file = malloc(in.left + 1);
    fuzz_must(file != NULL);
    memcpy(file, in.at, in.left);
    repair(file, in.left, what);
    const char *path = fuzz_file(file, in.left);
    unsetenv("LD_LIBRARY_PATH");
    if (!elf_read(path, &e)) {
        check_strings(&e);
        elf_free(&e);
    }
    elf_defines(path, "main");
    char id[129] = "";
    fuzz_must(elf_build_id(path, id, sizeof id) == (id[0] != 0));
    struct mpi_library found = flavour_of_file(path);
    fuzz_must((found.flavour == FLAVOUR_NONE) == !found.name[0]);
    free(file);
    return 0;
}
