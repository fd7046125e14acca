/* live.h: what a process shows of itself while it runs, for `hearth top`.
 *
 * Counters are not copied: the structures that hold them lie in memory that others of the same user may read (live_alloc,
 * live_adopt), and a table says where in them the counters are (live_show). Who counts neither knows nor pays. Without a page
 * (HEARTH_LIVE=off, no memory, full) all of this does nothing, and memory is taken elsewhere. */
#ifndef HEARTH_LIVE_H
#define HEARTH_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum live_what {
#define LIVE(name, kind) LIVE_##name,
#include "base/live.def"
#undef LIVE
    LIVE_WHATS
};

enum live_kind { LIVE_KIND_count, LIVE_KIND_level };

/* Threads whose load is told. */
enum live_role { LIVE_NO_THREAD, LIVE_HELPER, LIVE_SERVICE, LIVE_MESSAGES, LIVE_ROLES };

/* A number inside a structure; several of the same `what` are added up, with their signs. */
struct live_field {
    uint16_t what;
    uint8_t bytes; /* 1, 4 or 8, and so aligned */
    int8_t sign;   /* 1 or -1 */
    uint32_t offset;
};
#define LIVE_FIELD(what_, type, member)                                                                      \
    { LIVE_##what_, (uint8_t)sizeof(((type *)0)->member), 1, (uint32_t)offsetof(type, member) }
#define LIVE_FIELD_MINUS(what_, type, member)                                                                \
    { LIVE_##what_, (uint8_t)sizeof(((type *)0)->member), -1, (uint32_t)offsetof(type, member) }

/* Once the rank is known, and before anything is to be shown. While it is open, once more does nothing. */
void live_open(int rank, int size);
/* The job is over: readers pass the page by. What lies in it stays where it is, to the end of the process. */
void live_close(void);

/* Zeroed, aligned to 128; in the page, or else from the heap. NULL: no memory. */
void *live_alloc(size_t bytes);
void live_free(void *memory);

/* In the page only: NULL if there is no room. live_give: whether it was from there, and is given back. */
void *live_take(size_t bytes);
bool live_give(void *memory);

/* A variable that has LIVE_ALONE bytes for itself, aligned to them, or memory from memory_open: what is there becomes part of the
 * page, at the same address, for good. While nobody else uses it. */
#if defined(__x86_64__)
#define LIVE_ALONE 4096
#else
#define LIVE_ALONE 65536
#endif
void live_adopt(void *memory, size_t bytes);

/* `fields` stays where it is. An object that does not lie in the page is passed over. */
void live_show(const void *object, const struct live_field *fields, unsigned count);
/* Its counts are kept. */
void live_hide(const void *object);

/* The calling thread begins, or ends, to be one of these. */
void live_thread_begins(enum live_role role);
void live_thread_ends(void);

/* ---- the page, for who reads it ---- */

#define LIVE_TITLE "hearth-live"
#define LIVE_MAGIC "HEARTHL1" /* another layout has another one */

enum {
    LIVE_FILE_BYTES = 16 << 20,
    LIVE_MOST_WHATS = 128,
    LIVE_MOST_THREADS = 64,
    LIVE_MOST_FIELDS = 512,
    LIVE_MOST_OBJECTS = 4096
};

struct live_object {
    uint32_t offset;       /* in the file */
    uint16_t first, count; /* fields */
};

struct live_thread {
    int32_t id, role; /* enum live_role */
};

struct live_page {
    char magic[8];
    int32_t pid, rank, size;   /* size 0: the job is over */
    _Atomic uint32_t sequence; /* odd while what follows changes; its partner is in tools/top_page.c */
    uint32_t object_count, field_count;
    uint32_t unshown; /* objects for which there was no room */
    uint32_t spare;
    uint64_t kept[LIVE_MOST_WHATS]; /* counts of objects that are no more */
    struct live_thread threads[LIVE_MOST_THREADS];
    struct live_field fields[LIVE_MOST_FIELDS];
    struct live_object objects[LIVE_MOST_OBJECTS];
};

const char *live_name(enum live_what what);
enum live_kind live_kind_of(enum live_what what);

/* One field of an object that begins here; any process that has it mapped. */
uint64_t live_read(const char *object, const struct live_field *field);

#endif
