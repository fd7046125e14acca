/* live.h: counters that a process exposes while it runs, for `hearth top`.
 *
 * Counters are not copied: the structures that hold them lie in memory that other processes of the same user may read
 * (live_alloc, live_adopt), and a table gives the positions of the counters in them (live_show). The code that counts
 * needs no changes and has no cost. Without a page (HEARTH_LIVE=off, no memory, full) all functions here do nothing,
 * and memory comes from the heap. */
#ifndef HEARTH_LIVE_H
#define HEARTH_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

enum live_what {
#define LIVE(name, kind) LIVE_##name,
#include "observe/live.def"
#undef LIVE
    LIVE_WHATS
};

enum live_kind { LIVE_KIND_count, LIVE_KIND_level };

/* Threads whose load is shown. */
enum live_role { LIVE_NO_THREAD, LIVE_HELPER, LIVE_SERVICE, LIVE_MESSAGES, LIVE_ROLES };

/* A counter inside a structure; several with the same `what` are added up, with their signs. */
struct live_field {
    uint16_t what;
    uint8_t bytes; /* 1, 4 or 8, and aligned to it */
    int8_t sign;   /* 1 or -1 */
    uint32_t offset;
};
#define LIVE_FIELD(what_, type, member)                                                                      \
    { LIVE_##what_, (uint8_t)sizeof(((type *)0)->member), 1, (uint32_t)offsetof(type, member) }
#define LIVE_FIELD_MINUS(what_, type, member)                                                                \
    { LIVE_##what_, (uint8_t)sizeof(((type *)0)->member), -1, (uint32_t)offsetof(type, member) }

/* The interfaces of a process share one page. */
enum live_user { LIVE_BY_MPI = 1, LIVE_BY_ARMCI = 2, LIVE_BY_GASNET = 4 };

/* Call once the rank is known, and before anything is shown. Further calls of the same user do nothing. */
void live_open(enum live_user user, int rank, int size);
/* The job is over for this user; if for all, readers ignore the page. Its memory remains in place until the process ends. */
void live_close(enum live_user user);

/* Zeroed, aligned to 128; in the page, or else from the heap. NULL if memory ran out. */
void *live_alloc(size_t bytes);
void live_free(void *memory);

/* In the page only: NULL if there is no space. live_give returns whether the memory was from the page and was
 * released. */
void *live_take(size_t bytes);
bool live_give(void *memory);

/* As memory_open and memory_close, but in the page if there is space. It cannot be resized. */
int live_memory_open(struct memory *m, size_t bytes, struct memory_budget *budget);
void live_memory_close(struct memory *m);

/* Moves memory into the page, at the same address, permanently: memory from memory_open, or a variable that is aligned
 * to LIVE_ALONE bytes and shares them with no other variable. No other thread may use it during the call. */
#if defined(__x86_64__)
#define LIVE_ALONE 4096
#else
#define LIVE_ALONE 65536
#endif
void live_adopt(void *memory, size_t bytes);

/* `fields` must stay valid. An object outside the page is ignored. */
void live_show(const void *object, const struct live_field *fields, unsigned count);
/* Removes the object; its counts are kept. */
void live_hide(const void *object);

/* The calling thread starts, or ceases, to have this role. */
void live_thread_begins(enum live_role role);
void live_thread_ends(void);

/* ---- the page, for its readers ---- */

#define LIVE_TITLE "hearth-live"
#define LIVE_MAGIC "HEARTHL1" /* changes with the layout */

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
    _Atomic uint32_t sequence; /* odd while the fields below change; reader: tools/top/top_page.c */
    uint32_t object_count, field_count;
    uint32_t unshown; /* objects for which there was no space */
    uint32_t spare;
    uint64_t kept[LIVE_MOST_WHATS]; /* counts of removed objects */
    struct live_thread threads[LIVE_MOST_THREADS];
    struct live_field fields[LIVE_MOST_FIELDS];
    struct live_object objects[LIVE_MOST_OBJECTS];
};

const char *live_name(enum live_what what);
enum live_kind live_kind_of(enum live_what what);

/* Reads one field of an object at this address; usable in any process that has it mapped. */
uint64_t live_read(const char *object, const struct live_field *field);

#endif
