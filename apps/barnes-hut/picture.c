/* picture.c: draws the bodies seen along the z axis. Every rank counts its bodies per point of a square grid,
 * the grids are added, and rank 0 draws: as PPM, brighter where there are more bodies, or as SVG, one dot per
 * point. The square is centred on the mean position and wide enough for most bodies; escaped bodies are not
 * shown. */
#include "bh.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 720 };

struct view {
    double middle[2], half;
};

static void choose_view(const struct bh_bodies *b, struct view *v) {
    double total = b->total ? (double)b->total : 1;
    double sums[2] = {0}, spread = 0;
    for (uint64_t i = 0; i < b->count; i++)
        for (int k = 0; k < 2; k++)
            sums[k] += b->list[i].x[k] / total;
    MPI_Allreduce(sums, v->middle, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (uint64_t i = 0; i < b->count; i++)
        spread += hypot(b->list[i].x[0] - v->middle[0], b->list[i].x[1] - v->middle[1]) / total;
    MPI_Allreduce(&spread, &v->half, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    v->half = v->half > 0 ? 2.5 * v->half : 1;
}

static void count(const struct bh_bodies *b, const struct view *v, uint32_t *grid) {
    for (uint64_t i = 0; i < b->count; i++) {
        double x = (b->list[i].x[0] - v->middle[0]) / v->half, y = (v->middle[1] - b->list[i].x[1]) / v->half;
        if (fabs(x) < 1 && fabs(y) < 1)
            grid[(int)((y + 1) / 2 * SIDE) * SIDE + (int)((x + 1) / 2 * SIDE)]++;
    }
}

/* From 0 to 1, logarithmic: clusters are a thousand times denser in the middle. */
static double brightness(uint32_t bodies, uint32_t most) {
    return bodies ? 0.5 + 0.5 * log(bodies) / log(most < 2 ? 2 : most) : 0;
}

static void draw_ppm(FILE *file, const uint32_t *grid, uint32_t most) {
    fprintf(file, "P6\n%d %d\n255\n", SIDE, SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        double light = brightness(grid[i], most);
        fputc((int)(255 * light), file);
        fputc((int)(255 * light * (0.7 + 0.3 * light)), file);
        fputc((int)(255 * (light > 0 ? 0.3 + 0.5 * light : 0.05)), file);
    }
}

static void draw_svg(FILE *file, const uint32_t *grid, uint32_t most) {
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#0b0b16\"/>\n<g fill=\"#ffd27d\">\n",
            SIDE, SIDE);
    for (int i = 0; i < SIDE * SIDE; i++)
        if (grid[i])
            fprintf(file, "<circle cx=\"%d\" cy=\"%d\" r=\"1.2\" opacity=\"%.2f\"/>\n", i % SIDE, i / SIDE,
                    brightness(grid[i], most));
    fprintf(file, "</g>\n</svg>\n");
}

static void draw(const struct bh_options *o, FILE *file, const uint32_t *grid) {
    size_t length = strlen(o->picture);
    uint32_t most = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        most = grid[i] > most ? grid[i] : most;
    if (length > 4 && !strcmp(o->picture + length - 4, ".svg"))
        draw_svg(file, grid, most);
    else
        draw_ppm(file, grid, most);
}

int bh_picture(const struct bh_options *o, const struct bh_bodies *b, FILE *file) {
    struct view view;
    uint32_t *grid = calloc(SIDE * SIDE, sizeof *grid), *all = calloc(SIDE * SIDE, sizeof *all);
    int code = app_agree(grid && all ? APP_OK : APP_FAILED, "no memory for the picture");
    if (!code) {
        choose_view(b, &view);
        count(b, &view, grid);
        MPI_Reduce(grid, all, SIDE * SIDE, MPI_UINT32_T, MPI_SUM, 0, MPI_COMM_WORLD);
        if (file)
            draw(o, file, all);
    }
    free(grid);
    free(all);
    return code;
}
