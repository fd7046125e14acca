// cpp.cpp: tests the cache under a C++ program: objects own windows, and several objects get into vectors at the same
// time.
#include "test.h"

#include <numeric>
#include <vector>

namespace {

// A distributed array of doubles, the same number on each rank.
class Array {
  public:
    Array(size_t per_rank, const char *mode)
        : window(make_window(per_rank * sizeof(double), mode)), count(per_rank) {
        double *mine = reinterpret_cast<double *>(window.base);
        std::iota(mine, mine + count, 1000.0 * test_rank);
        barrier();
        MPI_Win_lock_all(0, window.win);
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    ~Array() {
        barrier();
        MPI_Win_unlock_all(window.win);
        free_window(&window);
    }

    std::vector<double> read(int rank, size_t from, size_t n) const {
        std::vector<double> to(n);
        MPI_Get(to.data(), int(n), MPI_DOUBLE, rank, MPI_Aint(from * sizeof(double)), int(n), MPI_DOUBLE,
                window.win);
        MPI_Win_flush(rank, window.win);
        return to;
    }

    void write(int rank, size_t at, double value) {
        MPI_Put(&value, 1, MPI_DOUBLE, rank, MPI_Aint(at * sizeof(double)), 1, MPI_DOUBLE, window.win);
        MPI_Win_flush(rank, window.win);
    }

    MPI_Win handle() const {
        return window.win;
    }

  private:
    struct window window;
    size_t count;
};

CASE(reads) {
    Array array(512, "always");
    for (int round = 0; round < 4; round++)
        for (size_t i = 0; i < 512; i += 64) {
            std::vector<double> got = array.read(peer(), i, 64);
            for (size_t j = 0; j < 64; j++)
                expect_eq(got[j], 1000 * peer() + int(i + j));
        }
    expect_stat(array.handle(), full_hits, 24);
}

CASE(writes) {
    Array array(512, "always");
    for (int i = 0; i < 5; i++) {
        array.write(peer(), 100, i);
        expect_eq(array.read(peer(), 90, 20)[10], i);
        expect_eq(array.read(peer(), 90, 20)[10], i);
    }
    expect_hits(array.handle(), 5);
}

CASE(several_arrays) {
    Array a(128, "always"), b(256, "transparent"), c(64, nullptr);
    for (int i = 0; i < 3; i++) {
        expect_eq(a.read(peer(), 5, 1)[0], 1000 * peer() + 5);
        expect_eq(b.read(peer(), 7, 1)[0], 1000 * peer() + 7);
        expect_eq(c.read(peer(), 9, 1)[0], 1000 * peer() + 9);
    }
    expect_stat(a.handle(), full_hits, 2);
    expect_stat(b.handle(), full_hits, 0);
}

} // namespace
