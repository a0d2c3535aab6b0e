! Every mistake is told by stat= and errmsg=, and nothing breaks.
program mistakes
  use flexpath
  use flexpath_c, only: c_selection, c_step_info, c_variable_info
  use, intrinsic :: iso_c_binding, only: c_sizeof
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
  implicit none
  type(flexpath_options) :: options
  type(flexpath_publisher) :: publisher, other, never
  type(flexpath_subscriber) :: subscriber
  type(flexpath_step) :: step
  type(flexpath_variable) :: grid, total, undefined
  type(flexpath_variable_info) :: info
  real(real64) :: values(4, 6), line(6)
  integer :: stat, status, reason, variables
  logical :: wanted
  type(c_selection) :: plain_selection
  type(c_step_info) :: plain_step
  type(c_variable_info) :: plain_variable
  character(len=240) :: errmsg
  character(len=8) :: word
  integer(int64) :: number

  call get_command_argument(1, word)
  if (word == 'stop') call flexpath_publisher_close(never)
  call check('structs are as in C', c_sizeof(plain_selection) == 64 .and. c_sizeof(plain_step) == 32 &
      .and. c_sizeof(plain_variable) == 104)
  errmsg = 'unchanged'
  call flexpath_options_set(options, 'QueueLimt', '4', stat, errmsg)
  call expect(flexpath_status_bad_option, '"QueueLimt" is no option')
  call flexpath_options_set(options, 'OpenTimeoutSecs', 20, stat, errmsg)
  call expect(flexpath_status_ok, 'unchanged')
  call flexpath_publisher_open(publisher, 'mistakes', options, stat, errmsg)
  call expect(flexpath_status_ok, 'unchanged')
  call flexpath_publisher_open(publisher, 'another', stat=stat, errmsg=errmsg)
  call expect(flexpath_status_misuse, 'the publisher is open: close it first')
  call flexpath_publisher_open(other, 'mistakes', stat=stat, errmsg=errmsg)
  call expect(flexpath_status_not_opened, 'mistakes')
  call flexpath_subscriber_open(subscriber, 'mistakes')
  call flexpath_variable_global(grid, 'grid', flexpath_dtype_f64, [4, 6])
  call flexpath_variable_scalar(total, 'total', flexpath_dtype_i64)
  call flexpath_variable_global(undefined, 'none', 99, [4, 6], stat=stat, errmsg=errmsg)
  call expect(flexpath_status_wrong_dtype, '99 is no element type')
  call flexpath_variable_global(undefined, 'none', flexpath_dtype_f64, [4.0, 6.0], stat=stat, errmsg=errmsg)
  call expect(flexpath_status_misuse, 'shape must be of integer')
  values = 1
  call flexpath_put(publisher, grid, values, stat=stat, errmsg=errmsg)
  call expect(flexpath_status_misuse, 'no step is open')
  call flexpath_put(publisher, grid, values(::2, :), stat=stat, errmsg=errmsg)
  call expect(flexpath_status_misuse, 'no step is open')
  call flexpath_publisher_begin_step(publisher, number)
  call flexpath_publisher_is_wanted(publisher, 'grid', wanted)
  call flexpath_put(publisher, undefined, values, stat=stat, errmsg=errmsg)
  call expect(flexpath_status_bad_handle, 'was not defined')
  call flexpath_put(publisher, grid, real(values, real32), stat=stat, errmsg=errmsg)
  call expect(flexpath_status_wrong_dtype, 'real(real32) put of "grid", whose elements are real(real64)')
  call flexpath_put(publisher, grid, .true., stat=stat, errmsg=errmsg)
  call expect(flexpath_status_wrong_dtype, 'put of "grid"')
  call flexpath_put(publisher, grid, 'abc', stat=stat, errmsg=errmsg)
  call expect(flexpath_status_wrong_dtype, 'put of "grid"')
  call flexpath_put(publisher, grid, values(1, :), stat=stat, errmsg=errmsg)
  call expect(flexpath_status_wrong_len, 'values of rank 1 put of "grid", which has 2 dimensions')
  call flexpath_put(publisher, grid, values, [1, 1, 1], stat, errmsg)
  call expect(flexpath_status_wrong_len, 'start=(1, 1, 1), but it has 2 dimensions')
  call flexpath_put(publisher, grid, values, [0, 1], stat, errmsg)
  call expect(flexpath_status_misuse, 'start=(0, 1): indices count from 1')
  call flexpath_put(publisher, grid, values, [1.5, 1.0], stat, errmsg)
  call expect(flexpath_status_misuse, 'start must be of integer')
  call flexpath_put(publisher, grid, values, [1, 2], stat, errmsg)
  call expect(flexpath_status_misuse, 'is not inside shape [4, 6]')
  call flexpath_put(publisher, grid, values(::3, :), [4, 1], stat, errmsg)
  call expect(flexpath_status_misuse, 'is not inside shape [4, 6]')
  call flexpath_put(publisher, total, 7_int64, [1], stat, errmsg)
  call expect(flexpath_status_misuse, 'start= is for global arrays')
  ! Columns one by one, as values of rank 1, and what is wrong left the step as it was.
  line = 2
  call flexpath_put(publisher, grid, values(:, 1:5), [1, 1], stat, errmsg)
  call expect(flexpath_status_ok, 'unchanged')
  call flexpath_put(publisher, grid, line(:4), [1, 6], stat, errmsg)
  call expect(flexpath_status_ok, 'unchanged')
  call flexpath_put(publisher, total, 7_int64)
  call flexpath_publisher_end_step(publisher)

  call flexpath_get(step, 'grid', values, stat=stat, errmsg=errmsg)
  call expect(flexpath_status_bad_handle, 'the handle of a step is null')
  call flexpath_subscriber_next_step(subscriber, step, 20000, status)
  call flexpath_step_variable_count(step, variables)
  call check('two variables', variables == 2)
  call flexpath_step_variable_at(step, 3, info, stat, errmsg)
  call expect(flexpath_status_misuse, '')
  call flexpath_step_variable_at(step, 1, info)
  call check('grid comes first', info%name == 'grid' .and. info%ndims == 2 .and. all(info%shape == [4, 6]))
  call check('of doubles', info%dtype == flexpath_dtype_f64 .and. info%order == flexpath_order_column_major)
  call flexpath_step_variable(step, 'gird', info, stat, errmsg)
  call expect(flexpath_status_unknown_variable, 'gird')
  call flexpath_get(step, 'gird', values, stat=stat, errmsg=errmsg)
  call expect(flexpath_status_unknown_variable, 'gird')
  call flexpath_get(step, 'grid', line, stat=stat, errmsg=errmsg)
  call expect(flexpath_status_wrong_len, 'an array of shape (6) for a selection of shape (4, 6)')
  call flexpath_get(step, 'grid', line, [2, 1], [2, 6], stat=stat, errmsg=errmsg)
  call expect(flexpath_status_wrong_len, 'an array of shape (6) for a selection of shape (2, 6)')
  call flexpath_get(step, 'grid', line, [0, 1], [1, 6], stat=stat, errmsg=errmsg)
  call expect(flexpath_status_misuse, 'indices and strides from 1')
  call flexpath_get(step, 'grid', line, [1, 1], [1, 6], [1, 0], stat=stat, errmsg=errmsg)
  call expect(flexpath_status_misuse, 'strides from 1')
  call flexpath_get(step, 'grid', line, [5, 1], [1, 6], stat=stat, errmsg=errmsg)
  call expect(flexpath_status_misuse, 'reaches past the extent 4')
  call flexpath_get(step, 'grid', line, [1, 1], [1, 6], [1], stat=stat, errmsg=errmsg)
  call expect(flexpath_status_misuse, 'different numbers of dimensions')
  call flexpath_get(step, 'grid', line, [1, 1], selection=flexpath_rank(0), stat=stat, errmsg=errmsg)
  call expect(flexpath_status_misuse, 'not both')
  call flexpath_get(step, 'grid', number, selection=flexpath_points(reshape([2, 6], [2, 1])), stat=stat, errmsg=errmsg)
  call expect(flexpath_status_wrong_dtype, '')
  ! What is right works: one row, points, a block.
  call flexpath_get(step, 'grid', line, [3, 1], [1, 6], stat=stat, errmsg=errmsg)
  call check('a row', stat == flexpath_status_ok .and. all(nint(line) == [1, 1, 1, 1, 1, 2]))
  call flexpath_get(step, 'grid', line(:2), selection=flexpath_points(reshape([4, 6, 4, 5], [2, 2])))
  call check('points', all(nint(line(:2)) == [2, 1]))
  call flexpath_get(step, 'grid', line(:4), selection=flexpath_block(0, 2))
  call check('a block', all(nint(line(:4)) == 2))
  call flexpath_get(step, 'total', number)
  call check('the total', number == 7)
  call flexpath_step_release(step)
  call flexpath_get(step, 'total', number, stat=stat, errmsg=errmsg)
  call expect(flexpath_status_bad_handle, 'null')

  call flexpath_publisher_close(publisher)
  call flexpath_subscriber_next_step(subscriber, step, 20000, status)
  call check('the end', status == flexpath_status_end_of_stream)
  call flexpath_subscriber_end(subscriber, reason)
  call check('closed', reason == flexpath_end_closed)
  call flexpath_step_release(step, stat, errmsg)
  call expect(flexpath_status_bad_handle, 'null')
  call flexpath_subscriber_close(subscriber)
  call flexpath_subscriber_close(subscriber, stat, errmsg)
  call expect(flexpath_status_bad_handle, 'the handle of a subscriber is null')
  call flexpath_variable_free(grid)
  call flexpath_put(publisher, grid, values, stat=stat, errmsg=errmsg)
  call expect(flexpath_status_bad_handle, 'null')
  call refuse_by_access_list()
  print '(a)', 'all refused'
