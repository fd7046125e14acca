/* gasnet_extended.h: puts, gets and their synchronisation: the part of gasnet.h that reads and writes segments.
 *
 * Included by gasnet.h, whose types it needs; programs include gasnet.h. [dest, dest + nbytes) of a put, and [src, src
 * + nbytes) of a get, must lie entirely in the segment of `node`; local memory may be anywhere, also in the caller's
 * own segment. nbytes 0 is allowed and does nothing. In GASNet, names without "bulk" require addresses aligned to the
 * size of the data's elements; here no alignment is required. */
#ifndef GASNET_EXTENDED_H
#define GASNET_EXTENDED_H

#ifndef GASNET_H
#error "include gasnet.h, not gasnet_extended.h"
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#define GASNET_MUST_USE __attribute__((warn_unused_result))
#else
#define GASNET_MUST_USE
#endif

/* An operation under way. The thread that started it synchronises it once; after that the handle is invalid. */
typedef struct gasnet_operation *gasnet_handle_t;
#define GASNET_INVALID_HANDLE                                                                                \
    ((gasnet_handle_t)0) /* nothing is under way; may be synchronised any number of times */

typedef struct gasnet_value_operation *gasnet_valget_handle_t;

/* Holds values of 1 to SIZEOF_GASNET_REGISTER_VALUE_T bytes. */
typedef uintptr_t gasnet_register_value_t;
#ifdef UINTPTR_MAX
#if UINTPTR_MAX > 0xffffffffu
#define SIZEOF_GASNET_REGISTER_VALUE_T 8
#else
#define SIZEOF_GASNET_REGISTER_VALUE_T 4
#endif
#else /* C++98, where stdint.h may not define its limits */
#define SIZEOF_GASNET_REGISTER_VALUE_T __SIZEOF_POINTER__
#endif

/* ---- blocking: complete on return ---- */

/* A get copies from the segment of another node to local memory at dest. A put copies from local memory at src into
 * that segment. memset fills memory in that segment. */
void gasnet_get(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
void gasnet_put(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
void gasnet_get_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
void gasnet_put_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
void gasnet_memset(gasnet_node_t node, void *dest, int val, size_t nbytes);

/* ---- explicit handles ---- */

/* Start the operations of the calls without _nb. The source of gasnet_put_nb may be changed on return, that of
 * gasnet_put_nb_bulk after synchronisation. */
gasnet_handle_t gasnet_get_nb(void *dest, gasnet_node_t node, const void *src, size_t nbytes) GASNET_MUST_USE;
gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void *dest, const void *src, size_t nbytes) GASNET_MUST_USE;
gasnet_handle_t gasnet_get_nb_bulk(void *dest, gasnet_node_t node, const void *src,
                                   size_t nbytes) GASNET_MUST_USE;
gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void *dest, const void *src,
                                   size_t nbytes) GASNET_MUST_USE;
gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void *dest, int val, size_t nbytes) GASNET_MUST_USE;

/* Wait for operations (wait), or return GASNET_OK or GASNET_ERR_NOT_READY (try). With several handles: for at least one
 * (some), or for all of them. Completed handles become GASNET_INVALID_HANDLE. Invalid handles are ignored: if there are
 * no others, the call succeeds immediately. */
void gasnet_wait_syncnb(gasnet_handle_t handle);
int gasnet_try_syncnb(gasnet_handle_t handle) GASNET_MUST_USE;
void gasnet_wait_syncnb_some(gasnet_handle_t *phandle, size_t numhandles);
int gasnet_try_syncnb_some(gasnet_handle_t *phandle, size_t numhandles);
void gasnet_wait_syncnb_all(gasnet_handle_t *phandle, size_t numhandles);
int gasnet_try_syncnb_all(gasnet_handle_t *phandle, size_t numhandles);

/* The same without polling active messages. */
void gasnet_wait_syncnb_nopoll(gasnet_handle_t handle);
int gasnet_try_syncnb_nopoll(gasnet_handle_t handle) GASNET_MUST_USE;
void gasnet_wait_syncnb_some_nopoll(gasnet_handle_t *phandle, size_t numhandles);
int gasnet_try_syncnb_some_nopoll(gasnet_handle_t *phandle, size_t numhandles);
void gasnet_wait_syncnb_all_nopoll(gasnet_handle_t *phandle, size_t numhandles);
int gasnet_try_syncnb_all_nopoll(gasnet_handle_t *phandle, size_t numhandles);

/* ---- implicit operations: synchronised together, per thread ---- */

/* Start the operations of the calls without _nbi. */
void gasnet_get_nbi(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
void gasnet_put_nbi(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
void gasnet_get_nbi_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
void gasnet_put_nbi_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
void gasnet_memset_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes);

/* Wait for this thread's implicit operations (wait), or return GASNET_OK or GASNET_ERR_NOT_READY (try): for its gets,
 * its puts (which include memsets), or all. */
void gasnet_wait_syncnbi_gets(void);
void gasnet_wait_syncnbi_puts(void);
void gasnet_wait_syncnbi_all(void);
int gasnet_try_syncnbi_gets(void) GASNET_MUST_USE;
int gasnet_try_syncnbi_puts(void) GASNET_MUST_USE;
int gasnet_try_syncnbi_all(void) GASNET_MUST_USE;

/* Implicit operations of this thread between the two calls belong to the handle that the second call returns. Regions
 * do not nest. */
void gasnet_begin_nbi_accessregion(void);
gasnet_handle_t gasnet_end_nbi_accessregion(void) GASNET_MUST_USE;

/* ---- values ---- */

/* Puts and gets of a value instead of memory. A put stores the nbytes low-order bytes of the value, 1 to
 * SIZEOF_GASNET_REGISTER_VALUE_T; a get zero-extends them. gasnet_wait_syncnb_valget returns the value that
 * gasnet_get_nb_val has requested. */
void gasnet_put_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes);
gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void *dest, gasnet_register_value_t value,
                                  size_t nbytes) GASNET_MUST_USE;
void gasnet_put_nbi_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes);
gasnet_register_value_t gasnet_get_val(gasnet_node_t node, const void *src, size_t nbytes);
gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, const void *src, size_t nbytes) GASNET_MUST_USE;
gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
