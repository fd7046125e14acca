/* segment.c: maps a file without a name (memfile.c), and logs why that failed.
 *
 * All memory is allocated when the segment is created. The token at its start is for the users of the segment: a
 * number that no other segment has. */
#include "net/shm/segment.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

#define OTHERWISE "messages within the node go through MPI"

/* ---- the owner ---- */

static int create_failed(const char *otherwise, const char *what, size_t bytes, int err) {
    log_warn("shared memory: %s of %zu bytes: %s; %s%s", what, bytes, strerror(-err), otherwise,
             err == -EMFILE ? net_memfile_hint(-err) : "");
    return err;
}

static int create_in(int file, struct segment *s, size_t bytes, const char **what) {
    void *base;
    int err = net_memfile_fill(file, 0, bytes, what);
    if (err)
        return err;
    err = net_memfile_map(file, bytes, NULL, MAP_POPULATE, &base, what);
    *what = "cannot map a file";
    if (!err)
        *s = (struct segment){.base = base, .bytes = bytes, .file = file, .process = (int)getpid()};
    return err;
}

int net_segment_create_for(const char *otherwise, struct segment *s, size_t bytes,
                           struct net_address *address) {
    const char *what;
    int file, err = net_memfile_make(bytes, &file, address, &what);
    if (err)
        return create_failed(otherwise, what, bytes, err);
    err = create_in(file, s, bytes, &what);
    if (err) {
        close(file);
        return create_failed(otherwise, what, bytes, err);
    }
    struct memfile_place place = net_memfile_place(address);
    memcpy(s->base, &place.token, sizeof place.token);
    return 0;
}

int net_segment_create(struct segment *s, size_t bytes, struct net_address *address) {
    return net_segment_create_for(OTHERWISE, s, bytes, address);
}

/* ---- the others ---- */

static int attach_failed(const char *otherwise, int rank, const struct memfile_place *place, const char *what,
                         int err) {
    log_warn("shared memory of rank %d of this node, /proc/%d/fd/%d: cannot %s it: %s; %s%s", rank,
             place->process, place->file, what, net_memfile_reason(-err), otherwise, net_memfile_hint(-err));
    return err;
}

int net_segment_attach_for(const char *otherwise, struct segment *s, const struct net_address *address,
                           int rank) {
    struct memfile_place place = net_memfile_place(address);
    const char *what;
    void *base;
    int file, err = net_memfile_find(address, &file, &what);
    if (err)
        return attach_failed(otherwise, rank, &place, what, err);
    err = net_memfile_map(file, place.bytes, NULL, 0, &base, &what);
    close(file);
    if (err)
        return attach_failed(otherwise, rank, &place, what, err);
    *s = (struct segment){.base = base, .bytes = place.bytes, .file = -1, .process = place.process};
    return 0;
}

int net_segment_attach(struct segment *s, const struct net_address *address, int rank) {
    return net_segment_attach_for(OTHERWISE, s, address, rank);
}

/* ---- both ---- */

void net_segment_settle(struct segment *s) {
    if (s->base && s->file >= 0)
        close(s->file);
    s->file = -1;
}

void net_segment_close(struct segment *s) {
    if (!s->base)
        return;
    munmap(s->base, s->bytes);
    net_segment_settle(s);
    *s = (struct segment){.file = -1};
}
