/* fuzz_pages_store.c: feeds files of named segments: any records and tables are listed as by `hearth info --nvm`, and
 * then opened as by a job. The first byte chooses which checksums are right, as no input would pass them otherwise,
 * and the length of the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "pages/pages.h"
#include "pages/store/store.h"
#include "pages/store/store_record.h"

enum {
    PAGE = 4096,
    PAGES = 10,
    TABLE = 4096,
    TABLE_USED = 4,
    SUMS_AT = 8,
    DATA = RECORDS * RECORD_BYTES + 2 * TABLE
};
enum { WHOLE = DATA + 3 * PAGES * PAGE, BYTES = PAGES * PAGE - 100 };
enum flags { PACK_0 = 1, PACK_1 = 2, SUM_TABLES = 4, SHAPE = 8, CUT = 16, COMMIT = 32, SUM_PAGES = 64 };

static char folder[400], path[450];

static void remove_all(void) {
    (void)unlink(path);
    (void)rmdir(folder);
}

static void make_folder(void) {
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/fuzz-segment-XXXXXX", parent && *parent ? parent : "/tmp");
    fuzz_must(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/segment.0", folder);
    atexit(remove_all);
}

/* Checksums of zero pages, as all pages are. */
static void sum_pages(char *table) {
    static const char zeros[PAGE];
    uint64_t sum = pages_store_record_hash(zeros, PAGE);
    for (int page = 0; page < PAGES; page++)
        memcpy(table + SUMS_AT + (size_t)page * sizeof sum, &sum, sizeof sum);
}

static void make_tables(struct fuzz_input *in, unsigned flags, char *tables) {
    for (int i = 0; i < 2; i++) {
        fuzz_take(in, tables + i * TABLE, TABLE_USED);
        if (flags & SUM_PAGES)
            sum_pages(tables + i * TABLE);
    }
}

/* The blocks before the pages, from the input. */
static void make_head(struct fuzz_input *in, unsigned flags, char head[DATA]) {
    struct store_record r[RECORDS];
    memset(head, 0, DATA);
    fuzz_take(in, r, sizeof r);
    make_tables(in, flags, head + RECORDS * RECORD_BYTES);
    for (int i = 0; i < RECORDS; i++) {
        for (int k = 0; k < 2 && flags & SUM_TABLES; k++)
            r[i].tables[k].checksum =
                pages_store_record_hash(head + RECORDS * RECORD_BYTES + k * TABLE, TABLE);
        if (flags & SHAPE) {
            r[i].bytes = BYTES;
            r[i].page_bytes = PAGE;
            r[i].rank = 0;
            r[i].ranks = 1;
        }
        if (flags & (i ? PACK_1 : PACK_0))
            pages_store_record_pack(&r[i], head + i * RECORD_BYTES);
        else
            memcpy(head + i * RECORD_BYTES, &r[i], sizeof r[i]);
    }
}

static void make_file(struct fuzz_input *in, unsigned flags) {
    char head[DATA];
    make_head(in, flags, head);
    size_t bytes = flags & CUT ? (size_t)fuzz_take_byte(in) * 256 : WHOLE;
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_must(file >= 0 && pwrite(file, head, bytes < DATA ? bytes : DATA, 0) >= 0);
    fuzz_must(!ftruncate(file, (off_t)bytes));
    close(file);
}

static void examine(void) {
    struct pages_file f;
    int err = pages_examine(path, &f);
    fuzz_must(err ? f.why != NULL : f.bytes > 0 && f.rank < f.ranks);
    for (int i = 0; i < 2; i++)
        fuzz_must(f.epochs[i].damaged <= f.epochs[i].pages);
}

static int open_again(struct store **store, struct store_found *found) {
    struct store_options options = {.kind = STORE_AGAIN,
                                    .folder = folder,
                                    .name = "segment",
                                    .ranks = 1,
                                    .page_bytes = PAGE,
                                    .bytes = BYTES,
                                    .engine = STORE_THREADS,
                                    .depth = 4,
                                    .threads = 1,
                                    .buffered = true};
    unsigned errors = fuzz_errors();
    int err = pages_store_open(&options, store, found);
    fuzz_must(err ? fuzz_errors() > errors : fuzz_errors() == errors);
    return err;
}

static void move_page(struct store *s, enum store_way way, uint64_t page) {
    static _Alignas(STORE_ALIGNMENT) char buffer[PAGE];
    struct store_done done;
    memset(buffer, way == STORE_WRITE ? (int)page + 1 : 0x55, sizeof buffer);
    fuzz_must(pages_store_submit(s, way, page, buffer, page) == 0);
    while (pages_store_poll(s, &done, 1) == 0)
        ;
    /* A read may fail, as the page need not match its checksum. */
    fuzz_must(done.token == page && (done.error == 0 || way == STORE_READ));
    fuzz_must(way == STORE_WRITE || done.error || buffer[0] != 0x55);
}

/* Continues from the newest checkpoint, makes another, and finds that one again. */
static void use(struct store *s, const struct store_found *found, bool commits) {
    struct store_found again;
    uint64_t epoch = found->prepared, next = (epoch > found->tried ? epoch : found->tried) + 1;
    fuzz_must(epoch > 0 && pages_store_select(s, epoch) == 0 && pages_store_check(s));
    for (uint64_t page = 0; page < PAGES; page++)
        move_page(s, page % 3 ? STORE_READ : STORE_WRITE, page);
    fuzz_must(pages_store_reserve(s, 1) == 0 && pages_store_check(s));
    bool makes = next > epoch && next > found->tried; /* numbers do not restart */
    fuzz_must((pages_store_prepare(s, next) == 0) == makes);
    if (makes && commits)
        fuzz_must(pages_store_commit(s, next) == 0);
    fuzz_must(pages_store_close(s) == 0);
    fuzz_must(open_again(&s, &again) == 0 && again.prepared == (makes ? next : epoch));
    fuzz_must(again.committed <= again.prepared);
    fuzz_must(pages_store_close(s) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input in = {data, size};
    unsigned flags = fuzz_take_byte(&in);
    struct store *store;
    struct store_found found;
    if (!folder[0])
        make_folder();
    make_file(&in, flags);
    examine();
    if (!open_again(&store, &found))
        use(store, &found, flags & COMMIT);
    return 0;
}
