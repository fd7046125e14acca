/* types.c: tests messages of derived types. Whatever types the two sides use, the n-th basic element sent is the n-th
 * received, and the bytes between elements do not change.
 *
 * Each type is described by its map: the positions of its ints. The test fills a buffer, sends it with one type,
 * receives it with another, and compares int by int. */
#include "message.h"

#include <stdlib.h>

enum { MOST = 600, SPAN = 4096 }; /* ints per item, and of a buffer */

struct shape {
    const char *name;
    MPI_Datatype type;
    int ints;        /* per item */
    int extent;      /* in ints */
    int at[MOST];    /* relative to the buffer's address */
    int least, most; /* smallest and largest position in one item */
};

static void finish(struct shape *s) {
    MPI_Aint low, extent;
    MPI_Type_commit(&s->type);
    MPI_Type_get_extent(s->type, &low, &extent);
    s->extent = (int)(extent / (MPI_Aint)sizeof(int));
    s->least = s->most = s->at[0];
    for (int i = 0; i < s->ints; i++) {
        s->least = s->at[i] < s->least ? s->at[i] : s->least;
        s->most = s->at[i] > s->most ? s->at[i] : s->most;
    }
}

static void plain(struct shape *s) {
    MPI_Type_dup(MPI_INT, &s->type);
    s->at[s->ints++] = 0;
}

static void contiguous(struct shape *s) {
    MPI_Type_contiguous(12, MPI_INT, &s->type);
    for (int i = 0; i < 12; i++)
        s->at[s->ints++] = i;
}

static void vector(struct shape *s) {
    MPI_Type_vector(6, 2, 5, MPI_INT, &s->type);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 2; j++)
            s->at[s->ints++] = 5 * i + j;
}

static void hvector_backwards(struct shape *s) {
    MPI_Type_create_hvector(4, 3, -5 * (MPI_Aint)sizeof(int), MPI_INT, &s->type);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            s->at[s->ints++] = -5 * i + j;
}

static void indexed(struct shape *s) {
    int lengths[] = {3, 0, 1, 6, 2}, at[] = {10, 5, 0, 20, 3};
    MPI_Type_indexed(5, lengths, at, MPI_INT, &s->type);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < lengths[i]; j++)
            s->at[s->ints++] = at[i] + j;
}

static void indexed_block(struct shape *s) {
    int at[] = {8, 0, 4, 16, 12, 30};
    MPI_Type_create_indexed_block(6, 2, at, MPI_INT, &s->type);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 2; j++)
            s->at[s->ints++] = at[i] + j;
}

static void structure(struct shape *s) {
    MPI_Datatype inner, parts[3];
    int lengths[] = {2, 1, 4};
    MPI_Aint at[] = {0, 5 * sizeof(int), 20 * sizeof(int)};
    MPI_Type_vector(3, 2, 4, MPI_INT, &inner);
    parts[0] = parts[2] = MPI_INT;
    parts[1] = inner;
    MPI_Type_create_struct(3, lengths, at, parts, &s->type);
    MPI_Type_free(&inner);
    for (int i = 0; i < 2; i++)
        s->at[s->ints++] = i;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            s->at[s->ints++] = 5 + 4 * i + j;
    for (int i = 0; i < 4; i++)
        s->at[s->ints++] = 20 + i;
}

static void subarray(struct shape *s) {
    int sizes[] = {6, 8}, parts[] = {3, 4}, first[] = {2, 1};
    MPI_Type_create_subarray(2, sizes, parts, first, MPI_ORDER_C, MPI_INT, &s->type);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            s->at[s->ints++] = 8 * (2 + i) + 1 + j;
}

static void resized(struct shape *s) {
    MPI_Datatype inner;
    MPI_Type_vector(4, 3, 6, MPI_INT, &inner); /* columns: the next item begins inside this one */
    MPI_Type_create_resized(inner, 0, 3 * sizeof(int), &s->type);
    MPI_Type_free(&inner);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            s->at[s->ints++] = 6 * i + j;
}

static void negative_bound(struct shape *s) {
    MPI_Datatype inner;
    int lengths[] = {6, 6}, at[] = {-12, 4};
    MPI_Type_indexed(2, lengths, at, MPI_INT, &inner);
    MPI_Type_create_resized(inner, -16 * (MPI_Aint)sizeof(int), 40 * sizeof(int), &s->type);
    MPI_Type_free(&inner);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 6; j++)
            s->at[s->ints++] = at[i] + j;
}

