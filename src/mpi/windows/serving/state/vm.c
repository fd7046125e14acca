/* vm.c: copies and updates through the kernel.
 *
 * A system call takes two lists of ranges with the same number of bytes. Shapes are passed in pieces of at most PIECES
 * ranges on either side. An update reads whole elements, changes a copy and writes it back, under the lock of the block
 * in which they begin: the lock that every other user of that memory takes. The calls cost more than the locks, so a
 * contiguous update holds the locks of several blocks at once. */
#include "mpi/windows/serving/state/vm.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/compiler.h"

enum { PIECES = 64 };

/* ---- lists of ranges ---- */

/* Lists the next ranges of a side, of at most `most` bytes; returns their bytes. Does not move the cursor. */
static uint64_t list_ranges(const struct vm_side *side, const struct data_cursor *at, uint64_t most,
                            struct iovec ranges[], unsigned long *count) {
    struct data_cursor c = *at;
    uint64_t bytes = 0;
    for (*count = 0; *count < PIECES && bytes < most; ++*count) {
        struct shape_block b = data_cursor_rest(&c);
        uint64_t part = b.bytes < most - bytes ? b.bytes : most - bytes;
        ranges[*count] = (struct iovec){(void *)(uintptr_t)(side->first + (uint64_t)b.offset), part};
        data_cursor_skip(&c, part);
        bytes += part;
    }
    return bytes;
}

static void cut_ranges(struct iovec ranges[], unsigned long *count, uint64_t bytes) {
    unsigned long n = 0;
    for (; bytes; n++) {
        if (ranges[n].iov_len > bytes)
            ranges[n].iov_len = bytes;
        bytes -= ranges[n].iov_len;
    }
    *count = n;
}

static ssize_t call(int pid, enum vm_direction direction, const struct iovec *here, unsigned long here_count,
                    const struct iovec *there, unsigned long there_count) {
    ssize_t n = direction == VM_READ ? process_vm_readv(pid, here, here_count, there, there_count, 0)
                                     : process_vm_writev(pid, here, here_count, there, there_count, 0);
    return n > 0 ? n : n < 0 ? -errno : -EFAULT;
}

/* ---- copies ---- */

enum { MOST = 1 << 30 }; /* bytes per call; the kernel stops a little below 2 GB */

/* For the kernel a further range costs more than GAP further bytes. So ranges that are close to each other are read
 * together with the gaps between them. A gap is shorter than a page, so it lies in the pages of the ranges around it, and
 * is readable. */
enum { GAP = 1024, SPAN = 131072 };

/* The length of the next rows of a regular shape that may be read together, and their packed bytes. */
static uint64_t span_of_rows(const struct data_run *run, uint64_t *bytes) {
    uint64_t rows = (SPAN - run->bytes) / (uint64_t)run->stride + 1;
    rows = rows < run->rows ? rows : run->rows;
    *bytes = rows * run->bytes;
    return (rows - 1) * (uint64_t)run->stride + run->bytes;
}

/* The same for any shape: ascending ranges, of at most SPAN bytes with the gaps. */
static uint64_t span_length(const struct data_cursor *at, uint64_t most, uint64_t *bytes) {
    struct data_cursor c = *at;
    struct data_run run;
    data_cursor_take(&c, most, 1, &run);
    if (run.rows > 1 && run.bytes <= SPAN && run.stride >= (int64_t)run.bytes &&
        run.stride - (int64_t)run.bytes <= GAP)
        return span_of_rows(&run, bytes);
    const int64_t start = run.offset;
    int64_t end = start;
    c = *at;
    for (*bytes = 0; *bytes < most;) {
        struct shape_block b = data_cursor_rest(&c);
        uint64_t part = b.bytes < most - *bytes ? b.bytes : most - *bytes;
        if (b.offset < end || b.offset - end > GAP || (uint64_t)(b.offset - start) + part > SPAN)
            break;
        end = b.offset + (int64_t)part;
        data_cursor_skip(&c, part);
        *bytes += part;
    }
    return (uint64_t)(end - start);
}

/* Copies the ranges that were read from `from` on to their places here. Advances both cursors. */
static void place_span(const struct vm_side *here, struct data_cursor *at_here, struct data_cursor *at_there,
                       const char *from, uint64_t bytes) {
    if (shape_is_contiguous(here->shape)) {
        char *to = (char *)(uintptr_t)here->first + data_cursor_rest(at_here).offset;
        data_cursor_gather(at_there, to, from, bytes);
        data_cursor_skip(at_here, bytes);
        return;
    }
    char packed[4096];
    for (uint64_t part; bytes; bytes -= part) {
        part = bytes < sizeof packed ? bytes : sizeof packed;
        data_cursor_gather(at_there, packed, from, part);
        data_cursor_scatter(at_here, (void *)(uintptr_t)here->first, packed, part);
    }
}

