! Publishes ten steps of a temperature that is cut among the ranks along its second dimension.
!
! Alone:                ./publisher
! As a cohort of two:   FLEXPATH_SIZE=2 FLEXPATH_RANK=0 ./publisher & FLEXPATH_SIZE=2 FLEXPATH_RANK=1 ./publisher
program publisher_program
  use flexpath
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: rows = 4, columns = 12
  type(flexpath_options) :: options
  type(flexpath_publisher) :: publisher
  type(flexpath_variable) :: temperature, time
  real(real64) :: field(rows, columns)
  integer :: step, i, j

  call flexpath_options_set_cohort_from_environment(options)
  call flexpath_options_set(options, 'MinSubscribers', 1)
  call flexpath_publisher_open(publisher, 'heat', options)
  call flexpath_variable_global(temperature, 'temperature', flexpath_dtype_f64, [rows, columns * cohort()], unit='K')
  call flexpath_variable_scalar(time, 'time', flexpath_dtype_f64, unit='s')

  do step = 0, 9
    do j = 1, columns
      do i = 1, rows
        field(i, j) = 100 * i + j + columns * rank() + 1000 * step
      end do
    end do
    call flexpath_publisher_begin_step(publisher)
    call flexpath_put(publisher, temperature, field, start=[1, 1 + columns * rank()])
    call flexpath_put(publisher, time, 0.5_real64 * step)
    call flexpath_publisher_end_step(publisher)
  end do

  call flexpath_variable_free(temperature)
  call flexpath_variable_free(time)
  call flexpath_publisher_close(publisher)
  call flexpath_options_free(options)
contains
  integer function rank()
    rank = from_environment('FLEXPATH_RANK', 0)
  end function rank

  integer function cohort()
    cohort = from_environment('FLEXPATH_SIZE', 1)
  end function cohort

  integer function from_environment(name, unless_set)
    character(len=*), intent(in) :: name
    integer, intent(in) :: unless_set
    character(len=16) :: text
    integer :: missing
    from_environment = unless_set
    call get_environment_variable(name, text, status=missing)
    if (missing == 0) read (text, *) from_environment
  end function from_environment
end program publisher_program
