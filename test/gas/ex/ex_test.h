/* ex_test.h: shared declarations of the GASNet-EX tests: jobs that gex_Client_Init begins. The cases of all files share the
 * endpoint, so the handlers of each file are registered when it needs them first. */
#ifndef HEARTH_TEST_GAS_EX_H
#define HEARTH_TEST_GAS_EX_H

#ifndef GASNET_SEQ
#ifndef GASNET_PARSYNC
#ifndef GASNET_PAR
#define GASNET_PAR 1
#endif
#endif
#endif
#include <gasnetex.h>

#include "frame/frame.h"

enum { EX_SEGMENT = 4 << 20 };

extern gex_Client_t ex_client;
extern gex_EP_t ex_ep;
extern gex_TM_t ex_tm;
extern gex_Segment_t ex_segment;
extern char **ex_base; /* [ranks]: the segments */

void ex_barrier(void);

/* Once per table, on all ranks together. */
void ex_register(gex_AM_Entry_t *table, size_t count);

/* A number below `most` that depends on the seed; the same sequence on all ranks, unless they draw different counts. */
uint32_t ex_draw(uint32_t most);

#endif
