/* served_ops.c: tests one-sided operations on windows that Hearth serves: every predefined type with every predefined
 * operator, by every call, and all kinds of derived types. The expected results are computed locally, by MPI_Reduce_local,
 * MPI_Pack and MPI_Unpack.
 *
 * configs: serve serve1 serve2 servempi servedirect */
#include <stdio.h>
#include <stdlib.h>

#include "element_types.h"
#include "serving.h"

enum { COUNT = 5, ROOM = 1024, WINDOW = 8192 };

static struct allocated window;

static int class_of(int rc) {
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    return class;
}

static void open_ops(int unit) {
    window = allocate_window(MPI_COMM_WORLD, WINDOW, unit, NULL);
    MPI_Win_lock_all(0, window.win);
}

static void close_ops(void) {
    barrier();
    MPI_Win_unlock_all(window.win);
    MPI_Win_free(&window.win);
}

/* ---- types and operators ---- */

/* The calls by which an operation can be issued. */
enum form {
    ACCUMULATE,
    RACCUMULATE,
    GET_ACCUMULATE,
    RGET_ACCUMULATE,
    FETCH_AND_OP,
    ACCUMULATE_C,
    GET_ACCUMULATE_C,
    FORMS
};

static bool fetches(enum form form) {
    return form != ACCUMULATE && form != RACCUMULATE && form != ACCUMULATE_C;
}

static int wait_for(int rc, MPI_Request *request) {
    return rc == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : rc;
}

static int call_form(enum form form, const void *origin, void *result, int count, MPI_Datatype type,
                     MPI_Aint at, MPI_Op op) {
    MPI_Request request;
    int target = peer();
    switch (form) {
    case ACCUMULATE:
        return MPI_Accumulate(origin, count, type, target, at, count, type, op, window.win);
    case RACCUMULATE:
        return wait_for(
            MPI_Raccumulate(origin, count, type, target, at, count, type, op, window.win, &request),
            &request);
    case GET_ACCUMULATE:
        return MPI_Get_accumulate(origin, count, type, result, count, type, target, at, count, type, op,
                                  window.win);
    case RGET_ACCUMULATE:
        return wait_for(MPI_Rget_accumulate(origin, count, type, result, count, type, target, at, count, type,
                                            op, window.win, &request),
                        &request);
    case FETCH_AND_OP:
        return MPI_Fetch_and_op(origin, result, type, target, at, op, window.win);
#if MPI_VERSION >= 4
    case ACCUMULATE_C:
        return MPI_Accumulate_c(origin, count, type, target, at, count, type, op, window.win);
    case GET_ACCUMULATE_C:
        return MPI_Get_accumulate_c(origin, count, type, result, count, type, target, at, count, type, op,
                                    window.win);
#endif
    default:
        return MPI_SUCCESS;
    }
}

static void pack(const void *from, int count, MPI_Datatype type, char *packed) {
    int at = 0;
    memset(packed, 0, ROOM);
    MPI_Pack(from, count, type, packed, ROOM, &at, MPI_COMM_SELF);
}

/* Returns whether two arrays have the same elements; padding is ignored. */
static bool same_elements(const void *a, const void *b, int count, MPI_Datatype type) {
    char packed[2][ROOM];
    pack(a, count, type, packed[0]);
    pack(b, count, type, packed[1]);
    return memcmp(packed[0], packed[1], ROOM) == 0;
}

/* Returns whether MPI defines the operator for the type. Other combinations are not tried: not all MPIs refuse them. */
static bool is_defined(const struct element_type *t, int op) {
    bool text = t->type == MPI_CHAR || t->type == MPI_WCHAR || t->type == MPI_CHARACTER;
    bool pair = t->kind == VALUE_PAIR || strncmp(t->name, "MPI_2", 5) == 0;
    bool complex = t->kind == VALUE_REAL && t->part && !pair;
    if (element_op(op) == MPI_REPLACE || element_op(op) == MPI_NO_OP)
        return true;
    if (element_op(op) == MPI_MAXLOC || element_op(op) == MPI_MINLOC)
        return pair;
    if (op < 2)
        return !text && !pair && t->kind != VALUE_TRUTH && t->type != MPI_BYTE;
    if (op < 4)
        return !text && !pair && !complex && t->kind != VALUE_TRUTH && t->type != MPI_BYTE;
    if (op < 7)
        return !text && !pair && t->type != MPI_BYTE && t->kind != VALUE_REAL;
    return !text && t->kind == VALUE_INTEGER;
}

