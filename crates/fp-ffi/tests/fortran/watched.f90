! Subscribers that want steps by the numbers of a field: each gets those that are found here, and is told the numbers.
module watched_function
  use flexpath
  use, intrinsic :: iso_c_binding, only: c_associated, c_double, c_f_pointer, c_int32_t, c_int64_t, c_ptr
  implicit none
contains
  ! Twice each element: it is registered with the publisher, and called by a condition.
  integer(c_int32_t) function doubled(context, inputs, input_count, count, made, made_count) bind(C)
    integer(c_int64_t), value :: input_count, count, made_count
    type(c_ptr), value :: context, made
    type(c_ptr), intent(in) :: inputs(input_count)
    real(c_double), pointer :: given(:), twice(:)
    doubled = 1
    if (input_count /= 1 .or. made_count /= count .or. c_associated(context)) return
    call c_f_pointer(inputs(1), given, [count])
    call c_f_pointer(made, twice, [made_count])
    twice = 2 * given
    doubled = 0
  end function doubled
end module watched_function

program watched
  use flexpath
  use watched_function
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_loc, c_sizeof
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan, ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, int8, real64
  implicit none
  integer, parameter :: rows = 8, columns = 6, many = 40, conditions = 29
  character(len=40), parameter :: condition(conditions) = [character(len=40) :: &
      'has(particles)', 'max(T) > 48', 'min(T) < -48', 'sum(T) > 0', 'mean(T) <= 1', 'variance(T) >= 850', &
      'count(T > 30) >= 10', 'any(T > 49)', 'all(T > -49)', 'change(max(T)) > 0', &
      'max(T) > 48 and min(T) < -47', 'max(T) > 49 or sum(T) < -150', 'not sum(T) > 0', 'rises(max(T) > 48)', &
      'hysteresis(sum(T) > 100, sum(T) < -100)', 'held(sum(T) > 0, 2, 3)', 'every(7)', 'argmax(T)[0] < 4', &
      'argmin(T)[1] >= 3', 'window(mean(T), 3, max) > 2', 'quantile(T, 0.9, -64..64 / 128) > 40', &
      'max(atoms.place.1) > 30', 'sum(call(doubled, T)) > 50', 'max(T[2:6, ::2]) > 45', 'sum(ages) > 0', &
      'window(mean(T), 3, min) > -2', 'window(sum(T), 3, sum) > 0', 'window(mean(T), 3, mean) > 0', &
      'window(max(T), 3, range) > 1']

  type, bind(C) :: atom
    integer(c_int32_t) :: charge
    real(c_double) :: place(2)
  end type atom

  type(flexpath_publisher) :: publisher
  character(len=240) :: errmsg = ''
  integer :: stat

  call check_conditions()
  call check_unjudged()
  call check_no_number()
  call check_module()
  call check_late()
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

  ! Rows of a joined array, which are as many as the step says: the first elements of the first column.
  function ages_of(step) result(ages)
    integer, intent(in) :: step
    real(real64), allocatable :: ages(:)
    real(real64) :: of(rows, columns)
    of = field(step)
    ages = of(1:1 + modulo(step, 4), 1)
  end function ages_of

  ! The same measure of this step and of the two before.
  function last_three(step, measure) result(numbers)
    integer, intent(in) :: step
    character(len=*), intent(in) :: measure
    real(real64) :: numbers(3)
    integer :: at
    numbers = [(measured(step - 3 + at, measure), at = 1, 3)]
  end function last_three

  ! What is measured, by the name that conditions have for it.
  function measured(step, measure) result(number)
    integer, intent(in) :: step
    character(len=*), intent(in) :: measure
    real(real64) :: number, of(rows, columns)
    integer :: row, column
    of = field(step)
    select case (measure)
    case ('max(T)'); number = maxval(of)
    case ('min(T)'); number = minval(of)
    case ('sum(T)'); number = sum(of)
    case ('mean(T)'); number = sum(of) / size(of)
    case ('variance(T)'); number = (sum(of * of) * size(of) - sum(of)**2) / size(of)**2
    case ('count(T > 30.0)'); number = count(of > 30)
    case ('any(T > 49.0)'); number = merge(1, 0, any(of > 49))
    case ('all(T > -49.0)'); number = merge(1, 0, all(of > -49))
    case ('sum(call(doubled, T))'); number = 2 * sum(of)
    case ('max(atoms.place.1)'); number = maxval(of(:, 1))
    case ('max(T[2:6, ::2])'); number = maxval(of(3:6, 1::2))
    case ('sum(ages)'); number = sum(ages_of(step))
    case ('quantile(T, 0.9, -64.0..64.0 / 128)')
      ! What is no less than 44 of the 48 elements.
      number = maxval(of)
      do column = 1, columns
        do row = 1, rows
          if (count(of <= of(row, column)) >= 44) number = min(number, of(row, column))
        end do
      end do
    case default; error stop 3
    end select
  end function measured

  ! The first place, where the last dimension runs fastest, at which a number is: of the field, or of a part.
  function place_of(step, number, within) result(place)
    integer, intent(in) :: step
    real(real64), intent(in) :: number
    logical, intent(in), optional :: within(rows, columns)
    integer :: place(2), row, column
    real(real64) :: of(rows, columns)
    logical :: looked_at(rows, columns)
    of = field(step)
    looked_at = .true.
    if (present(within)) looked_at = within
    do row = 1, rows
      do column = 1, columns
        place = [row, column]
        if (looked_at(row, column) .and. abs(of(row, column) - number) < 0.5) return
      end do
    end do
    error stop 4
  end function place_of

  ! The region of rows and columns that some conditions look at.
  function inner() result(within)
    logical :: within(rows, columns)
    within = .false.
    within(3:6, 1::2) = .true.
  end function inner

  ! Whether a step is as the condition with that number says.
  recursive function is_met(which, step) result(is)
    integer, intent(in) :: which, step
    logical :: is
    integer :: before, place(2)
    is = .false.
    select case (which)
    case (1); is = modulo(step, 3) == 0
    case (2); is = measured(step, 'max(T)') > 48
    case (3); is = measured(step, 'min(T)') < -48
    case (4); is = measured(step, 'sum(T)') > 0
    case (5); is = measured(step, 'mean(T)') <= 1
    case (6); is = measured(step, 'variance(T)') >= 850
    case (7); is = measured(step, 'count(T > 30.0)') >= 10
    case (8); is = measured(step, 'any(T > 49.0)') > 0
    case (9); is = measured(step, 'all(T > -49.0)') > 0
    case (10); if (step > 0) is = measured(step, 'max(T)') - measured(step - 1, 'max(T)') > 0
    case (11); is = measured(step, 'max(T)') > 48 .and. measured(step, 'min(T)') < -47
    case (12); is = measured(step, 'max(T)') > 49 .or. measured(step, 'sum(T)') < -150
    case (13); is = .not. is_met(4, step)
    case (14)
      is = is_met(2, step)
      if (is .and. step > 0) is = .not. is_met(2, step - 1)
    case (15)
      do before = 0, step
        is = measured(before, 'sum(T)') > 100 .or. (is .and. .not. measured(before, 'sum(T)') < -100)
      end do
    case (17); is = modulo(step, 7) == 0
    case (18)
      place = place_of(step, measured(step, 'max(T)'))
      is = place(1) - 1 < 4
    case (19)
      place = place_of(step, measured(step, 'min(T)'))
      is = place(2) - 1 >= 3
    case (20); if (step >= 2) is = any(last_three(step, 'mean(T)') > 2)
    case (21); is = measured(step, 'quantile(T, 0.9, -64.0..64.0 / 128)') > 40
    case (22); is = measured(step, 'max(atoms.place.1)') > 30
    case (23); is = measured(step, 'sum(call(doubled, T))') > 50
    case (24); is = measured(step, 'max(T[2:6, ::2])') > 45
    case (25); is = measured(step, 'sum(ages)') > 0
    case (26); if (step >= 2) is = all(last_three(step, 'mean(T)') > -2)
    case (27); if (step >= 2) is = sum(last_three(step, 'sum(T)')) > 0
    case (28); if (step >= 2) is = sum(last_three(step, 'mean(T)')) / 3 > 0
    case (29); if (step >= 2) is = maxval(last_three(step, 'max(T)')) - minval(last_three(step, 'max(T)')) > 1
    case (16); is = count([(is_met(4, before), before=max(0, step - 2), step)]) >= 2
    end select
  end function is_met

  subroutine open_publisher()
    type(flexpath_options) :: options
    type(flexpath_transforms) :: functions
    call flexpath_transforms_create(functions)
    call flexpath_transforms_add_function(functions, 'doubled', flexpath_dtype_f64, flexpath_dtype_f64, doubled)
    call flexpath_options_set_transforms(options, functions)
    call flexpath_transforms_free(functions)
    call flexpath_options_set(options, 'DeriveBudgetSecs', '60')
    call flexpath_publisher_open(publisher, 'watched', options)
    call flexpath_options_free(options)
  end subroutine open_publisher

  subroutine watch(subscriber, wanted)
    type(flexpath_subscriber), intent(inout) :: subscriber
    character(len=*), intent(in) :: wanted
    type(flexpath_options) :: options
    call flexpath_options_set(options, 'Condition', wanted)
    call flexpath_options_set(options, 'QueueLimit', '64')
    call flexpath_subscriber_open(subscriber, 'watched', options)
    call flexpath_options_free(options)
  end subroutine watch

  ! Exactly the steps that are as the conditions say come; some do, and some do not.
  subroutine check_conditions()
    type(flexpath_subscriber) :: subscribers(conditions)
    type(flexpath_variable) :: heat, particles, of_atoms, ages
    type(flexpath_schema) :: schema
    integer :: which, step
    call open_publisher()
    call flexpath_schema_create(schema, 'Atom')
    call flexpath_schema_add_field(schema, 'charge', flexpath_dtype_i32)
    call flexpath_schema_add_field(schema, 'place', flexpath_dtype_f64, shape=[2])
    call flexpath_variable_joined_records(of_atoms, 'atoms', schema)
    call flexpath_schema_free(schema)
    do which = 1, conditions
      call watch(subscribers(which), condition(which))
    end do
    call flexpath_variable_global(heat, 'T', flexpath_dtype_f64, [rows, columns])
    call flexpath_variable_scalar(particles, 'particles', flexpath_dtype_i32)
    call flexpath_variable_joined(ages, 'ages', flexpath_dtype_f64)
    do step = 0, many - 1
      call flexpath_publisher_begin_step(publisher)
      call flexpath_put(publisher, heat, field(step))
      call put_atoms(of_atoms, field(step))
      call flexpath_put(publisher, ages, ages_of(step))
      if (is_met(1, step)) call flexpath_put(publisher, particles, int(step, int32))
      call flexpath_publisher_end_step(publisher)
    end do
    do which = 1, conditions
      call check_condition(subscribers(which), which)
      call flexpath_subscriber_close(subscribers(which))
    end do
    call flexpath_publisher_close(publisher)
    call flexpath_variable_free(heat)
    call flexpath_variable_free(particles)
    call flexpath_variable_free(of_atoms)
    call flexpath_variable_free(ages)
  end subroutine check_conditions

  ! An atom for each row of the field: its second coordinate is the first element of the row.
  subroutine put_atoms(of_atoms, of)
    type(flexpath_variable), intent(in) :: of_atoms
    real(real64), intent(in) :: of(rows, columns)
    type(atom), target :: atoms(rows)
    integer :: at
    do at = 1, rows
      atoms(at) = atom(at, [0.0_c_double, of(at, 1)])
    end do
    call flexpath_put_records(publisher, of_atoms, c_loc(atoms), c_sizeof(atoms(1)), count=[rows])
  end subroutine put_atoms

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
      call check(condition(which) // ': a step', status == flexpath_status_ok)
      call flexpath_step_describe(step, told)
      call check(condition(which) // ': the next step', told%step == number .and. told%skipped == 0)
      call check_measured(step, number, condition(which))
      taken = taken + 1
    end do
    call check(condition(which) // ': some steps', taken > 0 .and. taken < many)
    call flexpath_subscriber_next_step(subscriber, step, 0, status)
    call check(condition(which) // ': no more', status == flexpath_status_not_yet)
  end subroutine check_condition

  ! The numbers, and where a greatest or least one is, are those of the step.
  subroutine check_measured(step, number, wanted)
    type(flexpath_step), intent(in) :: step
    integer, intent(in) :: number
    character(len=*), intent(in) :: wanted
    type(flexpath_measured) :: one
    character(len=:), allocatable :: reason
    integer :: counted, at
    integer(int64) :: micros
    call flexpath_step_decided_at(step, micros)
    ! 2025-01-01: no time of this program is earlier.
    call check(wanted // ': decided lately', micros > 1735689600000000_int64)
    call flexpath_step_unjudged(step, reason)
    call check(wanted // ': judged', len(reason) == 0)
    call flexpath_step_measured_count(step, counted)
    call check(wanted // ': as many numbers', counted > 0 .neqv. (wanted == 'has(particles)' .or. wanted == 'every(7)'))
    do at = 1, counted
      call flexpath_step_measured_at(step, at, one)
      call check(wanted // ': a number', one%is_there)
      call check(wanted // ': its value', abs(one%number - measured(number, one%measure)) < 1.0e-9_real64)
      call check(wanted // ': its upper end', nint(one%upper - one%number) == merge(1, 0, index(one%measure, 'quantile') == 1))
      if (one%measure == 'max(T)' .or. one%measure == 'min(T)') then
        call check(wanted // ': a place', size(one%place) == 2)
        call check(wanted // ': its place', all(one%place == place_of(number, one%number)))
      else if (one%measure == 'max(T[2:6, ::2])') then
        call check(wanted // ': a place', size(one%place) == 2)
        call check(wanted // ': its place within', all(one%place == place_of(number, one%number, inner())))
      else
        call check(wanted // ': no place', size(one%place) == 0)
      end if
    end do
    call flexpath_step_measured_at(step, counted + 1, one, stat=stat, errmsg=errmsg)
    call check('beyond', stat == flexpath_status_misuse .and. index(errmsg, 'measured number') > 0)
  end subroutine check_measured

  ! A step of four elements, of which a condition wants nine.
  subroutine check_unjudged()
    type(flexpath_subscriber) :: subscriber
    type(flexpath_variable) :: few
    type(flexpath_step) :: step
    character(len=:), allocatable :: reason
    integer :: counted, status
    call open_publisher()
    call watch(subscriber, 'max(T[0:9]) > 1')
    call flexpath_variable_global(few, 'T', flexpath_dtype_f64, [4])
    call flexpath_publisher_begin_step(publisher)
    call flexpath_put(publisher, few, [0.0_real64, 0.0_real64, 0.0_real64, 0.0_real64])
    call flexpath_publisher_end_step(publisher)
    call flexpath_subscriber_next_step(subscriber, step, 60000, status)
    call check('a step that is not judged', status == flexpath_status_ok)
    call flexpath_step_unjudged(step, reason)
    call check('why: ' // reason, index(reason, 'publisher rank 0 did not measure: ') == 1 .and. index(reason, '9') > 0)
    call flexpath_step_measured_count(step, counted)
    call check('no number', counted == 0)
    call flexpath_step_release(step)
    call flexpath_step_unjudged(step, reason, stat=stat, errmsg=errmsg)
    call check('released', stat == flexpath_status_bad_handle)
    call flexpath_subscriber_close(subscriber)
    call flexpath_publisher_close(publisher)
    call flexpath_variable_free(few)
  end subroutine check_unjudged

  ! An array that is not there has no number, and one with NaN has NaN: neither is more nor less than another.
  subroutine check_no_number()
    integer, parameter :: expected(3) = [0, 1, 3]
    type(flexpath_subscriber) :: subscriber
    type(flexpath_variable) :: few, other
    type(flexpath_step) :: step
    type(flexpath_step_info) :: told
    type(flexpath_measured) :: top
    integer :: at, status
    call open_publisher()
    call watch(subscriber, 'not max(T) > 1')
    call flexpath_variable_global(few, 'T', flexpath_dtype_f64, [3])
    call flexpath_variable_scalar(other, 'number', flexpath_dtype_i32)
    do at = 0, 3
      call flexpath_publisher_begin_step(publisher)
      call flexpath_put(publisher, other, int(at, int32))
      if (at == 1) call flexpath_put(publisher, few, [5.0_real64, ieee_value(1.0_real64, ieee_quiet_nan), 7.0_real64])
      if (at == 2) call flexpath_put(publisher, few, [5.0_real64, 6.0_real64, 7.0_real64])
      call flexpath_publisher_end_step(publisher)
    end do
    do at = 1, size(expected)
      call flexpath_subscriber_next_step(subscriber, step, 60000, status)
      call check('a step without a number', status == flexpath_status_ok)
      call flexpath_step_describe(step, told)
      call check('the next of these', told%step == expected(at) .and. told%skipped == 0)
      call flexpath_step_measured_at(step, 1, top)
      call check('it has NaN, or none', top%measure == 'max(T)' .and. (top%is_there .eqv. at == 2))
      call check('no number that compares', ieee_is_nan(top%number))
      if (at == 2) call check('where NaN is', all(top%place == [2]))
      call flexpath_step_release(step)
    end do
    call flexpath_subscriber_close(subscriber)
    call flexpath_publisher_close(publisher)
    call flexpath_variable_free(few)
    call flexpath_variable_free(other)
  end subroutine check_no_number

  ! This publisher runs no modules, and says so: what a condition calls one is known before.
  subroutine check_module()
    type(flexpath_options) :: options
    type(flexpath_subscriber) :: subscriber
    type(flexpath_variable) :: few
    type(flexpath_step) :: step
    character(len=*), parameter :: condition = 'any(module(far, T) > 1)'
    character(len=:), allocatable :: reason
    integer :: status
    call open_publisher()
    call flexpath_options_set(options, 'Condition', condition, stat=stat, errmsg=errmsg)
    call check('no module', stat == flexpath_status_bad_option .and. index(errmsg, 'flexpath_options_add_module') > 0)
    call flexpath_options_add_module(options, 'far', [0_int8])
    call flexpath_options_set(options, 'Condition', condition)
    call flexpath_subscriber_open(subscriber, 'watched', options)
    call flexpath_options_free(options)
    call flexpath_variable_global(few, 'T', flexpath_dtype_f64, [1])
    call flexpath_publisher_begin_step(publisher)
    call flexpath_put(publisher, few, [0.0_real64])
    call flexpath_publisher_end_step(publisher)
    call flexpath_subscriber_next_step(subscriber, step, 60000, status)
    call flexpath_step_unjudged(step, reason)
    call check('why: ' // reason, index(reason, 'this publisher runs no code') > 0)
    call flexpath_step_release(step)
    call flexpath_subscriber_close(subscriber)
    call flexpath_publisher_close(publisher)
    call flexpath_variable_free(few)
  end subroutine check_module

  ! The last hits that a publisher keeps, for who comes when they are over: these, and no other step.
  subroutine check_late()
    integer, parameter :: kept = 3
    type(flexpath_options) :: options
    type(flexpath_subscriber) :: subscriber
    type(flexpath_variable) :: heat
    type(flexpath_step) :: taken
    type(flexpath_step_info) :: told
    integer :: hits(many), count, step, which, status
    call flexpath_options_set(options, 'ReserveCondition', 'max(T)', stat=stat, errmsg=errmsg)
    call check('no condition', stat == flexpath_status_bad_option .and. index(errmsg, 'character 7') > 0)
    call flexpath_options_set(options, 'ReserveCondition', 'max(T) > 48')
    call flexpath_publisher_open(publisher, 'watched', options, stat=stat, errmsg=errmsg)
    call check('none kept', stat == flexpath_status_not_opened .and. index(errmsg, 'ReserveQueueLimit is 0') > 0)
    call flexpath_options_set(options, 'ReserveQueueLimit', kept)
    call flexpath_options_set(options, 'DeriveBudgetSecs', '60')
    call flexpath_publisher_open(publisher, 'watched', options)
    call flexpath_options_free(options)
    call flexpath_variable_global(heat, 'T', flexpath_dtype_f64, [rows, columns])
    count = 0
    do step = 0, many - 1
      call flexpath_publisher_begin_step(publisher)
      call flexpath_put(publisher, heat, field(step))
      call flexpath_publisher_end_step(publisher)
      if (.not. is_met(2, step)) cycle
      count = count + 1
      hits(count) = step
    end do
    call check('more hits than are kept, and steps between', count > kept .and. hits(count) - hits(count - kept + 1) >= kept)
    call flexpath_options_set(options, 'Condition', 'max(T) > 48')
    call flexpath_options_set(options, 'StartAt', 'OldestReserved')
    call flexpath_subscriber_open(subscriber, 'watched', options)
    call flexpath_options_free(options)
    do which = count - kept + 1, count
      call flexpath_subscriber_next_step(subscriber, taken, 60000, status)
      call check('a hit', status == flexpath_status_ok)
      call flexpath_step_describe(taken, told)
      call check('the next hit', told%step == hits(which) .and. told%skipped == 0)
      call check_measured(taken, hits(which), 'max(T) > 48')
      call flexpath_step_release(taken)
    end do
    call flexpath_subscriber_next_step(subscriber, taken, 0, status)
    call check('no more hits', status == flexpath_status_not_yet)
    call flexpath_subscriber_close(subscriber)
    call flexpath_publisher_close(publisher)
    call flexpath_variable_free(heat)
  end subroutine check_late

  subroutine check(what, is_so)
    character(len=*), intent(in) :: what
    logical, intent(in) :: is_so
    if (is_so) return
    write (error_unit, '(4a)') 'not so: ', what, ', ', trim(errmsg)
    error stop 2
  end subroutine check
end program watched
