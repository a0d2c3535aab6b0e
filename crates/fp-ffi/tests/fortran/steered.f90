! A simulation that says what is asked of it, until it is asked to stop; and somebody who asks.
program steered
  use flexpath
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  integer, parameter :: patience = 60000
  character(len=16) :: role

  call get_command_argument(1, role)
  if (role == 'ask') then
    call ask()
  else
    call simulate()
  end if
contains
  subroutine simulate()
    type(flexpath_options) :: options
    type(flexpath_publisher) :: publisher
    integer :: stat
    logical :: stops
    character(len=200) :: errmsg
    call flexpath_options_set(options, 'MinSubscribers', 1)
    call flexpath_options_set(options, 'PauseLimitSecs', '60')
    call flexpath_options_add_parameter(options, 'conductivity', flexpath_parameter_kind_real, 0.0_real64, 10.0_real64)
    call flexpath_options_add_parameter(options, 'level', flexpath_parameter_kind_integer, -3.0_real64, 3.0_real64)
    call flexpath_options_describe_parameter(options, 'level', 'of the tank, in m')
    call flexpath_options_add_parameter(options, 'melts', flexpath_parameter_kind_bool)
    call flexpath_options_add_parameter(options, 'title', flexpath_parameter_kind_text)
    call flexpath_options_add_parameter(options, 'stop', flexpath_parameter_kind_signal)
    call flexpath_options_add_parameter(options, 'speed', 6, stat=stat, errmsg=errmsg)
    call must(stat == flexpath_status_misuse .and. index(errmsg, 'no kind of parameter') > 0, errmsg)
    call flexpath_publisher_open(publisher, 'steered', options)
    call flexpath_options_free(options)
    stops = .false.
    do while (.not. stops)
      call flexpath_publisher_begin_step(publisher)
      call show_all(publisher)
      call flexpath_publisher_is_asked(publisher, 'stop', stops)
      call flexpath_publisher_end_step(publisher)
    end do
    call flexpath_publisher_close(publisher)
  end subroutine simulate

  subroutine show_all(publisher)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_request) :: asked
    integer :: requests, which
    call flexpath_publisher_request_count(publisher, requests)
    do which = 1, requests
      call flexpath_publisher_request_at(publisher, which, asked)
      call must(asked%by == 'asker', asked%by)
      select case (asked%kind)
      case (flexpath_attribute_kind_text); print '(3a)', asked%parameter, ' = ', asked%text
      case (flexpath_attribute_kind_real); print '(2a, f0.1)', asked%parameter, ' = ', asked%number
      case default; print '(2a, i0)', asked%parameter, ' = ', asked%integer
      end select
      if (asked%integer == 3) call flexpath_publisher_decline(publisher, which, 'that is too high')
    end do
  end subroutine show_all

  subroutine ask()
    type(flexpath_options) :: options
    type(flexpath_subscriber) :: asker
    integer :: stat
    integer(int64) :: first, second
    character(len=200) :: errmsg
    call flexpath_options_set(options, 'Name', 'asker')
    call flexpath_options_set(options, 'Variables', '')
    call flexpath_options_set(options, 'QueueFullPolicy', 'DropOldest')
    call flexpath_subscriber_open(asker, 'steered', options)
    call flexpath_options_free(options)
    call flexpath_subscriber_request(asker, 'conductivity', 2.5_real64, patience, step=first)
    call flexpath_subscriber_request(asker, 'level', -2, patience, step=second, urgent=.true.)
    call must(second > first, 'steps go on')
    call flexpath_subscriber_request(asker, 'melts', .true., patience)
    call flexpath_subscriber_request(asker, 'title', 'a warm day', patience)
    call flexpath_subscriber_request(asker, 'level', 3_int64, patience, stat=stat, errmsg=errmsg)
    call must(stat == flexpath_status_not_taken .and. index(errmsg, 'that is too high') > 0, errmsg)
    call flexpath_subscriber_request(asker, 'conductivity', 11.0_real64, patience, stat=stat, errmsg=errmsg)
    call must(stat == flexpath_status_not_taken .and. index(errmsg, 'from 0.0 to 10.0') > 0, errmsg)
    call flexpath_subscriber_request(asker, 'pause', 30, patience)
    call flexpath_subscriber_request(asker, 'resume', .true., patience)
    call flexpath_subscriber_request(asker, 'melts', .true., patience)
    call flexpath_subscriber_request(asker, 'stop', .true., patience)
    call flexpath_subscriber_close(asker)
    print '(a)', 'asked'
  end subroutine ask

  subroutine must(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    write (error_unit, '(2a)') 'not so: ', trim(what)
    error stop 1
  end subroutine must
end program steered
