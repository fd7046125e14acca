/* fortran.c: Fortran handles. In MPICH they are the same numbers. Open MPI keeps a table of its own: Hearth uses the
 * numbers below -1, which Open MPI never assigns. In the standard ABI, Hearth uses numbers that neither of the two assigns: in MPICH
 * the upper two bits are not 0, and Open MPI counts from 0.
 *
 * Some of Open MPI's Fortran calls (mpi_waitall_ for example) do not query the number of a request that still exists
 * after the call; they read it from the structure that the handle points to. Its offset is found by inspecting three
 * of Open MPI's own requests. Hearth's requests hold their number at the same offset. A handle of Hearth's is its
 * address plus 1, so the number is stored one byte further. */
#include "mpi/messages/state/fortran.h"

#include "base/log.h"

#if defined OPEN_MPI || HEARTH_MPI_ABI

#define EXPORT __attribute__((visibility("default")))

#if HEARTH_MPI_ABI
static MPI_Fint fortran_number_of(const struct p2p_request *r) {
    return (MPI_Fint)(0x10000000u | r->index);
}

static bool number_is_ours(MPI_Fint number) {
    return ((unsigned)number & 0xf0000000u) == 0x10000000u;
}

static struct p2p_request *request_numbered(MPI_Fint number) {
    return p2p_request_at((unsigned)number & 0x0fffffffu);
}
#else
static MPI_Fint fortran_number_of(const struct p2p_request *r) {
    return -2 - (MPI_Fint)r->index;
}

static bool number_is_ours(MPI_Fint number) {
    return number < -1;
}

static struct p2p_request *request_numbered(MPI_Fint number) {
    return p2p_request_at((uint32_t)(-2 - number));
}
#endif

/* ---- conversion calls ---- */

#if HEARTH_MPI_ABI /* has no other */
#define TO_NUMBER   "toint"
#define FROM_NUMBER "fromint"
#else
#define TO_NUMBER   "c2f"
#define FROM_NUMBER "f2c"
#endif

static struct {
    MPI_Fint (*request_c2f)(MPI_Request);
    MPI_Request (*request_f2c)(MPI_Fint);
    MPI_Fint (*message_c2f)(MPI_Message);
    MPI_Message (*message_f2c)(MPI_Fint);
} real;

__attribute__((constructor)) static void fortran_find(void) {
    void *unused;
    *(void **)&real.request_c2f = host_find("MPI_Request_" TO_NUMBER, &unused);
    *(void **)&real.request_f2c = host_find("MPI_Request_" FROM_NUMBER, &unused);
    *(void **)&real.message_c2f = host_find("MPI_Message_" TO_NUMBER, &unused);
    *(void **)&real.message_f2c = host_find("MPI_Message_" FROM_NUMBER, &unused);
}

static MPI_Fint request_to_fortran(MPI_Request request) {
    return p2p_on && p2p_request_is_ours(request) ? fortran_number_of(p2p_request_of(request))
                                                  : real.request_c2f(request);
}

static MPI_Request request_from_fortran(MPI_Fint number) {
    return p2p_on && number_is_ours(number) ? p2p_request_handle(request_numbered(number))
                                            : real.request_f2c(number);
}

static MPI_Fint message_to_fortran(MPI_Message message) {
    return p2p_on && p2p_message_is_ours(message) ? fortran_number_of(p2p_message_request(message))
                                                  : real.message_c2f(message);
}

static MPI_Message message_from_fortran(MPI_Fint number) {
    return p2p_on && number_is_ours(number) ? (MPI_Message)p2p_request_handle(request_numbered(number))
                                            : real.message_f2c(number);
}

#define BOTH(result, name, parameter, function)                                                              \
    EXPORT result MPI_##name(parameter handle) {                                                             \
        return function(handle);                                                                             \
    }                                                                                                        \
    EXPORT result PMPI_##name(parameter handle) {                                                            \
        return function(handle);                                                                             \
    }

#if !HEARTH_MPI_ABI
BOTH(MPI_Fint, Request_c2f, MPI_Request, request_to_fortran)
BOTH(MPI_Request, Request_f2c, MPI_Fint, request_from_fortran)
BOTH(MPI_Fint, Message_c2f, MPI_Message, message_to_fortran)
BOTH(MPI_Message, Message_f2c, MPI_Fint, message_from_fortran)
#endif
#if HEARTH_MPI_5_0 /* the numbers of Fortran for all languages */
BOTH(int, Request_toint, MPI_Request, request_to_fortran)
BOTH(MPI_Request, Request_fromint, int, request_from_fortran)
BOTH(int, Message_toint, MPI_Message, message_to_fortran)
BOTH(MPI_Message, Message_fromint, int, message_from_fortran)
#endif

#endif

#ifdef OPEN_MPI

/* ---- the number inside the structure ---- */

enum { TRIED = 3 };

static size_t offset; /* of the number in Open MPI's structure; 0: not found */

static bool stands_at(size_t at, const MPI_Request tried[], const MPI_Fint numbers[]) {
    for (int i = 0; i < TRIED; i++)
        if (memcmp((const char *)tried[i] + at, &numbers[i], sizeof numbers[i]))
            return false;
    return true;
}

int p2p_fortran_open(void) {
    MPI_Request tried[TRIED];
    MPI_Fint numbers[TRIED];
    int made = 0, rc = MPI_SUCCESS;
    char nothing;
    for (; made < TRIED && rc == MPI_SUCCESS; made += rc == MPI_SUCCESS)
        rc = host_real.Recv_init(&nothing, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, &tried[made]);
    for (int i = 0; i < made; i++) /* a request gets its number when it is first queried */
        numbers[i] = real.request_c2f(tried[i]);
    for (size_t at = 16; made == TRIED && !offset && at + 1 + sizeof(MPI_Fint) <= REQUEST_FORTRAN_ROOM;
         at += 4)
        if (stands_at(at, tried, numbers))
            offset = at;
    while (made)
        host_real.Request_free(&tried[--made]);
    if (!offset)
        log_info(
            LOG_MESSAGES,
            "HEARTH_MATCH: this Open MPI stores Fortran handles at an unknown offset; persistent requests "
            "of Fortran programs may not be found after MPI_Waitall");
    return rc;
}

void p2p_fortran_number(struct p2p_request *r) {
    MPI_Fint number = fortran_number_of(r);
    if (offset)
        memcpy((char *)r + 1 + offset, &number, sizeof number);
}

#endif
