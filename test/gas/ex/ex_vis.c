/* ex_vis.c: tests puts and gets of random vectors, lists and grids against copies made element by element; and handlers
 * that notify the peer of them. */
#include "ex_test.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 20000, ROUNDS = 24, ENTRIES = 12, FORMS = 3 };

static char *model, *remote, *local;
static gex_Rank_t target;

static void set_up(int version) {
    if (!model) {
        model = malloc(BYTES);
        local = malloc(BYTES);
    }
    target = (gex_Rank_t)((test_rank + 1) % test_size);
    remote = ex_base[target] + (size_t)(test_rank % 4) * BYTES;
    test_fill(local, BYTES, test_rank, version);
    test_fill(model, BYTES, test_rank, version + 1000);
    gex_RMA_PutBlocking(ex_tm, target, remote, model, BYTES, 0);
}

static void check_remote(void) {
    char *now = malloc(BYTES);
    gex_RMA_GetBlocking(ex_tm, now, target, remote, BYTES, 0);
    expect_bytes(now, model, BYTES);
    free(now);
}

/* Synchronises what a call of this form has started. */
static void finish(int form, gex_Event_t event, bool put) {
    if (form == 1) {
        if (put)
            gex_Event_Wait(gex_Event_QueryLeaf(event, GEX_EC_LC));
        gex_Event_Wait(event);
    } else if (form == 2)
        gex_NBI_Wait(put ? GEX_EC_PUT | GEX_EC_LC : GEX_EC_GET, 0);
}

static gex_Flags_t flags_of(int form, bool put) {
    return form == 0 ? 0 : put ? GEX_FLAG_ENABLE_LEAF_LC : GEX_FLAG_IMMEDIATE;
}

/* Disjoint ranges in order, of `total` bytes in all; some are empty. */
static size_t cut(gex_Memvec_t *list, char *base, size_t total) {
    size_t count = 0, at = ex_draw(50);
    while (total > 0) {
        size_t bytes = count == ENTRIES - 1 ? total : ex_draw((uint32_t)total + 1);
        list[count++] = (gex_Memvec_t){base + at, bytes};
        at += bytes + ex_draw(40);
        total -= bytes;
    }
    return count;
}

/* Byte i of a list. */
static char *byte_at(const gex_Memvec_t *list, size_t i) {
    while (i >= list->gex_len)
        i -= (list++)->gex_len;
    return (char *)list->gex_addr + i;
}

CASE(vectors) {
    for (int round = 0; round < ROUNDS; round++) {
        gex_Memvec_t far[ENTRIES], mine[ENTRIES];
        size_t total = ex_draw(3000) + 1;
        set_up(round);
        size_t there = cut(far, remote, total), here = cut(mine, local, total);
        gex_Event_t event = GEX_EVENT_INVALID;
        int form = round % FORMS;
        if (round % 2) {
            for (size_t i = 0; i < total; i++)
                model[byte_at(far, i) - remote] = *byte_at(mine, i);
            if (form == 0)
                gex_VIS_VectorPutBlocking(ex_tm, target, there, far, here, mine, flags_of(form, true));
            else if (form == 1)
                event = gex_VIS_VectorPutNB(ex_tm, target, there, far, here, mine, flags_of(form, true));
            else
                gex_VIS_VectorPutNBI(ex_tm, target, there, far, here, mine, flags_of(form, true));
            finish(form, event, true);
            check_remote();
        } else {
            if (form == 0)
                gex_VIS_VectorGetBlocking(ex_tm, here, mine, target, there, far, flags_of(form, false));
            else if (form == 1)
                event = gex_VIS_VectorGetNB(ex_tm, here, mine, target, there, far, flags_of(form, false));
            else
                gex_VIS_VectorGetNBI(ex_tm, here, mine, target, there, far, flags_of(form, false));
            finish(form, event, false);
            for (size_t i = 0; i < total; i++)
                if (*byte_at(mine, i) != model[byte_at(far, i) - remote]) {
                    expect(!"the byte is right");
                    break;
                }
        }
    }
}

