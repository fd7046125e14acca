! halo.f90: heat on a plate that is divided among images by columns.   halo [rows [columns of an image [steps]]]
!
! Before each step an image gets the columns beside its own from its neighbours, which may already compute. Prints the
! seconds that the steps took, and a sum of all cells that does not depend on how the images were scheduled.
program halo
  use iso_fortran_env, only: real64, int64
  implicit none
  integer :: rows = 400, columns = 400, steps = 300
  real(real64), allocatable :: plate(:, :, :)[:], left(:), right(:)
  real(real64), allocatable :: total[:]
  integer :: me, last, step, old, new, i, j
  integer(int64) :: begun, ended, rate

  me = this_image()
  last = num_images()
  call read_sizes()
  allocate (plate(rows, columns, 2)[*], total[*])
  allocate (left(rows), right(rows))
  do j = 1, columns
    do i = 1, rows
      plate(i, j, :) = modulo(i*7 + (j + (me - 1)*columns)*13, 101)
    end do
  end do
  sync all
  call system_clock(begun, rate)
  old = 1
  do step = 1, steps
    new = 3 - old
    left = 0
    right = 0
    if (me > 1) left(:) = plate(:, columns, old)[me - 1]
    if (me < last) right(:) = plate(:, 1, old)[me + 1]
    do j = 1, columns
      do i = 2, rows - 1
        plate(i, j, new) = 0.2_real64*(plate(i, j, old) + plate(i - 1, j, old) + plate(i + 1, j, old) &
                                       + west(i, j) + east(i, j))
      end do
      plate(1, j, new) = plate(1, j, old)
      plate(rows, j, new) = plate(rows, j, old)
    end do
    call meet_neighbours()
    old = new
  end do
  call system_clock(ended)
  total = sum(plate(:, :, old))
  sync all
  if (me == 1) then
    do i = 2, last
      total = total + total[i]
    end do
    print '(a,f0.6)', 'seconds ', real(ended - begun, real64)/real(rate, real64)
    print '(a,es24.16)', 'sum ', total
  end if

contains

  subroutine read_sizes()
    character(len=20) :: word
    if (command_argument_count() >= 1) then
      call get_command_argument(1, word)
      read (word, *) rows
    end if
    if (command_argument_count() >= 2) then
      call get_command_argument(2, word)
      read (word, *) columns
    end if
    if (command_argument_count() >= 3) then
      call get_command_argument(3, word)
      read (word, *) steps
    end if
  end subroutine

  pure real(real64) function west(i, j)
    integer, intent(in) :: i, j
    if (j > 1) then
      west = plate(i, j - 1, old)
    else
      west = left(i)
    end if
  end function

  pure real(real64) function east(i, j)
    integer, intent(in) :: i, j
    if (j < columns) then
      east = plate(i, j + 1, old)
    else
      east = right(i)
    end if
  end function

  subroutine meet_neighbours()
    if (me > 1 .and. me < last) then
      sync images ([me - 1, me + 1])
    else if (me > 1) then
      sync images (me - 1)
    else if (me < last) then
      sync images (me + 1)
    end if
  end subroutine
end program
