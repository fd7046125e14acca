/* fuzz_parts.c: merges any bytes as the parts of two ranks. Nothing is read beyond their ends. */
#include <stdlib.h>
#include <string.h>

#include "report/read/parts_merge.h"
#include "fuzz.h"

static struct part take(const uint8_t *data, size_t size, int rank) {
    struct part p = {.rank = rank, .text = malloc(size + 1), .length = size};
    fuzz_must(p.text != NULL);
    memcpy(p.text, data, size);
    p.text[size] = 0;
    return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *middle = size ? memchr(data, ';', size) : NULL;
    size_t first = middle ? (size_t)(middle - data) : size, length = 0;
    struct part parts[] = {take(data, first, 0),
                           take(middle ? middle + 1 : data, middle ? size - first - 1 : size, 1)};
    char *text = parts_merge(parts, 2, size % 2 ? "why" : "", &length);
    fuzz_must(text && strlen(text) <= length);
    free(text);
    free(parts[0].text);
    free(parts[1].text);
    return 0;
}
