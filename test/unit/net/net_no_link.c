/* net_no_link.c: for units with one node, where nothing is sent: the calls of net/link/link.h, none of which comes. Its header is not
 * included, so that the names are all there is. */
#include <stdlib.h>

#define ABSENT(name)                                                                                         \
    void name(void);                                                                                         \
    void name(void) {                                                                                        \
        abort();                                                                                             \
    }

ABSENT(link_open)
ABSENT(link_close)
ABSENT(link_port_open)
ABSENT(link_port_quiet)
ABSENT(link_port_shut)
ABSENT(link_port_close)
ABSENT(link_port_address)
ABSENT(link_connect)
ABSENT(link_send)
ABSENT(link_progress)
ABSENT(link_arm)
ABSENT(link_descriptor)
ABSENT(link_nap)
ABSENT(link_is_direct)
ABSENT(link_expose)
ABSENT(link_hide)
ABSENT(link_window_open)
ABSENT(link_window_close)
ABSENT(link_put)
ABSENT(link_get)
ABSENT(link_flush)
