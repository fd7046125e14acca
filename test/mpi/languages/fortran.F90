! fortran.F90: tests the cache under Fortran programs. Built three times, for the three Fortran bindings of MPI:
! include 'mpif.h', use mpi, use mpi_f08. They call the MPI library by different names, and the library must see each
! call exactly once: a get without the flush that completes it, or a flush seen twice, gives wrong data or wrong
! counts.
#if defined(FLAVOUR_F08)
#define USE_MPI use mpi_f08
#define WINDOW type(MPI_Win)
#define REQUEST type(MPI_Request)
#define INFO type(MPI_Info)
#define STATUS type(MPI_Status)
#define HANDLE(w) w%MPI_VAL
#else
#if defined(FLAVOUR_MPI)
#define USE_MPI use mpi
#endif
#define WINDOW integer
#define REQUEST integer
#define INFO integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define HANDLE(w) w
#endif

module shared
    use iso_c_binding
    implicit none
    integer, parameter :: ints = 1024, part = 100, first = 16
    integer, pointer, contiguous :: memory(:)
    ! Module variables, so that the compiler assumes that MPI changes them between two calls.
    integer, target :: got(part), mine(part)
    integer :: me, ranks, next, failures = 0
    interface
        function test_hits(win) bind(c)
            import
            integer(c_int), value :: win
            integer(c_int64_t) :: test_hits
        end function
        function test_is_cached() bind(c)
            import
            integer(c_int) :: test_is_cached
        end function
        function test_is_off() bind(c)
            import
            integer(c_int) :: test_is_off
        end function
        function test_memory(bytes) bind(c)
            import
            integer(c_int64_t), value :: bytes
            type(c_ptr) :: test_memory
        end function
    end interface
contains
    subroutine fill(version)
        integer, intent(in) :: version
        integer :: i
        do i = 1, ints
            memory(i) = 100000 * me + 10 * i + version
        end do
    end subroutine

    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        failures = failures + 1
        if (failures < 10) print *, 'rank', me, ': expected ', what
    end subroutine

    subroutine expect_version(version, what)
        integer, intent(in) :: version
        character(*), intent(in) :: what
        integer :: i
        call expect(all(got == [(100000 * next + 10 * (first + i) + version, i=1, part)]), what)
        got = -1
    end subroutine
end module

program main
#ifdef USE_MPI
    USE_MPI
#endif
    use shared
    implicit none
#ifndef USE_MPI
    include 'mpif.h'
#endif
    integer :: ierr, total
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    next = mod(me + 1, ranks)
    call c_f_pointer(test_memory(4_8 * ints), memory, [ints])
    call always_mode
    call transparent_flushes
    call transparent_locks
    call transparent_fences
    call request_based
    call own_puts
    call attributes
    call alloc_mem
    call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (me == 0) print *, '8 cases,', total, 'failures'
    call MPI_Finalize(ierr)
    if (total /= 0) stop 1