/* Lists of blocks of one length, which differs between the sides. */
CASE(indexed) {
    for (int round = 0; round < ROUNDS; round++) {
        void *far[ENTRIES], *mine[ENTRIES];
        size_t there = 1 + ex_draw(ENTRIES), far_bytes = 12 * (1 + ex_draw(20)),
               here = ex_draw(2) ? 1 : there, mine_bytes = far_bytes * there / here;
        set_up(round);
        for (size_t i = 0; i < there; i++)
            far[i] = remote + i * 500 + ex_draw(200);
        for (size_t i = 0; i < here; i++)
            mine[i] = local + i * 500 + ex_draw(200);
        gex_Event_t event = GEX_EVENT_INVALID;
        int form = round % FORMS;
        bool put = round % 2;
        if (put && form == 0)
            gex_VIS_IndexedPutBlocking(ex_tm, target, there, far, far_bytes, here, mine, mine_bytes, 0);
        else if (put && form == 1)
            event = gex_VIS_IndexedPutNB(ex_tm, target, there, far, far_bytes, here, mine, mine_bytes,
                                         flags_of(1, true));
        else if (put)
            gex_VIS_IndexedPutNBI(ex_tm, target, there, far, far_bytes, here, mine, mine_bytes,
                                  flags_of(2, true));
        else if (form == 0)
            gex_VIS_IndexedGetBlocking(ex_tm, here, mine, mine_bytes, target, there, far, far_bytes, 0);
        else if (form == 1)
            event = gex_VIS_IndexedGetNB(ex_tm, here, mine, mine_bytes, target, there, far, far_bytes, 0);
        else
            gex_VIS_IndexedGetNBI(ex_tm, here, mine, mine_bytes, target, there, far, far_bytes, 0);
        finish(form, event, put);
        for (size_t i = 0; i < far_bytes * there; i++) {
            char *m = &model[(char *)far[i / far_bytes] + i % far_bytes - remote],
                 *l = (char *)mine[i / mine_bytes] + i % mine_bytes;
            if (put)
                *m = *l;
            else if (*m != *l) {
                expect(!"the byte is right");
                break;
            }
        }
        if (put)
            check_remote();
    }
}

/* ---- grids, with strides in both directions: transpositions and reflections too ---- */

struct shape {
    size_t elem, count[2];
    ptrdiff_t far[2], mine[2]; /* strides */
    size_t far_at, mine_at;    /* of the first element */
};

/* One side: two levels in either order, each in either direction. */
static void draw_side(const struct shape *s, ptrdiff_t *strides, size_t *at) {
    int inner = (int)ex_draw(2);
    size_t gap = s->elem + ex_draw(5), row = gap * s->count[inner] + ex_draw(9);
    strides[inner] = (ptrdiff_t)gap;
    strides[!inner] = (ptrdiff_t)row;
    *at = 0;
    for (int i = 0; i < 2; i++)
        if (ex_draw(2)) {
            *at += (s->count[i] - 1) * (size_t)strides[i];
            strides[i] = -strides[i];
        }
}

static struct shape draw_shape(void) {
    struct shape s = {.elem = 1 + ex_draw(16), .count = {1 + ex_draw(9), 1 + ex_draw(9)}};
    draw_side(&s, s.far, &s.far_at);
    draw_side(&s, s.mine, &s.mine_at);
    return s;
}

static bool compare_or_copy(const struct shape *s, bool put) {
    for (ptrdiff_t i = 0; i < (ptrdiff_t)s->count[0]; i++)
        for (ptrdiff_t j = 0; j < (ptrdiff_t)s->count[1]; j++) {
            char *m = model + (ptrdiff_t)s->far_at + i * s->far[0] + j * s->far[1],
                 *l = local + (ptrdiff_t)s->mine_at + i * s->mine[0] + j * s->mine[1];
            if (put)
                memcpy(m, l, s->elem);
            else if (memcmp(m, l, s->elem) != 0)
                return false;
        }
    return true;
}

CASE(strided) {
    for (int round = 0; round < 3 * ROUNDS; round++) {
        set_up(round);
        struct shape s = draw_shape();
        char *far = remote + s.far_at, *mine = local + s.mine_at;
        gex_Event_t event = GEX_EVENT_INVALID;
        int form = round % FORMS;
        bool put = round % 2;
        if (put && form == 0)
            gex_VIS_StridedPutBlocking(ex_tm, target, far, s.far, mine, s.mine, s.elem, s.count, 2, 0);
        else if (put && form == 1)
            event = gex_VIS_StridedPutNB(ex_tm, target, far, s.far, mine, s.mine, s.elem, s.count, 2,
                                         flags_of(1, true));
        else if (put)
            gex_VIS_StridedPutNBI(ex_tm, target, far, s.far, mine, s.mine, s.elem, s.count, 2,
                                  flags_of(2, true));
        else if (form == 0)
            gex_VIS_StridedGetBlocking(ex_tm, mine, s.mine, target, far, s.far, s.elem, s.count, 2, 0);
        else if (form == 1)
            event = gex_VIS_StridedGetNB(ex_tm, mine, s.mine, target, far, s.far, s.elem, s.count, 2, 0);
        else
            gex_VIS_StridedGetNBI(ex_tm, mine, s.mine, target, far, s.far, s.elem, s.count, 2, 0);
        finish(form, event, put);
        expect(compare_or_copy(&s, put));
        if (put)
            check_remote();
    }
}

