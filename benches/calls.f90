! Puts small blocks, dense ones and then sections, one of 64 KiB and one of a MiB, into many steps. It prints what a put
! of each took: nanoseconds, the middle of all steps, in the order small, medium, large, small section. Its counterpart
! in Rust is in calls.rs.
program calls
  use flexpath
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: small_puts = 256, small_len = 8, medium_len = 2**13, large_len = 2**17, steps = 400
  type(flexpath_options) :: options
  type(flexpath_publisher) :: publisher
  type(flexpath_variable) :: small, section, medium, large
  real(real64) :: small_ns(steps), medium_ns(steps), large_ns(steps), section_ns(steps), before
  real(real64), allocatable :: elements(:), dense(:), part(:), wide(:)
  character(len=8) :: subscribers
  integer :: step, block

  subscribers = '0'
  if (command_argument_count() > 0) call get_command_argument(1, subscribers)
  allocate (elements(large_len), source=1.0_real64)
  dense = elements(:small_len)
  part = elements(:medium_len)
  wide = elements(:2 * small_len)
  call flexpath_options_set(options, 'MinSubscribers', trim(subscribers))
  call flexpath_variable_global(small, 'small', flexpath_dtype_f64, [small_puts * small_len])
  call flexpath_variable_global(section, 'section', flexpath_dtype_f64, [small_puts * small_len])
  call flexpath_variable_global(medium, 'medium', flexpath_dtype_f64, [medium_len])
  call flexpath_variable_global(large, 'large', flexpath_dtype_f64, [large_len])
  call flexpath_publisher_open(publisher, 'calls', options)
  do step = 1, steps
    call flexpath_publisher_begin_step(publisher)
    before = now_ns()
    do block = 1, small_puts
      call flexpath_put(publisher, small, dense, [small_len * (block - 1) + 1])
    end do
    small_ns(step) = (now_ns() - before) / small_puts
    before = now_ns()
    call flexpath_put(publisher, medium, part, [1])
    medium_ns(step) = now_ns() - before
    before = now_ns()
    call flexpath_put(publisher, large, elements, [1])
    large_ns(step) = now_ns() - before
    before = now_ns()
    do block = 1, small_puts
      call flexpath_put(publisher, section, wide(::2), [small_len * (block - 1) + 1])
    end do
    section_ns(step) = (now_ns() - before) / small_puts
    call flexpath_publisher_end_step(publisher)
  end do
  call flexpath_publisher_close(publisher)
  print '(4(f0.1, 1x))', middle(small_ns), middle(medium_ns), middle(large_ns), middle(section_ns)

contains

  real(real64) function now_ns()
    integer(int64) :: ticks, rate
    call system_clock(ticks, rate)
    now_ns = real(ticks, real64) * (1e9_real64 / real(rate, real64))
  end function now_ns

  ! The median: as many values are below it as above.
  real(real64) function middle(values)
    real(real64), intent(in) :: values(:)
    integer :: at
    do at = 1, size(values)
      middle = values(at)
      if (count(values < middle) <= size(values) / 2 .and. count(values <= middle) > size(values) / 2) return
    end do
  end function middle
end program calls