static void nested(struct shape *s) {
    MPI_Datatype row, rows;
    MPI_Type_vector(3, 1, 2, MPI_INT, &row); /* 0 2 4, extent 5 */
    MPI_Type_contiguous(2, row, &rows);      /* 0 2 4 5 7 9, extent 10 */
    MPI_Type_vector(2, 1, 2, rows, &s->type);
    MPI_Type_free(&row);
    MPI_Type_free(&rows);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 3; k++)
                s->at[s->ints++] = 20 * i + 5 * j + 2 * k;
}

static void darray(struct shape *s) {
    int sizes[] = {8, 6}, dist[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, args[] = {1, 3},
        grid[] = {4, 2}; /* rank 1 of 8: row 0 and 4, columns 3..5 */
    MPI_Type_create_darray(8, 1, 2, sizes, dist, args, grid, MPI_ORDER_C, MPI_INT, &s->type);
    for (int i = 0; i < 8; i += 4)
        for (int j = 3; j < 6; j++)
            s->at[s->ints++] = 6 * i + j;
}

static void (*const makers[])(struct shape *) = {plain,   contiguous,     vector,    hvector_backwards,
                                                 indexed, indexed_block,  structure, subarray,
                                                 resized, negative_bound, nested,    darray};
enum { SHAPES = sizeof makers / sizeof *makers };

static struct shape shapes[SHAPES];

static void make_shapes(void) {
    memset(shapes, 0, sizeof shapes);
    for (int i = 0; i < SHAPES; i++) {
        makers[i](&shapes[i]);
        finish(&shapes[i]);
    }
}

static void free_shapes(void) {
    for (int i = 0; i < SHAPES; i++)
        MPI_Type_free(&shapes[i].type);
}

/* The buffer's address is in the middle of the memory, for types with negative displacements. */
static int *new_buffer(int first) {
    int *memory = malloc(SPAN * sizeof *memory);
    for (int i = 0; i < SPAN; i++)
        memory[i] = first + i;
    return memory + SPAN / 2;
}

static void free_buffer(int *buffer) {
    free(buffer - SPAN / 2);
}

static int place(const struct shape *s, int n) { /* position of the n-th int */
    return n / s->ints * s->extent + s->at[n % s->ints];
}

/* The smallest number of ints that is a whole number of items of both types. */
static int common(const struct shape *a, const struct shape *b) {
    int n = a->ints;
    while (n % b->ints)
        n += a->ints;
    return n;
}

typedef void mover(int *out, int *in, const struct shape *a, const struct shape *b, int ints,
                   MPI_Status *status);

static void by_isend(int *out, int *in, const struct shape *a, const struct shape *b, int ints,
                     MPI_Status *status) {
    MPI_Request request;
    MPI_Isend(out, ints / a->ints, a->type, peer(), 1, MPI_COMM_WORLD, &request);
    MPI_Recv(in, ints / b->ints, b->type, previous(), 1, MPI_COMM_WORLD, status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_posted(int *out, int *in, const struct shape *a, const struct shape *b, int ints,
                      MPI_Status *status) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(in, ints / b->ints, b->type, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    barrier();
    MPI_Issend(out, ints / a->ints, a->type, peer(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    *status = statuses[0];
}

static void move_and_check(mover *move, const struct shape *a, const struct shape *b, int ints) {
    int *out = new_buffer(100000 * test_rank), *in = new_buffer(-10000), count;
    int *want = new_buffer(-10000);
    MPI_Status status;
    for (int n = 0; n < ints; n++)
        want[place(b, n)] = 100000 * previous() + SPAN / 2 + place(a, n);
    move(out, in, a, b, ints, &status);
    MPI_Get_elements(&status, b->type, &count);
    expect_eq(count, ints);
    expect_eq(count_of(&status, b->type), ints / b->ints);
    expect_bytes(in - SPAN / 2, want - SPAN / 2, SPAN * sizeof(int));
    free_buffer(in);
    free_buffer(out);
    free_buffer(want);
}

CASE(every_pair) {
    make_shapes();
    for (int i = 0; i < SHAPES; i++)
        for (int j = 0; j < SHAPES; j++)
            move_and_check(by_isend, &shapes[i], &shapes[j], 2 * common(&shapes[i], &shapes[j]));
    free_shapes();
}

CASE(every_pair_posted) {
    make_shapes();
    for (int i = 0; i < SHAPES; i++)
        for (int j = i % 2; j < SHAPES; j += 2)
            move_and_check(by_posted, &shapes[i], &shapes[j], common(&shapes[i], &shapes[j]));
    free_shapes();
}

/* The message is shorter than the receive, and not a whole number of items. */
CASE(part_of_an_item) {
    make_shapes();
    for (int j = 0; j < SHAPES; j++) {
        const struct shape *s = &shapes[j];
        int ints = s->ints + s->ints / 2, *out = new_buffer(100000 * test_rank), *in = new_buffer(-10000);
        int *want = new_buffer(-10000), elements;
        MPI_Request request;
        MPI_Status status;
        for (int n = 0; n < ints; n++)
            want[place(s, n)] = 100000 * previous() + SPAN / 2 + n;
        MPI_Isend(out, ints, MPI_INT, peer(), 1, MPI_COMM_WORLD, &request);
        MPI_Recv(in, 3, s->type, previous(), 1, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Get_elements(&status, s->type, &elements);
        expect_eq(elements, ints);
        expect_eq(count_of(&status, s->type), s->ints > 1 ? MPI_UNDEFINED : ints);
        expect_bytes(in - SPAN / 2, want - SPAN / 2, SPAN * sizeof(int));
        free_buffer(in);
        free_buffer(out);
        free_buffer(want);
    }
    free_shapes();
}

/* Larger than any path sends at once. A column of a matrix against a row of it. */
CASE(large_columns) {
    enum { ROWS = 60000, WIDTH = 3 };
    MPI_Datatype column;
    int *out = malloc(ROWS * WIDTH * sizeof *out), *in = malloc(ROWS * WIDTH * sizeof *in);
    MPI_Request request;
    MPI_Type_vector(ROWS, 1, WIDTH, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int way = 0; way < 3; way++) { /* column to row, row to column, column to column */
        bool from_column = way != 1, to_column = way != 0;
        int wrong = 0;
        for (int i = 0; i < ROWS * WIDTH; i++) {
            out[i] = i + test_rank;
            in[i] = -1;
        }
        MPI_Isend(out, from_column ? 1 : ROWS, from_column ? column : MPI_INT, peer(), way, MPI_COMM_WORLD,
                  &request);
        MPI_Recv(in, to_column ? 1 : ROWS, to_column ? column : MPI_INT, previous(), way, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROWS; i++)
            wrong += in[to_column ? WIDTH * i : i] != previous() + (from_column ? WIDTH * i : i);
        for (int i = 0; to_column && i < ROWS; i++)
            wrong += in[WIDTH * i + 1] != -1 || in[WIDTH * i + 2] != -1;
        expect_eq(wrong, 0);
    }
    MPI_Type_free(&column);
    free(in);
    free(out);
}

/* Absolute addresses: pieces anywhere in memory. */
CASE(bottom) {
    int lengths[] = {100, 1, 30}, first[100] = {0}, second = 0, *third = malloc(30 * sizeof *third);
    MPI_Aint at[3];
    MPI_Datatype type, parts[] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Request request;
    int flat[131], sum = 0;
    MPI_Get_address(first, &at[0]);
    MPI_Get_address(&second, &at[1]);
    MPI_Get_address(third, &at[2]);
    MPI_Type_create_struct(3, lengths, at, parts, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 131; i++)
        *(i < 100 ? &first[i] : i == 100 ? &second : &third[i - 101]) = 1000 * test_rank + i;
    MPI_Isend(MPI_BOTTOM, 1, type, peer(), 1, MPI_COMM_WORLD, &request);
    MPI_Recv(flat, 131, MPI_INT, previous(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 131; i++)
        expect_eq(flat[i], 1000 * previous() + i);
    MPI_Isend(flat, 131, MPI_INT, peer(), 2, MPI_COMM_WORLD, &request);
    MPI_Recv(MPI_BOTTOM, 1, type, previous(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++)
        sum += first[i] != flat[i] + 1000 * ((previous() + test_size - 1) % test_size - previous());
    expect_eq(sum, 0);
    expect_eq(second % 1000, 100);
    expect_eq(third[29] % 1000, 130);
    MPI_Type_free(&type);
    free(third);
}

/* Empty messages: by count, by type, and with a null buffer. */
CASE(nothing) {
    MPI_Datatype empty;
    int value = 5;
    MPI_Status status;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    for (int way = 0; way < 3; way++) {
        MPI_Request request;
        MPI_Isend(way == 2 ? NULL : &value, way == 1 ? 3 : 0, way == 1 ? empty : MPI_INT, peer(), 1,
                  MPI_COMM_WORLD, &request);
        MPI_Recv(way == 2 ? NULL : &value, way == 1 ? 2 : 0, way == 1 ? empty : MPI_INT, previous(), 1,
                 MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect_status(&status, previous(), 1, 0);
    }
    expect_eq(value, 5);
    MPI_Type_free(&empty);
}

/* A type may be freed while a message of it is pending, and its handle reused for another type. */
CASE(freed_while_under_way) {
    enum { INTS = 50000 };
    int *out = malloc(2 * INTS * sizeof *out), *in = malloc(2 * INTS * sizeof *in), wrong = 0;
    MPI_Request requests[2];
    MPI_Datatype types[2], other;
    for (int i = 0; i < 2 * INTS; i++) {
        out[i] = i + test_rank;
        in[i] = -1;
    }
    for (int i = 0; i < 2; i++) {
        MPI_Type_vector(INTS, 1, 2, MPI_INT, &types[i]);
        MPI_Type_commit(&types[i]);
    }
    MPI_Irecv(in, 1, types[0], previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Type_free(&types[0]);
    MPI_Type_contiguous(7, MPI_CHAR, &other);
    MPI_Type_commit(&other);
    barrier();
    MPI_Issend(out, 1, types[1], peer(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&types[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * INTS; i++)
        wrong += in[i] != (i % 2 ? -1 : i + previous());
    expect_eq(wrong, 0);
    MPI_Type_free(&other);
    free(in);
    free(out);
}

/* The same for a message that only MPI can unpack, because it has too many blocks: MPI frees its type after the message.
 * The next type may get the handle. */
CASE(handle_reused_after_the_message) {
    enum { RECORDS = 600000, RECORD = 12, DATA = 6, TYPES = 1000 };
    MPI_Datatype blocks, type, freed, others[TYPES];
    int lengths[2] = {1, DATA - 1}, places[2] = {0, 4}, pair[2] = {0, 2}, made = 0;
    int out[3] = {test_rank, -1, test_rank + 10}, in[2] = {-1, -1};
    char *sent = calloc(RECORDS, DATA), *received = calloc(RECORDS, RECORD);
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Type_indexed(2, lengths, places, MPI_BYTE, &blocks);
    MPI_Type_create_resized(blocks, 0, RECORD, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&blocks);
    freed = type;
    MPI_Irecv(received, RECORDS, type, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Type_free(&type);
    MPI_Isend(sent, RECORDS * DATA, MPI_BYTE, peer(), 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    do {
        MPI_Type_create_indexed_block(2, 1, pair, MPI_INT, &others[made]);
        MPI_Type_commit(&others[made]);
    } while (others[made++] != freed && made < TYPES);
    MPI_Isend(out, 1, others[made - 1], peer(), 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv(in, 2, MPI_INT, previous(), 2, MPI_COMM_WORLD, &status);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect_status(&status, previous(), 2, sizeof in);
    expect_eq(in[0], previous());
    expect_eq(in[1], previous() + 10);
    while (made)
        MPI_Type_free(&others[--made]);
    free(received);
    free(sent);
}

/* One side packs with MPI_Pack. */
CASE(packed) {
    char buffer[200];
    int position = 0, number = 10 + test_rank, got = -1;
    double real = 0.25 * test_rank, got_real = -1;
    MPI_Request request;
    MPI_Status status;
    int lengths[] = {1, 1};
    MPI_Aint at[2], base;
    struct {
        int number;
        double real;
    } record = {0};
    MPI_Datatype type, parts[] = {MPI_INT, MPI_DOUBLE};
    MPI_Pack(&number, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(&real, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Isend(buffer, position, MPI_PACKED, peer(), 1, MPI_COMM_WORLD, &request);
    MPI_Get_address(&record, &base);
    MPI_Get_address(&record.number, &at[0]);
    MPI_Get_address(&record.real, &at[1]);
    at[0] -= base;
    at[1] -= base;
    MPI_Type_create_struct(2, lengths, at, parts, &type);
    MPI_Type_commit(&type);
    MPI_Recv(&record, 1, type, previous(), 1, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_eq(record.number, 10 + previous());
    expect(record.real == 0.25 * previous());
    record.number = 20 + test_rank;
    MPI_Isend(&record, 1, type, peer(), 2, MPI_COMM_WORLD, &request);
    MPI_Recv(buffer, sizeof buffer, MPI_PACKED, previous(), 2, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    position = 0;
    MPI_Unpack(buffer, count_of(&status, MPI_PACKED), &position, &got, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, count_of(&status, MPI_PACKED), &position, &got_real, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    expect_eq(got, 20 + previous());
    MPI_Type_free(&type);
}

/* ---- attributes of a type ---- */

static int copies, deletions;

static int on_copy(MPI_Datatype type, int key, void *state, void *value, void *copy, int *flag) {
    copies++;
    *flag = 0;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Datatype type, int key, void *value, void *state) {
    deletions++;
    return MPI_SUCCESS;
}

/* A message of a type with attributes copies none of them, also if only MPI can pack the type, and if it is freed
 * meanwhile. */
CASE(attributes_are_not_copied) {
    MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_INT}, type;
    MPI_Aint places[2] = {0, 8};
    int counts[2] = {1, 3}, key, out[5], in[5];
    MPI_Request requests[2];
    MPI_Type_contiguous(0, MPI_INT, &parts[0]); /* only MPI can pack an empty member */
    MPI_Type_create_struct(2, counts, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&parts[0]);
    MPI_Type_create_keyval(on_copy, on_delete, &key, NULL);
    MPI_Type_set_attr(type, key, NULL);
    for (int i = 0; i < 5; i++) {
        out[i] = 10 * test_rank + i;
        in[i] = -1;
    }
    copies = deletions = 0;
    MPI_Irecv(in, 1, type, previous(), 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 1, type, peer(), 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&type);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 5; i++)
        expect_eq(in[i], i < 2 ? -1 : 10 * previous() + i);
    expect_eq(copies, 0);
    expect_eq(deletions, 1);
    MPI_Type_free_keyval(&key);
}

/* The message is what MPI itself packs, with its count: Open MPI 4.1 packs this type without the extent that its
 * empty part adds. */
CASE(struct_with_an_empty_part) {
    MPI_Datatype parts[2] = {MPI_BYTE, MPI_DATATYPE_NULL}, type;
    MPI_Aint places[2] = {0, 16};
    int counts[2] = {3, 1}, packed_bytes = 0;
    unsigned char out[64], packed[64], in[64] = {0};
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Type_vector(1, 0, 1, MPI_INT, &parts[1]);
    MPI_Type_create_struct(2, counts, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&parts[1]);
    for (int i = 0; i < 64; i++)
        out[i] = (unsigned char)i;
    MPI_Pack(out, 2, type, packed, sizeof packed, &packed_bytes, MPI_COMM_WORLD);
    MPI_Irecv(in, sizeof in, MPI_BYTE, previous(), 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 2, type, peer(), 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], &status);
    expect_eq(count_of(&status, MPI_BYTE), packed_bytes);
    expect(!memcmp(in, packed, (size_t)packed_bytes));
    memset(in, 0xee, sizeof in); /* received in the same way, also if the type is freed by then */
    MPI_Irecv(in, 2, type, previous(), 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + 32, 2, type, previous(), 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&type);
    expect(type == MPI_DATATYPE_NULL);
    for (int tag = 1; tag <= 2; tag++)
        MPI_Send(packed, packed_bytes, MPI_BYTE, peer(), tag, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(!memcmp(in, out, 3));
    expect(!memcmp(in, in + 32, 32));
}

/* The program frees the request of a receive that only MPI can unpack. The data arrives during some later call. */
CASE(receive_is_freed) {
    MPI_Datatype parts[2] = {MPI_DATATYPE_NULL, MPI_INT}, type;
    MPI_Aint places[2] = {0, 8};
    int counts[2] = {1, 3}, out[3] = {test_rank, 1, 2}, in[5] = {-1, -1, -1, -1, -1}, found;
    double end = now() + 20;
    MPI_Request request;
    MPI_Type_contiguous(0, MPI_INT, &parts[0]);
    MPI_Type_create_struct(2, counts, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&parts[0]);
    MPI_Irecv(in, 1, type, previous(), 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Type_free(&type);
    MPI_Send(out, 3, MPI_INT, peer(), 1, MPI_COMM_WORLD);
    while (in[4] < 0 && now() < end)
        MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++)
        expect_eq(in[i], i < 2 ? -1 : i == 2 ? previous() : i - 2);
}

CASE(nothing_of_no_type) {
    SKIP_IF(test_open_mpi(), "Open MPI refuses it");
    MPI_Request request;
    MPI_Irecv(NULL, 0, MPI_DATATYPE_NULL, previous(), 0, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_DATATYPE_NULL, peer(), 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect_error(MPI_Send(&request, 1, MPI_DATATYPE_NULL, peer(), 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
