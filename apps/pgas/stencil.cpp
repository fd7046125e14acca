/* stencil.cpp: Jacobi iteration with a 5-point stencil on a periodic square grid, by tiles that any rank may compute, on
 * GASNet-EX as UPC++ programs use it.
 *
 *      grid      two copies: a step reads one and writes the other. Tiles are distributed round robin over the segments of all
 *                ranks, which may exceed memory. A tile is contiguous, row by row
 *      step      a rank takes the next tile by an atomic fetch-and-add on a counter, reads the tile and the edges of its
 *                neighbours, by strided gets where they are columns, computes it, and writes the new tile
 *
 * So a tile is mostly computed by another rank than in the step before, whose node still has its pages. At the end each rank
 * recomputes some tiles from the initial values, and compares them bit by bit. */
#include "pgas/job.hpp"

#include <cstring>

namespace {

class Grid {
  public:
    Grid(Job &of, uint64_t cells, uint64_t tile_cells, uint64_t most_steps);

    uint64_t segment_bytes() const;
    void open(); /* collective, after the job is attached */
    void fill();
    void step(uint64_t number);
    /* The number of wrong tiles among those of this rank, after this number of steps. */
    uint64_t verify(uint64_t steps);

  private:
    gex_Rank_t owner(uint64_t tile) const {
        return static_cast<gex_Rank_t>(tile % job.size);
    }
    char *address(int copy, uint64_t tile) const {
        return job.segment(owner(tile)) +
               (static_cast<uint64_t>(copy) * slots + tile / job.size) * edge * edge * sizeof(double);
    }
    uint64_t neighbour(uint64_t tile, uint64_t down, uint64_t right) const {
        return (tile / side + down) % side * side + (tile + right) % side;
    }
    double initial(uint64_t row, uint64_t column) const {
        return static_cast<double>(mix((row % (side * edge)) << 32 | column % (side * edge)) >> 40) / (1 << 24);
    }
    uint64_t next_tile(uint64_t number);
    void fetch(int copy, uint64_t tile);
    void fetch_column(int copy, uint64_t tile, uint64_t column, double *to);
    void compute();
    bool is_right(uint64_t tile, uint64_t steps);