CASE(grids_of_nothing) {
    static const size_t none[] = {3, 0}, some[] = {3, 2};
    static const ptrdiff_t strides[] = {8, 100};
    set_up(1);
    gex_VIS_StridedPutBlocking(ex_tm, target, NULL, strides, NULL, strides, 8, none, 2, 0);
    gex_VIS_StridedPutBlocking(ex_tm, target, NULL, strides, NULL, strides, 0, some, 2, 0);
    gex_VIS_StridedPutBlocking(ex_tm, target, remote + 5, NULL, local, NULL, 77, NULL, 0, 0); /* contiguous */
    memcpy(model + 5, local, 77);
    check_remote();
}

/* ---- notification of the peer ---- */

static _Atomic int notified, misread;
static gex_Rank_t before; /* the rank whose operations notify this one */

/* The payload is the first word that the operation has written here, and its place. */
struct notice {
    size_t at;
    uint64_t word;
    char rest[100];
};

static void on_notice(gex_Token_t token, void *data, size_t bytes) {
    struct notice n;
    gex_Token_Info_t info;
    memset(&info, 0, sizeof info);
    gex_Token_Info(token, &info, GEX_TI_ALL);
    if (info.gex_srcrank != before || info.gex_is_req || info.gex_is_long || info.gex_ep != ex_ep)
        misread++;
    if (bytes == sizeof n) {
        uint64_t word;
        memcpy(&n, data, sizeof n);
        memcpy(&word, ex_base[test_rank] + n.at, sizeof word); /* a load: the put is complete here */
        if (word != n.word || n.rest[99] != 'z')
            misread++;
    } else if (bytes != 0)
        misread++;
    notified++;
}

static gex_AM_Entry_t notices[] = {
    {0, (gex_AM_Fn_t)on_notice, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "on_notice"}};

static void notify_by(int way, char *far, char *mine) {
    const size_t count[] = {3};
    const ptrdiff_t strides[] = {16};
    void *far_list[] = {far}, *mine_list[] = {mine};
    gex_Memvec_t far_vector = {far, 8}, mine_vector = {mine, 8};
    gex_Event_t event = GEX_EVENT_INVALID;
    switch (way) {
    case 0:
        gex_VIS_VectorPutBlocking(ex_tm, target, 1, &far_vector, 1, &mine_vector, 0);
        break;
    case 1:
        event = gex_VIS_IndexedPutNB(ex_tm, target, 1, far_list, 8, 1, mine_list, 8, GEX_FLAG_ENABLE_LEAF_LC);
        break;
    case 2:
        gex_VIS_StridedPutNBI(ex_tm, target, far, strides, mine, strides, 8, count, 1, 0);
        break;
    default: /* the same bytes come back */
        gex_VIS_StridedGetNBI(ex_tm, mine, strides, target, far, strides, 8, count, 1, 0);
    }
    finish(way == 1 ? 1 : way == 0 ? 0 : 2, event, way < 3);
}

CASE(peers_are_notified) {
    enum { NOTICES = 60 };
    ex_register(notices, 1);
    before = (gex_Rank_t)((test_rank + test_size - 1) % test_size);
    notified = misread = 0;
    set_up(1);
    ex_barrier();
    for (int i = 0; i < NOTICES; i++) {
        struct notice n;
        memset(&n, 'z', sizeof n);
        char *far = remote + i * 64; /* not written again before its notice is read */
        n.at = (size_t)(far - ex_base[target]);
        memcpy(local, &i, sizeof i);
        if (i % 4 == 3) /* a get: the word is the one that is there */
            gex_RMA_GetBlocking(ex_tm, local, target, far, 8, 0);
        memcpy(&n.word, local, sizeof n.word);
        gex_VIS_SetPeerCompletionHandler(notices[0].gex_index, "", 0, 0);
        if (i % 5 == 1) /* the last call counts */
            gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0);
        else if (i % 5 > 1)
            gex_VIS_SetPeerCompletionHandler(notices[0].gex_index, &n, sizeof n, 0);
        notify_by(i % 4, far, local);
        notify_by(0, remote + BYTES - 8, local + 64); /* not notified */
        ex_barrier();
    }
    GASNET_BLOCKUNTIL(notified >= NOTICES - NOTICES / 5);
    ex_barrier();
    expect_eq(notified, NOTICES - NOTICES / 5);
    expect_eq(misread, 0);
}
