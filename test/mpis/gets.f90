! gets.f90: two ranks read from each other in Fortran. Prints a line and exits with 0 if all values were right.
program gets
  use mpi_f08
  use iso_c_binding
  implicit none
  integer :: rank, ranks, next, i, value
  integer(kind=MPI_ADDRESS_KIND) :: place
  integer, pointer :: memory(:)
  type(c_ptr) :: base
  type(MPI_Win) :: win
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  call MPI_Win_allocate(4096_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, memory, [1024])
  memory = 100 + rank
  call MPI_Win_lock_all(0, win)
  call MPI_Barrier(MPI_COMM_WORLD)
  do i = 1, 1000
    value = -1
    place = mod(i, 7)
    call MPI_Get(value, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, win)
    call MPI_Win_flush(next, win)
    if (value /= 100 + next) call MPI_Abort(MPI_COMM_WORLD, 3)
  end do
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_unlock_all(win)
  call MPI_Win_free(win)
  if (rank == 0) print '(a)', 'gets in Fortran: right'
  call MPI_Finalize()
end program