contains
  ! What the access list does not allow has a status of its own, and is an event at the publisher.
  subroutine refuse_by_access_list()
    type(flexpath_options) :: guarded_options
    type(flexpath_publisher) :: guarded
    type(flexpath_subscriber) :: refused
    type(flexpath_event) :: event
    character(len=400) :: path
    integer :: unit

    call get_environment_variable('FLEXPATH_RENDEZVOUS', path)
    path = trim(path) // '/access.toml'
    open (newunit=unit, file=trim(path), status='replace', action='write')
    write (unit, '(a)') '[[rule]]', "stream = 'guarded'", 'anybody = true', "may = ['status']"
    close (unit)
    call execute_command_line('chmod 600 ' // trim(path))
    call flexpath_options_create(guarded_options)
    call flexpath_options_set(guarded_options, 'AccessFile', trim(path))
    call flexpath_publisher_open(guarded, 'guarded', guarded_options)
    call flexpath_subscriber_open(refused, 'guarded', stat=stat, errmsg=errmsg)
    call expect(flexpath_status_denied, 'rule 1 of the publisher''s access list does not let')
    do
      call flexpath_publisher_next_event(guarded, event, 10000, status)
      call check('the refusal is told', status == flexpath_status_ok)
      if (event%kind == flexpath_event_kind_denied) exit
    end do
    call flexpath_publisher_close(guarded)
    call flexpath_options_free(guarded_options)
  end subroutine refuse_by_access_list

  ! Compares with what was told last, and forgets it.
  subroutine expect(wanted_status, text)
    integer, intent(in) :: wanted_status
    character(len=*), intent(in) :: text
    if (stat /= wanted_status .or. index(errmsg, text) == 0) then
      write (error_unit, '(a, i0, 4a)') 'told ', stat, ' "', trim(errmsg), '" instead of ', text
      error stop 2
    end if
    errmsg = 'unchanged'
  end subroutine expect

  subroutine check(what, is_so)
    character(len=*), intent(in) :: what
    logical, intent(in) :: is_so
    if (is_so) return
    write (error_unit, '(2a)') 'wrong: ', what
    error stop 2
  end subroutine check
end program mistakes
