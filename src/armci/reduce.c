/* reduce.c: reductions.
 *
 * Every ARMCI operation maps to a built-in one of MPI, once the values are prepared: "and" is the minimum and "or"
 * the maximum of values converted to 0 or 1. The greatest magnitude is the minimum of the negated magnitudes,
 * negated again. Negated, because the magnitude of the least integer does not fit into its type. It would fit into
 * the unsigned types, but MPICH 4.0 and Open MPI 4.1 compare (some of) them as signed.
 *
 * Only the selection of a whole structure by its first field needs an operation of our own. MPI gets it as one
 * element of a type as long as the structure: MPI may split a buffer of several elements. */
#include "armci/job/group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

enum { PIECE = 8 << 20 }; /* bytes reduced at once: MPI allocates as much again */

/* ---- types and operations ---- */

struct type {
    size_t bytes;
    MPI_Datatype mpi;
    bool integer;
};

static const struct type *find_type(const char *call, int type) {
    static const struct type types[] = {
        [ARMCI_INT] = {sizeof(int), MPI_INT, true},
        [ARMCI_LONG] = {sizeof(long), MPI_LONG, true},
        [ARMCI_LONG_LONG] = {sizeof(long long), MPI_LONG_LONG, true},
        [ARMCI_FLOAT] = {sizeof(float), MPI_FLOAT, false},
        [ARMCI_DOUBLE] = {sizeof(double), MPI_DOUBLE, false},
    };
    if (type < 0 || type >= (int)(sizeof types / sizeof *types))
        armci_fail(call, "type %d is unknown: use ARMCI_INT, LONG, LONG_LONG, FLOAT or DOUBLE", type);
    return &types[type];
}

enum before { AS_IT_IS, MAGNITUDE, TRUTH, BITS };

struct operation {
    const char *prefix;
    MPI_Op mpi;
    enum before before;
};

/* && comes before &, its prefix. */
static const struct operation *find_operation(const char *call, const char *op) {
    static const struct operation operations[] = {
        {"+", MPI_SUM, AS_IT_IS},   {"*", MPI_PROD, AS_IT_IS},      {"max", MPI_MAX, AS_IT_IS},
        {"min", MPI_MIN, AS_IT_IS}, {"absmax", MPI_MIN, MAGNITUDE}, {"absmin", MPI_MAX, MAGNITUDE},
        {"land", MPI_MIN, TRUTH},   {"&&", MPI_MIN, TRUTH},         {"lor", MPI_MAX, TRUTH},
        {"||", MPI_MAX, TRUTH},     {"band", MPI_BAND, BITS},       {"&", MPI_BAND, BITS},
        {"bor", MPI_BOR, BITS},     {"|", MPI_BOR, BITS},           {"or", MPI_BOR, BITS},
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strncmp(op, operations[i].prefix, strlen(operations[i].prefix)) == 0)
            return &operations[i];
    armci_fail(call,
               "operation \"%s\" is unknown: use + * max min absmax absmin land && lor || band & bor | or",
               op);
}

/* ---- preparation ---- */

#define EACH(T, into)                                                                                        \
    for (T *v = x, *end = v + n; v < end; v++)                                                               \
    *v = (T)(into)

/* -|x|: exists for all integers. */
static void take_negative_magnitudes(void *x, size_t n, int type) {
    switch (type) {
    case ARMCI_INT:
        EACH(int, *v > 0 ? -*v : *v);
        break;
    case ARMCI_LONG:
        EACH(long, *v > 0 ? -*v : *v);
        break;
    case ARMCI_LONG_LONG:
        EACH(long long, *v > 0 ? -*v : *v);
        break;
    case ARMCI_FLOAT:
        EACH(float, -fabsf(*v));
        break;
    default:
        EACH(double, -fabs(*v));
    }
}

/* Integers are negated in the unsigned type, in which the least one maps to itself. */
static void negate(void *x, size_t n, int type) {
    switch (type) {
    case ARMCI_INT:
        EACH(unsigned, 0 - *v);
        break;
    case ARMCI_LONG:
        EACH(unsigned long, 0 - *v);
        break;
    case ARMCI_LONG_LONG:
        EACH(unsigned long long, 0 - *v);
        break;
    case ARMCI_FLOAT:
        EACH(float, -*v);
        break;
    default:
        EACH(double, -*v);
    }
}

