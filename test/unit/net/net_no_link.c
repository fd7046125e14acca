/* net_no_link.c: stubs of net/link/link.h for units with one node, which send nothing. They are never called. The
 * header is not included, as only the names are needed. */
#include <stdlib.h>

#define ABSENT(name)                                                                                         \
    void name(void);                                                                                         \
    void name(void) {                                                                                        \
        abort();                                                                                             \
    }

ABSENT(net_link_open)
ABSENT(net_link_in_place)
ABSENT(net_link_close)
ABSENT(net_link_port_open)
ABSENT(net_link_port_quiesce)
ABSENT(net_link_port_shut)
ABSENT(net_link_port_close)
ABSENT(net_link_port_address)
ABSENT(net_link_connect)
ABSENT(net_link_send)
ABSENT(net_link_progress)
ABSENT(net_link_arm)
ABSENT(net_link_descriptor)
ABSENT(net_link_nap)
ABSENT(net_link_is_direct)
ABSENT(net_link_expose)
ABSENT(net_link_hide)
ABSENT(net_link_window_open)
ABSENT(net_link_window_close)
ABSENT(net_link_put)
ABSENT(net_link_get)
ABSENT(net_link_flush)
