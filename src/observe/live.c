/* live.c: fills in the page that `hearth top` reads: its tables of objects and of the counters inside them. live_file.c
 * manages the memory.
 *
 * The tables change rarely, under the lock and between two increments of `sequence`. The counters change at any time:
 * each is one aligned word, so a reader sees an old or a new value. Two counters may be some events apart. */
#include "observe/live.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/settings.h"
#include "observe/live_file.h"

enum { MOST_SHAPES = 64 };

_Static_assert((int)LIVE_WHATS <= (int)LIVE_MOST_WHATS, "the page has room for all");

struct live_shape {
    const struct live_field *fields;
    uint16_t first;
};

/* Guarded by live_lock. */
static struct live_shape shapes[MOST_SHAPES];
static unsigned shape_count;
static _Thread_local int own_thread = -1; /* index in the page's threads */

const char *live_name(enum live_what what) {
    static const char *const names[] = {
#define LIVE(name, kind) #name,
#include "observe/live.def"
#undef LIVE
    };
    return names[what];
}

enum live_kind live_kind_of(enum live_what what) {
    static const enum live_kind kinds[] = {
#define LIVE(name, kind) LIVE_KIND_##kind,
#include "observe/live.def"
#undef LIVE
    };
    return kinds[what];
}

uint64_t live_read(const char *object, const struct live_field *f) {
    const void *at = object + f->offset;
    uint64_t value = f->bytes == 8   ? __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED)
                     : f->bytes == 4 ? __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED)
                                     : __atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED);
    return f->sign < 0 ? -value : value;
}

/* ---- the tables ---- */

static void begin_change(void) {
    uint32_t now = atomic_load_explicit(&live_shown->sequence, memory_order_relaxed);
    atomic_store_explicit(&live_shown->sequence, now + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end_change(void) {
    uint32_t now = atomic_load_explicit(&live_shown->sequence, memory_order_relaxed);
    atomic_store_explicit(&live_shown->sequence, now + 1, memory_order_release);
}

/* The position of these fields in the table; -1 if there is no space. */
static int place_fields(const struct live_field *fields, unsigned count) {
    for (unsigned i = 0; i < shape_count; i++)
        if (shapes[i].fields == fields)
            return shapes[i].first;
    if (shape_count == MOST_SHAPES || count > LIVE_MOST_FIELDS - live_shown->field_count)
        return -1;
    unsigned first = live_shown->field_count;
    memcpy(&live_shown->fields[first], fields, count * sizeof *fields);
    live_shown->field_count += count;
    shapes[shape_count++] = (struct live_shape){.fields = fields, .first = (uint16_t)first};
    return (int)first;
}

static void live_add_object(size_t offset, const struct live_field *fields, unsigned count) {
    for (uint32_t i = 0; i < live_shown->object_count; i++)
        if (live_shown->objects[i].offset == offset)
            return; /* shown already */
    int first = offset && live_shown->object_count < LIVE_MOST_OBJECTS ? place_fields(fields, count) : -1;
    if (first < 0)
        live_shown->unshown++;
    else
        live_shown->objects[live_shown->object_count++] = (struct live_object){
            .offset = (uint32_t)offset, .first = (uint16_t)first, .count = (uint16_t)count};
}

void live_show(const void *object, const struct live_field *fields, unsigned count) {
    pthread_mutex_lock(&live_lock);
    if (live_shown) {
        begin_change();
        live_add_object(live_offset_of(object), fields, count);
        end_change();
    }
    pthread_mutex_unlock(&live_lock);
}

static void live_keep(const struct live_object *o, const char *object) {
    for (unsigned i = o->first; i < o->first + o->count; i++) {
        const struct live_field *f = &live_shown->fields[i];
        if (live_kind_of((enum live_what)f->what) == LIVE_KIND_count)
            live_shown->kept[f->what] += live_read(object, f);
    }
}

static void remove_object(const void *object, size_t offset) {
    for (uint32_t i = 0; i < live_shown->object_count; i++)
        if (live_shown->objects[i].offset == offset) {
            begin_change();
            live_keep(&live_shown->objects[i], object);
            live_shown->objects[i] = live_shown->objects[--live_shown->object_count];
            end_change();
            return;
        }
}

void live_hide(const void *object) {
    pthread_mutex_lock(&live_lock);
    size_t offset = live_shown ? live_offset_of(object) : 0;
    if (offset)
        remove_object(object, offset);
    pthread_mutex_unlock(&live_lock);
}

/* ---- threads ---- */

static int free_thread(void) {
    for (int i = 0; i < LIVE_MOST_THREADS; i++)
        if (!live_shown->threads[i].id)
            return i;
    return -1;
}

static void set_thread(int place, int id, enum live_role role) {
    begin_change();
    live_shown->threads[place] = (struct live_thread){.id = id, .role = (int32_t)role};
    end_change();
}

void live_thread_begins(enum live_role role) {
    pthread_mutex_lock(&live_lock);
    own_thread = live_shown ? free_thread() : -1;
    if (own_thread >= 0)
        set_thread(own_thread, (int)syscall(SYS_gettid), role);
    pthread_mutex_unlock(&live_lock);
}

void live_thread_ends(void) {
    pthread_mutex_lock(&live_lock);
    if (live_shown && own_thread >= 0)
        set_thread(own_thread, 0, LIVE_NO_THREAD);
    own_thread = -1;
    pthread_mutex_unlock(&live_lock);
}

/* ---- opening ---- */

static void live_identify(int rank, int size) {
    begin_change();
    memcpy(live_shown->magic, LIVE_MAGIC, sizeof live_shown->magic);
    live_shown->pid = (int32_t)getpid();
    live_shown->rank = rank;
    live_shown->size = size;
    end_change();
}

static unsigned users; /* enum live_user; guarded by live_lock */

void live_open(enum live_user user, int rank, int size) {
    static bool tried;
    bool wanted = settings_get()->live;
    pthread_mutex_lock(&live_lock);
    if (wanted && !tried)
        live_shown = live_file_make();
    tried = true;
    users |= user;
    if (live_shown && !live_shown->size)
        live_identify(rank, size);
    pthread_mutex_unlock(&live_lock);
}

void live_close(enum live_user user) {
    pthread_mutex_lock(&live_lock);
    users &= ~(unsigned)user;
    if (live_shown && !users) {
        begin_change();
        live_shown->size = 0;
        end_change();
    }
    pthread_mutex_unlock(&live_lock);
}