static void take_truths(void *x, size_t n, int type) {
    switch (type) {
    case ARMCI_INT:
        EACH(int, *v != 0);
        break;
    case ARMCI_LONG:
        EACH(long, *v != 0);
        break;
    case ARMCI_LONG_LONG:
        EACH(long long, *v != 0);
        break;
    case ARMCI_FLOAT:
        EACH(float, *v != 0);
        break;
    default:
        EACH(double, *v != 0);
    }
}

/* ---- reductions ---- */

/* Result in all ranks, or in rank 0 alone. */
static int reduce_piece(void *x, int n, MPI_Datatype type, MPI_Op op, bool for_all, MPI_Comm comm) {
    int rank;
    if (for_all)
        return MPI_Allreduce(MPI_IN_PLACE, x, n, type, op, comm);
    int err = MPI_Comm_rank(comm, &rank);
    return err ? err : MPI_Reduce(rank ? x : MPI_IN_PLACE, x, n, type, op, 0, comm);
}

static void reduce_pieces(const char *call, char *x, int n, const struct type *t, MPI_Op op, bool for_all,
                          MPI_Comm comm) {
    int most = (int)(PIECE / t->bytes);
    for (int done = 0, part; done < n; done += part) {
        part = n - done < most ? n - done : most;
        armci_check(call, reduce_piece(x + (size_t)done * t->bytes, part, t->mpi, op, for_all, comm));
    }
}

static void reduce_all(const char *call, int scope, void *x, int n, const char *op, int type, bool for_all,
                       const ARMCI_Group *group) {
    MPI_Comm comm = armci_scope_comm(call, group, scope);
    const struct type *t = find_type(call, type);
    const struct operation *o = find_operation(call, op);
    if (o->before == BITS && !t->integer)
        armci_fail(call, "operation \"%s\" is not defined for floating-point numbers", op);
    if (n < 0)
        armci_fail(call, "the number of values is negative: %d", n);
    if (comm == MPI_COMM_NULL)
        return;
    if (o->before == MAGNITUDE)
        take_negative_magnitudes(x, (size_t)n, type);
    else if (o->before == TRUTH)
        take_truths(x, (size_t)n, type);
    if (comm != MPI_COMM_SELF)
        reduce_pieces(call, x, n, t, o->mpi, for_all, comm);
    if (o->before == MAGNITUDE)
        negate(x, (size_t)n, type);
}

void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type, ARMCI_Group *group) {
    reduce_all("armci_msg_group_gop_scope", scope, x, n, op, type, true, group);
}

void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type) {
    reduce_all("armci_msg_gop_scope", scope, x, n, op, type, true, &armci_job.world_group);
}

void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type) {
    reduce_all("armci_msg_reduce_scope", scope, x, n, op, type, false, &armci_job.world_group);
}

void armci_msg_reduce(void *x, int n, char *op, int type) {
    reduce_all("armci_msg_reduce", SCOPE_ALL, x, n, op, type, false, &armci_job.world_group);
}

/* The same by type: of all processes, of a group, of this node. */
#define GOPS(letters, T, type)                                                                               \
    void armci_msg_##letters##gop(T *x, int n, char *op) {                                                   \
        reduce_all("armci_msg_" #letters "gop", SCOPE_ALL, x, n, op, type, true, &armci_job.world_group);    \
    }                                                                                                        \
    void armci_msg_group_##letters##gop(T *x, int n, char *op, ARMCI_Group *group) {                         \
        reduce_all("armci_msg_group_" #letters "gop", SCOPE_ALL, x, n, op, type, true, group);               \
    }                                                                                                        \
    void armci_msg_clus_##letters##gop(T *x, int n, char *op) {                                              \
        reduce_all("armci_msg_clus_" #letters "gop", SCOPE_NODE, x, n, op, type, true,                       \
                   &armci_job.world_group);                                                                  \
    }

GOPS(i, int, ARMCI_INT)
GOPS(l, long, ARMCI_LONG)
GOPS(ll, long long, ARMCI_LONG_LONG)
GOPS(f, float, ARMCI_FLOAT)
GOPS(d, double, ARMCI_DOUBLE)