contains
    subroutine open_window(mode, win)
        character(*), intent(in) :: mode
        WINDOW, intent(out) :: win
        INFO :: information
        call fill(0)
        call MPI_Info_create(information, ierr)
        if (test_is_off() /= 0) then
            call MPI_Info_set(information, 'clampi_mode', 'off', ierr)
        else
            call MPI_Info_set(information, 'clampi_mode', mode, ierr)
        end if
        call MPI_Win_create(memory, int(4 * ints, MPI_ADDRESS_KIND), 4, information, MPI_COMM_WORLD, win, ierr)
        call MPI_Info_free(information, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine close_window(win, hits, what)
        WINDOW, intent(inout) :: win
        integer, intent(in) :: hits
        character(*), intent(in) :: what
        if (test_is_cached() /= 0) call expect(test_hits(HANDLE(win)) == hits, what)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_free(win, ierr)
    end subroutine

    subroutine get(win)
        WINDOW, intent(in) :: win
        call MPI_Get(got, part, MPI_INTEGER, next, int(first, MPI_ADDRESS_KIND), part, MPI_INTEGER, win, ierr)
    end subroutine

    subroutine rewrite(win, version)
        WINDOW, intent(in) :: win
        integer, intent(in) :: version
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call fill(version)
        call MPI_Win_sync(win, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end subroutine

    subroutine always_mode
        WINDOW :: win
        integer :: i
        call open_window('always', win)
        call MPI_Win_lock_all(0, win, ierr)
        do i = 1, 10
            call get(win)
            call MPI_Win_flush(next, win, ierr)
            call expect_version(0, 'data in always mode')
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_unlock_all(win, ierr)
        call close_window(win, 9, '9 hits in always mode')
    end subroutine

    subroutine transparent_flushes
        WINDOW :: win
        integer :: version
        call open_window('transparent', win)
        call MPI_Win_lock_all(0, win, ierr)
        do version = 0, 7
            if (version > 0) call rewrite(win, version)
            call get(win)
            select case (mod(version, 4))
            case (0)
                call MPI_Win_flush(next, win, ierr)
            case (1)
                call MPI_Win_flush_all(win, ierr)
            case (2)
                call MPI_Win_flush_local(next, win, ierr)
            case (3)
                call MPI_Win_flush_local_all(win, ierr)
            end select
            call expect_version(version, 'new data after each flush')
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_unlock_all(win, ierr)
        call close_window(win, 0, 'no hits in transparent mode')
    end subroutine

    subroutine transparent_locks
        WINDOW :: win
        integer :: version
        call open_window('transparent', win)
        do version = 0, 3
            if (version > 0) then
                call MPI_Barrier(MPI_COMM_WORLD, ierr)
                call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win, ierr)
                call fill(version)
                call MPI_Win_unlock(me, win, ierr)
                call MPI_Barrier(MPI_COMM_WORLD, ierr)
            end if
            call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win, ierr)
            call get(win)
            call MPI_Win_unlock(next, win, ierr)
            call expect_version(version, 'new data after each lock')
        end do
        call close_window(win, 0, 'no hits in transparent mode')
    end subroutine

    ! The same get twice in each epoch: the second joins the first.
    subroutine transparent_fences
        WINDOW :: win
        integer :: version
        call open_window('transparent', win)
        call MPI_Win_fence(0, win, ierr)
        do version = 0, 3
            call MPI_Get(mine, part, MPI_INTEGER, next, int(first, MPI_ADDRESS_KIND), part, MPI_INTEGER, win, ierr)
            call get(win)
            call MPI_Win_fence(0, win, ierr)
            call expect(all(got == mine), 'both gets to bring the same')
            call expect_version(version, 'new data after each fence')
            call fill(version + 1)
            call MPI_Win_fence(0, win, ierr)
        end do
        call close_window(win, 4, 'a pending hit in each epoch')
    end subroutine

    subroutine request_based
        WINDOW :: win
        REQUEST :: wanted
        STATUS :: how
        integer :: i
        call open_window('always', win)
        call MPI_Win_lock_all(0, win, ierr)
        do i = 1, 4
            call MPI_Rget(got, part, MPI_INTEGER, next, int(first, MPI_ADDRESS_KIND), part, MPI_INTEGER, win, &
                          wanted, ierr)
            call MPI_Wait(wanted, how, ierr)
            call expect(wanted == MPI_REQUEST_NULL, 'the request to be gone')
            call expect_version(0, 'data after the wait')
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_unlock_all(win, ierr)
        call close_window(win, 3, '3 hits by request')
    end subroutine

    ! Of a window that Hearth serves, which is one of the MPI below over existing memory.
    subroutine attributes
        WINDOW :: win
        INFO :: information
        type(c_ptr) :: base, there
        integer(MPI_ADDRESS_KIND) :: value, bytes
        integer :: unit
        logical :: found
        integer, pointer :: number
        call MPI_Info_create(information, ierr)
        call MPI_Info_set(information, 'hearth_windows', 'serve', ierr)
        call MPI_Win_allocate(int(4 * ints, MPI_ADDRESS_KIND), 4, information, MPI_COMM_WORLD, base, win, ierr)
        call MPI_Info_free(information, ierr)
        call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, found, ierr)
        call expect(found .and. value == MPI_WIN_FLAVOR_ALLOCATE, 'flavor allocate')
        call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, found, ierr)
        call expect(found .and. value == MPI_WIN_UNIFIED, 'model unified')
        call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, found, ierr)
        call expect(found .and. value == 4 * ints, 'size')
        call c_f_pointer(base, number)
        number = 7 + me
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierr)
        call MPI_Win_shared_query(win, next, bytes, unit, there, ierr)
        if (ierr == MPI_SUCCESS .and. c_associated(there)) then ! the MPI below may refuse it; a rank of another node has none
            call expect(bytes == 4 * ints .and. unit == 4, 'size and unit of the next rank')
            call c_f_pointer(there, number)
            call expect(number == 7 + next, 'memory of the next rank')
        end if
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_free(win, ierr)
    end subroutine

    ! A window over memory of MPI_Alloc_mem.
    subroutine alloc_mem
        WINDOW :: win
        INFO :: information
        type(c_ptr) :: base
        integer, pointer, contiguous :: numbers(:)
        call MPI_Info_create(information, ierr)
        call MPI_Info_set(information, 'hearth_windows', 'serve', ierr)
        call MPI_Alloc_mem(int(4 * ints, MPI_ADDRESS_KIND), information, base, ierr)
        call c_f_pointer(base, numbers, [ints])
        numbers = me
        call MPI_Win_create(numbers, int(4 * ints, MPI_ADDRESS_KIND), 4, information, MPI_COMM_WORLD, win, ierr)
        call MPI_Info_free(information, ierr)
        call MPI_Win_fence(0, win, ierr)
        call MPI_Get(got, part, MPI_INTEGER, next, int(first, MPI_ADDRESS_KIND), part, MPI_INTEGER, win, ierr)
        call MPI_Win_fence(0, win, ierr)
        call expect(all(got == next), 'memory of the next rank')
        call MPI_Win_free(win, ierr)
        call MPI_Free_mem(numbers, ierr)
        call expect(ierr == MPI_SUCCESS, 'memory to be freed')
    end subroutine

    subroutine own_puts
        WINDOW :: win
        integer :: version, i
        call open_window('always', win)
        call MPI_Win_lock_all(0, win, ierr)
        do version = 1, 4
            mine = [(100000 * next + 10 * (first + i) + version, i=1, part)]
            call MPI_Put(mine, part, MPI_INTEGER, next, int(first, MPI_ADDRESS_KIND), part, MPI_INTEGER, win, ierr)
            call MPI_Win_flush(next, win, ierr)
            do i = 1, 2
                call get(win)
                call MPI_Win_flush(next, win, ierr)
                call expect_version(version, 'what was put')
            end do
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call MPI_Win_unlock_all(win, ierr)
        call close_window(win, 4, 'a hit after each put')
    end subroutine
end program
