/* halo.h: the parts of the program halo: three kinds of halo exchange, chosen for their effect on the queues in
 * which an MPI library matches messages.
 *
 *      main -> stencil   a rank is a block of threads; each has a patch, and messages of its own
 *           -> cg        a rank is one large patch; many other receives are posted during its exchanges
 *           -> fds       a rank has many small patches, and a message for each side and field of each
 *
 *      patch     cells with a rim, and operations on them
 *      exchange  the messages of a rank: posted, sent, waited for, unpacked
 *      padding   receives that stay posted during the exchanges
 *      shape     blocks of threads, and the number of messages that follows from them
 *      team      threads that execute a list of tasks together
 *      report    results, as text and JSON
 *
 * Functions return 0 or an exit code of common.h. Functions marked collective return the same code on all
 * ranks. */
#ifndef HEARTH_HALO_H
#define HEARTH_HALO_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/common.h"

/* ---- directions: steps of -1, 0 or 1 along x, y, z, numbered 0 to 26; 26 - d is opposite to d ---- */

enum { HALO_DIRECTIONS = 27 }; /* one of them, 13, is the cell itself */

void halo_step(int direction, int step[3]);

/* Whether a stencil of 5, 9 (flat), 7 or 27 points has a neighbour in this direction. */
bool halo_reaches(int points, int direction);

static inline bool halo_is_flat(int points) {
    return points == 5 || points == 9;
}

/* ---- patch.c ---- */

/* now and next hold (cells[0] + 2) (cells[1] + 2) (cells[2] + 2) numbers, x fastest, starting at the corner of
 * the rim. */
struct halo_patch {
    int cells[3];
    int64_t at[3]; /* of its first cell in the whole grid */
    double *now, *next;
};

/* cos(k x + phase): a stencil on a periodic grid only damps it, so that its value is known at every time. */
struct halo_wave {
    double k[3], phase;
    double factor; /* damping by one step */
};

/* All zero. APP_FAILED, without a message: out of memory. */
int halo_patch_open(struct halo_patch *p, const int cells[3], const int64_t at[3]);
void halo_patch_close(struct halo_patch *p);

size_t halo_patch_place(const struct halo_patch *p, int x, int y,
                        /* index of a cell; 0 and cells[] + 1: the rim */
                        int z);
int halo_patch_side(const struct halo_patch *p, int direction); /* number of cells on that side */
void halo_patch_pack(const struct halo_patch *p, int direction, double *out);  /* the cells on that side */
void halo_patch_unpack(struct halo_patch *p, int direction, const double *in); /* into the rim on that side */
/* Copies the rim in this direction from the patch there. */
void halo_patch_copy(struct halo_patch *p, int direction, const struct halo_patch *neighbour);

void halo_wave_open(struct halo_wave *w, const int64_t grid[3], int points, double phase);
void halo_patch_fill(struct halo_patch *p, const struct halo_wave *w);
/* half of each cell is replaced by the mean of its neighbours */
void halo_patch_update(struct halo_patch *p, int points);
double halo_patch_error(const struct halo_patch *p, const struct halo_wave *w,
                        uint64_t steps); /* the largest */
/* Of all bits of all cells. The sum over all patches is the same however the grid is divided. */
uint64_t halo_patch_checksum(const struct halo_patch *p, uint64_t salt);

/* ---- exchange.c ---- */

struct halo_message { /* from a patch to its neighbour in a direction, and back */
    struct halo_patch *patch;
    int direction, peer;
    int tag_out, tag_in;
    int count;
    size_t place; /* offset of its numbers in `in` and `out` */
};

struct halo_exchange {
    struct halo_message *list;
    MPI_Request *requests; /* the receives, followed by the sends */
    double *in, *out;
    size_t count, room, numbers;
    bool persistent;
    /* received data is not unpacked: the results are then wrong, which the checks must detect */
    bool ignored;
};

int halo_exchange_add(struct halo_exchange *e, const struct halo_message *m);
int halo_exchange_ready(struct halo_exchange *e); /* after all are added */
void halo_exchange_post(struct halo_exchange *e, size_t i);
void halo_exchange_send(struct halo_exchange *e, size_t i);
void halo_exchange_persist(
    struct halo_exchange *e); /* makes persistent requests, for the next two functions */
