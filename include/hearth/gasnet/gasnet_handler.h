/* gasnet_handler.h: handlers with pointer arguments, each of which takes two arguments of a message.
 *
 * A program writes NAME_inner with its actual arguments, and SHORT_HANDLER (MEDIUM_, LONG_) generates the handler
 * that calls it. SHORT_HANDLER takes two counts of message arguments, and two argument lists for NAME_inner: the first
 * of each for machines on which a pointer fits in one message argument, the second for machines on which it takes two.
 * SHORT_REQ and related macros take the same two counts. Here a pointer always takes two arguments.
 *
 *      static void add_inner(gasnet_token_t token, void *where, int n) { ... }
 *      SHORT_HANDLER(add, 2, 3, (token, UNPACK(a0), a1), (token, UNPACK2(a0, a1), a2));
 *      ... SHORT_REQ(2, 3, (node, gasneti_handleridx(add), PACK(where), n)); */
#ifndef GASNET_HANDLER_H
#define GASNET_HANDLER_H

/* clang-format off */
#define ARGS0
#define ARGNAMES0
#define ARGS1 , gasnet_handlerarg_t a0
#define ARGNAMES1 , a0
#define ARGS2 ARGS1 , gasnet_handlerarg_t a1
#define ARGNAMES2 ARGNAMES1 , a1
#define ARGS3 ARGS2 , gasnet_handlerarg_t a2
#define ARGNAMES3 ARGNAMES2 , a2
#define ARGS4 ARGS3 , gasnet_handlerarg_t a3
#define ARGNAMES4 ARGNAMES3 , a3
#define ARGS5 ARGS4 , gasnet_handlerarg_t a4
#define ARGNAMES5 ARGNAMES4 , a4
#define ARGS6 ARGS5 , gasnet_handlerarg_t a5
#define ARGNAMES6 ARGNAMES5 , a5
#define ARGS7 ARGS6 , gasnet_handlerarg_t a6
#define ARGNAMES7 ARGNAMES6 , a6
#define ARGS8 ARGS7 , gasnet_handlerarg_t a7
#define ARGNAMES8 ARGNAMES7 , a7
#define ARGS9 ARGS8 , gasnet_handlerarg_t a8
#define ARGNAMES9 ARGNAMES8 , a8
#define ARGS10 ARGS9 , gasnet_handlerarg_t a9
#define ARGNAMES10 ARGNAMES9 , a9
#define ARGS11 ARGS10 , gasnet_handlerarg_t a10
#define ARGNAMES11 ARGNAMES10 , a10
#define ARGS12 ARGS11 , gasnet_handlerarg_t a11
#define ARGNAMES12 ARGNAMES11 , a11
#define ARGS13 ARGS12 , gasnet_handlerarg_t a12
#define ARGNAMES13 ARGNAMES12 , a12
#define ARGS14 ARGS13 , gasnet_handlerarg_t a13
#define ARGNAMES14 ARGNAMES13 , a13
#define ARGS15 ARGS14 , gasnet_handlerarg_t a14
#define ARGNAMES15 ARGNAMES14 , a14
#define ARGS16 ARGS15 , gasnet_handlerarg_t a15
#define ARGNAMES16 ARGNAMES15 , a15
/* clang-format on */

#define SHORT_REQ(one, two, args)     gasnet_AMRequestShort##two args
#define SHORT_REP(one, two, args)     gasnet_AMReplyShort##two args
#define MEDIUM_REQ(one, two, args)    gasnet_AMRequestMedium##two args
#define MEDIUM_REP(one, two, args)    gasnet_AMReplyMedium##two args
#define LONG_REQ(one, two, args)      gasnet_AMRequestLong##two args
#define LONG_REP(one, two, args)      gasnet_AMReplyLong##two args
#define LONGASYNC_REQ(one, two, args) gasnet_AMRequestLongAsync##two args

/* A pointer as two arguments, high word first, and back. */
#define PACK(pointer)                                                                                        \
    ((gasnet_handlerarg_t)((uint64_t)(uintptr_t)(pointer) >> 32)), ((gasnet_handlerarg_t)(uintptr_t)(pointer))
#define UNPACK2(high, low) ((void *)(uintptr_t)((uint64_t)(uint32_t)(high) << 32 | (uint32_t)(low)))

#ifndef GASNETI_HANDLER_SCOPE
#define GASNETI_HANDLER_SCOPE extern
#endif

/* The HANDLER macros end in a declaration, so that a semicolon may follow. */
#define SHORT_HANDLER_DECL(name, one, two)                                                                   \
    GASNETI_HANDLER_SCOPE void name##_64(gasnet_token_t token ARGS##two)
#define SHORT_HANDLER(name, one, two, inner_one, inner_two)                                                  \
    SHORT_HANDLER_DECL(name, one, two);                                                                      \
    GASNETI_HANDLER_SCOPE void name##_64(gasnet_token_t token ARGS##two) {                                   \
        name##_inner inner_two;                                                                              \
    }                                                                                                        \
    struct gasnetc_handler_##name
#define MEDIUM_HANDLER_DECL(name, one, two)                                                                  \
    GASNETI_HANDLER_SCOPE void name##_64(gasnet_token_t token, void *addr, size_t nbytes ARGS##two)
#define MEDIUM_HANDLER(name, one, two, inner_one, inner_two)                                                 \
    MEDIUM_HANDLER_DECL(name, one, two);                                                                     \
    GASNETI_HANDLER_SCOPE void name##_64(gasnet_token_t token, void *addr, size_t nbytes ARGS##two) {        \
        name##_inner inner_two;                                                                              \
    }                                                                                                        \
    struct gasnetc_handler_##name
#define LONG_HANDLER_DECL MEDIUM_HANDLER_DECL
#define LONG_HANDLER      MEDIUM_HANDLER

#define SHORT_HANDLER_NOBITS_DECL(name, count)                                                               \
    GASNETI_HANDLER_SCOPE void name(gasnet_token_t token ARGS##count)
#define MEDIUM_HANDLER_NOBITS_DECL(name, count)                                                              \
    GASNETI_HANDLER_SCOPE void name(gasnet_token_t token, void *addr, size_t nbytes ARGS##count)
#define LONG_HANDLER_NOBITS_DECL MEDIUM_HANDLER_NOBITS_DECL

/* Entries for handler tables; the program defines the indices. */
#define gasneti_handleridx(name) _hidx_##name
#define gasneti_handler_tableentry_no_bits(name)                                                             \
    { gasneti_handleridx(name), (void (*)())name }
#define gasneti_handler_tableentry_with_bits(name)                                                           \
    { gasneti_handleridx(name), (void (*)())name##_64 }

#endif
