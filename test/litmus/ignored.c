/* ignored.c: HEARTH_TEST_IGNORED=KIND names the sync event that the mutant ignores. */
#include <stdlib.h>

#include "base/settings.h"
#include "mpi/host/acquire.h"

int acquire_ignored = -1;

/* In the order of enum sync_event; test_mutants.sh reads it from the library, and has a test for each. */
static const char words[] =
    "recv|send-sync|probe|collective|request|fence|pscw|lock|sync|file|atomic|flush-poll|recheck|generic";

__attribute__((constructor)) static void find_ignored(void) {
    const char *word = secure_getenv("HEARTH_TEST_IGNORED");
    acquire_ignored = word ? settings_word(words, word) : -1;
    if (word && acquire_ignored < 0)
        abort();
}
