/* store_record.h: what a named store says about itself, in the first blocks of its file. */
#ifndef HEARTH_PAGES_STORE_RECORD_H
#define HEARTH_PAGES_STORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_BYTES = 4096, RECORDS = 2, RECORD_VERSION = 2 };

/* As it lies in the file; all other bytes of its block are zero. Magic, order and version stay where they are in any
 * later version. */
struct record {
    char magic[8];
    uint32_t order; /* of bytes: 0x01020304 as the machine writes it */
    uint32_t version;
    uint64_t sequence; /* the larger one is the newer one; it lies in block `sequence` % 2 */
    uint64_t identity;
    uint64_t bytes; /* of the segment */
    uint64_t page_bytes;
    uint32_t rank, ranks;
    uint64_t committed; /* epoch: the newest of which this rank knew that all have it */
    uint64_t tried;     /* largest number of an epoch that was begun */
    struct {
        uint64_t epoch; /* 0: this table holds none */
        uint64_t checksum;
    } tables[2];
    uint64_t in_use; /* 1: by a job that has not ended, or has not ended well */
    uint64_t checksum;
};

uint64_t record_hash(const void *data, size_t bytes);

/* A block with this record, magic and checksum filled in. */
void record_pack(const struct record *record, void *block);

/* The newer of the two blocks at `blocks` that is whole. NULL, or why there is none, with a code in *error. */
const char *record_unpack(const void *blocks, struct record *record, int *error);

#endif
