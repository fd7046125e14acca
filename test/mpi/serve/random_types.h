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

enum { AREAS = 6, AREA_BYTES = 1024, MOST_ELEMENTS = 48 };

const struct element *element_draw(struct stream *s);
void element_fill(struct stream *s, const struct element *e, void *into, int count);

uint64_t load_unsigned(const void *from, size_t size);

/* `count` elements in memory: the datatype, and for each element its place in units of elements. */
struct layout {
    MPI_Datatype type; /* as it is passed to MPI, once or, if it is predefined, count times */
    int times, count, span;
    bool derived;
    int place[MOST_ELEMENTS];
};

/* At most `most` elements wide; `count` elements, or any number up to MOST_ELEMENTS if it is 0. */
void layout_draw(struct stream *s, const struct element *e, int most, int count, struct layout *l);
void layout_free(struct layout *l);
void layout_gather(const struct layout *l, size_t size, const void *from, void *packed);
void layout_scatter(const struct layout *l, size_t size, void *to, const void *packed);

#endif
