/* ex_format.c: sets of types, operators and fields of tokens as text, for gasnet_tools.h. */
#include "gas/ex/ex.h"

#include <string.h>

#include "hearth/gasnet/gasnet_tools.h"

struct set_name {
    uint32_t bit;
    const char *name;
};
#define SET_NAME(name)                                                                                       \
    { name, #name }

static const struct set_name type_names[] = {SET_NAME(GEX_DT_I32), SET_NAME(GEX_DT_U32), SET_NAME(GEX_DT_I64),
                                             SET_NAME(GEX_DT_U64), SET_NAME(GEX_DT_FLT), SET_NAME(GEX_DT_DBL),
                                             SET_NAME(GEX_DT_USER)};
static const struct set_name op_names[] = {
    SET_NAME(GEX_OP_AND),  SET_NAME(GEX_OP_OR),    SET_NAME(GEX_OP_XOR),    SET_NAME(GEX_OP_ADD),
    SET_NAME(GEX_OP_SUB),  SET_NAME(GEX_OP_MULT),  SET_NAME(GEX_OP_MIN),    SET_NAME(GEX_OP_MAX),
    SET_NAME(GEX_OP_INC),  SET_NAME(GEX_OP_DEC),   SET_NAME(GEX_OP_SET),    SET_NAME(GEX_OP_CAS),
    SET_NAME(GEX_OP_FAND), SET_NAME(GEX_OP_FOR),   SET_NAME(GEX_OP_FXOR),   SET_NAME(GEX_OP_FADD),
    SET_NAME(GEX_OP_FSUB), SET_NAME(GEX_OP_FMULT), SET_NAME(GEX_OP_FMIN),   SET_NAME(GEX_OP_FMAX),
    SET_NAME(GEX_OP_FINC), SET_NAME(GEX_OP_FDEC),  SET_NAME(GEX_OP_SWAP),   SET_NAME(GEX_OP_FCAS),
    SET_NAME(GEX_OP_GET),  SET_NAME(GEX_OP_USER),  SET_NAME(GEX_OP_USER_NC)};
static const struct set_name field_names[] = {SET_NAME(GEX_TI_SRCRANK), SET_NAME(GEX_TI_EP),
                                              SET_NAME(GEX_TI_ENTRY), SET_NAME(GEX_TI_IS_REQ),
                                              SET_NAME(GEX_TI_IS_LONG)};

/* Appends at `used`, which it returns advanced. A buffer of NULL is only measured. */
static size_t format_append(char *buffer, size_t used, const char *text) {
    size_t length = strlen(text);
    if (buffer)
        memcpy(buffer + used, text, length);
    return used + length;
}

static size_t format_set(char *buffer, uint32_t set, const struct set_name *names, size_t count) {
    size_t used = 0;
    uint32_t left = set;
    char rest[16];
    for (size_t i = 0; i < count; i++)
        if (left & names[i].bit) {
            used = format_append(buffer, used > 0 ? format_append(buffer, used, "|") : 0, names[i].name);
            left &= ~names[i].bit;
        }
    if (left != 0 || set == 0) {
        snprintf(rest, sizeof rest, set == 0 ? "0" : "0x%x", left);
        used = format_append(buffer, used > 0 ? format_append(buffer, used, "|") : 0, rest);
    }
    if (buffer)
        buffer[used] = '\0';
    return used + 1;
}

size_t gasnett_format_dt(char *buffer, uint32_t types) {
    return format_set(buffer, types, type_names, sizeof type_names / sizeof type_names[0]);
}

size_t gasnett_format_op(char *buffer, uint32_t operators) {
    return format_set(buffer, operators, op_names, sizeof op_names / sizeof op_names[0]);
}

size_t gasnett_format_ti(char *buffer, uint32_t fields) {
    return format_set(buffer, fields, field_names, sizeof field_names / sizeof field_names[0]);
}