/* SPAN bytes for this thread, which would be much of a small stack; NULL without memory. */
static pthread_key_t span_key;
static bool has_span_key;

static void make_span_key(void) {
    has_span_key = pthread_key_create(&span_key, free) == 0;
}

static char *own_span(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_span_key);
    char *span = has_span_key ? pthread_getspecific(span_key) : NULL;
    if (span || !has_span_key || !(span = malloc(SPAN)))
        return span;
    if (pthread_setspecific(span_key, span) == 0)
        return span;
    free(span);
    return NULL;
}

/* Reads the next ranges in one call if they are close to each other. Returns their packed bytes, 0 if they are not close or
 * memory is short, or a negative code. Advances both cursors. */
static int64_t read_span(int pid, const struct vm_side *here, struct data_cursor *at_here,
                         const struct vm_side *there, struct data_cursor *at_there, uint64_t most) {
    uint64_t bytes, length = span_length(at_there, most, &bytes);
    char *span = length == bytes ? NULL : own_span(); /* no gap, or a range that is longer than a span */
    if (!span)
        return 0;
    const int64_t start = data_cursor_rest(at_there).offset;
    struct iovec to = {span, length}, from = {(void *)(uintptr_t)(there->first + (uint64_t)start), length};
    ssize_t n = call(pid, VM_READ, &to, 1, &from, 1);
    if (n < 0 || (uint64_t)n != length)
        return n < 0 ? n : -EFAULT;
    place_span(here, at_here, at_there, (const char *)((uintptr_t)span - (uint64_t)start), bytes);
    return (int64_t)bytes;
}

