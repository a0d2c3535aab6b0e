! Opens and closes a stream from Fortran, once with a communicator of mpi_f08 and once with a plain integer.
program cohort
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use flexpath_mpi, only: flexpath_set_cohort_mpi
  implicit none

  interface
    function options_create(options) result(status) bind(C, name='flexpath_options_create')
      import :: c_ptr, c_int32_t
      type(c_ptr), intent(out) :: options
      integer(c_int32_t) :: status
    end function
    function publisher_open(stream, options, publisher) result(status) bind(C, name='flexpath_publisher_open')
      import :: c_ptr, c_int32_t, c_char
      character(kind=c_char), intent(in) :: stream(*)
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: publisher
      integer(c_int32_t) :: status
    end function
    function publisher_close(publisher) result(status) bind(C, name='flexpath_publisher_close')
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: publisher
      integer(c_int32_t) :: status
    end function
  end interface

  type(c_ptr) :: options
  character(len=200) :: text
  integer :: rank, stat

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (options_create(options) /= 0) error stop 'no options'
  call flexpath_set_cohort_mpi(options, MPI_COMM_WORLD)
  call open_and_close('fortran-f08')
  call flexpath_set_cohort_mpi(options, MPI_COMM_WORLD%MPI_VAL, stat)
  if (stat /= 0) error stop 'an integer communicator is refused'
  call open_and_close('fortran-integer')
  text = ''
  call flexpath_set_cohort_mpi(c_null_ptr, MPI_COMM_WORLD, stat, text)
  if (stat >= 0 .or. index(text, 'is null') == 0) error stop 'a null handle is taken'
  call MPI_Finalize()
  if (rank == 0) print '(a)', 'all as expected'

contains

  subroutine open_and_close(name)
    character(len=*), intent(in) :: name
    type(c_ptr) :: publisher
    character(kind=c_char, len=:), allocatable :: stream
    stream = name // c_null_char
    if (publisher_open(stream, options, publisher) /= 0) error stop 'not opened'
    if (publisher_close(publisher) /= 0) error stop 'not closed'
  end subroutine

end program
