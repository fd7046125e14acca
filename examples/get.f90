! get.f90: the same in Fortran: reads words of the next rank repeatedly; the program does not depend on Hearth.
! build: mpifort.openmpi get.f90 -o get_f      run: hearth run --mode always --report - -- mpirun.openmpi -n 2 ./get_f
program get
  use mpi_f08
  use iso_c_binding
  implicit none
  integer, pointer :: mine(:)
  integer, asynchronous :: word
  integer :: me, ranks, next, i, bad = 0
  integer(mpi_address_kind) :: bytes = 64, first = 0
  type(c_ptr) :: memory
  type(mpi_win) :: win
  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, me)
  call mpi_comm_size(mpi_comm_world, ranks)
  next = mod(me + 1, ranks)
  call mpi_win_allocate(bytes, 4, mpi_info_null, mpi_comm_world, memory, win)
  call c_f_pointer(memory, mine, [16])
  mine = 100 + me
  call mpi_barrier(mpi_comm_world)
  call mpi_win_lock_all(0, win)
  do i = 1, 1000
    call mpi_get(word, 1, mpi_integer, next, first, 1, mpi_integer, win)
    call mpi_win_flush(next, win)
    if (word /= 100 + next) bad = bad + 1
  end do
  call mpi_win_unlock_all(win)
  call mpi_win_free(win)
  if (me == 0) print '(a, i0, a)', 'get.f90: 1000 gets, ', bad, ' wrong'
  call mpi_finalize()
  if (bad /= 0) error stop
end program