/* ---- selection of a structure ---- */

/* The contribution of one process, as one MPI element. */
struct candidate {
    int32_t bytes; /* of the structure */
    /* Among equals the lowest rank wins, whatever the order in which MPI compares; -1: does not contribute. */
    int32_t rank;
    int32_t type;
    int32_t greatest; /* 0: the least */
    char value[];     /* aligned to 8 */
};

/* < 0, 0, > 0; also 0 if either is NaN. */
static int reduce_compare(int type, const void *a, const void *b) {
#define COMPARE(T) ((*(const T *)a > *(const T *)b) - (*(const T *)a < *(const T *)b))
    switch (type) {
    case ARMCI_INT:
        return COMPARE(int);
    case ARMCI_LONG:
        return COMPARE(long);
    case ARMCI_LONG_LONG:
        return COMPARE(long long);
    case ARMCI_FLOAT:
        return COMPARE(float);
    default:
        return COMPARE(double);
    }
#undef COMPARE
}

static bool is_better(const struct candidate *a, const struct candidate *b) {
    if (a->rank < 0 || b->rank < 0)
        return a->rank >= 0;
    int order = reduce_compare(a->type, a->value, b->value);
    return order ? (order > 0) == (a->greatest != 0) : a->rank < b->rank;
}

static void keep_better(void *in, void *inout, int *count, MPI_Datatype *type) {
    const struct candidate *c = in;
    size_t stride = round_up(sizeof *c + (size_t)c->bytes, 16);
    for (int i = 0; i < *count; i++)
        if (is_better((void *)((char *)in + (size_t)i * stride),
                      (void *)((char *)inout + (size_t)i * stride)))
            memcpy((char *)inout + (size_t)i * stride, (char *)in + (size_t)i * stride, stride);
}

static void reduce_choose(const char *call, struct candidate *c, size_t bytes, MPI_Comm comm) {
    MPI_Datatype element;
    MPI_Op op;
    /* MPI aligns its buffers for MPI_INT64_T. */
    armci_check(call, MPI_Type_contiguous((int)(bytes / 8), MPI_INT64_T, &element));
    armci_check(call, MPI_Type_commit(&element));
    armci_check(call, MPI_Op_create(keep_better, 1, &op));
    armci_check(call, MPI_Allreduce(MPI_IN_PLACE, c, 1, element, op, comm));
    MPI_Op_free(&op);
    MPI_Type_free(&element);
}

/* 1 for the greatest, 0 for the least. */
static int find_end(const char *call, const char *op) {
    bool greatest = strncmp(op, "max", 3) == 0;
    if (!greatest && strncmp(op, "min", 3) != 0)
        armci_fail(call, "operation \"%s\" is unknown: use min or max", op);
    return greatest;
}

static void select_one(const char *call, int scope, void *x, int n, const char *op, int type,
                       int contribute) {
    MPI_Comm comm = armci_scope_comm(call, &armci_job.world_group, scope);
    size_t least = find_type(call, type)->bytes, bytes = round_up(sizeof(struct candidate) + (size_t)n, 16);
    int greatest = find_end(call, op);
    if (n < (int)least)
        armci_fail(call, "%d bytes do not hold a value of %zu bytes", n, least);
    if (comm == MPI_COMM_NULL || comm == MPI_COMM_SELF)
        return;
    struct candidate *c = aligned_alloc(16, bytes);
    if (!c)
        armci_fail(call, "no memory for %zu bytes", bytes);
    *c = (struct candidate){n, contribute ? armci_job.rank : -1, type, greatest};
    memset(c->value, 0, bytes - sizeof *c);
    if (contribute)
        memcpy(c->value, x, (size_t)n);
    reduce_choose(call, c, bytes, comm);
    if (c->rank >= 0)
        memcpy(x, c->value, (size_t)n);
    free(c);
}

void armci_msg_sel(void *x, int n, char *op, int type, int contribute) {
    select_one("armci_msg_sel", SCOPE_ALL, x, n, op, type, contribute);
}

void armci_msg_sel_scope(int scope, void *x, int n, char *op, int type, int contribute) {
    select_one("armci_msg_sel_scope", scope, x, n, op, type, contribute);
}