/* Returns false if this MPI does not support the operator for this type. */
static bool compute(const struct element_type *t, int op, const void *origin, void *model, int count) {
    MPI_Aint lower, extent;
    MPI_Type_get_extent(t->type, &lower, &extent);
    if (element_op(op) == MPI_NO_OP)
        return true;
    if (element_op(op) != MPI_REPLACE)
        return MPI_Reduce_local(origin, model, count, t->type, element_op(op)) == MPI_SUCCESS;
    memcpy(model, origin, (size_t)(count * extent));
    return true;
}

static void fail_op(const struct element_type *t, int op, enum form form, const char *what) {
    char text[200];
    snprintf(text, sizeof text, "%s of %s, form %d: %s", element_op_name(op), t->name, form, what);
    test_expect(__FILE__, __LINE__, text, false);
}

static void try_op(const struct element_type *t, int op, enum form form, MPI_Aint at, unsigned seed) {
    char origin[ROOM], before[ROOM], model[ROOM], result[ROOM], after[ROOM];
    int count = form == FETCH_AND_OP ? 1 : COUNT;
    fill_elements(t, origin, count, seed);
    fill_elements(t, before, count, seed + 77);
    fill_elements(t, model, count, seed + 77);
    memset(result, 0, sizeof result);
    memset(after, 0, sizeof after);
    if (!compute(t, op, origin, model, count))
        return;
    MPI_Put(before, count, t->type, peer(), at, count, t->type, window.win);
    MPI_Win_flush(peer(), window.win);
    if (call_form(form, origin, result, count, t->type, at, element_op(op)) != MPI_SUCCESS)
        fail_op(t, op, form, "an error");
    MPI_Win_flush(peer(), window.win);
    MPI_Get(after, count, t->type, peer(), at, count, t->type, window.win);
    MPI_Win_flush(peer(), window.win);
    if (!same_elements(after, model, count, t->type))
        fail_op(t, op, form, "wrong elements in the window");
    if (fetches(form) && !same_elements(result, before, count, t->type))
        fail_op(t, op, form, "wrong elements fetched");
}

/* Tries every combination at this displacement. At unaligned displacements some hosts crash. */
static void try_all_ops(MPI_Aint at) {
    struct element_type types[TYPES_MOST];
    int n = element_types(types);
    for (int i = 0; i < n; i++)
        for (int op = 0; op < OPS; op++)
            for (int form = 0; form < FORMS; form++) {
                bool plain = element_op(op) == MPI_NO_OP && !fetches(form); /* MPI does not allow it */
                if (is_defined(&types[i], op) && !plain && (MPI_VERSION >= 4 || form < ACCUMULATE_C))
                    try_op(&types[i], op, form, at, (unsigned)(i * OPS + op) * 8 + (unsigned)form);
            }
}

CASE(all_types_and_operators) {
    SKIP_IF(!test_served(), "some combinations crash in the MPIs");
    open_ops(1);
    test_return_errors(true);
    try_all_ops(512);
    bool is_usual = !strcmp(test_config(), "serve") || !strcmp(test_config(), "serve1");
    if (is_usual || test_seconds >= 1) /* other networks bring the same requests */
        try_all_ops(4096 - 13);        /* across the boundary between two blocks with separate locks */
    test_return_errors(false);
    close_ops();
}

/* ---- operators that MPI does not define for a type ---- */

/* The MPI's own result: accumulates on a window that it executes. It may refuse the operator. */
static int accumulate_bare(const void *origin, void *model, MPI_Datatype type, int bytes, MPI_Op op,
                           MPI_Win win, void *base) {
    memcpy(base, model, (size_t)bytes);
    MPI_Win_sync(win);
    int rc = MPI_Accumulate(origin, 1, type, test_rank, 0, 1, type, op, win);
    MPI_Win_flush(test_rank, win);
    MPI_Win_sync(win);
    memcpy(model, base, (size_t)bytes);
    return rc;
}

