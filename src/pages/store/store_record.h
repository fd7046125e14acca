/* store_record.h: the record (header) of a named store, in the first blocks of its file. */
#ifndef HEARTH_PAGES_STORE_RECORD_H
#define HEARTH_PAGES_STORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_BYTES = 4096, RECORDS = 2, RECORD_VERSION = 2 };

/* Format in the file; all other bytes of the block are zero. Magic, order and version keep their positions in any later
 * version. */
struct store_record {
    char magic[8];
    uint32_t order; /* byte order mark: 0x01020304 in the machine's byte order */
    uint32_t version;
    uint64_t sequence; /* the larger one is newer; it lies in block `sequence` % 2 */
    uint64_t identity;
    uint64_t bytes; /* of the segment */
    uint64_t page_bytes;
    uint32_t rank, ranks;
    uint64_t committed; /* the newest epoch that, as far as this rank knew, all ranks have */
    uint64_t tried;     /* the largest epoch number that was started */
    struct {
        uint64_t epoch; /* 0: this table holds none */
        uint64_t checksum;
    } tables[2];
    uint64_t in_use; /* 1: by a job that has not ended, or has failed */
    uint64_t checksum;
};

uint64_t pages_store_record_hash(const void *data, size_t bytes);

/* Fills a block with this record, its magic and its checksum. */
void pages_store_record_pack(const struct store_record *record, void *block);

/* Selects the newer valid block of the two at `blocks`. Returns NULL, or the reason why there is none, with a code in
 * *error. */
const char *pages_store_record_unpack(const void *blocks, struct store_record *record, int *error);

#endif