void halo_exchange_post_all(struct halo_exchange *e);
void halo_exchange_send_all(struct halo_exchange *e);
void halo_exchange_wait(struct halo_exchange *e); /* for all requests that were posted and sent */
void halo_exchange_unpack(struct halo_exchange *e, size_t i);
void halo_exchange_close(struct halo_exchange *e);
/* Collective: every rank exchanges a message with every other, so that later times exclude opening connections. */
int halo_connect_all(int ranks);
/* Collective: checks that MPI supports such a tag on all ranks; if not, rank 0 prints an error. */
int halo_check_tag(uint64_t highest);

/* ---- padding.c: receives that stay posted during the exchanges ---- */

struct halo_padding {
    MPI_Request *requests; /* the receives, followed by the sends */
    double *in, *out;
    size_t count, sends;
    int peers
        [HALO_DIRECTIONS]; /* the senders, in turn: the ranks of an exchange, or this rank if there is none */
    int theirs[HALO_DIRECTIONS]; /* number of receives that each of them has posted for this rank */
    int peer_count, rank;
};

/* Collective; the receives of the exchange are posted after it. Tags from first_tag on belong to the padding. */
int halo_padding_open(struct halo_padding *p, const struct halo_exchange *e, int rank, size_t count);
void halo_padding_post(struct halo_padding *p, int first_tag);
/* Collective: sends the messages that the padding receives wait for. Prints an error if one got another's message. */
int halo_padding_release(struct halo_padding *p, int first_tag);
void halo_padding_close(struct halo_padding *p);

/* ---- shape.c ---- */

struct halo_shape {
    int size[3]; /* threads of a block along x, y, z */
    int points;  /* of the stencil */
};

/* The numbers of Table 1, for a block surrounded by blocks of the same shape. */
struct halo_counts {
    uint64_t receivers; /* threads inside that receive from outside */
    uint64_t senders;   /* threads outside that send into it */
    uint64_t length;    /* messages: the number of receives posted at once */
};

/* Parses sides such as 8x8x4, or 32x32 for two axes; the third is then 1. For the option --NAME, while options
 * are parsed. */
int halo_parse_box(const char *name, const char *text, int axes, int most_side, int most_all, int box[3]);
/* "32x32" and so on with 5 or 9 points, "8x8x4" with 7 or 27. Rank 0 reports any other as an error. */
int halo_shape_parse(const char *text, int points, struct halo_shape *shape);
void halo_shape_formula(const struct halo_shape *shape, struct halo_counts *counts);
/* Whether Table 1 has this block; if so, its numbers, and the mean search depth there. */
bool halo_shape_published(const struct halo_shape *shape, struct halo_counts *counts, double *depth);
/* Whether the neighbour of thread p of a block in this direction is outside the block. `shift`: by how many
 * blocks along each axis; `there`: the thread of that block. */
bool halo_shape_leaves(const struct halo_shape *shape, const int p[3], int direction, int shift[3],
                       int there[3]);

/* ---- team.c: with one thread nothing is started, and the caller does all tasks ---- */

struct halo_team;
typedef void halo_task(void *work, size_t task);

int halo_team_open(struct halo_team **team, size_t threads);
/* Executes each task once, started in this order (NULL: 0, 1, 2 ...), by the caller and the others. All are
 * done on return. */
void halo_team_run(struct halo_team *team, halo_task *task, void *work, const uint32_t *order, size_t count);
void halo_team_close(struct halo_team *team);

/* ---- report.c ---- */

struct halo_report; /* does nothing on ranks other than 0 */

int halo_report_open(struct halo_report **report, const struct app_manner *manner, int rank); /* collective */
void halo_report_text(struct halo_report *r, const char *key, const char *label, const char *value);
void halo_report_count(struct halo_report *r, const char *key, const char *label, uint64_t value);
void halo_report_number(struct halo_report *r, const char *key, const char *label, double value);

struct halo_times { /* seconds of this rank, in all steps */
    double post, exchange, compute, total;
};
void halo_report_times(struct halo_report *r, const struct halo_times *t,
                       uint64_t steps); /* collective: the slowest */

/* collective; code: whether the results are correct */
int halo_report_close(struct halo_report *r, int code);

double halo_slowest(double seconds); /* collective: the maximum over all ranks */
uint64_t halo_sum(uint64_t value);   /* collective */
/* Collective: APP_FAILED, with a message of rank 0, if the value is above the limit or a NaN on any rank. */
int halo_judge(const char *what, double value, double limit);

/* ---- the three modes ----  collective; argv[0] is the name of the mode */

int halo_stencil(int argc, char **argv);
int halo_cg(int argc, char **argv);
int halo_fds(int argc, char **argv);

#endif