static void try_undefined(MPI_Datatype type, MPI_Op op, MPI_Win bare, void *base) {
    char origin[16], before[16], model[16], after[16] = {0};
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    for (int i = 0; i < 16; i++) { /* values of type C_BOOL are 0 and 1 */
        origin[i] = (char)(type == MPI_C_BOOL ? 1 : i * 17 + 201);
        before[i] = model[i] = (char)(type == MPI_C_BOOL ? 1 : i * 73 + 99);
    }
    if (accumulate_bare(origin, model, type, bytes, op, bare, base) != MPI_SUCCESS)
        return;
    MPI_Put(before, bytes, MPI_BYTE, peer(), 64, bytes, MPI_BYTE, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_eq(MPI_Accumulate(origin, 1, type, peer(), 64, 1, type, op, window.win), MPI_SUCCESS);
    MPI_Win_flush(peer(), window.win);
    MPI_Get(after, bytes, MPI_BYTE, peer(), 64, bytes, MPI_BYTE, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_bytes(after, model, (size_t)bytes);
}

CASE(operators_that_are_not_defined_for_a_type) {
    SKIP_IF(!test_served(), "compares served windows with those of the MPI");
    MPI_Info info;
    MPI_Win bare;
    char *base;
    open_ops(1);
    MPI_Info_create(&info);
    MPI_Info_set(info, "hearth_windows", "host");
    MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &bare);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(bare, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, bare);
    MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
    MPI_Datatype types[] = {MPI_BYTE, MPI_C_BOOL, MPI_LOGICAL, MPI_CHARACTER};
    MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN, MPI_LAND,
                    MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            if (types[i] != MPI_DATATYPE_NULL)
                try_undefined(types[i], ops[k], bare, base);
    float real = 0, old;
    expect_eq(MPI_Accumulate(&real, 0, MPI_FLOAT, peer(), 0, 0, MPI_FLOAT, MPI_BAND, window.win),
              MPI_SUCCESS);
    expect_eq(MPI_Get_accumulate(&real, 0, MPI_FLOAT, &old, 0, MPI_FLOAT, peer(), 0, 0, MPI_FLOAT, MPI_BAND,
                                 window.win),
              MPI_SUCCESS);
    MPI_Win_unlock_all(bare);
    MPI_Win_free(&bare);
    close_ops();
}

/* ---- memory of a dynamic window ---- */

static void use_attached(MPI_Win win, int target, MPI_Aint at, int expected) {
    int value = 5, got = 0, old = 0, zero = 0;
    expect_eq(class_of(MPI_Put(&zero, 1, MPI_INT, target, at, 1, MPI_INT, win)), expected);
    expect_eq(class_of(MPI_Accumulate(&value, 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, win)), expected);
    expect_eq(class_of(MPI_Fetch_and_op(&value, &old, MPI_INT, target, at, MPI_SUM, win)), expected);
    expect_eq(class_of(MPI_Compare_and_swap(&value, &value, &old, MPI_INT, target, at, win)), expected);
    expect_eq(class_of(MPI_Get(&got, 1, MPI_INT, target, at, 1, MPI_INT, win)), expected);
    MPI_Win_flush(target, win);
    expect_eq(got, expected == MPI_SUCCESS ? 10 : 0);
}

CASE(memory_that_is_not_attached) {
    SKIP_IF(!test_served(), "MPIs do not look");
    MPI_Win win;
    MPI_Aint at;
    int memory[2][2] = {{0}};
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_attach(win, memory[0], sizeof memory[0]);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, test_rank, 0, win);
    MPI_Get_address(memory[0], &at);
    use_attached(win, test_rank, at, MPI_SUCCESS);
    use_attached(win, test_rank, at + (MPI_Aint)sizeof(int), MPI_SUCCESS);
    use_attached(win, test_rank, at + (MPI_Aint)sizeof memory[0], MPI_ERR_RMA_RANGE);
    use_attached(win, test_rank, 4096, MPI_ERR_RMA_RANGE); /* no memory at all */
    MPI_Win_unlock(test_rank, win);
    MPI_Win_detach(win, memory[0]);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, test_rank, 0, win);
    use_attached(win, test_rank, at, MPI_ERR_RMA_RANGE);
    MPI_Win_unlock(test_rank, win);
    MPI_Win_free(&win);
}

/* ---- types of several elements ---- */

