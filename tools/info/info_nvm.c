/* info_nvm.c: `hearth info --nvm FILE`: verifies the checkpoints in the file of a named segment, every page against
 * its checksum. */
#include <inttypes.h>
#include <stdio.h>

#include "info/info.h"
#include "tools.h"

#ifdef HEARTH_PAGES
#include "pages/pages.h"

/* Whether the checkpoint is undamaged. */
static bool is_whole(const struct pages_file_epoch *e) {
    return e->epoch && !e->lacks_table && !e->damaged;
}

static void say_epoch(const char *path, const struct pages_file_epoch *e,
                      const struct pages_file_epoch *other) {
    char what[64], advice[160];
    snprintf(what, sizeof what, "checkpoint %" PRIu64, e->epoch);
    if (is_whole(other) && other->epoch < e->epoch)
        snprintf(advice, sizeof advice,
                 "start from the previous one, if all ranks have it: HEARTH_NVM_EPOCH=%" PRIu64,
                 other->epoch);
    else
        snprintf(advice, sizeof advice, "restore %.100s from a copy", path);
    if (e->lacks_table)
        check_say(GRADE_BAD, what, advice, "its table of pages is damaged");
    else if (e->damaged)
        check_say(GRADE_BAD, what, advice,
                  "%" PRIu64 " of %" PRIu64 " pages are damaged, the first is page %" PRIu64
                  ", at offset %" PRIu64 " of the file",
                  e->damaged, e->pages, e->damaged_page, e->damaged_offset);
    else
        check_say(GRADE_OK, what, NULL, "%" PRIu64 " pages, all checksums match", e->pages);
}

int info_nvm(const char *path) {
    struct pages_file f;
    int status = pages_examine(path, &f);
    if (status != 0)
        return refuse("%s cannot be examined: %s", path, f.why);
    printf("%s: rank %" PRIu32 " of %" PRIu32 ", %" PRIu64 " bytes in pages of %" PRIu64 "; %s\n", path,
           f.rank, f.ranks, f.bytes, f.page_bytes,
           f.clean ? "its job ended normally" : "its job did not end normally, and left its last checkpoint");
    for (int i = 0; i < 2; i++)
        if (f.epochs[i].epoch)
            say_epoch(path, &f.epochs[i], &f.epochs[!i]);
    if (!f.epochs[0].epoch)
        check_say(GRADE_NOTE, "checkpoints", "remove the file", "none");
    return 0;
}
#else
int info_nvm(const char *path) {
    return refuse("--nvm %s: this build cannot read segments: install xxHash (libxxhash-dev) and build again",
                  path);
}
#endif
