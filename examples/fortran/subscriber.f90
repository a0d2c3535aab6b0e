! Takes two rows of the temperature that publisher.f90 publishes, in every step.
program subscriber_program
  use flexpath
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  type(flexpath_subscriber) :: subscriber
  type(flexpath_step) :: step
  type(flexpath_variable_info) :: info
  real(real64), allocatable :: part(:, :)
  real(real64) :: time
  integer :: status

  call flexpath_subscriber_open(subscriber, 'heat')
  do
    call flexpath_subscriber_next_step(subscriber, step, 10000, status)
    if (status /= flexpath_status_ok) exit
    call flexpath_step_variable(step, 'temperature', info)
    if (.not. allocated(part)) allocate (part(2, info%shape(2)))
    call flexpath_get(step, 'temperature', part, start=[2, 1])
    call flexpath_get(step, 'time', time)
    print '(a, f4.1, a, 4f8.1)', 'time ', time, ': ', part(:, :2)
    call flexpath_step_release(step)
  end do
  print '(a)', flexpath_last_error()
  call flexpath_subscriber_close(subscriber)
end program subscriber_program
