/* random_types.h: random predefined datatypes, values of them, and layouts, for tests of one-sided operations. */
#ifndef HEARTH_TEST_RANDOM_TYPES_H
#define HEARTH_TEST_RANDOM_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stream of random numbers. */
struct stream {
    uint64_t state;
};

uint64_t draw(struct stream *s);
unsigned draw_below(struct stream *s, unsigned n);

/* A type with the operators that the test uses with it. Memory is divided into areas. Types of one area may be mixed
 * there: any bits are a value of each. */
struct element {
    MPI_Datatype type;
    size_t size;
    int area;
    MPI_Op ops[10];
    int op_count;
    bool is_unsigned;
};

enum { AREAS = 6, AREA_BYTES = 4096, MOST_ELEMENTS = 48, ELEMENTS = 14 };

const struct element *element_number(int n); /* below ELEMENTS */
void element_fill(struct stream *s, const struct element *e, void *into, int count);

uint64_t load_unsigned(const void *from, size_t size);

/* `count` elements in memory: the datatype, and for each element its place in units of elements. */
struct layout {
    MPI_Datatype type; /* as it is passed to MPI, once or, if it is predefined, count times */
    int times, count, span;
    bool derived;
    int place[MOST_ELEMENTS];
};

void layout_gather(const struct layout *l, size_t size, const void *from, void *packed);
void layout_scatter(const struct layout *l, size_t size, void *to, const void *packed);

/* The layouts of an operation: at the target, and of the two buffers of the origin. All have the same number of elements.
 * Making datatypes takes longer than most operations, so a test draws patterns once and uses each of them often. */
struct pattern {
    const struct element *element;
    struct layout place, origin, result;
};

/* A buffer of this many bytes holds any `origin` and `result`. */
enum { PATTERN_BUFFER = 16 * 5 * MOST_ELEMENTS };

void pattern_draw(struct stream *s, struct pattern *p);
void pattern_single(const struct element *e, struct pattern *p); /* one element */
void pattern_free(struct pattern *p);

#endif