CASE(types_of_several_kinds) {
    SKIP_IF(!test_served(), "the MPIs compute nonsense");
    struct {
        int i;
        double d;
    } value = {3, 4.5}, got = {0, 0};
    int two[2] = {1, 2}, other[2] = {0, 0}, old[2];
    MPI_Datatype mixed, pair;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, (MPI_Aint)((char *)&value.d - (char *)&value)},
                           (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &mixed);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&mixed);
    MPI_Type_commit(&pair);
    open_ops(1);
    MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
    expect_eq(class_of(MPI_Accumulate(&value, 1, mixed, peer(), 0, 1, mixed, MPI_SUM, window.win)),
              MPI_ERR_TYPE);
    expect_eq(class_of(MPI_Compare_and_swap(two, other, old, pair, peer(), 0, window.win)), MPI_ERR_TYPE);
    expect_eq(MPI_Accumulate(&value, 1, mixed, peer(), 0, 1, mixed, MPI_REPLACE, window.win), MPI_SUCCESS);
    MPI_Win_flush(peer(), window.win);
    expect_eq(
        MPI_Get_accumulate(NULL, 0, MPI_INT, &got, 1, mixed, peer(), 0, 1, mixed, MPI_NO_OP, window.win),
        MPI_SUCCESS);
    MPI_Win_flush(peer(), window.win);
    expect_eq(got.i, 3);
    expect_real(got.d, 4.5);
    close_ops();
    MPI_Type_free(&mixed);
    MPI_Type_free(&pair);
}

/* ---- compare and swap ---- */

static void try_swap(const struct element_type *t, MPI_Aint at) {
    char first[ROOM], second[ROOM], result[ROOM] = {0}, now[ROOM] = {0};
    memset(first, 1, sizeof first);
    memset(second, 0, sizeof second);
    MPI_Put(first, 1, t->type, peer(), at, 1, t->type, window.win);
    MPI_Win_flush(peer(), window.win);
    for (int i = 0; i < 3; i++) { /* equal, then not, then equal */
        MPI_Compare_and_swap(i == 2 ? first : second, i == 2 ? second : first, result, t->type, peer(), at,
                             window.win);
        MPI_Win_flush(peer(), window.win);
        MPI_Get(now, 1, t->type, peer(), at, 1, t->type, window.win);
        MPI_Win_flush(peer(), window.win);
        if (!same_elements(result, i == 0 ? first : second, 1, t->type) ||
            !same_elements(now, i == 2 ? first : second, 1, t->type))
            fail_op(t, 12, FORMS, "compare and swap");
    }
}

CASE(compare_and_swap_of_all_types) {
    SKIP_IF(!test_served(), "crashes in some MPIs");
    struct element_type types[TYPES_MOST];
    int n = element_types(types);
    open_ops(1);
    for (int i = 0; i < n; i++)
        if (types[i].kind == VALUE_INTEGER || types[i].kind == VALUE_TRUTH) {
            try_swap(&types[i], 64);
            try_swap(&types[i], 4096 - 3);
        }
    close_ops();
}

/* ---- derived types ---- */

enum { ELEMENTS = 12, DERIVED_MOST = 20, REGION = 1024, MIDDLE = 512 };

struct derived {
    const char *name;
    MPI_Datatype type;
    int count;
};

static int add_derived(struct derived *list, int n, const char *name, MPI_Datatype type, int count) {
    MPI_Type_commit(&type);
    list[n] = (struct derived){name, type, count};
    return n + 1;
}

static MPI_Datatype empty_part_first(MPI_Datatype base) {
    MPI_Datatype made;
    MPI_Type_create_struct(3, (int[]){0, 6, 6}, (MPI_Aint[]){0, 8, 120},
                           (MPI_Datatype[]){base == MPI_DOUBLE ? MPI_CHAR : MPI_DOUBLE, base, base}, &made);
    return made;
}

static MPI_Datatype resized(MPI_Datatype of, MPI_Aint lower, MPI_Aint extent) {
    MPI_Datatype made;
    MPI_Type_create_resized(of, lower, extent, &made);
    MPI_Type_free(&of);
    return made;
}

