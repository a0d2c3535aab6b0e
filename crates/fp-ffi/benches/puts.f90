! Times small puts: for each block of 8 numbers the least time over many steps, in nanoseconds, dense and of a section.
program puts
  use flexpath
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: blocks = 64, steps = 400
  type(flexpath_options) :: options
  type(flexpath_publisher) :: publisher
  type(flexpath_variable) :: numbers
  real(real64) :: dense(8), wide(16)
  integer :: step, block
  integer(int64) :: started, ended, rate, least(0:1)
  call flexpath_options_set(options, 'MinSubscribers', 1)
  call flexpath_publisher_open(publisher, 'puts', options)
  call flexpath_variable_global(numbers, 'numbers', flexpath_dtype_f64, [8 * blocks])
  dense = 1
  wide = 2
  least = huge(least)
  do step = 1, steps
    call flexpath_publisher_begin_step(publisher)
    call system_clock(started, rate)
    do block = 1, blocks
      if (mod(step, 2) == 0) then
        call flexpath_put(publisher, numbers, dense, [8 * block - 7])
      else
        call flexpath_put(publisher, numbers, wide(::2), [8 * block - 7])
      end if
    end do
    call system_clock(ended)
    least(mod(step, 2)) = min(least(mod(step, 2)), (ended - started) * 1000000000 / rate / blocks)
    call flexpath_publisher_end_step(publisher)
  end do
  call flexpath_publisher_close(publisher)
  print '(i0, 1x, i0)', least
end program puts
