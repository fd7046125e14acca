/* print.c: tests arrays printed as text, which rank 0 writes with data that it gets from the others. Begins with
 * GA_Initialize_args. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grid.h"
#include "wide.h"

static void begin(int *argc, char ***argv) {
    GA_Initialize_args(argc, argv);
}

BEGIN_AND_END(begin, GA_Terminate)

enum { ROWS = 7, COLUMNS = 5, FIRST = 1001 }; /* numbers that occur in no other part of the text */

static int create(void) {
    struct grid grid = grid_new(C_INT, 2, (int[]){ROWS, COLUMNS});
    for (int i = 0; i < ROWS * COLUMNS; i++)
        grid.at[i] = FIRST + i;
    int array = array_of(&grid);
    grid_free(&grid);
    return array;
}

/* Redirects standard output into a file until the end. */
struct capture {
    FILE *file;
    int before;
};

static struct capture capture_begin(void) {
    struct capture c = {.file = tmpfile()};
    fflush(stdout);
    c.before = dup(1);
    if (!c.file || c.before < 0 || dup2(fileno(c.file), 1) < 0)
        GA_Error("standard output cannot be captured", 1);
    return c;
}

static char *capture_end(struct capture *c) {
    GA_Sync();
    fflush(stdout);
    dup2(c->before, 1);
    close(c->before);
    long bytes = lseek(fileno(c->file), 0, SEEK_END);
    char *text = need((size_t)bytes + 1);
    if (pread(fileno(c->file), text, (size_t)bytes, 0) != bytes)
        GA_Error("captured output cannot be read", 1);
    fclose(c->file);
    return text;
}

/* Rank 0 has printed the numbers of this box and no others. */
static void expect_numbers(const char *text, struct box box) {
    for (int i = 0; i < ROWS * COLUMNS && me == 0; i++) {
        char digits[16];
        bool inside = i / COLUMNS >= box.lo[0] && i / COLUMNS <= box.hi[0] && i % COLUMNS >= box.lo[1] &&
                      i % COLUMNS <= box.hi[1];
        snprintf(digits, sizeof digits, "%d", FIRST + i);
        expect_eq(strstr(text, digits) != NULL, inside);
    }
}

CASE(whole_arrays) {
    struct box all = {{0, 0}, {ROWS - 1, COLUMNS - 1}};
    int array = create();
    struct capture c = capture_begin();
    GA_Print(array);
    char *text = capture_end(&c);
    expect_numbers(text, all);
    free(text);
    GA_Destroy(array);
}

CASE(into_a_file) {
    struct box all = {{0, 0}, {ROWS - 1, COLUMNS - 1}};
    int array = create();
    struct capture c = capture_begin();
    GA_Print_file(stdout, array);
    char *text = capture_end(&c);
    expect_numbers(text, all);
    free(text);
    GA_Destroy(array);
}

CASE(boxes) {
    struct box box = {{2, 1}, {5, 3}};
    int array = create();
    for (int how = 0; how < 2; how++) {
        struct capture c = capture_begin();
        if (how)
            NGA_Print_patch(array, box.lo, box.hi, 1);
        else
            NGA_Print_patch64(array, widen(box.lo, 2).at, widen(box.hi, 2).at, 0);
        char *text = capture_end(&c);
        expect_numbers(text, box);
        free(text);
    }
    GA_Destroy(array);
}

CASE(who_has_what) {
    int array = create();
    struct capture c = capture_begin();
    GA_Print_distribution(array);
    char *text = capture_end(&c);
    expect(me != 0 || strstr(text, "owns array section") != NULL);
    free(text);
    GA_Destroy(array);
}

CASE(statistics) {
    int array = create();
    struct capture c = capture_begin();
    GA_Summarize(1);
    GA_Print_stats();
    char *text = capture_end(&c);
    expect(me != 0 || strlen(text) > 0);
    free(text);
    GA_Destroy(array);
}
