/* agreement.c: see agreement.h. A value is the same on all ranks if its minimum is its maximum, which is the minimum of the negated
 * value with the opposite sign. */
#include "mpi/core/agreement.h"

#include <string.h>

#include "mpi/core/complaints.h"
#include "mpi/core/host.h"

enum { REPORT, REPORT_NEGATED, MATCH, MATCH_NEGATED, CONTENT /* no complaint about settings */, WORDS };

static bool matches;

static void agree_on_report(const int *least) {
    if (least[REPORT] == -least[REPORT_NEGATED])
        return;
    output_disable();
    if (log_is_first_rank())
        output_differs();
}

static void agree_on_match(const int *least) {
    matches = least[MATCH];
    if (least[MATCH] != -least[MATCH_NEGATED] && log_is_first_rank())
        log_warn(
            "HEARTH_MATCH is not the same on all ranks: messages are left to MPI; set it for all of them, by "
            "hearth run --match or an option of the launcher (mpirun -x HEARTH_MATCH)");
}

void agreement_reach(void) {
    int report = output_kind(), match = settings_get()->match;
    int own[WORDS] = {report, -report, match, -match, !settings_complaints()}, least[WORDS];
    if (host_Allreduce(own, least, WORDS, MPI_INT, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS) {
        memcpy(least, own, sizeof least);
        least[CONTENT] = true;
    }
    if (!least[CONTENT])
        complaints_agree();
    agree_on_report(least);
    agree_on_match(least);
}

bool agreement_matches(void) {
    return matches;
}
