! fortran.F90: tests messages of Fortran programs. Built three times, for the three Fortran bindings of MPI: include
! 'mpif.h', use mpi, use mpi_f08. They call the MPI library by different names, and have handles of their own.
#if defined(FLAVOUR_F08)
#define USE_MPI use mpi_f08
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define MESSAGE type(MPI_Message)
#define STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status), dimension(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define NTH(s, n) s(n)
#else
#if defined(FLAVOUR_MPI)
#define USE_MPI use mpi
#endif
#define REQUEST integer
#define COMM integer
#define DATATYPE integer
#define MESSAGE integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer, dimension(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define NTH(s, n) s(:, n)
#endif

module shared
    implicit none
    integer, parameter :: large = 50000, many = 20
    ! Module variables, so that the compiler assumes that MPI changes them between two calls.
    integer, target :: out(large), in(large), outs(many), ins(many)
    integer :: me, ranks, next, last, failures = 0, first_index = 1
contains
    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        failures = failures + 1
        if (failures < 10) print *, 'rank', me, ': expected ', what
    end subroutine

    subroutine fill(round)
        integer, intent(in) :: round
        integer :: i
        out = [(100000 * me + i + round, i=1, large)]
        in = -1
        outs = [(1000 * me + i + round, i=1, many)]
        ins = -1
    end subroutine

    subroutine expect_large(count, round, what)
        integer, intent(in) :: count, round
        character(*), intent(in) :: what
        integer :: i
        call expect(all(in(1:count) == [(100000 * last + i + round, i=1, count)]), what)
        call expect(all(in(count + 1:) == -1), 'nothing behind it')
    end subroutine

    subroutine expect_many(round, what)
        integer, intent(in) :: round
        character(*), intent(in) :: what
        integer :: i
        call expect(all(ins == [(1000 * last + i + round, i=1, many)]), what)
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
    last = mod(me + ranks - 1, ranks)
#if defined(FLAVOUR_F08) && defined(HOST_MPICH)
    call find_first_index
#endif
    call blocking
    call waits
    call tests
    call persistent
    call probes
    call modes
    call sendrecvs
    call handles
    call communicators
    call types
    call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (me == 0) print *, '10 cases,', total, 'failures'
    call MPI_Finalize(ierr)
    if (total /= 0) stop 1
