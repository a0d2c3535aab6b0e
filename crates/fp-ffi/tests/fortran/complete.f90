! What simulations and analyses need beside puts and gets, in one process. Events, promises, attributes, dimensions,
! blocks and texts are tried. So are views, gets with a fill value, and other variables while the stream runs.
program complete
  use flexpath
  use, intrinsic :: iso_c_binding, only: c_f_pointer
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
  implicit none
  type(flexpath_publisher) :: publisher
  type(flexpath_subscriber) :: subscriber
  type(flexpath_variable) :: grid, title, mask
  type(flexpath_step) :: step
  integer :: status

  call define()
  call open_both()
  call publish(1.0_real64, 'first')
  call next()
  call read_attributes()
  call read_blocks()
  call read_elements()
  call read_as_others()
  call read_views()
  call break_a_promise()
  call take_less()
  call close_both()
  call go_on_counting()
  call take_some()
  call give_back()
  print '(a)', 'complete'
contains
  subroutine define()
    call flexpath_variable_global(grid, 'grid', flexpath_dtype_f64, [4, 6], unit='K')
    call flexpath_variable_set_dimensions(grid, [character(len=5) :: 'x', 'angle'])
    call flexpath_variable_set_attribute(grid, 'a.truth', .true.)
    call flexpath_variable_set_attribute(grid, 'b.whole', -7)
    call flexpath_variable_set_attribute(grid, 'c.real', 2.5_real64)
    call flexpath_variable_set_attribute(grid, 'd.text', 'kelvin')
    call flexpath_variable_set_attribute(grid, 'e.wholes', [1, 2, 3])
    call flexpath_variable_set_attribute(grid, 'f.large', [2_int64**40])
    call flexpath_variable_set_attribute(grid, 'g.reals', [0.5_real64, 0.25_real64])
    call flexpath_variable_set_attribute(grid, 'h.texts', [character(len=6) :: 'liquid', 'gas'])
    call flexpath_variable_scalar(title, 'title', flexpath_dtype_string)
    call flexpath_variable_global(mask, 'mask', flexpath_dtype_i32, [2])
  end subroutine define

  subroutine open_both()
    type(flexpath_options) :: options
    type(flexpath_event) :: event
    character(len=:), allocatable :: here, there
    integer :: subscriptions
    call flexpath_publisher_open(publisher, 'complete')
    call flexpath_publisher_wait_for_subscribers(publisher, 1, 0, status, subscriptions)
    call check('nobody is there yet', status == flexpath_status_not_yet .and. subscriptions == 0)
    call flexpath_options_set(options, 'Name', 'analysis')
    call flexpath_subscriber_open(subscriber, 'complete', options)
    call flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, status, subscriptions)
    call check('somebody is', status == flexpath_status_ok .and. subscriptions == 1)
    do
      call flexpath_publisher_next_event(publisher, event, 60000, status)
      call check('the member is told of', status == flexpath_status_ok)
      if (event%kind == flexpath_event_kind_member_joined) exit
    end do
    call check('by its name', index(event%text, 'analysis') > 0)
    call flexpath_subscriber_next_event(subscriber, event, 60000, status)
    call check('the first thing', status == flexpath_status_ok .and. event%kind == flexpath_event_kind_opened)
    call check('is about no rank', event%rank == -1 .and. len(event%text) > 0)
    call flexpath_publisher_epoch(publisher, here)
    call flexpath_subscriber_epoch(subscriber, there)
    call check('one epoch', here == there .and. len(here) > 8)
    call flexpath_publisher_contact(publisher, here)
    call check('a contact', len(here) > 0)
    call flexpath_options_free(options)
  end subroutine open_both

  ! The columns 1 and 2, and 5 and 6. Nobody puts what is between them.
  subroutine publish(scale, named)
    real(real64), intent(in) :: scale
    character(len=*), intent(in) :: named
    call flexpath_publisher_begin_step(publisher)
    call flexpath_publisher_promise(publisher, [character(len=5) :: 'grid', 'title'])
    call flexpath_put(publisher, grid, scale * columns(1), start=[1, 1])
    call flexpath_put(publisher, grid, scale * columns(5), start=[1, 5])
    call flexpath_put(publisher, mask, [3, 4])
    call flexpath_put_text(publisher, title, named)
    call flexpath_publisher_end_step(publisher)
  end subroutine publish

  function columns(first) result(values)
    integer, intent(in) :: first
    real(real64) :: values(4, 2)
    integer :: i, j
    values = reshape([((real(10 * j + i, real64), i = 1, 4), j = first, first + 1)], [4, 2])
  end function columns

  subroutine next()
    call flexpath_subscriber_next_step(subscriber, step, 60000, status)
    call check('a step', status == flexpath_status_ok)
  end subroutine next

  ! Numbers of another kind than the publisher's, where that is asked for.
  subroutine read_as_others()
    real(real32) :: column(4), value
    integer(int64) :: pair(2)
    integer :: stat
    character(len=200) :: errmsg
    call flexpath_get(step, 'grid', column, start=[1, 2], count=[4, 1], stat=stat, errmsg=errmsg)
    call check('no other kind unasked', stat == flexpath_status_wrong_dtype)
    call check('both are named', index(errmsg, 'elements are f64, not f32') > 0)
    call flexpath_get(step, 'grid', column, start=[1, 2], count=[4, 1], conversion=flexpath_conversion_any)
    call check('a column of the other kind', all(nint(column) == [21, 22, 23, 24]))
    call flexpath_get(step, 'grid', value, selection=flexpath_points(reshape([3, 5], [2, 1])), &
        conversion=flexpath_conversion_any)
    call check('a point of the other kind', nint(value) == 53)
    call flexpath_get(step, 'mask', pair, conversion=flexpath_conversion_exact)
    call check('larger integers', all(pair == [3, 4]))
    call flexpath_get(step, 'grid', column, start=[1, 2], count=[4, 1], conversion=flexpath_conversion_exact, &
        stat=stat, errmsg=errmsg)
    call check('only what holds all', stat == flexpath_status_wrong_dtype .and. index(errmsg, 'f32 does not hold') > 0)
  end subroutine read_as_others

  subroutine read_attributes()
    type(flexpath_attribute) :: found
    character(len=:), allocatable :: text
    character(len=80) :: said
    integer :: attributes, at
    call flexpath_step_attribute_count(step, 'grid', attributes)
    call check('eight attributes', attributes == 8)
    do at = 1, attributes
      call flexpath_step_attribute_at(step, 'grid', at, found)
      call check('by name', found%name(1:1) == achar(iachar('a') + at - 1))
      call check('lists', found%is_list .eqv. at > 4)
    end do
    call check('texts', all(found%texts == [character(len=6) :: 'liquid', 'gas']) .and. .not. allocated(found%reals))
    call flexpath_step_attribute(step, 'grid', 'a.truth', found)
    call check('a truth', found%kind == flexpath_attribute_kind_bool .and. all(found%truths))
    call flexpath_step_attribute(step, 'grid', 'b.whole', found)
    call check('a whole', found%kind == flexpath_attribute_kind_integer .and. all(found%integers == [-7]))
    call flexpath_step_attribute(step, 'grid', 'd.text', found)
    call check('a text', found%kind == flexpath_attribute_kind_text .and. found%texts(1) == 'kelvin')
    call flexpath_step_attribute(step, 'grid', 'e.wholes', found)
    call check('wholes', all(found%integers == [1, 2, 3]))
    call flexpath_step_attribute(step, 'grid', 'f.large', found)
    call check('a large one', all(found%integers == [2_int64**40]))
    call flexpath_step_attribute(step, 'grid', 'g.reals', found)
    call check('reals', size(found%reals) == 2 .and. nint(4 * sum(found%reals)) == 3)
    call flexpath_step_attribute(step, 'grid', 'nothing', found, stat=status, errmsg=said)
    call check('an unknown one', status < 0 .and. index(said, 'nothing') > 0)
    call flexpath_step_dimension(step, 'grid', 2, text)
    call check('a dimension', text == 'angle')
    call flexpath_step_dimension(step, 'mask', 1, text)
    call check('one without a name', text == '')
    call flexpath_step_dimension(step, 'grid', 3, text, stat=status)
    call check('one too many', status < 0 .and. text == '')
    call flexpath_step_text(step, 'title', text)
    call check('a title', text == 'first')
  end subroutine read_attributes

  subroutine read_blocks()
    type(flexpath_block_info), allocatable :: blocks(:)
    real(real64) :: block(4, 2)
    integer :: at
    call flexpath_step_blocks(step, 'grid', blocks)
    call check('two blocks', size(blocks) == 2)
    do at = 1, 2
      call check('in order', blocks(at)%rank == 0 .and. blocks(at)%block == at)
      call check('where they are', all(blocks(at)%start == [1, 4 * at - 3]) .and. all(blocks(at)%count == [4, 2]))
      call flexpath_get(step, 'grid', block, selection=flexpath_block(blocks(at)%rank, blocks(at)%block))
      call check('what they are', all(nint(block) == nint(columns(4 * at - 3))))
    end do
    call flexpath_step_blocks(step, 'nothing', blocks, stat=status)
    call check('none of an unknown one', status < 0 .and. size(blocks) == 0)
  end subroutine read_blocks

  subroutine read_elements()
    real(real64), allocatable :: values(:, :)
    integer(int64), allocatable :: extents(:)
    character(len=:), allocatable :: text
    call flexpath_step_selected_shape(step, 'grid', extents, flexpath_region([1, 1], [4, 6], [2, 3]))
    call check('of a stride', all(extents == [2, 2]))
    call flexpath_step_selected_shape(step, 'grid', extents)
    call check('of everything', all(extents == [4, 6]))
    allocate (values(extents(1), extents(2)))
    call flexpath_get(step, 'grid', values, stat=status)
    call check('nobody put all of it', status < 0)
    call flexpath_get(step, 'grid', values, fill=-1.0_real64)
    call check('filled', all(nint(values(:, 3:4)) == -1))
    call check('and the rest', all(nint(values(:, 5:6)) == nint(columns(5))))
    call flexpath_subscriber_transports(subscriber, text)
    call check('a link', len(text) > 0)
  end subroutine read_elements

  subroutine read_views()
    type(flexpath_view) :: view
    real(real64), pointer :: values(:, :)
    logical :: is_zero_copy
    call flexpath_step_view(step, 'grid', view, flexpath_dtype_f64, flexpath_region([1, 5], [4, 2]))
    call flexpath_view_is_zero_copy(view, is_zero_copy)
    call check('nothing was copied', is_zero_copy .and. view%len == 8)
    call c_f_pointer(view%elements, values, [4, 2])
    call check('seen', all(nint(values) == nint(columns(5))))
    call flexpath_step_view(step, 'grid', view, flexpath_dtype_f64, stat=status)
    call check('it is held', status == flexpath_status_misuse)
    call flexpath_view_release(view)
    call flexpath_view_release(view, stat=status)
    call check('once', status < 0)
    call flexpath_step_view(step, 'mask', view, flexpath_dtype_f64, stat=status)
    call check('another type', status == flexpath_status_wrong_dtype)
    call flexpath_step_release(step)
  end subroutine read_views

  subroutine break_a_promise()
    character(len=120) :: said
    call flexpath_publisher_begin_step(publisher)
    call flexpath_publisher_promise(publisher, ['grid'])
    call flexpath_put(publisher, mask, [5, 6])
    call flexpath_publisher_end_step(publisher, stat=status, errmsg=said)
    call check('a promise is kept', status < 0 .and. index(said, 'grid') > 0)
  end subroutine break_a_promise

  subroutine take_less()
    type(flexpath_event) :: event
    integer :: values(2)
    integer(int64) :: waited
    call flexpath_subscriber_select_variables(subscriber, ['mask'])
    do
      call flexpath_subscriber_next_event(subscriber, event, 60000, status)
      call check('the change is told of', status == flexpath_status_ok)
      if (event%kind == flexpath_event_kind_reselected) exit
    end do
    call publish(2.0_real64, 'second')
    call next()
    call flexpath_get(step, 'mask', values)
    call check('the mask', all(values == [3, 4]))
    call flexpath_get(step, 'grid', values, stat=status)
    call check('nothing else', status < 0)
    call flexpath_publisher_sync(publisher, 0, stat=status)
    call check('the step is held', status == flexpath_status_timed_out)
    call flexpath_step_release(step)
    call flexpath_publisher_sync(publisher, 60000)
    call flexpath_publisher_statistic(publisher, 'sync_ns', waited)
    call check('the wait is counted', waited > 0)
  end subroutine take_less

  subroutine close_both()
    type(flexpath_event) :: event
    integer :: outcome
    call flexpath_subscriber_close(subscriber)
    call flexpath_publisher_close(publisher)
    call flexpath_publisher_next_event(publisher, event, 0, outcome, stat=status)
    call check('it is closed', status == flexpath_status_bad_handle)
    call flexpath_variable_free(grid)
    call flexpath_variable_free(title)
    call flexpath_variable_free(mask)
  end subroutine close_both

  ! Steps from 40 on, and a subscriber that has step 37 and those before it. The reserve has 41.
  subroutine go_on_counting()
    type(flexpath_options) :: options, reader
    type(flexpath_step_info) :: info
    integer(int64) :: number
    call flexpath_options_set(options, 'FirstStep', '40')
    call flexpath_options_set(options, 'ReserveQueueLimit', '1')
    call flexpath_options_set(reader, 'StartAt', 'After:37')
    call flexpath_publisher_open(publisher, 'numbers', options)
    call flexpath_variable_global(mask, 'mask', flexpath_dtype_i32, [2])
    do
      call flexpath_publisher_begin_step(publisher, number)
      call flexpath_put(publisher, mask, [5, 6])
      call flexpath_publisher_end_step(publisher)
      if (number == 41) exit
    end do
    call flexpath_subscriber_open(subscriber, 'numbers', reader)
    call next()
    call flexpath_step_describe(step, info)
    call check('38 to 40 are gone', info%step == 41 .and. info%skipped == 3)
    call flexpath_step_release(step)
    call flexpath_subscriber_close(subscriber)
    call flexpath_publisher_close(publisher)
    call flexpath_variable_free(mask)
    call flexpath_options_free(reader)
    call flexpath_options_free(options)
  end subroutine go_on_counting

  ! The mask is in every other step: whoever wants it takes steps 0 and 2, and hears of no other.
  ! A member of a work-sharing set gives a step back and gets it again. What it only releases, it did not do.
  subroutine give_back()
    type(flexpath_publisher) :: from
    type(flexpath_subscriber) :: worker
    type(flexpath_options) :: options
    type(flexpath_variable) :: field
    type(flexpath_step_info) :: info
    integer :: turn
    call flexpath_variable_scalar(field, 'field', flexpath_dtype_i32)
    call flexpath_publisher_open(from, 'given')
    call flexpath_options_set(options, 'ShareSet', 'workers')
    call flexpath_options_set(options, 'ShareRedeliver', 'true')
    call flexpath_options_set(options, 'ShareExplicitDone', 'true')
    call flexpath_subscriber_open(worker, 'given', options)
    call flexpath_publisher_begin_step(from)
    call flexpath_put(from, field, 7)
    call flexpath_publisher_end_step(from)
    do turn = 1, 3
      call flexpath_subscriber_next_step(worker, step, 60000, status)
      call flexpath_step_describe(step, info)
      call check('the same step', info%step == 0 .and. (info%is_redelivered .eqv. turn > 1))
      if (turn == 1) call flexpath_step_give_back(step)
      if (turn == 2) call flexpath_step_release(step)
      if (turn == 3) call flexpath_step_done(step)
    end do
    call flexpath_step_done(step, stat=status)
    call check('it is released', status == flexpath_status_bad_handle)
    call flexpath_publisher_sync(from, 60000)
    call flexpath_subscriber_close(worker)
    call flexpath_publisher_close(from)
    call flexpath_variable_free(field)
    call flexpath_options_free(options)
  end subroutine give_back

  subroutine take_some()
    type(flexpath_options) :: reader
    type(flexpath_step_info) :: info
    integer(int64) :: number
    call flexpath_options_set(reader, 'Condition', 'has(mask)')
    call flexpath_publisher_open(publisher, 'conditions')
    call flexpath_subscriber_open(subscriber, 'conditions', reader)
    call flexpath_variable_global(mask, 'mask', flexpath_dtype_i32, [2])
    call flexpath_variable_global(grid, 'grid', flexpath_dtype_i32, [2])
    do
      call flexpath_publisher_begin_step(publisher, number)
      call flexpath_put(publisher, grid, [1, 2])
      if (mod(number, 2_int64) == 0) call flexpath_put(publisher, mask, [5, 6])
      call flexpath_publisher_end_step(publisher)
      if (mod(number, 2_int64) == 0) then
        call next()
        call flexpath_step_describe(step, info)
        call check('steps with the mask alone', info%step == number .and. info%skipped == 0)
        call flexpath_step_release(step)
      end if
      if (number == 3) exit
    end do
    call flexpath_subscriber_first_step(subscriber, number)
    call check('a subscription holds from a step that is told', number == 0)
    call flexpath_subscriber_set_condition(subscriber, 'has(grid)', 60000, first=number)
    call check('another condition holds from the next step on', number == 4)
    call flexpath_publisher_begin_step(publisher, number)
    call flexpath_put(publisher, grid, [1, 2])
    call flexpath_publisher_end_step(publisher)
    call next()
    call flexpath_step_describe(step, info)
    call check('a step with the grid', info%step == 4 .and. info%skipped == 0)
    call flexpath_step_release(step)
    call flexpath_subscriber_close(subscriber)
    call flexpath_publisher_close(publisher)
    call flexpath_variable_free(mask)
    call flexpath_variable_free(grid)
    call flexpath_options_free(reader)
  end subroutine take_some

  subroutine check(what, holds)
    character(len=*), intent(in) :: what
    logical, intent(in) :: holds
    if (holds) return
    write (error_unit, '(3a, i0, 2a)') 'complete: ', what, ': does not hold; status ', status, ', ', flexpath_last_error()
    error stop 1
  end subroutine check
end program complete
