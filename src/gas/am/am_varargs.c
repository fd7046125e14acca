/* am_varargs.c: requests and replies with a variable number of arguments. */
#include <stdarg.h>

#include "gas/am/am.h"

/* Reads the arguments and returns their number. check_message refuses an invalid number later. */
static int read_args(va_list list, int count, gasnet_handlerarg_t *args) {
    for (int i = 0; i < count && count <= AM_ARGS; i++)
        args[i] = va_arg(list, gasnet_handlerarg_t);
    return count;
}

/* Declares args and count. A macro, because va_start must be in the function that has the arguments. */
#define READ_ARGS()                                                                                          \
    gasnet_handlerarg_t args[AM_ARGS] = {0};                                                                 \
    va_list list;                                                                                            \
    va_start(list, numargs);                                                                                 \
    int count = read_args(list, numargs, args);                                                              \
    va_end(list)

int gasnet_AMRequestShort(gasnet_node_t dest, gasnet_handler_t handler, int numargs, ...) {
    READ_ARGS();
    return gasnetc_request(dest, handler, GASNETC_SHORT, NULL, 0, NULL, count, args);
}
ALSO(int, AMRequestShort, (gasnet_node_t dest, gasnet_handler_t handler, int numargs, ...));

int gasnet_AMRequestMedium(gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes,
                           int numargs, ...) {
    READ_ARGS();
    return gasnetc_request(dest, handler, GASNETC_MEDIUM, source, nbytes, NULL, count, args);
}
ALSO(int, AMRequestMedium,
     (gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes, int numargs, ...));

int gasnet_AMRequestLong(gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes,
                         void *dest_addr, int numargs, ...) {
    READ_ARGS();
    return gasnetc_request(dest, handler, GASNETC_LONG, source, nbytes, dest_addr, count, args);
}
ALSO(int, AMRequestLong,
     (gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes, void *dest_addr, int numargs,
      ...));

int gasnet_AMRequestLongAsync(gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes,
                              void *dest_addr, int numargs, ...) {
    READ_ARGS();
    return gasnetc_request(dest, handler, GASNETC_LONG, source, nbytes, dest_addr, count, args);
}
ALSO(int, AMRequestLongAsync,
     (gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes, void *dest_addr, int numargs,
      ...));

int gasnet_AMReplyShort(gasnet_token_t token, gasnet_handler_t handler, int numargs, ...) {
    READ_ARGS();
    return gasnetc_reply(token, handler, GASNETC_SHORT, NULL, 0, NULL, count, args);
}
ALSO(int, AMReplyShort, (gasnet_token_t token, gasnet_handler_t handler, int numargs, ...));

int gasnet_AMReplyMedium(gasnet_token_t token, gasnet_handler_t handler, void *source, size_t nbytes,
                         int numargs, ...) {
    READ_ARGS();
    return gasnetc_reply(token, handler, GASNETC_MEDIUM, source, nbytes, NULL, count, args);
}
ALSO(int, AMReplyMedium,
     (gasnet_token_t token, gasnet_handler_t handler, void *source, size_t nbytes, int numargs, ...));

int gasnet_AMReplyLong(gasnet_token_t token, gasnet_handler_t handler, void *source, size_t nbytes,
                       void *dest_addr, int numargs, ...) {
    READ_ARGS();
    return gasnetc_reply(token, handler, GASNETC_LONG, source, nbytes, dest_addr, count, args);
}
ALSO(int, AMReplyLong,
     (gasnet_token_t token, gasnet_handler_t handler, void *source, size_t nbytes, void *dest_addr,
      int numargs, ...));