contains
    subroutine expect_status(how, tag, count, what)
        STATUS, intent(in) :: how
        integer, intent(in) :: tag, count
        character(*), intent(in) :: what
        integer :: got
        call MPI_Get_count(how, MPI_INTEGER, got, ierr)
        call expect(SOURCE_OF(how) == last, 'source after '//what)
        call expect(TAG_OF(how) == tag, 'tag after '//what)
        call expect(got == count, 'count after '//what)
    end subroutine

    subroutine blocking
        STATUS :: how
        integer :: sizes(3) = [1, 1000, large], i
        do i = 1, 3
            call fill(i)
            if (mod(me, 2) == 0) then
                call MPI_Send(out, sizes(i), MPI_INTEGER, next, i, MPI_COMM_WORLD, ierr)
                call MPI_Recv(in, large, MPI_INTEGER, last, i, MPI_COMM_WORLD, how, ierr)
            else
                call MPI_Recv(in, large, MPI_INTEGER, last, i, MPI_COMM_WORLD, how, ierr)
                call MPI_Send(out, sizes(i), MPI_INTEGER, next, i, MPI_COMM_WORLD, ierr)
            end if
            call expect_status(how, i, sizes(i), 'MPI_Recv')
            call expect_large(sizes(i), i, 'what was sent')
        end do
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call fill(9)
        call MPI_Ssend(out, 10, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierr)
        call MPI_Recv(in, 10, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        call expect(all(in == -1), 'nothing from nobody')
    end subroutine

    ! MPICH 4.0 returns the indices of C to mpi_f08: they count from 0.
    subroutine find_first_index
        REQUEST :: nothing(1)
        STATUS :: how
        call MPI_Irecv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, nothing(1), ierr)
        call MPI_Waitany(1, nothing, first_index, how, ierr)
        call expect(first_index == 0 .or. first_index == 1, 'an index of 0 or 1')
    end subroutine

    subroutine start(wanted, round)
        REQUEST, intent(inout) :: wanted(2 * many)
        integer, intent(in) :: round
        integer :: i
        call fill(round)
        do i = 1, many
            call MPI_Irecv(ins(i), 1, MPI_INTEGER, last, i, MPI_COMM_WORLD, wanted(i), ierr)
        end do
        do i = many, 1, -1
            call MPI_Isend(outs(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, wanted(many + i), ierr)
        end do
    end subroutine

    subroutine waits
        REQUEST :: wanted(2 * many)
        STATUSES(2 * many) :: hows
        STATUS :: how
        integer :: i, at, number, places(2 * many), seen(2 * many)
        call start(wanted, 1)
        call MPI_Waitall(2 * many, wanted, hows, ierr)
        call expect_many(1, 'all after MPI_Waitall')
        do i = 1, many
            call expect_status(NTH(hows, i), i, 1, 'MPI_Waitall')
        end do
        call expect(wanted(1) == MPI_REQUEST_NULL, 'no request after MPI_Waitall')
        call start(wanted, 2)
        call MPI_Waitall(2 * many, wanted, MPI_STATUSES_IGNORE, ierr)
        call expect_many(2, 'all without statuses')
        call start(wanted, 3)
        seen = 0
        do i = 1, 2 * many
            call MPI_Waitany(2 * many, wanted, at, how, ierr)
            at = at + 1 - first_index
            call expect(at >= 1 .and. at <= 2 * many, 'an index from 1')
            seen(at) = seen(at) + 1
            if (at <= many) call expect_status(how, at, 1, 'MPI_Waitany')
        end do
        call expect(all(seen == 1), 'each once')
        call expect_many(3, 'all after MPI_Waitany')
        call MPI_Waitany(2 * many, wanted, at, how, ierr)
        call expect(at < 0, 'no index') ! MPI_UNDEFINED, but MPICH adds 1 to it
        call start(wanted, 4)
        seen = 0
        do while (sum(seen) < 2 * many)
            call MPI_Waitsome(2 * many, wanted, number, places, hows, ierr)
            places = places + 1 - first_index
            do i = 1, number
                seen(places(i)) = seen(places(i)) + 1
                if (places(i) <= many) call expect_status(NTH(hows, i), places(i), 1, 'MPI_Waitsome')
            end do
        end do
        call expect(all(seen == 1), 'each once')
        call expect_many(4, 'all after MPI_Waitsome')
        call start(wanted, 5)
        do i = 1, 2 * many
            call MPI_Wait(wanted(i), how, ierr)
        end do
        call expect_many(5, 'all after MPI_Wait')
    end subroutine

    subroutine tests
        REQUEST :: wanted(2 * many)
        STATUSES(2 * many) :: hows
        STATUS :: how
        integer :: i, at, number, places(2 * many), seen
        logical :: done
        character(MPI_MAX_LIBRARY_VERSION_STRING) :: library
        call start(wanted, 1)
        done = .false.
        do while (.not. done)
            call MPI_Testall(2 * many, wanted, done, hows, ierr)
        end do
        call expect_many(1, 'all after MPI_Testall')
        call expect_status(NTH(hows, 2), 2, 1, 'MPI_Testall')
        call start(wanted, 2)
        seen = 0
        do while (seen < 2 * many)
            call MPI_Testsome(2 * many, wanted, number, places, hows, ierr)
            places = places + 1 - first_index
            do i = 1, number
                if (places(i) <= many) call expect_status(NTH(hows, i), places(i), 1, 'MPI_Testsome')
            end do
            seen = seen + number
        end do
        call expect_many(2, 'all after MPI_Testsome')
        call start(wanted, 3)
        seen = 0
        call MPI_Get_library_version(library, number, ierr)
#ifdef FLAVOUR_F08
        if (index(library, 'Open MPI v6.0') == 1) then ! there MPI_Testany says that requests are complete which are not
            call MPI_Waitall(2 * many, wanted, MPI_STATUSES_IGNORE, ierr)
            seen = 2 * many
        end if
#endif
        do while (seen < 2 * many)
            call MPI_Testany(2 * many, wanted, at, done, how, ierr)
            at = at + 1 - first_index
            if (done) seen = seen + 1
            if (done .and. at <= many) call expect_status(how, at, 1, 'MPI_Testany')
        end do
        call expect_many(3, 'all after MPI_Testany')
        call start(wanted, 4)
        do i = 1, 2 * many
            done = .false.
            do while (.not. done)
                call MPI_Request_get_status(wanted(i), done, how, ierr)
            end do
            call MPI_Test(wanted(i), done, how, ierr)
            call expect(done, 'still complete')
            if (i <= many) call expect_status(how, i, 1, 'MPI_Test')
        end do
        call expect_many(4, 'all after MPI_Test')
    end subroutine

    subroutine persistent
        REQUEST :: wanted(2)
        STATUSES(2) :: hows
        integer :: round
        call MPI_Send_init(out, large, MPI_INTEGER, next, 7, MPI_COMM_WORLD, wanted(1), ierr)
        call MPI_Recv_init(in, large, MPI_INTEGER, last, 7, MPI_COMM_WORLD, wanted(2), ierr)
        do round = 1, 6
            call fill(round)
            if (mod(round, 2) == 0) then
                call MPI_Startall(2, wanted, ierr)
            else
                call MPI_Start(wanted(2), ierr)
                call MPI_Start(wanted(1), ierr)
            end if
            call MPI_Waitall(2, wanted, hows, ierr)
            call expect(wanted(1) /= MPI_REQUEST_NULL, 'requests to stay')
            call expect_status(NTH(hows, 2), 7, large, 'a persistent receive')
            call expect_large(large, round, 'what was sent again')
        end do
        call MPI_Request_free(wanted(1), ierr)
        call MPI_Request_free(wanted(2), ierr)
        call expect(wanted(2) == MPI_REQUEST_NULL, 'requests to be gone')
    end subroutine

    subroutine probes
        REQUEST :: sending
        STATUS :: how
        MESSAGE :: found
        logical :: there
        call fill(1)
        call MPI_Isend(out, 500, MPI_INTEGER, next, 3, MPI_COMM_WORLD, sending, ierr)
        call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, how, ierr)
        call expect_status(how, 3, 500, 'MPI_Probe')
        there = .false.
        do while (.not. there)
            call MPI_Iprobe(last, 3, MPI_COMM_WORLD, there, how, ierr)
        end do
        call expect_status(how, 3, 500, 'MPI_Iprobe')
        call MPI_Recv(in, 500, MPI_INTEGER, last, 3, MPI_COMM_WORLD, how, ierr)
        call expect_large(500, 1, 'what was seen')
        call MPI_Wait(sending, MPI_STATUS_IGNORE, ierr)
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
        call fill(2)
        call MPI_Isend(out, large, MPI_INTEGER, next, 4, MPI_COMM_WORLD, sending, ierr)
        call MPI_Mprobe(last, 4, MPI_COMM_WORLD, found, how, ierr)
        call expect_status(how, 4, large, 'MPI_Mprobe')
        call MPI_Mrecv(in, large, MPI_INTEGER, found, how, ierr)
        call expect(found == MPI_MESSAGE_NULL, 'the message to be gone')
        call expect_large(large, 2, 'what was matched')
        call MPI_Wait(sending, MPI_STATUS_IGNORE, ierr)
    end subroutine

    subroutine modes
        REQUEST :: wanted(2)
        integer :: attached(large + 1000), bytes, way
        call MPI_Buffer_attach(attached, 4 * (large + 1000), ierr)
        do way = 1, 4
            call fill(way)
            call MPI_Irecv(in, large, MPI_INTEGER, last, way, MPI_COMM_WORLD, wanted(1), ierr)
            call MPI_Barrier(MPI_COMM_WORLD, ierr)
            select case (way)
            case (1)
                call MPI_Issend(out, large, MPI_INTEGER, next, way, MPI_COMM_WORLD, wanted(2), ierr)
            case (2)
                call MPI_Irsend(out, large, MPI_INTEGER, next, way, MPI_COMM_WORLD, wanted(2), ierr)
            case (3)
                call MPI_Ibsend(out, large, MPI_INTEGER, next, way, MPI_COMM_WORLD, wanted(2), ierr)
            case (4)
                call MPI_Send(out, large, MPI_INTEGER, next, way, MPI_COMM_WORLD, ierr)
                wanted(2) = MPI_REQUEST_NULL
            end select
            call MPI_Waitall(2, wanted, MPI_STATUSES_IGNORE, ierr)
            call expect_large(large, way, 'what was sent in another mode')
        end do
        call detach(attached, bytes)
        call expect(bytes == 4 * (large + 1000), 'the size of the buffer')
    end subroutine

    ! The three bindings take different first arguments.
    subroutine detach(attached, bytes)
#if defined(FLAVOUR_F08)
        use iso_c_binding, only: c_ptr
        integer, intent(inout) :: attached(*)
        integer, intent(out) :: bytes
        type(c_ptr) :: address
        call MPI_Buffer_detach(address, bytes, ierr)
#else
        integer, intent(inout) :: attached(*)
        integer, intent(out) :: bytes
        integer(MPI_ADDRESS_KIND) :: address
        call MPI_Buffer_detach(address, bytes, ierr)
#endif
        if (attached(1) == huge(1)) print *, 'the buffer is kept until here'
    end subroutine

    subroutine sendrecvs
        STATUS :: how
        integer :: i
        call fill(1)
        call MPI_Sendrecv(out, large, MPI_INTEGER, next, 5, in, large, MPI_INTEGER, last, 5, MPI_COMM_WORLD, how, ierr)
        call expect_status(how, 5, large, 'MPI_Sendrecv')
        call expect_large(large, 1, 'what was exchanged')
        call fill(2)
        call MPI_Sendrecv_replace(outs, many, MPI_INTEGER, next, 6, last, 6, MPI_COMM_WORLD, how, ierr)
        call expect_status(how, 6, many, 'MPI_Sendrecv_replace')
        call expect(all(outs == [(1000 * last + i + 2, i=1, many)]), 'what replaced it')
    end subroutine

    ! Requests are cancelled, freed, and many exist at once: the integers that stand for them are reused.
    subroutine handles
        REQUEST :: wanted(200), one
        STATUS :: how
        integer :: numbers(200), i, round
        logical :: gone
        do round = 1, 3
            do i = 1, 200
                call MPI_Irecv(numbers(i), 1, MPI_INTEGER, last, 1000 + i, MPI_COMM_WORLD, wanted(i), ierr)
            end do
            do i = 200, 1, -2
                call MPI_Cancel(wanted(i), ierr)
                call MPI_Wait(wanted(i), how, ierr)
                call MPI_Test_cancelled(how, gone, ierr)
                call expect(gone, 'the receive to be cancelled')
            end do
            call MPI_Barrier(MPI_COMM_WORLD, ierr)
            do i = 1, 200, 2
                outs(1) = 7 * i + round + me
                call MPI_Isend(outs(1), 1, MPI_INTEGER, next, 1000 + i, MPI_COMM_WORLD, one, ierr)
                call MPI_Wait(one, MPI_STATUS_IGNORE, ierr)
            end do
            call MPI_Waitall(200, wanted, MPI_STATUSES_IGNORE, ierr)
            call expect(all(numbers(1::2) == [(7 * i + round + last, i=1, 200, 2)]), 'the others to arrive')
        end do
    end subroutine

    subroutine communicators
        COMM :: copy
        STATUS :: how
        call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
        call fill(3)
        call MPI_Sendrecv(out, 10, MPI_INTEGER, next, 5, in, 10, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, how, ierr)
        call expect_status(how, 5, 10, 'a message on a copy')
        call expect_large(10, 3, 'what was sent on a copy')
        call MPI_Comm_free(copy, ierr)
    end subroutine

    subroutine types
        DATATYPE :: every_second
        STATUS :: how
        integer :: i
        call MPI_Type_vector(1000, 1, 2, MPI_INTEGER, every_second, ierr)
        call MPI_Type_commit(every_second, ierr)
        call fill(4)
        call MPI_Sendrecv(out, 1, every_second, next, 5, in, 1000, MPI_INTEGER, last, 5, MPI_COMM_WORLD, how, ierr)
        call expect_status(how, 5, 1000, 'a vector')
        call expect(all(in(1:1000) == [(100000 * last + 2 * i - 1 + 4, i=1, 1000)]), 'every second')
        call MPI_Type_free(every_second, ierr)
    end subroutine
end program
