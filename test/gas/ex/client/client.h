/* client.h: of the programs that use GASNet-EX as its clients do: UPC++, Realm, Chapel, Caffeine and GASNet's own tests. They are
 * compiled in every thread mode, as C and as C++17. After gasnetex.h and gasnet_tools.h. */
#ifndef HEARTH_TEST_GAS_EX_CLIENT_H
#define HEARTH_TEST_GAS_EX_CLIENT_H

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            gasnett_fatalerror("%s:%d: %s", __FILE__, __LINE__, #condition);                                 \
    } while (0)

#endif