/* Makes types with ELEMENTS elements of the base type each, at most MIDDLE bytes before or behind the address. */
static int make_derived(MPI_Datatype base, struct derived *list) {
    MPI_Datatype t;
    MPI_Aint lower, extent;
    int n = 0;
    MPI_Type_get_extent(base, &lower, &extent);
    MPI_Type_vector(4, 3, 5, base, &t);
    n = add_derived(list, n, "vector", t, 1);
    MPI_Type_create_hvector(6, 2, -5 * extent, base, &t);
    n = add_derived(list, n, "hvector backwards", t, 1);
    MPI_Type_indexed(3, (int[]){5, 0, 7}, (int[]){14, 3, 1}, base, &t);
    n = add_derived(list, n, "indexed", t, 1);
    MPI_Type_create_indexed_block(4, 3, (int[]){0, 10, 4, -5}, base, &t);
    n = add_derived(list, n, "indexed block", t, 1);
    MPI_Type_create_hindexed(2, (int[]){4, 8}, (MPI_Aint[]){-9 * extent, 2 * extent}, base, &t);
    n = add_derived(list, n, "hindexed", t, 1);
    MPI_Type_create_struct(3, (int[]){2, 4, 6}, (MPI_Aint[]){-3 * extent, 0, 9 * extent},
                           (MPI_Datatype[]){base, base, base}, &t);
    n = add_derived(list, n, "struct", t, 1);
    n = add_derived(list, n, "struct with an empty part", empty_part_first(base), 1);
    MPI_Type_contiguous(2, base, &t);
    n = add_derived(list, n, "resized", resized(t, -extent, 4 * extent), 6);
    MPI_Type_dup(base, &t);
    n = add_derived(list, n, "dup", t, ELEMENTS);
    MPI_Type_create_subarray(2, (int[]){5, 6}, (int[]){3, 4}, (int[]){1, 1}, MPI_ORDER_C, base, &t);
    n = add_derived(list, n, "subarray", t, 1);
    n = add_derived(list, n, "itself", base, ELEMENTS);
#if MPI_VERSION >= 4
    MPI_Type_vector_c(3, 4, 5, base, &t);
    n = add_derived(list, n, "vector with large counts", t, 1);
#endif
    return n;
}

static void free_derived(struct derived *list, int n, MPI_Datatype base) {
    for (int i = 0; i < n; i++)
        if (list[i].type != base)
            MPI_Type_free(&list[i].type);
}

/* Fills the region with small numbers of the base type, at multiples of 8 bytes. */
static void fill_region(MPI_Datatype base, char *region, unsigned seed) {
    for (int i = 0; i < REGION / 8; i++) {
        double real = (double)((seed + (unsigned)i * 7) % 100);
        int64_t integer = (int64_t)real;
        memcpy(region + 8 * i, base == MPI_DOUBLE ? (void *)&real : (void *)&integer, 8);
    }
}

static void add_packed(MPI_Datatype base, void *to, const void *from) {
    MPI_Reduce_local(from, to, ELEMENTS, base, MPI_SUM);
}

static void unpack(const char *packed, void *to, const struct derived *d) {
    int at = 0;
    MPI_Unpack(packed, ROOM, &at, to, d->count, d->type, MPI_COMM_SELF);
}

enum derived_call { PUT, GET, ADD, FETCH_AND_ADD };

static void call_derived(enum derived_call call, const struct derived *o, const struct derived *r,
                         const struct derived *t, char *origin, char *result) {
    MPI_Aint at = MIDDLE;
    int target = peer();
    MPI_Win win = window.win;
    if (call == PUT)
        MPI_Put(origin, o->count, o->type, target, at, t->count, t->type, win);
    else if (call == GET)
        MPI_Get(result, r->count, r->type, target, at, t->count, t->type, win);
    else if (call == ADD)
        MPI_Accumulate(origin, o->count, o->type, target, at, t->count, t->type, MPI_SUM, win);
    else
        MPI_Get_accumulate(origin, o->count, o->type, result, r->count, r->type, target, at, t->count,
                           t->type, MPI_SUM, win);
    MPI_Win_flush(target, win);
}

/* Compares the window's region and the result buffer, including gaps, with the expected bytes. */
static void try_derived(enum derived_call call, MPI_Datatype base, const struct derived *o,
                        const struct derived *r, const struct derived *t) {
    _Alignas(16) char region[REGION], origin[REGION], result[REGION], want[REGION], want_result[REGION];
    _Alignas(16) char operands[ROOM], old[ROOM];
    fill_region(base, region, 1);
    fill_region(base, origin, 50);
    memset(result, 0x11, REGION);
    memcpy(want, region, REGION);
    memcpy(want_result, result, REGION);
    MPI_Put(region, REGION, MPI_BYTE, peer(), 0, REGION, MPI_BYTE, window.win);
    MPI_Win_flush(peer(), window.win);
    pack(origin + MIDDLE, o->count, o->type, operands);
    pack(region + MIDDLE, t->count, t->type, old);
    if (call == GET || call == FETCH_AND_ADD)
        unpack(old, want_result + MIDDLE, r);
    if (call == ADD || call == FETCH_AND_ADD)
        add_packed(base, operands, old);
    if (call != GET)
        unpack(operands, want + MIDDLE, t);
    call_derived(call, o, r, t, origin + MIDDLE, result + MIDDLE);
    MPI_Get(region, REGION, MPI_BYTE, peer(), 0, REGION, MPI_BYTE, window.win);
    MPI_Win_flush(peer(), window.win);
    if (!expect_bytes(region, want, REGION) || !expect_bytes(result, want_result, REGION))
        printf("call %d, origin %s, result %s, target %s\n", call, o->name, r->name, t->name);
}

