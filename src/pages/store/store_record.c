/* store_record.c: records of a named store. They are written alternately to two blocks, so that a record torn by a
 * power failure leaves the previous one intact. A torn record has no valid checksum. */
#include "pages/store/store_record.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char magic[8] = {'H', 'e', 'a', 'r', 't', 'h', 'N', 'V'};

#define BYTE_ORDER_MARK 0x01020304u

_Static_assert(sizeof(struct store_record) <= 512,
               "in one sector: a disk that tears writes only between sectors leaves it whole");

uint64_t pages_store_record_hash(const void *data, size_t bytes) {
    return XXH3_64bits(data, bytes);
}

static uint64_t checksum_of(const struct store_record *r) {
    return pages_store_record_hash(r, offsetof(struct store_record, checksum));
}

void pages_store_record_pack(const struct store_record *record, void *block) {
    struct store_record r = *record;
    memcpy(r.magic, magic, sizeof magic);
    r.order = BYTE_ORDER_MARK;
    r.version = RECORD_VERSION;
    r.checksum = checksum_of(&r);
    memset(block, 0, RECORD_BYTES);
    memcpy(block, &r, sizeof r);
}

/* Whether no sum or product of the file layout (store_internal.h) overflows with these sizes. */
static bool has_shape(const struct store_record *r) {
    enum { LEAST_SHIFT = 12, MOST_SHIFT = 40 };
    uint64_t least = (uint64_t)1 << LEAST_SHIFT, most = (uint64_t)1 << MOST_SHIFT;
    bool pages =
        r->page_bytes >= least && r->page_bytes <= most && (r->page_bytes & (r->page_bytes - 1)) == 0;
    return pages && r->bytes > 0 && r->bytes <= INT64_MAX / 8 - most && r->rank < r->ranks;
}

/* Returns NULL if the record in this block is usable. */
static const char *record_validate(const struct store_record *r, unsigned block, int *error) {
    *error = -EBADMSG;
    if (memcmp(r->magic, magic, sizeof magic))
        return "it is not a segment, or its header is damaged";
    *error = -EPROTO;
    if (r->order != BYTE_ORDER_MARK)
        return "it was made on a machine with another byte order";
    if (r->version != RECORD_VERSION)
        return "it was written by another version of Hearth";
    *error = -EBADMSG;
    bool is_whole = r->checksum == checksum_of(r) && r->sequence % RECORDS == block && has_shape(r);
    return is_whole ? NULL : "its header is damaged";
}

/* If another version has written one of the blocks, the other block is not the newest, whatever its number. */
const char *pages_store_record_unpack(const void *blocks, struct store_record *record, int *error) {
    const char *reasons[RECORDS];
    struct store_record r[RECORDS];
    int codes[RECORDS];
    for (unsigned i = 0; i < RECORDS; i++) {
        memcpy(&r[i], (const char *)blocks + i * RECORD_BYTES, sizeof r[i]);
        reasons[i] = record_validate(&r[i], i, &codes[i]);
    }
    int worse = reasons[1] && codes[1] == -EPROTO ? 1 : 0;
    bool is_foreign = reasons[worse] && codes[worse] == -EPROTO;
    *error = codes[worse];
    if (is_foreign || (reasons[0] && reasons[1]))
        return reasons[worse];
    *record = reasons[1] || (!reasons[0] && r[0].sequence > r[1].sequence) ? r[0] : r[1];
    *error = 0;
    return NULL;
}
