/* fields.c: tests arrays of structures, a type that the program registers: whole elements and single fields. */
#include <stdlib.h>
#include <string.h>

#include "grid.h"

struct record {
    double weight;
    int count[3];
    float height;
    char tag[8];
};

enum { ROWS = 17, COLUMNS = 11, OFFSET = offsetof(struct record, count), SIZE = 3 * sizeof(int) };

static struct record expected(int row, int column, int version) {
    struct record r = {row + column / 100., {row, column, version}, (float)(row * version), "abcdefg"};
    r.tag[0] = (char)('a' + (row + column + version) % 26);
    return r;
}

static int create(int *type) {
    int dims[] = {ROWS, COLUMNS};
    *type = NGA_Register_type(sizeof(struct record));
    return NGA_Create(*type, 2, dims, "records", NULL);
}

static void write_own_rows(int array, int version) {
    for (int row = me; row < ROWS; row += ranks) {
        struct record records[COLUMNS];
        int lo[] = {row, 0}, hi[] = {row, COLUMNS - 1}, ld[] = {COLUMNS};
        for (int column = 0; column < COLUMNS; column++)
            records[column] = expected(row, column, version);
        NGA_Put(array, lo, hi, records, ld);
    }
    GA_Sync();
}

static void expect_records(int array, int version, int count_version) {
    static struct record all[ROWS][COLUMNS];
    int lo[] = {0, 0}, hi[] = {ROWS - 1, COLUMNS - 1}, ld[] = {COLUMNS};
    NGA_Get(array, lo, hi, all, ld);
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            struct record r = expected(row, column, version), c = expected(row, column, count_version);
            memcpy(r.count, c.count, sizeof r.count);
            expect_eq(memcmp(&r, &all[row][column], sizeof r), 0);
        }
    GA_Sync();
}

CASE(whole_elements) {
    int type, array = create(&type);
    write_own_rows(array, 1);
    expect_records(array, 1, 1);
    write_own_rows(array, 2);
    expect_records(array, 2, 2);
    GA_Destroy(array);
    NGA_Deregister_type(type);
}

/* Row by row: in boxes of several rows libga 5.8.2 misplaces the rows. */
static void put_row(int array, int row, bool blocking, int counts[COLUMNS][3]) {
    int lo[] = {row, 0}, hi[] = {row, COLUMNS - 1}, ld[] = {COLUMNS};
    ga_nbhdl_t handle;
    if (blocking) {
        NGA_Put_field(array, lo, hi, OFFSET, SIZE, counts, ld);
        return;
    }
    NGA_Nbput_field(array, lo, hi, OFFSET, SIZE, counts, ld, &handle);
    NGA_NbWait(&handle);
}

static void get_row(int array, int row, bool blocking, int counts[COLUMNS][3]) {
    int lo[] = {row, 0}, hi[] = {row, COLUMNS - 1}, ld[] = {COLUMNS};
    ga_nbhdl_t handle;
    if (blocking) {
        NGA_Get_field(array, lo, hi, OFFSET, SIZE, counts, ld);
        return;
    }
    NGA_Nbget_field(array, lo, hi, OFFSET, SIZE, counts, ld, &handle);
    NGA_NbWait(&handle);
}

CASE(a_field_of_every_element) {
    static int counts[ROWS][COLUMNS][3], got[ROWS][COLUMNS][3];
    int type, array = create(&type);
    write_own_rows(array, 1);
    for (int blocking = 0; blocking < 2; blocking++) {
        int version = 5 + blocking;
        for (int i = 0; i < ROWS * COLUMNS; i++)
            memcpy(counts[i / COLUMNS][i % COLUMNS], expected(i / COLUMNS, i % COLUMNS, version).count,
                   sizeof counts[0][0]);
        for (int row = me; row < ROWS; row += ranks)
            put_row(array, row, blocking, counts[row]);
        GA_Sync();
        expect_records(array, 1, version);
        memset(got, 0, sizeof got);
        for (int row = 0; row < ROWS; row++)
            get_row(array, row, blocking, got[row]);
        expect_eq(memcmp(got, counts, sizeof got), 0);
        GA_Sync();
    }
    GA_Destroy(array);
    NGA_Deregister_type(type);
}
