/* fuzz.h: shared declarations of the fuzz targets.
 *
 * A target is one file fuzz_NAME.c with LLVMFuzzerTestOneInput. It is built twice: by clang with libFuzzer as
 * fuzz_NAME (fuzz.sh), and by any compiler with replay.c as unit_fuzz_NAME, which test/run finds. */
#ifndef HEARTH_TEST_FUZZ_H
#define HEARTH_TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs one input. Always returns 0; a fault ends the process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that holds for every input. */
#define fuzz_must(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);

/* Error lines that the library has logged so far. They are formatted and dropped: printing them would dominate the run time. */
unsigned fuzz_errors(void);

/* ---- the input, piece by piece; zeros follow its end ---- */

struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* Copies the next `bytes` bytes. */
void fuzz_take(struct fuzz_input *in, void *to, size_t bytes);
uint8_t fuzz_take_byte(struct fuzz_input *in);

/* ---- the input as a file ---- */

/* An unnamed file with these bytes, and a path by which this process can open it. Valid until the next call. */
const char *fuzz_file(const void *data, size_t bytes);

#endif
