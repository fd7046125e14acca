/* modes.c: tests when each mode reuses cached data. The target rewrites its memory by stores, which the reader's
 * cache cannot see. In transparent mode the next get returns the new data. In modes always and user the cache returns
 * the old data until the reader itself writes there or, in mode user, calls CLAMPI_Invalidate. Without the cache
 * every mode returns the new data. */
#include "test.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { WINDOW = 4096, OFFSET = 64, BYTES = 512 };

static const char *hearth_mode(void) {
    const char *mode = getenv("HEARTH_MODE");
    return mode && *mode ? mode : "transparent";
}

/* Returns the version of the peer's pattern that a get returns; -1 if it is none of 0 to `newest`. */
static int version_seen(struct window *w, int newest) {
    unsigned char got[BYTES], want[BYTES];
    MPI_Get(got, BYTES, MPI_BYTE, peer(), OFFSET, BYTES, MPI_BYTE, w->win);
    MPI_Win_flush(peer(), w->win);
    for (int version = newest; version >= 0; version--) {
        fill_pattern(want, BYTES, peer(), OFFSET, version);
        if (memcmp(got, want, BYTES) == 0)
            return version;
    }
    return -1;
}

/* Reads, lets the target change its data, and reads again. Expects the new version, or the old one where the cache
 * must hold it. A small cache may have evicted it. */
static void expect_reuse(struct window *w, int newest, bool reuse) {
    int before = version_seen(w, newest - 1), after;
    expect(before >= 0);
    rewrite(w, newest);
    after = version_seen(w, newest);
    if (!reuse || !test_loaded() || strcmp(test_config(), "off") == 0)
        expect_eq(after, newest);
    else if (test_cached())
        expect_eq(after, before);
    else
        expect(after >= 0);
    barrier();
}

static void set_info(struct window *w, const char *key, const char *value) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, strcmp(test_config(), "off") ? value : "off");
    MPI_Win_set_info(w->win, info);
    MPI_Info_free(&info);
    barrier();
}

static void expect_mode(const char *mode, bool reuse) {
    struct window w = make_window(WINDOW, mode);
    MPI_Win_lock_all(0, w.win);
    expect_reuse(&w, 1, reuse);
    expect_reuse(&w, 2, reuse);
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

CASE(transparent_at_creation) {
    expect_mode("transparent", false);
}

CASE(always_at_creation) {
    expect_mode("always", true);
}

CASE(user_at_creation) {
    expect_mode("user", true);
}

CASE(off_at_creation) {
    expect_mode("off", false);
}

CASE(default_is_transparent) {
    SKIP_IF(strcmp(hearth_mode(), "transparent"), "HEARTH_MODE is set");
    expect_mode(NULL, false);
}

CASE(bad_value_at_creation) {
    SKIP_IF(strcmp(hearth_mode(), "transparent"), "HEARTH_MODE is set");
    expect_mode("sometimes", false);
    expect_mode("ALWAYSALWAYSALWAYSALWAYSALWAYSALWAYSALWAYSALWAYSALWAYSALWAYSALWAYSALWAYSALWAYS", false);
}

/* Uses the info key of the original CLaMPI, whose values are numbers. */
static struct window make_numbered(const char *number) {
    struct window w = {.bytes = WINDOW};
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "CLAMPI_MODE", number);
    if (strcmp(test_config(), "off") == 0)
        MPI_Info_set(info, "clampi_mode", "off");
    w.base = aligned_bytes(w.bytes);
    fill_pattern(w.base, w.bytes, test_rank, 0, 0);
    MPI_Win_create(w.base, WINDOW, 1, info, MPI_COMM_WORLD, &w.win);
    MPI_Info_free(&info);
    return w;
}