int serve_vm_copy_flat(int pid, enum vm_direction direction, uint64_t here, uint64_t there, uint64_t bytes) {
    while (bytes) {
        uint64_t part = bytes < MOST ? bytes : MOST;
        struct iovec local = {(void *)(uintptr_t)here, part}, remote = {(void *)(uintptr_t)there, part};
        ssize_t n = call(pid, direction, &local, 1, &remote, 1);
        if (n < 0)
            return (int)n;
        here += (uint64_t)n;
        there += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return 0;
}

int serve_vm_copy_from(int pid, enum vm_direction direction, const struct vm_side *here,
                       const struct vm_side *there, uint64_t from, uint64_t bytes) {
    struct iovec local[PIECES], remote[PIECES];
    struct data_cursor at_here, at_there;
    data_cursor_start(&at_here, here->shape, 0);
    data_cursor_start(&at_there, there->shape, from);
    while (bytes) {
        unsigned long locals, remotes;
        uint64_t most = bytes < MOST ? bytes : MOST;
        int64_t spanned = direction == VM_READ && !shape_is_contiguous(there->shape)
                              ? read_span(pid, here, &at_here, there, &at_there, most)
                              : 0;
        if (spanned < 0)
            return (int)spanned;
        bytes -= (uint64_t)spanned;
        if (spanned)
            continue;
        most = list_ranges(here, &at_here, most, local, &locals);
        most = list_ranges(there, &at_there, most, remote, &remotes);
        cut_ranges(local, &locals, most);
        ssize_t n = call(pid, direction, local, locals, remote, remotes);
        if (n < 0)
            return (int)n;
        data_cursor_skip(&at_here, (uint64_t)n);
        data_cursor_skip(&at_there, (uint64_t)n);
        bytes -= (uint64_t)n;
    }
    return 0;
}

int serve_vm_copy(int pid, enum vm_direction direction, const struct vm_side *here,
                  const struct vm_side *there, uint64_t bytes) {
    if (shape_is_contiguous(here->shape) && shape_is_contiguous(there->shape))
        return serve_vm_copy_flat(pid, direction, here->first, there->first, bytes);
    return serve_vm_copy_from(pid, direction, here, there, 0, bytes);
}

/* ---- updates ---- */

/* Reads ranges, changes them, and writes them back. */
static int apply_ranges(int pid, const struct iovec *ranges, unsigned long count, uint64_t bytes,
                        const struct data_update *u, const char *operands, char *old, char *copy) {
    bool reads = old || u->op != DATA_REPLACE;
    struct iovec here = {copy, bytes};
    ssize_t n = reads ? call(pid, VM_READ, &here, 1, ranges, count) : (ssize_t)bytes;
    if (n < 0 || (uint64_t)n != bytes)
        return n < 0 ? (int)n : -EFAULT;
    if (old)
        memcpy(old, copy, bytes);
    if (u->op == DATA_NO_OP)
        return 0;
    if (u->op == DATA_REPLACE)
        here.iov_base = (void *)(uintptr_t)operands;
    else
        data_element_combine(u->op, u->type, copy, operands, bytes / data_element_bytes(u->type));
    n = call(pid, VM_WRITE, &here, 1, ranges, count);
    return n < 0 ? (int)n : (uint64_t)n == bytes ? 0 : -EFAULT;
}

/* ---- contiguous updates ---- */

/* Of at most `most` bytes, the size of `copy`, at a time. */
static int update_flat(int pid, struct net_lock_table *locks, const struct data_update *u, char *copy,
                       uint64_t most) {
    const size_t unit = data_element_bytes(u->type);
    struct iovec range = {.iov_base = u->to + u->from};
    for (uint64_t done = 0; done < u->bytes; done += range.iov_len) {
        uint64_t left = u->bytes - done;
        range.iov_base = u->to + u->from + done;
        range.iov_len = left < most ? left : most / unit * unit;
        size_t begins = range.iov_len - unit + 1; /* the bytes in which elements begin */
        net_lock_table_lock_range(locks, range.iov_base, begins);
        int status =
            apply_ranges(pid, &range, 1, range.iov_len, u, u->packed ? (const char *)u->packed + done : NULL,
                         u->old ? (char *)u->old + done : NULL, copy);
        net_lock_table_unlock_range(locks);
        if (status != 0)
            return status;
    }
    return 0;
}

static int update_few(int pid, struct net_lock_table *locks, const struct data_update *u) {
    char copy[DATA_ELEMENT_MOST];
    return update_flat(pid, locks, u, copy, sizeof copy);
}

enum { FLAT = 32768 }; /* other processes wait for as long as this takes */

static int update_many(int pid, struct net_lock_table *locks, const struct data_update *u) {
    char copy[FLAT];
    return update_flat(pid, locks, u, copy, sizeof copy);
}

/* ---- updates of any shape ---- */

static bool vm_lock(struct net_lock_table *locks, const void *place, bool waits) {
    if (!waits)
        return net_lock_table_try(locks, place);
    net_lock_table_lock(locks, place);
    return true;
}

/* Elements that begin in one block of the lock table, in the order of the shape. */
struct batch {
    struct iovec ranges[PIECES];
    unsigned long count;
    uint64_t bytes;
    const void *place; /* of the first element */
};

static bool in_one_block(uint64_t a, uint64_t b) {
    return (a ^ b) < LOCK_TABLE_GRAIN;
}

/* Appends a range, or extends the last one. */
static void batch_append(struct batch *b, uint64_t at, uint64_t bytes) {
    struct iovec *last = b->count ? &b->ranges[b->count - 1] : NULL;
    if (last && (uint64_t)(uintptr_t)last->iov_base + last->iov_len == at)
        last->iov_len += bytes;
    else
        b->ranges[b->count++] = (struct iovec){(void *)(uintptr_t)at, bytes};
    b->bytes += bytes;
}

/* Adds the elements that begin in one block and follow each other in memory, at most `most` bytes. Returns their bytes,
 * 0 if there are fewer than two. */
static uint64_t batch_add_run(struct batch *b, const struct vm_side *side, struct data_cursor *c, size_t unit,
                              uint64_t most) {
    struct shape_block rest = data_cursor_rest(c);
    uint64_t first = side->first + (uint64_t)rest.offset, bytes = rest.bytes < most ? rest.bytes : most;
    uint64_t begin = round_up(net_lock_table_part((void *)(uintptr_t)first, bytes), unit);
    bytes = begin < bytes ? begin : bytes - bytes % unit;
    if (bytes <= unit || b->count == PIECES)
        return 0;
    if (!b->count)
        b->place = (const void *)(uintptr_t)first;
    else if (!in_one_block(first, (uint64_t)(uintptr_t)b->place))
        return 0;
    batch_append(b, first, bytes);
    data_cursor_skip(c, bytes);
    return bytes;
}

/* Adds the next element. False: it belongs to another block, or the list might not hold its ranges, of which there are
 * at most as many as it has bytes. */
static bool batch_add(struct batch *b, const struct vm_side *side, struct data_cursor *c, size_t unit) {
    uint64_t first = side->first + (uint64_t)data_cursor_rest(c).offset;
    if (!b->count)
        b->place = (const void *)(uintptr_t)first;
    else if (!in_one_block(first, (uint64_t)(uintptr_t)b->place) || b->count + unit > PIECES)
        return false;
    for (uint64_t left = unit; left;) {
        struct shape_block rest = data_cursor_rest(c);
        uint64_t part = rest.bytes < left ? rest.bytes : left;
        batch_append(b, side->first + (uint64_t)rest.offset, part);
        data_cursor_skip(c, part);
        left -= part;
    }
    return true;
}

static uint64_t batch_room(const struct batch *b, uint64_t left, uint64_t room) {
    return (left < room ? left : room) - b->bytes;
}

static int update_shaped(int pid, struct net_lock_table *locks, const struct data_update *u, bool waits,
                         uint64_t *done) {
    const struct vm_side side = {.first = (uint64_t)(uintptr_t)u->to, .shape = u->shape};
    const size_t unit = data_element_bytes(u->type);
    const char *operands = u->packed;
    char *old = u->old, copy[LOCK_TABLE_GRAIN];
    struct data_cursor c;
    data_cursor_start(&c, u->shape, u->from);
    *done = 0;
    for (uint64_t left = u->bytes; left;) {
        struct batch b;
        b.count = b.bytes = 0; /* the list stays uninitialised: to zero it takes longer than to fill it */
        while (b.bytes < left && b.bytes + unit <= sizeof copy &&
               (batch_add_run(&b, &side, &c, unit, batch_room(&b, left, sizeof copy)) ||
                batch_add(&b, &side, &c, unit)))
            ;
        if (!vm_lock(locks, b.place, waits))
            return 0;
        int status = apply_ranges(pid, b.ranges, b.count, b.bytes, u, operands, old, copy);
        net_lock_table_unlock(locks, b.place);
        if (status != 0)
            return status;
        operands += operands ? b.bytes : 0;
        old += old ? b.bytes : 0;
        left -= b.bytes;
        *done += b.bytes;
    }
    return 0;
}

int serve_vm_update_try(int pid, struct net_lock_table *locks, const struct data_update *u, uint64_t *done) {
    return update_shaped(pid, locks, u, false, done);
}

int serve_vm_update(int pid, struct net_lock_table *locks, const struct data_update *u) {
    uint64_t done;
    if (!shape_is_contiguous(u->shape))
        return update_shaped(pid, locks, u, true, &done);
    return u->bytes <= DATA_ELEMENT_MOST ? update_few(pid, locks, u) : update_many(pid, locks, u);
}

int serve_vm_swap_if(int pid, struct net_lock_table *locks, enum data_type type, uint64_t element,
                     const void *expected, const void *desired, void *old, bool waits) {
    size_t bytes = data_element_bytes(type);
    struct iovec here = {old, bytes}, there = {(void *)(uintptr_t)element, bytes};
    if (!vm_lock(locks, there.iov_base, waits))
        return -EAGAIN;
    ssize_t n = call(pid, VM_READ, &here, 1, &there, 1);
    if (n >= 0 && memcmp(old, expected, bytes) == 0) {
        here.iov_base = (void *)(uintptr_t)desired;
        n = call(pid, VM_WRITE, &here, 1, &there, 1);
    }
    net_lock_table_unlock(locks, there.iov_base);
    return n < 0 ? (int)n : 0;
}

static int element_change(int pid, data_kernel *combine, struct iovec *there, const void *operand, void *old,
                          bool reads) {
    char copy[DATA_ELEMENT_MOST] = {0};
    struct iovec here = {copy, there->iov_len};
    ssize_t n = reads ? call(pid, VM_READ, &here, 1, there, 1) : 0;
    if (n < 0)
        return (int)n;
    if (old)
        memcpy(old, copy, there->iov_len);
    if (!combine)
        return 0;
    combine(copy, 0, operand, 1, there->iov_len);
    n = call(pid, VM_WRITE, &here, 1, there, 1);
    return n < 0 ? (int)n : 0;
}

int serve_vm_update_element(int pid, struct net_lock_table *locks, data_kernel *combine, uint64_t to,
                            const void *operand, void *old, size_t bytes, bool reads) {
    struct iovec there = {(void *)(uintptr_t)to, bytes};
    net_lock_table_lock(locks, there.iov_base);
    int status = element_change(pid, combine, &there, operand, old, reads);
    net_lock_table_unlock(locks, there.iov_base);
    return status;
}

bool serve_vm_is_allowed(int pid, uint64_t address) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)address, 1};
    return call(pid, VM_READ, &here, 1, &there, 1) == 1;
}