    Job &job;
    uint64_t edge, side, slots, steps; /* cells of a tile's edge; tiles of the grid's edge; tiles of a rank and copy */
    gex_AD_t domain;
    std::vector<double> around; /* a tile with one more cell on each side */
    std::vector<double> result;
};

Grid::Grid(Job &of, uint64_t cells, uint64_t tile_cells, uint64_t most_steps)
    : job(of), edge(tile_cells), side((cells + tile_cells - 1) / tile_cells),
      slots((side * side + of.size - 1) / of.size), steps(most_steps), domain(GEX_AD_INVALID),
      around((edge + 2) * (edge + 2)), result(edge * edge) {
}

/* The counters of the steps are behind the tiles of rank 0, each on a cache line. */
uint64_t Grid::segment_bytes() const {
    return 2 * slots * edge * edge * sizeof(double) + steps * 64;
}

void Grid::open() {
    gex_AD_Create(&domain, job.team, GEX_DT_U64, GEX_OP_FADD, 0);
}

void Grid::fill() {
    for (uint64_t tile = job.rank; tile < side * side; tile += job.size) {
        for (uint64_t i = 0; i < edge * edge; i++)
            result[i] = initial(tile / side * edge + i / edge, tile % side * edge + i % edge);
        gex_RMA_PutBlocking(job.team, owner(tile), address(0, tile), result.data(), edge * edge * sizeof(double), 0);
    }
    job.barrier();
}

/* ---- a step ---- */

uint64_t Grid::next_tile(uint64_t number) {
    uint64_t tile = 0;
    char *counter = job.segment(0) + 2 * slots * edge * edge * sizeof(double) + number * 64;
    gex_Event_Wait(gex_AD_OpNB_U64(domain, &tile, 0, counter, GEX_OP_FADD, 1, 0, 0));
    return tile;
}

void Grid::fetch_column(int copy, uint64_t tile, uint64_t column, double *to) {
    const ptrdiff_t here = static_cast<ptrdiff_t>((edge + 2) * sizeof(double)),
                    there = static_cast<ptrdiff_t>(edge * sizeof(double));
    const size_t count = edge;
    gex_VIS_StridedGetNBI(job.team, to, &here, owner(tile), address(copy, tile) + column * sizeof(double), &there,
                          sizeof(double), &count, 1, 0);
}

/* The corners are not used. */
void Grid::fetch(int copy, uint64_t tile) {
    const uint64_t wide = edge + 2, above = neighbour(tile, side - 1, 0), below = neighbour(tile, 1, 0);
    const ptrdiff_t here = static_cast<ptrdiff_t>(wide * sizeof(double)),
                    there = static_cast<ptrdiff_t>(edge * sizeof(double));
    const size_t row = edge * sizeof(double), count = edge;
    gex_VIS_StridedGetNBI(job.team, &around[wide + 1], &here, owner(tile), address(copy, tile), &there, row, &count, 1,
                          0);
    gex_RMA_GetNBI(job.team, &around[1], owner(above), address(copy, above) + (edge - 1) * row, row, 0);
    gex_RMA_GetNBI(job.team, &around[(edge + 1) * wide + 1], owner(below), address(copy, below), row, 0);
    fetch_column(copy, neighbour(tile, 0, side - 1), edge - 1, &around[wide]);
    fetch_column(copy, neighbour(tile, 0, 1), 0, &around[wide + edge + 1]);
    gex_NBI_Wait(GEX_EC_GET, 0);
}

double relax(const double *at, uint64_t wide) {
    return 0.5 * at[0] + 0.125 * (at[-1] + at[1] + at[-static_cast<ptrdiff_t>(wide)] + at[wide]);
}

void Grid::compute() {
    const uint64_t wide = edge + 2;
    for (uint64_t i = 0; i < edge; i++)
        for (uint64_t k = 0; k < edge; k++)
            result[i * edge + k] = relax(&around[(i + 1) * wide + k + 1], wide);
}

void Grid::step(uint64_t number) {
    int from = static_cast<int>(number % 2);
    for (uint64_t tile = next_tile(number); tile < side * side; tile = next_tile(number)) {
        fetch(from, tile);
        compute();
        gex_RMA_PutBlocking(job.team, owner(tile), address(1 - from, tile), result.data(),
                            edge * edge * sizeof(double), 0);
    }
    job.barrier();
}

/* ---- verification ---- */

/* All cells that the tile depends on, from their initial values: one fewer on each side after each step. */
bool Grid::is_right(uint64_t tile, uint64_t done) {
    uint64_t wide = edge + 2 * done, all = side * edge;
    uint64_t row = tile / side * edge + all * done - done, column = tile % side * edge + all * done - done;
    std::vector<double> now(wide * wide), next;
    for (uint64_t i = 0; i < wide * wide; i++)
        now[i] = initial(row + i / wide, column + i % wide);
    for (; wide > edge; wide -= 2, now.swap(next)) {
        next.resize((wide - 2) * (wide - 2));
        for (uint64_t i = 0; i < wide - 2; i++)
            for (uint64_t k = 0; k < wide - 2; k++)
                next[i * (wide - 2) + k] = relax(&now[(i + 1) * wide + k + 1], wide);
    }
    gex_RMA_GetBlocking(job.team, result.data(), owner(tile), address(static_cast<int>(done % 2), tile),
                        edge * edge * sizeof(double), 0);
    return std::memcmp(now.data(), result.data(), edge * edge * sizeof(double)) == 0;
}

uint64_t Grid::verify(uint64_t done) {
    uint64_t wrong = 0;
    for (uint64_t tile = job.rank; tile < side * side; tile += job.size)
        wrong += !is_right(tile, done);
    return wrong;
}

} // namespace

int main(int argc, char **argv) {
    Job job(argc, argv, "stencil", "Jacobi iteration on a grid of tiles that any rank may compute");
    uint64_t cells = job.option("cells", 256, "cells of the grid's edge, rounded up to whole tiles");
    uint64_t tile = job.option("tile", 32, "cells of a tile's edge");
    uint64_t steps = job.option("steps", 4, "number of steps; the first is not timed");
    if (job.refuses())
        job.end(2);
    Grid grid(job, cells, tile, steps);
    job.attach(grid.segment_bytes(), nullptr, 0);
    grid.open();
    grid.fill();
    grid.step(0);
    double start = seconds_now();
    for (uint64_t i = 1; i < steps; i++)
        grid.step(i);
    double seconds = job.most(seconds_now() - start);
    uint64_t wrong = job.sum(grid.verify(steps));
    job.result("cells", static_cast<double>(cells));
    job.result("tile", static_cast<double>(tile));
    job.result("steps", static_cast<double>(steps));
    job.result("seconds", seconds);
    job.result("cells_per_s", static_cast<double>(cells * cells * (steps - 1)) / seconds);
    if (wrong && job.rank == 0)
        std::fprintf(stderr, "stencil: %llu tiles are wrong\n", static_cast<unsigned long long>(wrong));
    job.end(wrong != 0);
}