static void try_all_derived(MPI_Datatype base) {
    struct derived types[DERIVED_MOST];
    int n = make_derived(base, types);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (enum derived_call call = PUT; call <= FETCH_AND_ADD; call++)
                try_derived(call, base, &types[i], &types[(i + j) % n], &types[j]);
    free_derived(types, n, base);
}

CASE(derived_types) {
    SKIP_IF(!test_served(), "the MPIs do not support all of these types");
    open_ops(1);
    try_all_derived(MPI_INT64_T);
    try_all_derived(MPI_DOUBLE);
    close_ops();
}

/* A type whose displacement is an absolute address, for MPI_BOTTOM. */
static MPI_Datatype type_at(const void *address, int count) {
    MPI_Aint at;
    MPI_Datatype type;
    MPI_Get_address(address, &at);
    MPI_Type_create_hindexed(1, &count, &at, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

CASE(absolute_addresses) {
    int origin[3] = {1, 2, 3}, result[3] = {9, 9, 9}, got[3] = {9, 9, 9};
    MPI_Datatype from = type_at(origin, 3), to = type_at(result, 3), into = type_at(got, 3);
    open_ops(4);
    MPI_Put(MPI_BOTTOM, 1, from, peer(), 0, 3, MPI_INT, window.win);
    MPI_Win_flush(peer(), window.win);
    MPI_Get_accumulate(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, peer(), 0, 3, MPI_INT, MPI_SUM, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_bytes(result, ((int[]){1, 2, 3}), sizeof result);
    MPI_Get(MPI_BOTTOM, 1, into, peer(), 0, 3, MPI_INT, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_bytes(got, ((int[]){2, 4, 6}), sizeof got);
    close_ops();
    MPI_Type_free(&from);
    MPI_Type_free(&to);
    MPI_Type_free(&into);
}

/* Fortran types that are chosen by range and precision. */
CASE(types_by_precision) {
    SKIP_IF(!test_has_fortran(), "this MPI was built without Fortran");
    SKIP_IF(!test_served(), "some MPIs do not support these types");
    MPI_Datatype real, integer, complex;
    double reals[2] = {1.5, 2}, result[2] = {0};
    int whole = 3, old = -1;
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);
    MPI_Type_create_f90_integer(9, &integer);
    MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &complex);
    open_ops(8);
    MPI_Accumulate(reals, 2, real, peer(), 0, 2, real, MPI_SUM, window.win);
    MPI_Win_flush(peer(), window.win);
    MPI_Get_accumulate(reals, 1, complex, result, 1, complex, peer(), 0, 1, complex, MPI_SUM, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_real(result[0], 1.5);
    expect_real(result[1], 2);
    MPI_Fetch_and_op(&whole, &old, integer, peer(), 4, MPI_SUM, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_eq(old, 0);
    MPI_Get(result, 2, MPI_DOUBLE, peer(), 0, 2, MPI_DOUBLE, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_real(result[0], 3);
    expect_real(result[1], 4);
    close_ops();
}

/* ---- corner cases ---- */

CASE(nothing_at_all) {
    int value = 7, old = 8;
    MPI_Request requests[4];
    open_ops(1);
    MPI_Put(NULL, 0, MPI_INT, peer(), 0, 0, MPI_INT, window.win);
    MPI_Get(NULL, 0, MPI_INT, peer(), 64, 0, MPI_INT, window.win);
    MPI_Accumulate(&value, 0, MPI_INT, peer(), 0, 0, MPI_INT, MPI_SUM, window.win);
    MPI_Get_accumulate(&value, 0, MPI_INT, &old, 0, MPI_INT, peer(), 0, 0, MPI_INT, MPI_SUM, window.win);
    MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.win);
    MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.win);
    MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, window.win);
    MPI_Get_accumulate(&value, 1, MPI_INT, &old, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM,
                       window.win);
    MPI_Fetch_and_op(&value, &old, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, window.win);
    MPI_Compare_and_swap(&value, &value, &old, MPI_INT, MPI_PROC_NULL, 0, window.win);
    MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.win, &requests[0]);
    MPI_Rget(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window.win, &requests[1]);
    MPI_Raccumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, window.win, &requests[2]);
    MPI_Rput(&value, 0, MPI_INT, peer(), 0, 0, MPI_INT, window.win, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    expect_eq(value, 7);
    expect_eq(old, 8);
    MPI_Win_flush_all(window.win);
    MPI_Get(&value, 1, MPI_INT, peer(), 0, 1, MPI_INT, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_eq(value, 0);
    close_ops();
}

CASE(requests) {
    enum { MANY = 20 };
    int values[MANY], got[MANY] = {0}, flag = 0, index, done = 0;
    MPI_Request requests[MANY];
    MPI_Status status;
    open_ops(4);
    for (int i = 0; i < MANY; i++) {
        values[i] = 100 * test_rank + i;
        MPI_Rput(&values[i], 1, MPI_INT, peer(), i, 1, MPI_INT, window.win, &requests[i]);
    }
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush(peer(), window.win);
    for (int i = 0; i < MANY; i++)
        MPI_Rget(&got[i], 1, MPI_INT, peer(), i, 1, MPI_INT, window.win, &requests[i]);
    MPI_Request_get_status(requests[0], &flag, &status);
    MPI_Wait(&requests[0], &status);
    while (!flag || done < MANY - 1) {
        MPI_Testany(MANY, requests, &index, &flag, &status);
        done += flag && index != MPI_UNDEFINED;
    }
    for (int i = 0; i < MANY; i++) {
        expect(requests[i] == MPI_REQUEST_NULL);
        expect_eq(got[i], values[i]);
    }
    MPI_Rget(&got[0], 1, MPI_INT, peer(), 3, 1, MPI_INT, window.win, &requests[0]);
    MPI_Win_flush(peer(), window.win);
    MPI_Request_free(&requests[0]);
    expect_eq(got[0], values[3]);
    close_ops();
}

/* No put and no get: test_served_direct.sh checks that none of these operations bypasses the helper. */
CASE(accumulates_alone) {
    int64_t one = 1, many[COUNT] = {1, 2, 3, 4, 5}, old[COUNT] = {0};
    open_ops(8);
    MPI_Accumulate(&one, 1, MPI_INT64_T, peer(), 0, 1, MPI_INT64_T, MPI_SUM, window.win);
    MPI_Accumulate(many, COUNT, MPI_INT64_T, peer(), 1, COUNT, MPI_INT64_T, MPI_REPLACE, window.win);
    MPI_Win_flush(peer(), window.win);
    MPI_Get_accumulate(NULL, 0, MPI_INT64_T, old, COUNT, MPI_INT64_T, peer(), 1, COUNT, MPI_INT64_T,
                       MPI_NO_OP, window.win);
    MPI_Win_flush(peer(), window.win);
    expect(memcmp(old, many, sizeof old) == 0);
    MPI_Fetch_and_op(&one, old, MPI_INT64_T, peer(), 0, MPI_SUM, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_eq(old[0], 1);
    MPI_Compare_and_swap(&one, &(int64_t){2}, old, MPI_INT64_T, peer(), 0, window.win);
    MPI_Win_flush(peer(), window.win);
    expect_eq(old[0], 2);
    close_ops();
}

/* Ranks have different displacement units and sizes; rank 0 has no memory. */
CASE(units_and_sizes) {
    SKIP_IF(!test_served(), "MPICH 4.0 needs equal sizes");
    int unit = 1 << test_rank % 4, value = 40 + test_rank, got = 0;
    char *base;
    MPI_Win win;
    MPI_Win_allocate(test_rank ? 96 * test_rank : 0, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    for (int target = 1; target < test_size; target++)
        if (target == peer())
            MPI_Put(&value, 1, MPI_INT, target, 64 >> target % 4, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (peer() != 0)
        MPI_Get(&got, 1, MPI_INT, peer(), 64 >> peer() % 4, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    expect_eq(got, peer() ? value : 0);
    if (test_rank)
        expect_eq(*(int *)(void *)(base + 64), 40 + test_rank - 1);
    MPI_Win_free(&win);
}
