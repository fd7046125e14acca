/* sizes_pages.c: sizes of the structures of src/pages and GASNet, for scale.c. */
#include "scale/sizes.h"

#include <stdbool.h>

#include "net/link/link.h"
#include "pages/pages_internal.h"

/* GASNet's table has an address and a size for each segment (gasnet_seginfo_t). */
size_t memory_segment(void) {
    return 2 * sizeof(void *) + sizeof(struct pages_segment);
}

/* As in channel.c: an address with its length, a pointer, a flag. */
size_t memory_channel_node(void) {
    return sizeof(int32_t) + LINK_ADDRESS + sizeof(struct link_peer *) + sizeof(bool);
}
