! Publishes ten steps of a temperature on a plate, and the time of each.
program publish
  use flexpath
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  type(flexpath_options) :: options
  type(flexpath_publisher) :: publisher
  type(flexpath_variable) :: temperature, time
  real(real64) :: plate(4, 6)
  integer :: step, i, j

  call flexpath_options_set(options, 'MinSubscribers', 1)
  call flexpath_publisher_open(publisher, 'plate', options)
  call flexpath_variable_global(temperature, 'temperature', flexpath_dtype_f64, shape(plate), unit='K')
  call flexpath_variable_scalar(time, 'time', flexpath_dtype_f64, unit='s')
  do step = 0, 9
    do concurrent (j = 1:6, i = 1:4)
      plate(i, j) = 300 + 10 * i + j + 100 * step
    end do
    call flexpath_publisher_begin_step(publisher)
    call flexpath_put(publisher, temperature, plate(:, 1:3))
    call flexpath_put(publisher, temperature, plate(:, 4:6), start=[1, 4])
    call flexpath_put(publisher, time, 0.5_real64 * step)
    call flexpath_publisher_end_step(publisher)
  end do
  call flexpath_publisher_close(publisher)
end program publish
