! table.f90: looks up entries of a table that is distributed over the images.   table [entries of an image [lookups [work]]]
!
! Each image follows a chain of its own: an entry says which entry of which image comes next. Between two lookups it
! computes (work: iterations), while the others get from it. Prints the seconds that the lookups took, and a sum of what
! was found.
program table
  use iso_fortran_env, only: real64, int64
  implicit none
  integer :: entries = 100000, lookups = 2000, work = 20000
  integer(int64), allocatable :: next(:)[:], found[:]
  integer(int64) :: at, position, sum_found, begun, ended, rate
  real(real64) :: x
  integer :: me, last, i, k, owner, place

  me = this_image()
  last = num_images()
  call read_sizes()
  allocate (next(entries)[*], found[*])
  do i = 1, entries
    position = int(me - 1, int64)*entries + i
    next(i) = modulo(position*2654435761_int64 + 12345_int64, int(entries, int64)*last)
  end do
  sync all
  call system_clock(begun, rate)
  at = me
  sum_found = 0
  x = 1
  do k = 1, lookups
    owner = int(at/entries) + 1
    place = int(modulo(at, int(entries, int64))) + 1
    at = next(place)[owner]
    sum_found = sum_found + at
    do i = 1, work
      x = x*1.0000001_real64 + 1e-9_real64
    end do
  end do
  if (x < 0) print *, x
  sync all
  call system_clock(ended)
  found = sum_found
  sync all
  if (me == 1) then
    do i = 2, last
      sum_found = sum_found + found[i]
    end do
    print '(a,f0.6)', 'seconds ', real(ended - begun, real64)/real(rate, real64)
    print '(a,i0)', 'sum ', sum_found
  end if

contains

  subroutine read_sizes()
    character(len=20) :: word
    if (command_argument_count() >= 1) then
      call get_command_argument(1, word)
      read (word, *) entries
    end if
    if (command_argument_count() >= 2) then
      call get_command_argument(2, word)
      read (word, *) lookups
    end if
    if (command_argument_count() >= 3) then
      call get_command_argument(3, word)
      read (word, *) work
    end if
  end subroutine
end program
