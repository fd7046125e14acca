/* fail_ucx.c: UCX calls that fail. UCX's status codes are stable, so its header is not needed. */
#include <stddef.h>
#include <stdint.h>

#include "fail.h"

enum { UCS_ERR_NO_MEMORY = -4 };

#define UCX_CALL(name, parameters, arguments) UCX_CALL_OF(FAIL_UCX, name, parameters, arguments)
#define UCX_CALL_OF(kind, name, parameters, arguments)                                                       \
    SHOWN int name parameters;                                                                               \
    SHOWN int name parameters {                                                                              \
        NEXT(name);                                                                                          \
        return FAILS(kind) ? UCS_ERR_NO_MEMORY : next arguments;                                             \
    }

UCX_CALL(ucp_config_read, (const char *a, const char *b, void *c), (a, b, c))
UCX_CALL(ucp_config_modify, (void *a, const char *b, const char *c), (a, b, c))
UCX_CALL(ucp_init_version, (unsigned a, unsigned b, const void *c, const void *d, void *e), (a, b, c, d, e))
UCX_CALL(ucp_worker_create, (void *a, const void *b, void *c), (a, b, c))
UCX_CALL(ucp_worker_query, (void *a, void *b), (a, b))
UCX_CALL(ucp_worker_get_efd, (void *a, int *b), (a, b))
UCX_CALL(ucp_worker_set_am_recv_handler, (void *a, const void *b), (a, b))
UCX_CALL(ucp_mem_map, (void *a, const void *b, void *c), (a, b, c))
UCX_CALL(ucp_rkey_pack, (void *a, void *b, void *c, size_t *d), (a, b, c, d))
UCX_CALL(ucp_ep_rkey_unpack, (void *a, const void *b, void *c), (a, b, c))
UCX_CALL(uct_query_components, (void *a, unsigned *b), (a, b))
UCX_CALL(uct_component_query, (void *a, void *b), (a, b))
UCX_CALL_OF(FAIL_ENDPOINTS, ucp_ep_create, (void *a, const void *b, void *c), (a, b, c))

/* These return a pointer, in which small negative numbers are errors. */
#define UCX_SEND(name, parameters, arguments)                                                                \
    SHOWN void *name parameters;                                                                             \
    SHOWN void *name parameters {                                                                            \
        NEXT(name);                                                                                          \
        return FAILS(FAIL_SENDS) ? (void *)(intptr_t)UCS_ERR_NO_MEMORY : next arguments;                     \
    }

UCX_SEND(ucp_am_send_nbx,
         (void *a, unsigned b, const void *c, size_t d, const void *e, size_t f, const void *g),
         (a, b, c, d, e, f, g))
UCX_SEND(ucp_put_nbx, (void *a, const void *b, size_t c, uint64_t d, void *e, const void *f),
         (a, b, c, d, e, f))
UCX_SEND(ucp_get_nbx, (void *a, void *b, size_t c, uint64_t d, void *e, const void *f), (a, b, c, d, e, f))
UCX_SEND(ucp_ep_flush_nbx, (void *a, const void *b), (a, b))
UCX_SEND(ucp_ep_close_nbx, (void *a, const void *b), (a, b))
