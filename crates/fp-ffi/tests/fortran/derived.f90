! A variable that is derived before it is sent, and read as any other.
program derived
  use flexpath
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  implicit none
  type(flexpath_publisher) :: publisher
  type(flexpath_subscriber) :: subscriber
  type(flexpath_options) :: options, offering
  type(flexpath_variable) :: vx, vy
  type(flexpath_step) :: step
  real(real64) :: x(4, 6), y(4, 6), speed(4, 6), most
  integer :: stat, status, i
  character(len=240) :: errmsg

  call flexpath_options_add_derivation(options, 'speed', 'vx, vy | magnitude |', stat=stat, errmsg=errmsg)
  call check('what cannot be read is told', stat == flexpath_status_bad_option .and. index(errmsg, 'character') > 0)
  call flexpath_options_add_derivation(options, 'speed', 'vx, vy | magnitude')
  call flexpath_options_add_derivation(options, 'most', 'vx | max', flexpath_placement_subscriber)
  call flexpath_options_add_derivation(options, 'wrong', 'none | max')
  call flexpath_options_set(offering, 'DeriveBudgetSecs', '60')
  call flexpath_publisher_open(publisher, 'derived', offering)
  call flexpath_subscriber_open(subscriber, 'derived', options)
  call flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, status)
  call flexpath_variable_global(vx, 'vx', flexpath_dtype_f64, [4, 6])
  call flexpath_variable_global(vy, 'vy', flexpath_dtype_f64, [4, 6])
  x = reshape([(3.0_real64 * i, i=1, 24)], [4, 6])
  y = reshape([(4.0_real64 * i, i=1, 24)], [4, 6])
  call flexpath_publisher_begin_step(publisher)
  call flexpath_put(publisher, vx, x)
  call flexpath_put(publisher, vy, y)
  call flexpath_publisher_end_step(publisher)
  call flexpath_subscriber_next_step(subscriber, step, 60000, status)
  call check('a step', status == flexpath_status_ok)
  call flexpath_get(step, 'speed', speed)
  call check('of each cell', all(nint(speed) == reshape([(5 * i, i=1, 24)], [4, 6])))
  call flexpath_get(step, 'most', most)
  call check('of all', nint(most) == 72)
  call flexpath_get(step, 'wrong', most, stat=stat, errmsg=errmsg)
  call check('not derived', stat == flexpath_status_not_derived .and. index(errmsg, 'none') > 0)
  call flexpath_step_release(step)
  call flexpath_subscriber_close(subscriber)
  call flexpath_publisher_close(publisher)
  call flexpath_variable_free(vx)
  call flexpath_variable_free(vy)
  call flexpath_options_free(options)
  print '(a)', 'derived'
contains
  subroutine check(what, is_so)
    character(len=*), intent(in) :: what
    logical, intent(in) :: is_so
    if (is_so) return
    write (error_unit, '(4a)') 'not so: ', what, ', ', trim(errmsg)
    error stop 2
  end subroutine check
end program derived
