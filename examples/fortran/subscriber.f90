! Takes a row of the temperature that publisher.f90 publishes, and every second of its columns.
program subscribe
  use flexpath
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  type(flexpath_subscriber) :: subscriber
  type(flexpath_step) :: step
  real(real64) :: row(6), columns(4, 3), time
  integer :: status

  call flexpath_subscriber_open(subscriber, 'plate')
  do
    call flexpath_subscriber_next_step(subscriber, step, 10000, status)
    if (status /= flexpath_status_ok) exit
    call flexpath_get(step, 'time', time)
    call flexpath_get(step, 'temperature', row, start=[2, 1], count=[1, 6])
    call flexpath_get(step, 'temperature', columns, start=[1, 2], stride=[1, 2])
    print '(a, f3.1, a, 6f7.1, a, f7.1)', 'time ', time, ':', row, ', mean', sum(columns) / size(columns)
  end do
  print '(a)', flexpath_last_error()
  call flexpath_subscriber_close(subscriber)
end program subscribe
