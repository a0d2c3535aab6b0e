! Conditions on what a module makes of each element, twice as much: subscribers get exactly the steps that are found here, and
! are told the numbers. Argument 1 is the file of the module.
program watched_module
  use flexpath
  use, intrinsic :: iso_fortran_env, only: error_unit, int8, real64
  implicit none
  integer, parameter :: rows = 8, columns = 6, many = 40, conditions = 4
  character(len=48), parameter :: condition(conditions) = [character(len=48) :: &
      'sum(module(twice, T)) > 50', 'max(module(twice, T[2:6, :])) > 94', &
      'rises(max(module(twice, T[2:6, :])) > 94)', 'argmin(module(twice, T))[1] >= 3']
  integer(int8), allocatable :: module_bytes(:)
  type(flexpath_publisher) :: publisher
  type(flexpath_subscriber) :: subscribers(conditions)
  type(flexpath_variable) :: heat
  integer :: which, step

  call take_module()
  call open_publisher()
  do which = 1, conditions
    call watch(subscribers(which), condition(which))
  end do
  call flexpath_variable_global(heat, 'T', flexpath_dtype_f64, [rows, columns])
  do step = 0, many - 1
    call flexpath_publisher_begin_step(publisher)
    call flexpath_put(publisher, heat, field(step))
    call flexpath_publisher_end_step(publisher)
  end do
  do which = 1, conditions
    call check_condition(subscribers(which), which)
    call flexpath_subscriber_close(subscribers(which))
  end do
  call flexpath_publisher_close(publisher)
  call flexpath_variable_free(heat)
  print '(a)', 'watched'
contains
  ! The field of a step, from 0: whole numbers that differ from place to place and from step to step.
  function field(step) result(elements)
    integer, intent(in) :: step
    real(real64) :: elements(rows, columns)
    integer :: row, column, at
    do column = 1, columns
      do row = 1, rows
        at = (row - 1) * columns + column - 1
        elements(row, column) = modulo(step * step * 13 + step * 31 + at * at * 7 + at * 17 + step * at * 5, 101) - 50
      end do
    end do
  end function field

  ! The first place, where the last dimension runs fastest, at which a number is among the rows from one to another.
  function place_of(step, number, from, to) result(place)
    integer, intent(in) :: step, from, to
    real(real64), intent(in) :: number
    integer :: place(2), row, column
    real(real64) :: of(rows, columns)
    of = field(step)
    do row = from, to
      do column = 1, columns
        place = [row, column]
        if (abs(of(row, column) - number) < 0.5) return
      end do
    end do
    error stop 4
  end function place_of

  ! Whether a step is as the condition with that number says.
  recursive function is_met(which, step) result(is)
    integer, intent(in) :: which, step
    logical :: is
    integer :: place(2)
    select case (which)
    case (1, 2); is = measured(which, step) > merge(50, 94, which == 1)
    case (3)
      is = is_met(2, step)
      if (is .and. step > 0) is = .not. is_met(2, step - 1)
    case default
      place = place_of(step, measured(which, step) / 2, 1, rows)
      is = place(2) - 1 >= 3
    end select
  end function is_met

  ! What the condition with that number measures.
  function measured(which, step) result(number)
    integer, intent(in) :: which, step
    real(real64) :: number, of(rows, columns)
    of = 2 * field(step)
    select case (which)
    case (1); number = sum(of)
    case (2, 3); number = maxval(of(3:6, :))
    case default; number = minval(of)
    end select
  end function measured

  subroutine take_module()
    character(len=512) :: path
    integer :: unit, len_bytes
    call get_command_argument(1, path)
    open (newunit=unit, file=trim(path), access='stream', form='unformatted', action='read', status='old')
    inquire (unit=unit, size=len_bytes)
    allocate (module_bytes(len_bytes))
    read (unit) module_bytes
    close (unit)
  end subroutine take_module

  subroutine open_publisher()
    type(flexpath_options) :: options
    call flexpath_options_set(options, 'DeployPolicy', 'SameUid')
    call flexpath_options_set(options, 'DeriveBudgetSecs', '60')
    call flexpath_publisher_open(publisher, 'watched', options)
    call flexpath_options_free(options)
  end subroutine open_publisher

  subroutine watch(subscriber, wanted)
    type(flexpath_subscriber), intent(inout) :: subscriber
    character(len=*), intent(in) :: wanted
    type(flexpath_options) :: options
    call flexpath_options_add_module(options, 'twice', module_bytes)
    call flexpath_options_set(options, 'Condition', wanted)
    call flexpath_options_set(options, 'QueueLimit', '64')
    call flexpath_subscriber_open(subscriber, 'watched', options)
    call flexpath_options_free(options)
  end subroutine watch

  ! Exactly the steps that are as the condition says come; some do, and some do not.
  subroutine check_condition(subscriber, which)
    type(flexpath_subscriber), intent(in) :: subscriber
    integer, intent(in) :: which
    type(flexpath_step) :: step
    type(flexpath_step_info) :: told
    integer :: number, taken, status
    taken = 0
    do number = 0, many - 1
      if (.not. is_met(which, number)) cycle
      call flexpath_subscriber_next_step(subscriber, step, 60000, status)
      call check(which, 'a step', status == flexpath_status_ok)
      call flexpath_step_describe(step, told)
      call check(which, 'the next step', told%step == number .and. told%skipped == 0)
      call check_measured(step, number, which)
      taken = taken + 1
    end do
    call check(which, 'some steps', taken > 0 .and. taken < many)
    call flexpath_subscriber_next_step(subscriber, step, 0, status)
    call check(which, 'no more', status == flexpath_status_not_yet)
  end subroutine check_condition

  subroutine check_measured(step, number, which)
    type(flexpath_step), intent(in) :: step
    integer, intent(in) :: number, which
    type(flexpath_measured) :: one
    character(len=:), allocatable :: reason
    integer :: counted, from, to
    call flexpath_step_unjudged(step, reason)
    call check(which, 'judged: ' // reason, len(reason) == 0)
    call flexpath_step_measured_count(step, counted)
    call check(which, 'one number', counted == 1)
    call flexpath_step_measured_at(step, 1, one)
    call check(which, 'of the module', index(one%measure, '(module(') > 0)
    call check(which, 'its value', one%is_there .and. abs(one%number - measured(which, number)) < 1.0e-9_real64)
    call check(which, 'a place', size(one%place) == merge(0, 2, which == 1))
    if (which == 1) return
    from = merge(1, 3, which == 4)
    to = merge(rows, 6, which == 4)
    call check(which, 'its place', all(one%place == place_of(number, one%number / 2, from, to)))
  end subroutine check_measured

  subroutine check(which, what, is_so)
    integer, intent(in) :: which
    character(len=*), intent(in) :: what
    logical, intent(in) :: is_so
    if (is_so) return
    write (error_unit, '(5a)') 'not so: ', trim(condition(which)), ': ', what
    error stop 2
  end subroutine check
end program watched_module
