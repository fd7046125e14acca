/* store_record.c: records are written in turn to two blocks, so that one that is torn by a power failure leaves the
 * one before. What was torn has no valid checksum. */
#include "pages/store_record.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char magic[8] = {'H', 'e', 'a', 'r', 't', 'h', 'N', 'V'};

#define BYTE_ORDER_MARK 0x01020304u

_Static_assert(sizeof(struct record) <= 512,
               "in one sector, as a disk that tears only between sectors is then whole");

uint64_t record_hash(const void *data, size_t bytes) {
    return XXH3_64bits(data, bytes);
}

static uint64_t checksum_of(const struct record *r) {
    return record_hash(r, offsetof(struct record, checksum));
}

void record_pack(const struct record *record, void *block) {
    struct record r = *record;
    memcpy(r.magic, magic, sizeof magic);
    r.order = BYTE_ORDER_MARK;
    r.version = RECORD_VERSION;
    r.checksum = checksum_of(&r);
    memset(block, 0, RECORD_BYTES);
    memcpy(block, &r, sizeof r);
}

/* NULL if it can be used. */
static const char *judge(const struct record *r, int *error) {
    *error = -EBADMSG;
    if (memcmp(r->magic, magic, sizeof magic))
        return "it is not a segment, or its header is damaged";
    *error = -EPROTO;
    if (r->order != BYTE_ORDER_MARK)
        return "it was made on a machine with another byte order";
    if (r->version != RECORD_VERSION)
        return "it was made by another version of Hearth";
    *error = -EBADMSG;
    return r->checksum == checksum_of(r) ? NULL : "its header is damaged";
}

const char *record_unpack(const void *blocks, struct record *record, int *error) {
    const char *why = NULL, *why_other;
    struct record r[RECORDS];
    bool good[RECORDS];
    for (int i = 0; i < RECORDS; i++) {
        int code;
        memcpy(&r[i], (const char *)blocks + (size_t)i * RECORD_BYTES, sizeof r[i]);
        why_other = judge(&r[i], &code);
        good[i] = !why_other && r[i].sequence % RECORDS == (unsigned)i;
        if (!good[i] && (!why || code == -EPROTO)) {
            why = why_other ? why_other : "its header is damaged";
            *error = code;
        }
    }
    if (!good[0] && !good[1])
        return why;
    *record = !good[1] || (good[0] && r[0].sequence > r[1].sequence) ? r[0] : r[1];
    *error = 0;
    return NULL;
}
