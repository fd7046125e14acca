! fortran.F90: tests Global Arrays from Fortran, with 8-byte integers as in libga: indices start at 1, in column-major
! order. Every rank compares every result with a serial computation.   timeout: 60
program fortran
    implicit none
#include "mafdecls.fh"
#include "global.fh"
    include 'mpif.h'
    integer, parameter :: n = 19, m = 13
    integer :: me, ranks, failures, total(1)
    integer*4 :: error
    call mpi_init(error)
    call ga_initialize()
    failures = 0
    me = ga_nodeid()
    ranks = ga_nnodes()
    call expect(ma_init(mt_dbl, 500000, 500000), 'ma_init')
    call expect(ga_initialized(), 'ga_initialized')
    call put_get_acc()
    call boxes_of_four_dimensions()
    call nonblocking()
    call counters()
    call mutexes()
    call scattered()
    call dots()
    call products()
    call systems()
    call layouts()
    call groups()
    call ghosts()
    call places()
    call collectives()
    total = failures
    call ga_igop(9, total, 1, '+')
    failures = total(1)
    if (me == 0) print '(a,i0,a,i0,a)', 'fortran: ', ranks, ' ranks, ', failures, ' failures'
    call ga_terminate()
    call mpi_finalize(error)
    if (failures /= 0) stop 1