static void expect_numbered(const char *number, bool reuse) {
    struct window w = make_numbered(number);
    MPI_Win_lock_all(0, w.win);
    expect_reuse(&w, 1, reuse);
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

CASE(numbers_of_the_original) {
    expect_numbered("1", false);
    expect_numbered("2", true);
    expect_numbered("3", true);
}

CASE(bad_numbers) {
    SKIP_IF(strcmp(hearth_mode(), "transparent"), "HEARTH_MODE is set");
    expect_numbered("0", false);
    expect_numbered("9", false);
    expect_numbered("-1", false);
    expect_numbered("two", false);
}

CASE(set_info_changes_the_mode) {
    struct window w = make_window(WINDOW, "transparent");
    MPI_Win_lock_all(0, w.win);
    expect_reuse(&w, 1, false);
    set_info(&w, "clampi_mode", "always");
    expect_reuse(&w, 2, true);
    set_info(&w, "clampi_mode", "transparent");
    expect_reuse(&w, 3, false);
    set_info(&w, "clampi_mode", "user");
    expect_reuse(&w, 4, true);
    set_info(&w, "clampi_mode", "off");
    expect_reuse(&w, 5, false);
    set_info(&w, "clampi_mode", "always");
    expect_reuse(&w, 6, true);
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

CASE(bad_set_info_changes_nothing) {
    struct window w = make_window(WINDOW, "always");
    MPI_Win_lock_all(0, w.win);
    expect_reuse(&w, 1, true);
    set_info(&w, "clampi_mode", "nonsense");
    expect_reuse(&w, 2, true);
    set_info(&w, "a_key_of_somebody_else", "17");
    expect_reuse(&w, 3, true);
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

/* A change of mode and back invalidates all entries. */
CASE(change_of_mode_forgets) {
    struct window w = make_window(WINDOW, "always");
    MPI_Win_lock_all(0, w.win);
    version_seen(&w, 0);
    set_info(&w, "clampi_mode", "off");
    set_info(&w, "clampi_mode", "always");
    rewrite(&w, 1);
    expect_eq(version_seen(&w, 1), 1);
    barrier();
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

CASE(own_put_is_seen_in_every_mode) {
    const char *modes[] = {"transparent", "always", "user", "off"};
    unsigned char put[32], got[BYTES], want[BYTES];
    for (int i = 0; i < 4; i++) {
        struct window w = make_window(WINDOW, modes[i]);
        MPI_Win_lock_all(0, w.win);
        version_seen(&w, 0);
        fill_pattern(put, sizeof put, test_rank, 999, i);
        MPI_Put(put, sizeof put, MPI_BYTE, peer(), OFFSET + 100, sizeof put, MPI_BYTE, w.win);
        MPI_Win_flush(peer(), w.win);
        MPI_Get(got, BYTES, MPI_BYTE, peer(), OFFSET, BYTES, MPI_BYTE, w.win);
        MPI_Win_flush(peer(), w.win);
        fill_pattern(want, BYTES, peer(), OFFSET, 0);
        memcpy(want + 100, put, sizeof put);
        expect_bytes(got, want, BYTES);
        barrier();
        MPI_Win_unlock_all(w.win);
        free_window(&w);
    }
}

CASE(invalidate_in_user_mode) {
    int (*invalidate)(MPI_Win) = (int (*)(MPI_Win))dlsym(RTLD_DEFAULT, "CLAMPI_Invalidate");
    struct window w = make_window(WINDOW, "user");
    MPI_Win_lock_all(0, w.win);
    for (int version = 1; version < 5; version++) {
        expect_reuse(&w, version, true);
        if (invalidate)
            expect_eq(invalidate(w.win), MPI_SUCCESS);
        expect_eq(version_seen(&w, version), version);
    }
    barrier();
    MPI_Win_unlock_all(w.win);
    expect_stat(w.win, invalidations, 4);
    free_window(&w);
}

/* Data of a get that is pending at the invalidation must not be cached when it arrives. */
CASE(invalidate_with_a_get_on_its_way) {
    int (*invalidate)(MPI_Win) = (int (*)(MPI_Win))dlsym(RTLD_DEFAULT, "CLAMPI_Invalidate");
    unsigned char got[BYTES];
    struct window w = make_window(WINDOW, "user");
    MPI_Win_lock_all(0, w.win);
    MPI_Get(got, BYTES, MPI_BYTE, peer(), OFFSET, BYTES, MPI_BYTE, w.win);
    if (invalidate)
        invalidate(w.win);
    MPI_Win_flush(peer(), w.win);
    expect_pattern(got, BYTES, peer(), OFFSET, 0);
    rewrite(&w, 1);
    expect_eq(version_seen(&w, 1), 1);
    barrier();
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

CASE(set_mode_by_call) {
    int (*set_mode)(MPI_Win, int) = (int (*)(MPI_Win, int))dlsym(RTLD_DEFAULT, "CLAMPI_Set_mode");
    struct window w = make_window(WINDOW, "transparent");
    SKIP_IF(!set_mode || strcmp(test_config(), "off") == 0,
            (free_window(&w), "no cache in this configuration"));
    MPI_Win_lock_all(0, w.win);
    expect_eq(set_mode(w.win, CLAMPI_ALWAYS), MPI_SUCCESS);
    expect_reuse(&w, 1, true);
    expect_eq(set_mode(w.win, CLAMPI_TRANSPARENT), MPI_SUCCESS);
    expect_reuse(&w, 2, false);
    expect_eq(set_mode(w.win, CLAMPI_USER), MPI_SUCCESS);
    expect_reuse(&w, 3, true);
    expect_eq(set_mode(w.win, CLAMPI_OFF), MPI_SUCCESS);
    expect_reuse(&w, 4, false);
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

CASE(set_mode_to_nonsense_is_an_error) {
    int (*set_mode)(MPI_Win, int) = (int (*)(MPI_Win, int))dlsym(RTLD_DEFAULT, "CLAMPI_Set_mode");
    struct window w = make_window(WINDOW, "transparent");
    SKIP_IF(!set_mode, (free_window(&w), "Hearth is not loaded"));
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    expect(set_mode(w.win, 0) != MPI_SUCCESS);
    expect(set_mode(w.win, 77) != MPI_SUCCESS);
    MPI_Win_lock_all(0, w.win);
    expect_reuse(&w, 1, false);
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

/* Each window has its own mode. */
CASE(windows_of_different_modes) {
    struct window a = make_window(WINDOW, "always"), t = make_window(WINDOW, "transparent");
    MPI_Win_lock_all(0, a.win);
    MPI_Win_lock_all(0, t.win);
    for (int version = 1; version < 4; version++) {
        expect_reuse(&a, version, true);
        expect_reuse(&t, version, false);
    }
    MPI_Win_unlock_all(t.win);
    MPI_Win_unlock_all(a.win);
    free_window(&t);
    free_window(&a);
}
