! Two codes that need each other's field in every step, each under an MPI of its own:
!
! mpifort ~/.local/share/flexpath/fortran/flexpath_mpi.f90 coupled.f90 -o coupled \
!     $(pkg-config --cflags --libs flexpath-fortran)
! mpirun -n 2 ./coupled air sea 100 &
! mpirun -n 3 ./coupled sea air 100
!
! Each publishes its field and then takes the other's. In that order neither can wait for ever: what a code waits for is
! published before its partner waits. The first step is precious, so the partner gets it even if it attaches late.
!
! MILLISECONDS, a fourth word: how long a step takes besides, as if there were more to compute. The other waits for it, and
! no longer.
!
! Every cell of the one gives the other a quarter of the difference, so that the difference halves in each step. See
! examples/c/coupled.c, which may be the partner.
program coupled
  use flexpath
  use flexpath_mpi
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  interface
    ! The C library's: Fortran itself has nothing that waits.
    integer(c_int) function usleep(microseconds) bind(c)
      import c_int
      integer(c_int), value :: microseconds
    end function usleep
  end interface
  integer, parameter :: cells = 720, patience_ms = 60000
  type(flexpath_options) :: of_publisher, of_subscriber
  type(flexpath_publisher) :: publisher
  type(flexpath_subscriber) :: subscriber
  type(flexpath_variable) :: temperature
  character(len=32) :: name, partner, word
  integer :: rank, ranks, steps, step, first, last, cell, besides_ms
  real(real64) :: error
  real(real64), allocatable :: own(:), other(:), expected(:)

  call MPI_Init()
  call get_command_argument(1, name)
  call get_command_argument(2, partner)
  call get_command_argument(3, word)
  if (word == '') call give_up('usage: coupled NAME PARTNER STEPS [MILLISECONDS]')
  read (word, *) steps
  besides_ms = 0
  call get_command_argument(4, word)
  if (word /= '') read (word, *) besides_ms
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = cells * rank / ranks + 1
  last = cells * (rank + 1) / ranks
  own = [(begins(name, cell), cell=first, last)]
  other = own

  call flexpath_options_create(of_publisher)
  call flexpath_set_cohort_mpi(of_publisher%handle, MPI_COMM_WORLD)
  call flexpath_options_set(of_publisher, 'FirstTimestepPrecious', .true.)
  call flexpath_publisher_open(publisher, trim(name), of_publisher)
  call flexpath_options_create(of_subscriber)
  call flexpath_set_cohort_mpi(of_subscriber%handle, MPI_COMM_WORLD)
  call flexpath_subscriber_open(subscriber, trim(partner), of_subscriber)
  call flexpath_variable_global(temperature, 'temperature', flexpath_dtype_f64, [cells])

  do step = 0, steps - 1
    call flexpath_publisher_begin_step(publisher)
    call flexpath_put(publisher, temperature, own, start=[first])
    call flexpath_publisher_end_step(publisher)
    call take(step)
    own = own + (other - own) / 4
    if (usleep(1000_c_int * besides_ms) /= 0) call give_up('it could not wait')
  end do

  expected = [(as_calculated(cell), cell=first, last)]
  error = maxval(abs(own - expected))
  call MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  if (rank == 0) print '(2a, i0, 4a)', trim(name), ': ', steps, ' steps with ', trim(partner), ', ', &
      trim(merge('as calculated  ', 'and it is wrong', error < 1e-9_real64))

  ! The partner may still need the last step: closing waits for that.
  call flexpath_subscriber_close(subscriber)
  call flexpath_publisher_close(publisher)
  call flexpath_variable_free(temperature)
  call flexpath_options_free(of_publisher)
  call flexpath_options_free(of_subscriber)
  call MPI_Finalize()
contains
  ! What a cell, from 1, begins with.
  pure real(real64) function begins(of, at)
    character(len=*), intent(in) :: of
    integer, intent(in) :: at
    begins = 280 + modulo(at - 1, 5)
    if (of == 'air') begins = 290 + modulo(at - 1, 7)
  end function begins

  pure real(real64) function as_calculated(at)
    integer, intent(in) :: at
    real(real64) :: mean
    mean = (begins(name, at) + begins(partner, at)) / 2
    as_calculated = mean + (begins(name, at) - mean) * 0.5_real64**steps
  end function as_calculated

  ! The other's field at the same step, where this rank's cells are.
  subroutine take(number)
    integer, intent(in) :: number
    type(flexpath_step) :: came
    type(flexpath_step_info) :: info
    integer :: status
    call flexpath_subscriber_next_step(subscriber, came, patience_ms, status)
    if (status == flexpath_status_not_yet) call give_up('the partner''s step did not come in time')
    if (status /= flexpath_status_ok) call give_up('no step of the partner: '//flexpath_last_error())
    call flexpath_step_describe(came, info)
    if (info%step /= number) call give_up('another step of the partner came')
    call flexpath_get(came, 'temperature', other, start=[first], count=[last - first + 1])
    call flexpath_step_release(came)
  end subroutine take

  subroutine give_up(why)
    character(len=*), intent(in) :: why
    write (error_unit, '(3a)') trim(name), ': ', why
    ! Errors that go to a file wait in memory, and an abort would forget them.
    flush (error_unit)
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine give_up
end program coupled