contains
    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        failures = failures + 1
        if (failures <= 8) write (0, '(a,i0,2a)') 'rank ', me, ': expected ', what
    end subroutine

    double precision function value_at(i, j)
        integer, intent(in) :: i, j
        value_at = 100 * i + j
    end function

    ! An array of n rows and m columns that holds value_at.
    integer function create_filled(name) result(g)
        character(*), intent(in) :: name
        double precision :: column(n)
        integer :: i, j
        call expect(ga_create(mt_dbl, n, m, name, 0, 0, g), 'ga_create')
        do j = 1 + me, m, ranks
            column = [(value_at(i, j), i = 1, n)]
            call ga_put(g, 1, n, j, j, column, n)
        end do
        call ga_sync()
    end function

    subroutine drop(g)
        integer, intent(in) :: g
        call ga_sync()
        call expect(ga_destroy(g), 'ga_destroy')
    end subroutine

    subroutine expect_all(g, want, what)
        integer, intent(in) :: g
        double precision, intent(in) :: want(n, m)
        character(*), intent(in) :: what
        double precision :: got(n, m)
        call ga_get(g, 1, n, 1, m, got, n)
        call expect(all(got == want), what)
        call ga_sync()
    end subroutine

    function all_values() result(v)
        double precision :: v(n, m)
        integer :: i, j
        do j = 1, m
            do i = 1, n
                v(i, j) = value_at(i, j)
            end do
        end do
    end function

    subroutine put_get_acc()
        integer :: g, h
        double precision :: want(n, m), part(5, 4)
        g = create_filled('fortran')
        want = all_values()
        call expect_all(g, want, 'what was put')
        part = 2
        call ga_acc(g, 3, 7, 6, 9, part, 5, 1.5d0)
        call ga_sync()
        want(3:7, 6:9) = want(3:7, 6:9) + 3 * ranks
        call expect_all(g, want, 'what was accumulated')
        call expect(ga_duplicate(g, h, 'twin'), 'ga_duplicate')
        call expect(ga_compare_distr(g, h), 'the same distribution')
        call ga_copy(g, h)
        call expect_all(h, want, 'the copy')
        call ga_add(2d0, g, -1d0, h, h)
        call expect_all(h, want, '2 a - a')
        call ga_scale(h, 3d0)
        call expect_all(h, 3 * want, 'the scaled array')
        call ga_fill_patch(h, 2, 4, 1, m, 7d0)
        want = 3 * want
        want(2:4, :) = 7
        call expect_all(h, want, 'the filled patch')
        call ga_zero(h)
        want = 0
        call expect_all(h, want, 'zero')
        call expect(ga_valid_handle(h) .and. ga_verify_handle(h), 'a valid handle')
        call drop(g)
        call drop(h)
        call expect(.not. ga_valid_handle(h), 'no handle any more')
    end subroutine

    subroutine boxes_of_four_dimensions()
        integer, parameter :: d(4) = [7, 5, 6, 4], lo(4) = [2, 1, 3, 2], hi(4) = [6, 4, 6, 3], ld(3) = [5, 4, 4]
        integer, parameter :: first(4) = 1
        integer :: g, chunk(4), whole_ld(3), grid(7, 5, 6, 4), box(5, 4, 4, 2), got(7, 5, 6, 4), i
        chunk = -1
        whole_ld = d(1:3)
        call expect(nga_create(mt_int, 4, d, 'four', chunk, g), 'nga_create')
        call expect(ga_ndim(g) == 4 .and. nga_ndim(g) == 4, 'four dimensions')
        call expect(ga_get_dimension(g) == 4, 'ga_get_dimension')
        call ga_zero(g)
        grid = 0
        box = reshape([(i * 3, i = 1, 160)], [5, 4, 4, 2])
        if (me == 0) call nga_put(g, lo, hi, box, ld)
        grid(2:6, 1:4, 3:6, 2:3) = box
        call ga_sync()
        call nga_acc(g, lo, hi, box, ld, int(2, 8))
        call ga_sync()
        grid(2:6, 1:4, 3:6, 2:3) = grid(2:6, 1:4, 3:6, 2:3) + 2 * ranks * box
        call nga_get(g, first, d, got, whole_ld)
        call expect(all(got == grid), 'boxes of four dimensions')
        call ga_sync()
        box = 0
        call nga_get(g, lo, hi, box, ld)
        call expect(all(box == grid(2:6, 1:4, 3:6, 2:3)), 'a box of four dimensions')
        call drop(g)
    end subroutine

    subroutine nonblocking()
        integer :: g, handles(m), j, lo(2), hi(2), ld(1)
        double precision :: columns(n, m), got(n, m)
        g = create_filled('nonblocking')
        ld = n
        got = 0
        do j = 1, m
            lo = [1, j]
            hi = [n, j]
            call nga_nbget(g, lo, hi, got(1, j), ld, handles(j))
        end do
        do j = m, 1, -1
            if (nga_nbtest(handles(j)) == 0) call nga_nbwait(handles(j)) ! a successful test completes the request like a wait
        end do
        call expect(all(got == all_values()), 'columns got by nonblocking calls')
        call ga_sync()
        columns = -all_values()
        do j = 1 + me, m, ranks
            lo = [1, j]
            hi = [n, j]
            call nga_nbput(g, lo, hi, columns(1, j), ld, handles(j))
        end do
        do j = 1 + me, m, ranks
            call nga_nbwait(handles(j))
        end do
        call ga_sync()
        call expect_all(g, columns, 'columns put by nonblocking calls')
        call drop(g)
    end subroutine

    subroutine counters()
        integer, parameter :: each = 40
        integer :: g, i, drawn, dims(1), at(1)
        integer, allocatable :: seen(:)
        dims = 3
        at = 2
        allocate (seen(0:each * ranks - 1))
        seen = 0
        call expect(nga_create(mt_int, 1, dims, 'counter', dims, g), 'nga_create')
        call ga_zero(g)
        do i = 1, each
            drawn = nga_read_inc(g, at, 1)
            if (drawn >= 0 .and. drawn < each * ranks) seen(drawn) = seen(drawn) + 1
        end do
        call ga_igop(1, seen, each * ranks, '+')
        call expect(all(seen == 1), 'every number to be drawn once')
        call drop(g)
        call expect(ga_create(mt_int, 4, 4, 'counters', 0, 0, g), 'ga_create')
        call ga_zero(g)
        do i = 1, each
            drawn = ga_read_inc(g, 3, 4, 2)
        end do
        call ga_sync()
        call expect(ga_read_inc(g, 3, 4, 0) == 2 * each * ranks, 'the sum of all draws')
        call drop(g)
    end subroutine

    subroutine mutexes()
        integer :: g, i
        double precision :: x(1)
        call expect(ga_create(mt_dbl, 1, 1, 'guarded', 0, 0, g), 'ga_create')
        call ga_zero(g)
        call expect(ga_create_mutexes(2), 'ga_create_mutexes')
        do i = 1, 20
            call ga_lock(1)
            call ga_get(g, 1, 1, 1, 1, x, 1)
            x = x + 1
            call ga_init_fence()
            call ga_put(g, 1, 1, 1, 1, x, 1)
            call ga_fence()
            call ga_unlock(1)
        end do
        call ga_sync()
        call ga_get(g, 1, 1, 1, 1, x, 1)
        call expect(x(1) == 20 * ranks, 'all changes under the mutex')
        call expect(ga_destroy_mutexes(), 'ga_destroy_mutexes')
        call drop(g)
    end subroutine

    subroutine scattered()
        integer :: g, i, rows(m), columns(m)
        double precision :: v(m), want(n, m)
        g = create_filled('scattered')
        rows = [(mod(i * 7, n) + 1, i = 1, m)]
        columns = [(m + 1 - i, i = 1, m)]
        call ga_gather(g, v, rows, columns, m)
        call expect(all(v == [(value_at(rows(i), columns(i)), i = 1, m)]), 'what was gathered')
        call ga_sync()
        v = [(-i, i = 1, m)]
        if (me == ranks - 1) call ga_scatter(g, v, rows, columns, m)
        call ga_sync()
        want = all_values()
        do i = 1, m
            want(rows(i), columns(i)) = v(i)
        end do
        call expect_all(g, want, 'what was scattered')
        call ga_scatter_acc(g, v, rows, columns, m, 2d0)
        call ga_sync()
        do i = 1, m
            want(rows(i), columns(i)) = want(rows(i), columns(i)) + 2 * ranks * v(i)
        end do
        call expect_all(g, want, 'what was scattered and added')
        call drop(g)
    end subroutine

    subroutine dots()
        integer :: g, d(2), chunk(2)
        double precision :: v(n, m)
        d = [n, m]
        chunk = -1
        g = create_filled('dots')
        v = all_values()
        call expect(ga_ddot(g, g) == sum(v * v), 'ga_ddot')
        call expect(nga_ddot(g, g) == sum(v * v), 'nga_ddot')
        call expect(ga_ddot_patch(g, 'n', 2, 5, 3, 8, g, 'n', 4, 7, 1, 6) == sum(v(2:5, 3:8) * v(4:7, 1:6)), 'ga_ddot_patch')
        call drop(g)
        call expect(nga_create(mt_int, 2, d, 'integers', chunk, g), 'nga_create')
        call ga_fill(g, 3_8)
        call expect(ga_idot(g, g) == 9 * n * m .and. nga_idot(g, g) == 9 * n * m, 'ga_idot')
        call drop(g)
        call expect(nga_create(mt_real, 2, d, 'reals', chunk, g), 'nga_create')
        call ga_fill(g, 2.0)
        call expect(ga_sdot(g, g) == 4.0 * n * m, 'ga_sdot')
        call drop(g)
        call expect(nga_create(mt_dcpl, 2, d, 'complex', chunk, g), 'nga_create')
        call ga_fill(g, (1d0, 2d0))
        call expect(ga_zdot(g, g) == (1d0, 2d0)**2 * n * m, 'ga_zdot')
        call drop(g)
    end subroutine

    subroutine products()
        integer :: a, b, c, i, j
        double precision :: v(n, m), w(n, n), got(n, n)
        a = create_filled('a')
        call expect(ga_create(mt_dbl, m, n, 'b', 0, 0, b), 'ga_create')
        call expect(ga_create(mt_dbl, n, n, 'c', 0, 0, c), 'ga_create')
        call ga_transpose(a, b)
        call ga_zero(c)
        call ga_dgemm('n', 'n', n, n, m, 2d0, a, b, 0d0, c)
        call ga_sync()
        v = all_values()
        w = 2 * matmul(v, transpose(v))
        call ga_get(c, 1, n, 1, n, got, n)
        call expect(all(got == w), 'ga_dgemm')
        call ga_sync()
        call ga_matmul_patch('n', 'n', 1d0, 0d0, a, 2, 6, 1, m, b, 1, m, 3, 8, c, 1, 5, 1, 6)
        call ga_sync()
        w(1:5, 1:6) = matmul(v(2:6, :), transpose(v(3:8, :)))
        call ga_get(c, 1, n, 1, n, got, n)
        do j = 1, n
            do i = 1, n
                call expect(got(i, j) == w(i, j), 'ga_matmul_patch')
            end do
        end do
        call drop(a)
        call drop(b)
        call drop(c)
    end subroutine

    subroutine systems()
        integer :: a, b, i, j
        double precision :: v(n, n), x(n, 2), y(n, 2)
        call expect(ga_create(mt_dbl, n, n, 'a', 0, 0, a), 'ga_create')
        call expect(ga_create(mt_dbl, n, 2, 'b', 0, 0, b), 'ga_create')
        do j = 1, n
            do i = 1, n
                v(i, j) = mod(i * j, 5) + merge(4 * n, 0, i == j)
            end do
        end do
        x(:, 1) = [(i, i = 1, n)]
        x(:, 2) = [(n - 2 * i, i = 1, n)]
        do i = 1, 3
            y = matmul(v, x)
            if (me == 0) call ga_put(a, 1, n, 1, n, v, n)
            if (me == 0) call ga_put(b, 1, n, 1, 2, y, n)
            call ga_sync()
            if (i == 1) call ga_lu_solve('n', a, b)
            if (i == 2) call expect(ga_llt_solve(a, b) == 0, 'ga_llt_solve')
            if (i == 3) call expect(ga_solve(a, b) == 0, 'ga_solve')
            call ga_sync()
            call ga_get(b, 1, n, 1, 2, y, n)
            call expect(maxval(abs(y - x)) < 1d-8, 'the solution of a system')
            call ga_sync()
        end do
        call drop(a)
        call drop(b)
    end subroutine

    subroutine layouts()
        integer :: g, d(2), blocks(2), map(8), size(2), total
        double precision :: want(n, m)
        d = [n, m]
        g = ga_create_handle()
        call ga_set_data(g, 2, d, mt_dbl)
        call ga_set_array_name(g, 'cyclic')
        size = [4, 3]
        call ga_set_block_cyclic(g, size)
        call expect(ga_allocate(g), 'ga_allocate')
        total = ga_total_blocks(g)
        call expect(total == 5 * 5, 'ga_total_blocks')
        call expect(.not. ga_uses_proc_grid(g), 'no grid of processes')
        want = all_values()
        if (me == 0) call ga_put(g, 1, n, 1, m, want, n)
        call ga_sync()
        call expect_all(g, want, 'a block-cyclic array')
        call drop(g)
        blocks = [min(ranks, 2), 1]
        map(1:3) = [1, 8, 1]
        if (ranks == 1) map(1:2) = [1, 1]
        call expect(nga_create_irreg(mt_dbl, 2, d, 'irregular', map, blocks, g), 'nga_create_irreg')
        if (me == 0) call ga_put(g, 1, n, 1, m, want, n)
        call ga_sync()
        call expect_all(g, want, 'an irregular array')
        call drop(g)
    end subroutine

    subroutine groups()
        integer :: group, world, half(64), count, i, g, d(2), chunk(2), sum(1)
        double precision :: want(n, m)
        d = [n, m]
        chunk = -1
        world = ga_pgroup_get_world()
        call expect(ga_pgroup_nnodes(world) == ranks .and. nga_pgroup_nodeid(world) == me, 'the group of all')
        count = (ranks + 1) / 2
        half(1:count) = [(i, i = 0, count - 1)]
        group = ga_pgroup_create(half, count)
        if (me < count) then
            call expect(ga_pgroup_nodeid(group) == me, 'ga_pgroup_nodeid')
            call expect(ga_pgroup_absolute_id(group, me) == me, 'ga_pgroup_absolute_id')
            call expect(nga_create_config(mt_dbl, 2, d, 'half', chunk, group, g), 'nga_create_config')
            want = all_values()
            if (me == 0) call ga_put(g, 1, n, 1, m, want, n)
            call ga_pgroup_sync(group)
            call ga_pgroup_set_default(group)
            call expect_all(g, want, 'an array of a group')
            sum = 1
            call ga_pgroup_igop(group, 7, sum, 1, '+')
            call expect(sum(1) == count, 'ga_pgroup_igop')
            call expect(ga_get_pgroup(g) == group .and. ga_get_pgroup_size(group) == count, 'ga_get_pgroup')
            call drop(g)
            call ga_pgroup_set_default(world)
        end if
        call ga_sync()
        if (me < count) call expect(ga_pgroup_destroy(group), 'ga_pgroup_destroy')
        call ga_sync()
    end subroutine

    subroutine ghosts()
        integer :: g, d(2), width(2), chunk(2), which
        logical :: done
        double precision :: want(n, m)
        d = [n, m]
        width = [2, 1]
        chunk = -1
        call expect(nga_create_ghosts(mt_dbl, 2, d, width, 'ghosts', chunk, g), 'nga_create_ghosts')
        call expect(ga_has_ghosts(g), 'ga_has_ghosts')
        do which = 1, 3
            want = which * all_values()
            if (me == 0) call ga_put(g, 1, n, 1, m, want, n)
            call ga_sync()
            done = .true.
            if (which == 1) call ga_update_ghosts(g)
            if (which == 2) done = ga_update2_ghosts(g)
            if (which == 3) done = ga_update6_ghosts(g)
            call expect(done, 'an update of ghosts')
            call ga_sync()
            call expect_rim(g, which)
            call expect_all(g, want, 'an array with ghosts')
        end do
        call drop(g)
    end subroutine

    ! Rows lo(1) - 2 to hi(1) + 2 and columns lo(2) - 1 to hi(2) + 1, with periodic boundaries.
    subroutine expect_rim(g, factor)
        integer, intent(in) :: g, factor
        integer :: lo(2), hi(2), i, j
        double precision, allocatable :: rim(:, :)
        call nga_distribution(g, me, lo, hi)
        if (lo(1) <= 0 .or. hi(1) < lo(1)) return
        allocate (rim(lo(1) - 2:hi(1) + 2, lo(2) - 1:hi(2) + 1))
        call nga_get_ghost_block(g, [lo(1) - 2, lo(2) - 1], [hi(1) + 2, hi(2) + 1], rim, [hi(1) - lo(1) + 5])
        do j = lo(2) - 1, hi(2) + 1
            do i = lo(1) - 2, hi(1) + 2
                call expect(rim(i, j) == factor * value_at(modulo(i - 1, n) + 1, modulo(j - 1, m) + 1), 'the rim')
            end do
        end do
    end subroutine

    subroutine places()
        integer :: g, owner, lo(2), hi(2), node, total
        g = create_filled('places')
        call expect(ga_locate(g, n, m, owner), 'ga_locate')
        call ga_distribution(g, owner, lo(1), hi(1), lo(2), hi(2))
        call expect(hi(1) == n .and. hi(2) == m, 'the owner of the last element')
        total = 0
        do node = 0, ga_cluster_nnodes() - 1
            total = total + ga_cluster_nprocs(node)
        end do
        call expect(total == ranks, 'nodes to add up')
        call expect(ga_cluster_proc_nodeid(me) == ga_cluster_nodeid(), 'the own node')
        call expect(ga_inquire_memory() > 0, 'memory in use')
        call expect(ga_wtime() >= 0, 'the time')
        call drop(g)
    end subroutine

    subroutine collectives()
        double precision :: x(500)
        integer :: i, root
        x = [(dble(i + me), i = 1, 500)]
        call ga_dgop(11, x, 500, '+')
        call expect(all(x == [(dble(ranks * i + ranks * (ranks - 1) / 2), i = 1, 500)]), 'sums')
        do root = 0, ranks - 1
            x = me
            call ga_brdcst(12, x, 4000, root)
            call expect(all(x == root), 'a broadcast')
        end do
    end subroutine
end program
