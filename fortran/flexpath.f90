! Flexpath for Fortran: the modules flexpath_c and flexpath. docs/fortran.md tells how they are used.
! Made by scripts/generate-fortran.sh of fortran/parts: not to be edited by hand.

! What include/flexpath.h declares, word for word. Programs use the module flexpath.
module flexpath_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int32_t, c_int64_t, c_ptr, c_size_t
  implicit none
  public

  ! flexpath_status
  integer, parameter :: flexpath_status_ok = 0, flexpath_status_not_yet = 1, flexpath_status_end_of_stream = 2
  integer, parameter :: flexpath_status_misuse = -1, flexpath_status_bad_handle = -2
  integer, parameter :: flexpath_status_bad_pointer = -3, flexpath_status_bad_option = -4
  integer, parameter :: flexpath_status_wrong_dtype = -5, flexpath_status_unknown_variable = -6
  integer, parameter :: flexpath_status_wrong_len = -7, flexpath_status_timed_out = -8
  integer, parameter :: flexpath_status_lost = -9, flexpath_status_not_opened = -10
  integer, parameter :: flexpath_status_system = -11, flexpath_status_peer_misbehaved = -12
  integer, parameter :: flexpath_status_forked = -13, flexpath_status_not_clean = -14
  integer, parameter :: flexpath_status_internal = -15, flexpath_status_not_derived = -16
  integer, parameter :: flexpath_status_incompatible = -17, flexpath_status_denied = -18
  integer, parameter :: flexpath_status_not_taken = -19

  ! flexpath_dtype; the last three are Fortran's words
  integer, parameter :: flexpath_dtype_i8 = 1, flexpath_dtype_i16 = 2, flexpath_dtype_i32 = 3, flexpath_dtype_i64 = 4
  integer, parameter :: flexpath_dtype_u8 = 5, flexpath_dtype_u16 = 6, flexpath_dtype_u32 = 7, flexpath_dtype_u64 = 8
  integer, parameter :: flexpath_dtype_f16 = 9, flexpath_dtype_bf16 = 10
  integer, parameter :: flexpath_dtype_f32 = 11, flexpath_dtype_f64 = 12
  integer, parameter :: flexpath_dtype_c32 = 13, flexpath_dtype_c64 = 14, flexpath_dtype_bool = 15
  integer, parameter :: flexpath_dtype_string = 16, flexpath_dtype_bytes = 17
  integer, parameter :: flexpath_dtype_logical = flexpath_dtype_u8, flexpath_dtype_character = flexpath_dtype_u8

  ! flexpath_kind
  integer, parameter :: flexpath_kind_scalar = 0, flexpath_kind_local_scalar = 1, flexpath_kind_global_array = 2
  integer, parameter :: flexpath_kind_local_array = 3, flexpath_kind_joined_array = 4

  ! flexpath_placement: on which side a variable is derived
  integer, parameter :: flexpath_placement_publisher = 0, flexpath_placement_subscriber = 1
  integer, parameter :: flexpath_placement_fewer_bytes = 2

  ! flexpath_extent and flexpath_value_kind: of records
  integer, parameter :: flexpath_extent_one = 0, flexpath_extent_fixed = 1, flexpath_extent_list = 2
  integer, parameter :: flexpath_value_kind_absent = 0, flexpath_value_kind_number = 1, flexpath_value_kind_text = 2
  integer, parameter :: flexpath_value_kind_bytes = 3, flexpath_value_kind_name = 4, flexpath_value_kind_record = 5
  integer, parameter :: flexpath_value_kind_array = 6

  ! flexpath_order
  integer, parameter :: flexpath_order_row_major = 0, flexpath_order_column_major = 1
  integer, parameter :: flexpath_conversion_none = 0, flexpath_conversion_exact = 1, flexpath_conversion_any = 2

  ! flexpath_selected
  integer, parameter :: flexpath_selected_all = 0, flexpath_selected_region = 1, flexpath_selected_strided = 2
  integer, parameter :: flexpath_selected_points = 3, flexpath_selected_block = 4, flexpath_selected_rank = 5

  ! flexpath_end
  integer, parameter :: flexpath_end_not_ended = 0, flexpath_end_closed = 1, flexpath_end_lost = 2
  integer, parameter :: flexpath_end_expelled = 3, flexpath_end_left = 4, flexpath_end_cohort_lost = 5
  integer, parameter :: flexpath_end_denied = 6

  ! flexpath_event_kind
  integer, parameter :: flexpath_event_kind_other = 0, flexpath_event_kind_opened = 1
  integer, parameter :: flexpath_event_kind_subscription_started = 2, flexpath_event_kind_member_joined = 3
  integer, parameter :: flexpath_event_kind_member_left = 4, flexpath_event_kind_subscription_ended = 5
  integer, parameter :: flexpath_event_kind_step_dropped = 6, flexpath_event_kind_step_rejected = 7
  integer, parameter :: flexpath_event_kind_rank_lagging = 8, flexpath_event_kind_rank_lost = 9
  integer, parameter :: flexpath_event_kind_reselected = 10, flexpath_event_kind_awaiting_restart = 11
  integer, parameter :: flexpath_event_kind_restarted = 12, flexpath_event_kind_ended = 13
  integer, parameter :: flexpath_event_kind_closed = 14, flexpath_event_kind_denied = 15

  ! flexpath_parameter_kind
  integer, parameter :: flexpath_parameter_kind_real = 1, flexpath_parameter_kind_integer = 2
  integer, parameter :: flexpath_parameter_kind_bool = 3, flexpath_parameter_kind_text = 4
  integer, parameter :: flexpath_parameter_kind_signal = 5

  ! flexpath_attribute_kind
  integer, parameter :: flexpath_attribute_kind_bool = 1, flexpath_attribute_kind_integer = 2
  integer, parameter :: flexpath_attribute_kind_unsigned = 3, flexpath_attribute_kind_real = 4
  integer, parameter :: flexpath_attribute_kind_text = 5, flexpath_attribute_kind_bytes = 6

  type, bind(C) :: c_selection
    integer(c_int32_t) :: kind, ndims
    type(c_ptr) :: start, count, stride, points
    integer(c_int64_t) :: point_count
    integer(c_int32_t) :: rank, block, order, conversion
  end type c_selection

  type, bind(C) :: c_step_info
    integer(c_int64_t) :: step, skipped, len_bytes
    integer(c_int32_t) :: queued_steps, is_redelivered
  end type c_step_info

  type, bind(C) :: c_variable_info
    type(c_ptr) :: name, unit, description
    integer(c_int32_t) :: dtype, kind, order, ndims
    integer(c_int64_t) :: shape(8)
  end type c_variable_info

  type, bind(C) :: c_measured
    type(c_ptr) :: measure
    real(c_double) :: number
    integer(c_int32_t) :: is_there, ndims
    integer(c_int64_t) :: place(8)
    real(c_double) :: upper
  end type c_measured

  type, bind(C) :: c_request
    type(c_ptr) :: parameter, by, text
    real(c_double) :: number
    integer(c_int64_t) :: integer
    integer(c_int32_t) :: kind
  end type c_request

  type, bind(C) :: c_event
    integer(c_int32_t) :: kind, rank
    integer(c_int64_t) :: step
    type(c_ptr) :: text
  end type c_event

  type, bind(C) :: c_attribute
    type(c_ptr) :: name, values
    integer(c_int64_t) :: count
    integer(c_int32_t) :: kind, is_list
  end type c_attribute

  type, bind(C) :: c_block
    integer(c_int32_t) :: rank, block, ndims, reserved
    integer(c_int64_t) :: start(8), count(8)
  end type c_block

  type, bind(C) :: c_get
    type(c_ptr) :: variable, selection, destination
    integer(c_int64_t) :: len
    integer(c_int32_t) :: dtype
  end type c_get

  type, bind(C) :: c_value
    integer(c_int32_t) :: kind, dtype
    integer(c_int64_t) :: count
  end type c_value

  type, bind(C) :: c_provided
    type(c_ptr) :: variable, differences
    integer(c_int32_t) :: is_converted
  end type c_provided

  type, bind(C) :: c_found
    type(c_ptr) :: stream, contact, variable, differences
    integer(c_int32_t) :: variable_count, is_converted
  end type c_found

  interface
    integer(c_int32_t) function c_options_create(options) &
        bind(C, name='flexpath_options_create')
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(out) :: options
    end function c_options_create

    integer(c_int32_t) function c_options_set(options, name, text) &
        bind(C, name='flexpath_options_set')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: text(*)
    end function c_options_set

    integer(c_int32_t) function c_options_set_cohort(options, rank, size) &
        bind(C, name='flexpath_options_set_cohort')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: options
      integer(c_int32_t), value :: rank
      integer(c_int32_t), value :: size
    end function c_options_set_cohort

    integer(c_int32_t) function c_options_set_cohort_from_environment(options) &
        bind(C, name='flexpath_options_set_cohort_from_environment')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: options
    end function c_options_set_cohort_from_environment

    integer(c_int32_t) function c_options_add_selection(options, variable, selection) &
        bind(C, name='flexpath_options_add_selection')
      import :: c_char, c_int32_t, c_ptr, c_selection
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: variable(*)
      type(c_selection), intent(in) :: selection
    end function c_options_add_selection

    integer(c_int32_t) function c_options_add_derivation(options, name, derivation, placement) &
        bind(C, name='flexpath_options_add_derivation')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*), derivation(*)
      integer(c_int32_t), value :: placement
    end function c_options_add_derivation

    integer(c_int32_t) function c_options_free(options) &
        bind(C, name='flexpath_options_free')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: options
    end function c_options_free

    integer(c_int32_t) function c_publisher_open(stream, options, publisher) &
        bind(C, name='flexpath_publisher_open')
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: stream(*)
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: publisher
    end function c_publisher_open

    integer(c_int32_t) function c_publisher_begin_step(publisher, step) &
        bind(C, name='flexpath_publisher_begin_step')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      integer(c_int64_t), intent(out) :: step
    end function c_publisher_begin_step

    integer(c_int32_t) function c_publisher_end_step(publisher) &
        bind(C, name='flexpath_publisher_end_step')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: publisher
    end function c_publisher_end_step

    integer(c_int32_t) function c_publisher_abandon_step(publisher) &
        bind(C, name='flexpath_publisher_abandon_step')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: publisher
    end function c_publisher_abandon_step

    integer(c_int32_t) function c_options_add_parameter(options, name, kind, least, greatest) &
        bind(C, name='flexpath_options_add_parameter')
      import :: c_char, c_double, c_int32_t, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: kind
      real(c_double), value :: least, greatest
    end function c_options_add_parameter

    integer(c_int32_t) function c_options_describe_parameter(options, name, description) &
        bind(C, name='flexpath_options_describe_parameter')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*), description(*)
    end function c_options_describe_parameter

    integer(c_int32_t) function c_publisher_request_count(publisher, count) &
        bind(C, name='flexpath_publisher_request_count')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      integer(c_int64_t), intent(out) :: count
    end function c_publisher_request_count

    integer(c_int32_t) function c_publisher_request_at(publisher, index, request) &
        bind(C, name='flexpath_publisher_request_at')
      import :: c_int32_t, c_int64_t, c_ptr, c_request
      type(c_ptr), value :: publisher
      integer(c_int64_t), value :: index
      type(c_request), intent(out) :: request
    end function c_publisher_request_at

    integer(c_int32_t) function c_publisher_is_asked(publisher, parameter, asked) &
        bind(C, name='flexpath_publisher_is_asked')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: publisher
      character(kind=c_char), intent(in) :: parameter(*)
      integer(c_int32_t), intent(out) :: asked
    end function c_publisher_is_asked

    integer(c_int32_t) function c_publisher_decline(publisher, index, reason) &
        bind(C, name='flexpath_publisher_decline')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(in) :: reason(*)
    end function c_publisher_decline

    integer(c_int32_t) function c_subscriber_request(subscriber, parameter, kind, value, urgent, timeout_ms, step) &
        bind(C, name='flexpath_subscriber_request')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: subscriber
      character(kind=c_char), intent(in) :: parameter(*)
      integer(c_int32_t), value :: kind
      type(c_ptr), value :: value
      integer(c_int32_t), value :: urgent
      integer(c_int64_t), value :: timeout_ms
      integer(c_int64_t), intent(out) :: step
    end function c_subscriber_request

    integer(c_int32_t) function c_publisher_is_wanted(publisher, variable, wanted) &
        bind(C, name='flexpath_publisher_is_wanted')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: publisher
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int32_t), intent(out) :: wanted
    end function c_publisher_is_wanted

    integer(c_int32_t) function c_publisher_has_subscribers(publisher, present) &
        bind(C, name='flexpath_publisher_has_subscribers')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: publisher
      integer(c_int32_t), intent(out) :: present
    end function c_publisher_has_subscribers

    integer(c_int32_t) function c_publisher_statistic(publisher, name, counted) &
        bind(C, name='flexpath_publisher_statistic')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: counted
    end function c_publisher_statistic

    integer(c_int32_t) function c_publisher_sync(publisher, timeout_ms) &
        bind(C, name='flexpath_publisher_sync')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      integer(c_int64_t), value :: timeout_ms
    end function c_publisher_sync

    integer(c_int32_t) function c_publisher_close(publisher) &
        bind(C, name='flexpath_publisher_close')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: publisher
    end function c_publisher_close

    integer(c_int32_t) function c_publisher_put(publisher, variable, start, count, elements) &
        bind(C, name='flexpath_publisher_put')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      type(c_ptr), value :: variable
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int64_t), intent(in) :: count(*)
      type(c_ptr), value :: elements
    end function c_publisher_put

    integer(c_int32_t) function c_publisher_loan(publisher, variable, start, count, loan, memory) &
        bind(C, name='flexpath_publisher_loan')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      type(c_ptr), value :: variable
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int64_t), intent(in) :: count(*)
      type(c_ptr), intent(out) :: loan
      type(c_ptr), intent(out) :: memory
    end function c_publisher_loan

    integer(c_int32_t) function c_publisher_put_loan(publisher, loan) &
        bind(C, name='flexpath_publisher_put_loan')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: publisher
      type(c_ptr), value :: loan
    end function c_publisher_put_loan

    integer(c_int32_t) function c_step_describe(step, info) &
        bind(C, name='flexpath_step_describe')
      import :: c_int32_t, c_ptr, c_step_info
      type(c_ptr), value :: step
      type(c_step_info), intent(out) :: info
    end function c_step_describe

    integer(c_int32_t) function c_step_variable_count(step, count) &
        bind(C, name='flexpath_step_variable_count')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: step
      integer(c_int64_t), intent(out) :: count
    end function c_step_variable_count

    integer(c_int32_t) function c_step_variable_at(step, index, info) &
        bind(C, name='flexpath_step_variable_at')
      import :: c_int32_t, c_int64_t, c_ptr, c_variable_info
      type(c_ptr), value :: step
      integer(c_int64_t), value :: index
      type(c_variable_info), intent(out) :: info
    end function c_step_variable_at

    integer(c_int32_t) function c_step_variable(step, name, info) &
        bind(C, name='flexpath_step_variable')
      import :: c_char, c_int32_t, c_ptr, c_variable_info
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: name(*)
      type(c_variable_info), intent(out) :: info
    end function c_step_variable

    integer(c_int32_t) function c_step_get(step, variable, selection, dtype, destination, len, timeout_ms) &
        bind(C, name='flexpath_step_get')
      import :: c_char, c_int32_t, c_int64_t, c_ptr, c_selection
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      type(c_selection), intent(in) :: selection
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: destination
      integer(c_int64_t), value :: len
      integer(c_int64_t), value :: timeout_ms
    end function c_step_get

    integer(c_int32_t) function c_step_release(step) &
        bind(C, name='flexpath_step_release')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: step
    end function c_step_release

    integer(c_int32_t) function c_step_done(step) &
        bind(C, name='flexpath_step_done')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: step
    end function c_step_done

    integer(c_int32_t) function c_step_give_back(step) &
        bind(C, name='flexpath_step_give_back')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: step
    end function c_step_give_back

    integer(c_int32_t) function c_subscriber_open(stream, options, subscriber) &
        bind(C, name='flexpath_subscriber_open')
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: stream(*)
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: subscriber
    end function c_subscriber_open

    integer(c_int32_t) function c_subscriber_next_step(subscriber, timeout_ms, step) &
        bind(C, name='flexpath_subscriber_next_step')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: subscriber
      integer(c_int64_t), value :: timeout_ms
      type(c_ptr), intent(out) :: step
    end function c_subscriber_next_step

    integer(c_int32_t) function c_subscriber_end(subscriber, end_code) &
        bind(C, name='flexpath_subscriber_end')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: subscriber
      integer(c_int32_t), intent(out) :: end_code
    end function c_subscriber_end

    integer(c_int32_t) function c_subscriber_statistic(subscriber, name, counted) &
        bind(C, name='flexpath_subscriber_statistic')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: subscriber
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: counted
    end function c_subscriber_statistic

    integer(c_int32_t) function c_subscriber_close(subscriber) &
        bind(C, name='flexpath_subscriber_close')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: subscriber
    end function c_subscriber_close

    integer(c_int32_t) function c_variable_scalar(name, dtype, variable) &
        bind(C, name='flexpath_variable_scalar')
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: dtype
      type(c_ptr), intent(out) :: variable
    end function c_variable_scalar

    integer(c_int32_t) function c_variable_local_scalar(name, dtype, variable) &
        bind(C, name='flexpath_variable_local_scalar')
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: dtype
      type(c_ptr), intent(out) :: variable
    end function c_variable_local_scalar

    integer(c_int32_t) function c_variable_global(name, dtype, ndims, shape, variable) &
        bind(C, name='flexpath_variable_global')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: ndims
      integer(c_int64_t), intent(in) :: shape(*)
      type(c_ptr), intent(out) :: variable
    end function c_variable_global

    integer(c_int32_t) function c_variable_local(name, dtype, ndims, variable) &
        bind(C, name='flexpath_variable_local')
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: ndims
      type(c_ptr), intent(out) :: variable
    end function c_variable_local

    integer(c_int32_t) function c_variable_joined(name, dtype, row_ndims, row, variable) &
        bind(C, name='flexpath_variable_joined')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: row_ndims
      integer(c_int64_t), intent(in) :: row(*)
      type(c_ptr), intent(out) :: variable
    end function c_variable_joined

    integer(c_int32_t) function c_variable_set_order(variable, order) &
        bind(C, name='flexpath_variable_set_order')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: variable
      integer(c_int32_t), value :: order
    end function c_variable_set_order

    integer(c_int32_t) function c_variable_set_unit(variable, unit) &
        bind(C, name='flexpath_variable_set_unit')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: unit(*)
    end function c_variable_set_unit

    integer(c_int32_t) function c_variable_set_description(variable, description) &
        bind(C, name='flexpath_variable_set_description')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: description(*)
    end function c_variable_set_description

    integer(c_int32_t) function c_variable_set_attribute_text(variable, name, text) &
        bind(C, name='flexpath_variable_set_attribute_text')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: text(*)
    end function c_variable_set_attribute_text

    integer(c_int32_t) function c_variable_set_attribute_real(variable, name, number) &
        bind(C, name='flexpath_variable_set_attribute_real')
      import :: c_double, c_char, c_int32_t, c_ptr
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: number
    end function c_variable_set_attribute_real

    integer(c_int32_t) function c_variable_set_attribute_integer(variable, name, number) &
        bind(C, name='flexpath_variable_set_attribute_integer')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: number
    end function c_variable_set_attribute_integer

    integer(c_int32_t) function c_variable_free(variable) &
        bind(C, name='flexpath_variable_free')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: variable
    end function c_variable_free

    integer(c_int32_t) function c_publisher_wait_for_subscribers(publisher, count, timeout_ms, present) &
        bind(C, name='flexpath_publisher_wait_for_subscribers')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      integer(c_int32_t), value :: count
      integer(c_int64_t), value :: timeout_ms
      integer(c_int32_t), intent(out) :: present
    end function c_publisher_wait_for_subscribers

    integer(c_int32_t) function c_publisher_promise(publisher, variables, count) &
        bind(C, name='flexpath_publisher_promise')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      type(c_ptr), intent(in) :: variables(*)
      integer(c_int64_t), value :: count
    end function c_publisher_promise

    integer(c_int32_t) function c_publisher_put_text(publisher, variable, text) &
        bind(C, name='flexpath_publisher_put_text')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: publisher
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: text(*)
    end function c_publisher_put_text

    integer(c_int32_t) function c_publisher_contact(publisher, text) &
        bind(C, name='flexpath_publisher_contact')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: publisher
      type(c_ptr), intent(out) :: text
    end function c_publisher_contact

    integer(c_int32_t) function c_publisher_epoch(publisher, text) &
        bind(C, name='flexpath_publisher_epoch')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: publisher
      type(c_ptr), intent(out) :: text
    end function c_publisher_epoch

    integer(c_int32_t) function c_publisher_transports(publisher, text) &
        bind(C, name='flexpath_publisher_transports')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: publisher
      type(c_ptr), intent(out) :: text
    end function c_publisher_transports

    integer(c_int32_t) function c_publisher_next_event(publisher, timeout_ms, event) &
        bind(C, name='flexpath_publisher_next_event')
      import :: c_event, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      integer(c_int64_t), value :: timeout_ms
      type(c_event), intent(out) :: event
    end function c_publisher_next_event

    integer(c_int32_t) function c_subscriber_next_event(subscriber, timeout_ms, event) &
        bind(C, name='flexpath_subscriber_next_event')
      import :: c_event, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: subscriber
      integer(c_int64_t), value :: timeout_ms
      type(c_event), intent(out) :: event
    end function c_subscriber_next_event

    integer(c_int32_t) function c_subscriber_set_condition(subscriber, condition, timeout_ms, first) &
        bind(C, name='flexpath_subscriber_set_condition')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: subscriber
      character(kind=c_char), intent(in) :: condition(*)
      integer(c_int64_t), value :: timeout_ms
      integer(c_int64_t), intent(out) :: first
    end function c_subscriber_set_condition

    integer(c_int32_t) function c_subscriber_first_step(subscriber, step) bind(C, name='flexpath_subscriber_first_step')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: subscriber
      integer(c_int64_t), intent(out) :: step
    end function c_subscriber_first_step

    integer(c_int32_t) function c_subscriber_select_variables(subscriber, variables, count) &
        bind(C, name='flexpath_subscriber_select_variables')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: subscriber
      type(c_ptr), intent(in) :: variables(*)
      integer(c_int64_t), value :: count
    end function c_subscriber_select_variables

    integer(c_int32_t) function c_subscriber_epoch(subscriber, text) &
        bind(C, name='flexpath_subscriber_epoch')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: subscriber
      type(c_ptr), intent(out) :: text
    end function c_subscriber_epoch

    integer(c_int32_t) function c_subscriber_transports(subscriber, text) &
        bind(C, name='flexpath_subscriber_transports')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: subscriber
      type(c_ptr), intent(out) :: text
    end function c_subscriber_transports

    integer(c_int32_t) function c_step_attribute_count(step, variable, count) &
        bind(C, name='flexpath_step_attribute_count')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), intent(out) :: count
    end function c_step_attribute_count

    integer(c_int32_t) function c_step_attribute_at(step, variable, index, attribute) &
        bind(C, name='flexpath_step_attribute_at')
      import :: c_attribute, c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: index
      type(c_attribute), intent(out) :: attribute
    end function c_step_attribute_at

    integer(c_int32_t) function c_step_attribute(step, variable, name, attribute) &
        bind(C, name='flexpath_step_attribute')
      import :: c_attribute, c_char, c_int32_t, c_ptr
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      character(kind=c_char), intent(in) :: name(*)
      type(c_attribute), intent(out) :: attribute
    end function c_step_attribute

    integer(c_int32_t) function c_step_blocks(step, variable, blocks, capacity, count) &
        bind(C, name='flexpath_step_blocks')
      import :: c_block, c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      type(c_block), intent(out) :: blocks(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(out) :: count
    end function c_step_blocks

    integer(c_int32_t) function c_step_dimension(step, variable, dimension, name) &
        bind(C, name='flexpath_step_dimension')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int32_t), value :: dimension
      type(c_ptr), intent(out) :: name
    end function c_step_dimension

    integer(c_int32_t) function c_step_text(step, variable, text) &
        bind(C, name='flexpath_step_text')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      type(c_ptr), intent(out) :: text
    end function c_step_text

    integer(c_int32_t) function c_step_measured_count(step, count) &
        bind(C, name='flexpath_step_measured_count')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: step
      integer(c_int64_t), intent(out) :: count
    end function c_step_measured_count

    integer(c_int32_t) function c_step_measured_at(step, index, info) &
        bind(C, name='flexpath_step_measured_at')
      import :: c_int32_t, c_int64_t, c_measured, c_ptr
      type(c_ptr), value :: step
      integer(c_int64_t), value :: index
      type(c_measured), intent(out) :: info
    end function c_step_measured_at

    integer(c_int32_t) function c_step_decided_at(step, micros) &
        bind(C, name='flexpath_step_decided_at')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: step
      integer(c_int64_t), intent(out) :: micros
    end function c_step_decided_at

    integer(c_int32_t) function c_step_unjudged(step, reason) &
        bind(C, name='flexpath_step_unjudged')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: step
      type(c_ptr), intent(out) :: reason
    end function c_step_unjudged

    integer(c_int32_t) function c_step_selected_shape(step, variable, selection, ndims, shape) &
        bind(C, name='flexpath_step_selected_shape')
      import :: c_char, c_int32_t, c_int64_t, c_ptr, c_selection
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      type(c_selection), intent(in) :: selection
      integer(c_int32_t), intent(out) :: ndims
      integer(c_int64_t), intent(out) :: shape(*)
    end function c_step_selected_shape

    integer(c_int32_t) function c_step_view(step, variable, selection, dtype, view, elements, len) &
        bind(C, name='flexpath_step_view')
      import :: c_char, c_int32_t, c_int64_t, c_ptr, c_selection
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      type(c_selection), intent(in) :: selection
      integer(c_int32_t), value :: dtype
      type(c_ptr), intent(out) :: view
      type(c_ptr), intent(out) :: elements
      integer(c_int64_t), intent(out) :: len
    end function c_step_view

    integer(c_int32_t) function c_step_get_or_fill(step, get, fill, timeout_ms) &
        bind(C, name='flexpath_step_get_or_fill')
      import :: c_get, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: step
      type(c_get), intent(in) :: get
      type(c_ptr), value :: fill
      integer(c_int64_t), value :: timeout_ms
    end function c_step_get_or_fill

    integer(c_int32_t) function c_view_is_zero_copy(view, is_zero_copy) &
        bind(C, name='flexpath_view_is_zero_copy')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: view
      integer(c_int32_t), intent(out) :: is_zero_copy
    end function c_view_is_zero_copy

    integer(c_int32_t) function c_view_release(view) &
        bind(C, name='flexpath_view_release')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: view
    end function c_view_release

    integer(c_int32_t) function c_variable_set_attribute_bool(variable, name, truth) &
        bind(C, name='flexpath_variable_set_attribute_bool')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: truth
    end function c_variable_set_attribute_bool

    integer(c_int32_t) function c_variable_set_attribute_integers(variable, name, numbers, count) &
        bind(C, name='flexpath_variable_set_attribute_integers')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(in) :: numbers(*)
      integer(c_int64_t), value :: count
    end function c_variable_set_attribute_integers

    integer(c_int32_t) function c_variable_set_attribute_reals(variable, name, numbers, count) &
        bind(C, name='flexpath_variable_set_attribute_reals')
      import :: c_char, c_double, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(in) :: numbers(*)
      integer(c_int64_t), value :: count
    end function c_variable_set_attribute_reals

    integer(c_int32_t) function c_variable_set_attribute_texts(variable, name, texts, count) &
        bind(C, name='flexpath_variable_set_attribute_texts')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: variable
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: texts(*)
      integer(c_int64_t), value :: count
    end function c_variable_set_attribute_texts

    integer(c_int32_t) function c_variable_set_dimensions(variable, names, count) &
        bind(C, name='flexpath_variable_set_dimensions')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: variable
      type(c_ptr), intent(in) :: names(*)
      integer(c_int64_t), value :: count
    end function c_variable_set_dimensions

    type(c_ptr) function c_last_error() bind(C, name='flexpath_last_error')
      import :: c_ptr
    end function c_last_error

    type(c_ptr) function c_version() bind(C, name='flexpath_version')
      import :: c_ptr
    end function c_version

    integer(c_size_t) function c_strlen(text) bind(C, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function c_strlen

    integer(c_int32_t) function c_subscriber_place(subscriber, variable, placement) &
        bind(C, name='flexpath_subscriber_place')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: subscriber
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int32_t), value :: placement
    end function c_subscriber_place

    integer(c_int32_t) function c_subscriber_of(subscriber, schema, provided, capacity, count) &
        bind(C, name='flexpath_subscriber_of')
      import :: c_int32_t, c_int64_t, c_provided, c_ptr
      type(c_ptr), value :: subscriber
      type(c_ptr), value :: schema
      type(c_provided), intent(inout) :: provided(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(out) :: count
    end function c_subscriber_of

    integer(c_int32_t) function c_subscriber_find(options, schema, timeout_ms, found, capacity, count) &
        bind(C, name='flexpath_subscriber_find')
      import :: c_found, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: options
      type(c_ptr), value :: schema
      integer(c_int64_t), value :: timeout_ms
      type(c_found), intent(inout) :: found(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(out) :: count
    end function c_subscriber_find

    integer(c_int32_t) function c_limit_process_bytes(limit_bytes) &
        bind(C, name='flexpath_limit_process_bytes')
      import :: c_int32_t, c_int64_t
      integer(c_int64_t), value :: limit_bytes
    end function c_limit_process_bytes

    integer(c_int32_t) function c_step_get_all(step, gets, count, timeout_ms) &
        bind(C, name='flexpath_step_get_all')
      import :: c_get, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: step
      type(c_get), intent(in) :: gets(*)
      integer(c_int64_t), value :: count
      integer(c_int64_t), value :: timeout_ms
    end function c_step_get_all

    integer(c_int32_t) function c_options_add_transformed(options, name, variable, transform, placement) &
        bind(C, name='flexpath_options_add_transformed')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: variable(*)
      character(kind=c_char), intent(in) :: transform(*)
      integer(c_int32_t), value :: placement
    end function c_options_add_transformed

    integer(c_int32_t) function c_options_add_module(options, name, module, len) &
        bind(C, name='flexpath_options_add_module')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: module
      integer(c_int64_t), value :: len
    end function c_options_add_module

    integer(c_int32_t) function c_options_add_type(options, variable, schema) &
        bind(C, name='flexpath_options_add_type')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: options
      type(c_ptr), value :: variable
      type(c_ptr), value :: schema
    end function c_options_add_type

    integer(c_int32_t) function c_options_set_transforms(options, transforms) &
        bind(C, name='flexpath_options_set_transforms')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: options
      type(c_ptr), value :: transforms
    end function c_options_set_transforms

    integer(c_int32_t) function c_schema_create(name, schema) &
        bind(C, name='flexpath_schema_create')
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: schema
    end function c_schema_create

    integer(c_int32_t) function c_schema_add_field(schema, name, code) &
        bind(C, name='flexpath_schema_add_field')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: code
    end function c_schema_add_field

    integer(c_int32_t) function c_schema_add_record(schema, name, record) &
        bind(C, name='flexpath_schema_add_record')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: record
    end function c_schema_add_record

    integer(c_int32_t) function c_schema_add_enum(schema, name, code, type_name, names, numbers, count) &
        bind(C, name='flexpath_schema_add_enum')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: code
      character(kind=c_char), intent(in) :: type_name(*)
      type(c_ptr), intent(in) :: names(*)
      integer(c_int64_t), intent(in) :: numbers(*)
      integer(c_int64_t), value :: count
    end function c_schema_add_enum

    integer(c_int32_t) function c_schema_set_fixed(schema, field, ndims, shape, order_code) &
        bind(C, name='flexpath_schema_set_fixed')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
      integer(c_int32_t), value :: ndims
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int32_t), value :: order_code
    end function c_schema_set_fixed

    integer(c_int32_t) function c_schema_set_list(schema, field, length) &
        bind(C, name='flexpath_schema_set_list')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
      type(c_ptr), value :: length
    end function c_schema_set_list

    integer(c_int32_t) function c_schema_set_optional(schema, field) &
        bind(C, name='flexpath_schema_set_optional')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
    end function c_schema_set_optional

    integer(c_int32_t) function c_schema_set_default_integer(schema, field, number) &
        bind(C, name='flexpath_schema_set_default_integer')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
      integer(c_int64_t), value :: number
    end function c_schema_set_default_integer

    integer(c_int32_t) function c_schema_set_default_real(schema, field, number) &
        bind(C, name='flexpath_schema_set_default_real')
      import :: c_char, c_double, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
      real(c_double), value :: number
    end function c_schema_set_default_real

    integer(c_int32_t) function c_schema_set_default_bool(schema, field, number) &
        bind(C, name='flexpath_schema_set_default_bool')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
      integer(c_int32_t), value :: number
    end function c_schema_set_default_bool

    integer(c_int32_t) function c_schema_set_default_text(schema, field, value) &
        bind(C, name='flexpath_schema_set_default_text')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
      character(kind=c_char), intent(in) :: value(*)
    end function c_schema_set_default_text

    integer(c_int32_t) function c_schema_set_unit(schema, field, unit) &
        bind(C, name='flexpath_schema_set_unit')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
      character(kind=c_char), intent(in) :: unit(*)
    end function c_schema_set_unit

    integer(c_int32_t) function c_schema_set_description(schema, field, description) &
        bind(C, name='flexpath_schema_set_description')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
      character(kind=c_char), intent(in) :: description(*)
    end function c_schema_set_description

    integer(c_int32_t) function c_schema_set_indexes(schema, field, target) &
        bind(C, name='flexpath_schema_set_indexes')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: field(*)
      character(kind=c_char), intent(in) :: target(*)
    end function c_schema_set_indexes

    integer(c_int32_t) function c_schema_set_struct(schema, offsets, count, size_bytes) &
        bind(C, name='flexpath_schema_set_struct')
      import :: c_int32_t, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: schema
      integer(c_size_t), intent(in) :: offsets(*)
      integer(c_int64_t), value :: count
      integer(c_size_t), value :: size_bytes
    end function c_schema_set_struct

    integer(c_int32_t) function c_schema_free(schema) &
        bind(C, name='flexpath_schema_free')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: schema
    end function c_schema_free

    integer(c_int32_t) function c_schema_fingerprint(schema, text) &
        bind(C, name='flexpath_schema_fingerprint')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: schema
      type(c_ptr), intent(out) :: text
    end function c_schema_fingerprint

    integer(c_int32_t) function c_schema_text(schema, text) &
        bind(C, name='flexpath_schema_text')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: schema
      type(c_ptr), intent(out) :: text
    end function c_schema_text

    integer(c_int32_t) function c_schema_differences(found, wanted, text) &
        bind(C, name='flexpath_schema_differences')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: found
      type(c_ptr), value :: wanted
      type(c_ptr), intent(out) :: text
    end function c_schema_differences

    integer(c_int32_t) function c_schema_size(schema, size_bytes) &
        bind(C, name='flexpath_schema_size')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schema
      integer(c_int64_t), intent(out) :: size_bytes
    end function c_schema_size

    integer(c_int32_t) function c_variable_record(name, schema, variable) &
        bind(C, name='flexpath_variable_record')
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: schema
      type(c_ptr), intent(out) :: variable
    end function c_variable_record

    integer(c_int32_t) function c_variable_local_record(name, schema, variable) &
        bind(C, name='flexpath_variable_local_record')
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: schema
      type(c_ptr), intent(out) :: variable
    end function c_variable_local_record

    integer(c_int32_t) function c_variable_global_records(name, schema, ndims, shape, variable) &
        bind(C, name='flexpath_variable_global_records')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: schema
      integer(c_int32_t), value :: ndims
      integer(c_int64_t), intent(in) :: shape(*)
      type(c_ptr), intent(out) :: variable
    end function c_variable_global_records

    integer(c_int32_t) function c_variable_local_records(name, schema, ndims, variable) &
        bind(C, name='flexpath_variable_local_records')
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: schema
      integer(c_int32_t), value :: ndims
      type(c_ptr), intent(out) :: variable
    end function c_variable_local_records

    integer(c_int32_t) function c_variable_joined_records(name, schema, row_ndims, row, variable) &
        bind(C, name='flexpath_variable_joined_records')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: schema
      integer(c_int32_t), value :: row_ndims
      integer(c_int64_t), intent(in) :: row(*)
      type(c_ptr), intent(out) :: variable
    end function c_variable_joined_records

    integer(c_int32_t) function c_builder_create(schema, count, builder) &
        bind(C, name='flexpath_builder_create')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: schema
      integer(c_int64_t), value :: count
      type(c_ptr), intent(out) :: builder
    end function c_builder_create

    integer(c_int32_t) function c_builder_set(builder, index, path, code, elements, len) &
        bind(C, name='flexpath_builder_set')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: code
      type(c_ptr), value :: elements
      integer(c_int64_t), value :: len
    end function c_builder_set

    integer(c_int32_t) function c_builder_set_text(builder, index, path, value) &
        bind(C, name='flexpath_builder_set_text')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: value(*)
    end function c_builder_set_text

    integer(c_int32_t) function c_builder_set_texts(builder, index, path, all, count) &
        bind(C, name='flexpath_builder_set_texts')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(in) :: all(*)
      integer(c_int64_t), value :: count
    end function c_builder_set_texts

    integer(c_int32_t) function c_builder_set_len(builder, index, path, len) &
        bind(C, name='flexpath_builder_set_len')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), value :: len
    end function c_builder_set_len

    integer(c_int32_t) function c_builder_resize(builder, count) &
        bind(C, name='flexpath_builder_resize')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      integer(c_int64_t), value :: count
    end function c_builder_resize

    integer(c_int32_t) function c_builder_set_structs(builder, structs, count) &
        bind(C, name='flexpath_builder_set_structs')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      type(c_ptr), value :: structs
      integer(c_int64_t), value :: count
    end function c_builder_set_structs

    integer(c_int32_t) function c_builder_free(builder) &
        bind(C, name='flexpath_builder_free')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: builder
    end function c_builder_free

    integer(c_int32_t) function c_publisher_put_built(publisher, variable, start, count, builder) &
        bind(C, name='flexpath_publisher_put_built')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: publisher
      type(c_ptr), value :: variable
      integer(c_int64_t), intent(in) :: start(*)
      integer(c_int64_t), intent(in) :: count(*)
      type(c_ptr), value :: builder
    end function c_publisher_put_built

    integer(c_int32_t) function c_step_records(step, variable, selection, schema, records) &
        bind(C, name='flexpath_step_records')
      import :: c_char, c_int32_t, c_ptr, c_selection
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      type(c_selection), intent(in) :: selection
      type(c_ptr), value :: schema
      type(c_ptr), intent(out) :: records
    end function c_step_records

    integer(c_int32_t) function c_step_get_records(step, variable, selection, schema, destination, count) &
        bind(C, name='flexpath_step_get_records')
      import :: c_char, c_int32_t, c_int64_t, c_ptr, c_selection
      type(c_ptr), value :: step
      character(kind=c_char), intent(in) :: variable(*)
      type(c_selection), intent(in) :: selection
      type(c_ptr), value :: schema
      type(c_ptr), value :: destination
      integer(c_int64_t), value :: count
    end function c_step_get_records

    integer(c_int32_t) function c_records_count(records, count) &
        bind(C, name='flexpath_records_count')
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: records
      integer(c_int64_t), intent(out) :: count
    end function c_records_count

    integer(c_int32_t) function c_records_describe(records, index, path, number) &
        bind(C, name='flexpath_records_describe')
      import :: c_char, c_int32_t, c_int64_t, c_ptr, c_value
      type(c_ptr), value :: records
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(in) :: path(*)
      type(c_value), intent(out) :: number
    end function c_records_describe

    integer(c_int32_t) function c_records_get(records, first, count, path, code, destination, len) &
        bind(C, name='flexpath_records_get')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: records
      integer(c_int64_t), value :: first
      integer(c_int64_t), value :: count
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: code
      type(c_ptr), value :: destination
      integer(c_int64_t), value :: len
    end function c_records_get

    integer(c_int32_t) function c_records_text(records, index, path, value) &
        bind(C, name='flexpath_records_text')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: records
      integer(c_int64_t), value :: index
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: value
    end function c_records_text

    integer(c_int32_t) function c_records_elements(records, elements, is_zero_copy) &
        bind(C, name='flexpath_records_elements')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: records
      type(c_ptr), intent(out) :: elements
      integer(c_int32_t), intent(out) :: is_zero_copy
    end function c_records_elements

    integer(c_int32_t) function c_records_release(records) &
        bind(C, name='flexpath_records_release')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: records
    end function c_records_release

    integer(c_int32_t) function c_transforms_create(timeout_ms, transforms) &
        bind(C, name='flexpath_transforms_create')
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int64_t), value :: timeout_ms
      type(c_ptr), intent(out) :: transforms
    end function c_transforms_create

    integer(c_int32_t) function c_transforms_add(transforms, name, from, to, run, release, context) &
        bind(C, name='flexpath_transforms_add')
      import :: c_char, c_funptr, c_int32_t, c_ptr
      type(c_ptr), value :: transforms
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: from
      type(c_ptr), value :: to
      type(c_funptr), value :: run
      type(c_funptr), value :: release
      type(c_ptr), value :: context
    end function c_transforms_add

    integer(c_int32_t) function c_transforms_add_each(transforms, name, from, to, run, release, context) &
        bind(C, name='flexpath_transforms_add_each')
      import :: c_char, c_funptr, c_int32_t, c_ptr
      type(c_ptr), value :: transforms
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: from
      type(c_ptr), value :: to
      type(c_funptr), value :: run
      type(c_funptr), value :: release
      type(c_ptr), value :: context
    end function c_transforms_add_each

    integer(c_int32_t) function c_transforms_add_function(transforms, name, takes, gives, made_count, run, release, &
        context) bind(C, name='flexpath_transforms_add_function')
      import :: c_char, c_funptr, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: transforms
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: takes
      integer(c_int32_t), value :: gives
      integer(c_int64_t), value :: made_count
      type(c_funptr), value :: run
      type(c_funptr), value :: release
      type(c_ptr), value :: context
    end function c_transforms_add_function

    integer(c_int32_t) function c_transforms_set_per_block(transforms, name) &
        bind(C, name='flexpath_transforms_set_per_block')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: transforms
      character(kind=c_char), intent(in) :: name(*)
    end function c_transforms_set_per_block

    integer(c_int32_t) function c_transforms_set_by_name_only(transforms, name) &
        bind(C, name='flexpath_transforms_set_by_name_only')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: transforms
      character(kind=c_char), intent(in) :: name(*)
    end function c_transforms_set_by_name_only

    integer(c_int32_t) function c_transforms_set_placement(transforms, name, placement) &
        bind(C, name='flexpath_transforms_set_placement')
      import :: c_char, c_int32_t, c_ptr
      type(c_ptr), value :: transforms
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: placement
    end function c_transforms_set_placement

    integer(c_int32_t) function c_transforms_set_cost(transforms, name, nanos_per_byte, output_ratio) &
        bind(C, name='flexpath_transforms_set_cost')
      import :: c_char, c_double, c_int32_t, c_ptr
      type(c_ptr), value :: transforms
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: nanos_per_byte
      real(c_double), value :: output_ratio
    end function c_transforms_set_cost

    integer(c_int32_t) function c_transforms_set_timeout(transforms, name, timeout_ms) &
        bind(C, name='flexpath_transforms_set_timeout')
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: transforms
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: timeout_ms
    end function c_transforms_set_timeout

    integer(c_int32_t) function c_transforms_free(transforms) &
        bind(C, name='flexpath_transforms_free')
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: transforms
    end function c_transforms_free
  end interface
end module flexpath_c

module flexpath
  use, intrinsic :: iso_c_binding, only: c_associated, c_bool, c_char, c_double, c_f_pointer, c_funloc, c_int8_t, &
      c_int32_t, c_int64_t, c_loc, c_null_char, c_null_funptr, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, real32, real64
  use flexpath_c
  implicit none
  private

  public :: flexpath_options, flexpath_options_create, flexpath_options_set, flexpath_options_set_cohort
  public :: flexpath_options_set_cohort_from_environment, flexpath_options_add_selection, flexpath_options_free
  public :: flexpath_options_add_derivation
  public :: flexpath_variable, flexpath_variable_scalar, flexpath_variable_local_scalar, flexpath_variable_global
  public :: flexpath_variable_local, flexpath_variable_joined, flexpath_variable_set_attribute
  public :: flexpath_variable_free
  public :: flexpath_publisher, flexpath_publisher_open, flexpath_publisher_begin_step, flexpath_publisher_end_step
  public :: flexpath_publisher_abandon_step, flexpath_publisher_is_wanted, flexpath_publisher_has_subscribers
  public :: flexpath_publisher_statistic, flexpath_publisher_sync, flexpath_publisher_close
  public :: flexpath_subscriber, flexpath_subscriber_open, flexpath_subscriber_next_step, flexpath_subscriber_end
  public :: flexpath_subscriber_statistic, flexpath_subscriber_close
  public :: flexpath_step, flexpath_step_info, flexpath_step_describe, flexpath_step_variable_count
  public :: flexpath_variable_info, flexpath_step_variable_at, flexpath_step_variable, flexpath_step_release
  public :: flexpath_parameter_kind_real, flexpath_parameter_kind_integer, flexpath_parameter_kind_bool
  public :: flexpath_parameter_kind_text, flexpath_parameter_kind_signal, flexpath_status_not_taken
  public :: flexpath_request, flexpath_options_add_parameter, flexpath_options_describe_parameter, &
      flexpath_publisher_request_count
  public :: flexpath_publisher_request_at, flexpath_publisher_is_asked, flexpath_publisher_decline
  public :: flexpath_subscriber_request, flexpath_subscriber_set_condition, flexpath_subscriber_first_step
  public :: flexpath_measured, flexpath_step_measured_count, flexpath_step_measured_at, flexpath_step_unjudged
  public :: flexpath_step_decided_at
  public :: flexpath_step_done, flexpath_step_give_back
  public :: flexpath_selection, flexpath_region, flexpath_points, flexpath_block, flexpath_rank
  public :: flexpath_event, flexpath_publisher_next_event, flexpath_subscriber_next_event
  public :: flexpath_publisher_wait_for_subscribers, flexpath_publisher_promise, flexpath_publisher_contact
  public :: flexpath_publisher_epoch, flexpath_publisher_transports, flexpath_subscriber_select_variables
  public :: flexpath_subscriber_epoch, flexpath_subscriber_transports, flexpath_put_text, flexpath_step_text
  public :: flexpath_attribute, flexpath_step_attribute_count, flexpath_step_attribute_at, flexpath_step_attribute
  public :: flexpath_block_info, flexpath_step_blocks, flexpath_step_dimension, flexpath_step_selected_shape
  public :: flexpath_variable_set_dimensions
  public :: flexpath_view, flexpath_step_view, flexpath_view_is_zero_copy, flexpath_view_release
  public :: flexpath_subscriber_place, flexpath_limit_process_bytes
  public :: flexpath_fetch, flexpath_fetch_get, flexpath_fetch_wait
  public :: flexpath_schema, flexpath_schema_create, flexpath_schema_add_field, flexpath_schema_add_record
  public :: flexpath_schema_add_enum, flexpath_schema_set_default, flexpath_schema_set_indexes
  public :: flexpath_schema_set_struct, flexpath_schema_text, flexpath_schema_differences
  public :: flexpath_schema_fingerprint, flexpath_schema_free
  public :: flexpath_variable_record, flexpath_variable_local_record, flexpath_variable_global_records
  public :: flexpath_variable_local_records, flexpath_variable_joined_records
  public :: flexpath_put_records, flexpath_put_built, flexpath_get_records
  public :: flexpath_records, flexpath_step_records, flexpath_records_count, flexpath_records_describe
  public :: flexpath_records_get, flexpath_records_text, flexpath_records_elements, flexpath_records_release
  public :: flexpath_builder, flexpath_builder_create, flexpath_builder_set, flexpath_builder_set_len
  public :: flexpath_builder_resize, flexpath_builder_set_structs, flexpath_builder_free
  public :: flexpath_value_kind_absent, flexpath_value_kind_number, flexpath_value_kind_text
  public :: flexpath_value_kind_bytes, flexpath_value_kind_name, flexpath_value_kind_record, flexpath_value_kind_array
  public :: flexpath_transforms, flexpath_transform, flexpath_transforms_create, flexpath_transforms_add
  public :: flexpath_function, flexpath_transforms_add_function
  public :: flexpath_transforms_set_per_block, flexpath_transforms_set_by_name_only
  public :: flexpath_transforms_set_placement, flexpath_transforms_set_cost, flexpath_transforms_set_timeout
  public :: flexpath_transforms_free, flexpath_options_set_transforms, flexpath_options_add_transformed
  public :: flexpath_options_add_module, flexpath_options_add_type
  public :: flexpath_provided, flexpath_subscriber_of, flexpath_found, flexpath_subscriber_find
  public :: flexpath_put, flexpath_get, flexpath_last_error, flexpath_version
  public :: flexpath_status_ok, flexpath_status_not_yet, flexpath_status_end_of_stream, flexpath_status_misuse
  public :: flexpath_status_bad_handle, flexpath_status_bad_pointer, flexpath_status_bad_option
  public :: flexpath_status_wrong_dtype, flexpath_status_unknown_variable, flexpath_status_wrong_len
  public :: flexpath_status_timed_out, flexpath_status_lost, flexpath_status_not_opened, flexpath_status_system
  public :: flexpath_status_peer_misbehaved, flexpath_status_forked, flexpath_status_not_clean
  public :: flexpath_status_internal, flexpath_status_not_derived, flexpath_status_incompatible
  public :: flexpath_status_denied
  public :: flexpath_placement_publisher, flexpath_placement_subscriber, flexpath_placement_fewer_bytes
  public :: flexpath_dtype_i8, flexpath_dtype_i16, flexpath_dtype_i32, flexpath_dtype_i64, flexpath_dtype_u8
  public :: flexpath_dtype_u16, flexpath_dtype_u32, flexpath_dtype_u64, flexpath_dtype_f16, flexpath_dtype_bf16
  public :: flexpath_dtype_f32, flexpath_dtype_f64, flexpath_dtype_c32, flexpath_dtype_c64, flexpath_dtype_bool
  public :: flexpath_dtype_string, flexpath_dtype_bytes
  public :: flexpath_dtype_logical, flexpath_dtype_character
  public :: flexpath_kind_scalar, flexpath_kind_local_scalar, flexpath_kind_global_array, flexpath_kind_local_array
  public :: flexpath_kind_joined_array, flexpath_order_row_major, flexpath_order_column_major
  public :: flexpath_conversion_none, flexpath_conversion_exact, flexpath_conversion_any
  public :: flexpath_end_not_ended, flexpath_end_closed, flexpath_end_lost, flexpath_end_expelled, flexpath_end_left
  public :: flexpath_end_cohort_lost, flexpath_end_denied
  public :: flexpath_event_kind_other, flexpath_event_kind_opened, flexpath_event_kind_subscription_started
  public :: flexpath_event_kind_member_joined, flexpath_event_kind_member_left
  public :: flexpath_event_kind_subscription_ended, flexpath_event_kind_step_dropped
  public :: flexpath_event_kind_step_rejected, flexpath_event_kind_rank_lagging, flexpath_event_kind_rank_lost
  public :: flexpath_event_kind_reselected, flexpath_event_kind_awaiting_restart, flexpath_event_kind_restarted
  public :: flexpath_event_kind_ended, flexpath_event_kind_closed, flexpath_event_kind_denied
  public :: flexpath_attribute_kind_bool, flexpath_attribute_kind_integer, flexpath_attribute_kind_unsigned
  public :: flexpath_attribute_kind_real, flexpath_attribute_kind_text, flexpath_attribute_kind_bytes

  ! Handles. They are closed, released or freed by their procedures, never by themselves: a copy is the same handle.
  ! They have no final procedures, as compilers differ in when they finalise a function's result.

  ! How a stream is opened. The first option that is set makes it.
  type :: flexpath_options
    type(c_ptr) :: handle = c_null_ptr
  end type flexpath_options

  ! A variable as a publisher defines it, column-major: its dimensions are in Fortran's order.
  type :: flexpath_variable
    type(c_ptr) :: handle = c_null_ptr
    character(len=:), allocatable :: name
    integer :: dtype = 0, kind = 0, ndims = 0
    integer(int64) :: struct_bytes = 0  ! of a record, as it lies in the program's memory
  end type flexpath_variable

  ! A rank's handle on the sending side.
  type :: flexpath_publisher
    type(c_ptr) :: handle = c_null_ptr
  end type flexpath_publisher

  ! A rank's handle on the receiving side.
  type :: flexpath_subscriber
    type(c_ptr) :: handle = c_null_ptr
  end type flexpath_subscriber

  ! A step that is held.
  type :: flexpath_step
    type(c_ptr) :: handle = c_null_ptr
  end type flexpath_step

  ! What to take of a variable; made by flexpath_region, flexpath_points, flexpath_block, flexpath_rank.
  type :: flexpath_selection
    private
    integer :: selected = flexpath_selected_all
    integer(int64), allocatable :: start(:), count(:), stride(:), points(:, :)
    integer :: rank = 0, block = 0
  end type flexpath_selection

  ! A type of records.
  type :: flexpath_schema
    type(c_ptr) :: handle = c_null_ptr
    integer(int64) :: struct_bytes = -1 ! of an element, where flexpath_schema_set_struct said it
  end type flexpath_schema

  ! Records that were taken, to be read field by field. A transform is given such a handle.
  type :: flexpath_records
    type(c_ptr) :: handle = c_null_ptr
  end type flexpath_records

  ! Records that are made field by field. A transform is given such a handle.
  type :: flexpath_builder
    type(c_ptr) :: handle = c_null_ptr
  end type flexpath_builder

  ! Functions from records of one type to records of another.
  type :: flexpath_transforms
    type(c_ptr) :: handle = c_null_ptr
  end type flexpath_transforms

  ! A variable that provides a type.
  type :: flexpath_provided
    character(len=:), allocatable :: variable
    character(len=:), allocatable :: differences ! a line for each, or the transforms that lead there
    logical :: is_converted = .false.
  end type flexpath_provided

  ! A stream that was asked for a type.
  type :: flexpath_found
    character(len=:), allocatable :: stream, contact
    character(len=:), allocatable :: variable ! the one that provides it best; empty where none does
    character(len=:), allocatable :: differences ! what that differs in; where none provides it, why not
    integer :: variables = 0            ! how many provide it
    logical :: is_converted = .false.
  end type flexpath_found

  ! What is to be known of a step.
  type :: flexpath_step_info
    integer(int64) :: step = 0          ! its number: from 0, or from the option FirstStep
    integer(int64) :: skipped = 0       ! steps that the subscription did not get between the one before and this
    integer(int64) :: len_bytes = 0     ! bytes over all publisher ranks
    integer :: queued_steps = 0         ! steps that waited at the publisher behind this one
    ! whether another member of the work-sharing set had it before and is gone, or a member gave it back
    logical :: is_redelivered = .false.
  end type flexpath_step_info

  ! What is to be known of a variable of a step.
  type :: flexpath_variable_info
    character(len=:), allocatable :: name, unit, description
    integer :: dtype = 0                ! one of flexpath_dtype_...
    integer :: kind = 0                 ! one of flexpath_kind_...
    integer :: order = 0                ! one of flexpath_order_...: how the publisher's blocks lie
    integer :: ndims = 0
    integer(int64), allocatable :: shape(:) ! the extent in each dimension; 0 for local arrays
  end type flexpath_variable_info

  ! A number that the condition of a subscriber looks at.
  type :: flexpath_measured
    character(len=:), allocatable :: measure ! what was measured, as the condition writes it: max(T[0:64, :])
    logical :: is_there = .false.       ! whether there is a number: no if no rank put an element of it
    ! The number; counts are numbers, truth values 0 and 1. Of a quantile it is what that is at least.
    real(real64) :: number = 0
    real(real64) :: upper = 0           ! of a quantile what it is at most; otherwise the number
    ! Where a least or a greatest element of a global array is, from 1; of size 0 where there is no place. Of several
    ! it is the first where the last dimension runs fastest.
    integer(int64), allocatable :: place(:)
  end type flexpath_measured

  ! What somebody asks of the simulation at a step.
  type :: flexpath_request
    character(len=:), allocatable :: parameter, by ! what is asked for, and the name of the subscriber that asks
    integer :: kind = 0                 ! one of flexpath_attribute_kind_...: bool, integer, real, or text
    character(len=:), allocatable :: text ! the value of a text; empty of all others
    real(real64) :: number = 0          ! the value of a number; truth values, and what has no value, are 0 and 1
    integer(int64) :: integer = 0       ! the value of a whole number, and of a truth value
  end type flexpath_request

  ! An event of a stream's life.
  type :: flexpath_event
    integer :: kind = flexpath_event_kind_other ! one of flexpath_event_kind_...
    integer :: rank = -1                ! the rank it is about; -1 where it is about none
    integer(int64) :: step = -1         ! the step it is about; -1 where it is about none
    character(len=:), allocatable :: text ! all of it in words
  end type flexpath_event

  ! An attribute of a variable: the array of its kind has its values, one unless it is a list; the others are not
  ! allocated.
  type :: flexpath_attribute
    character(len=:), allocatable :: name
    integer :: kind = 0                 ! one of flexpath_attribute_kind_...
    logical :: is_list = .false.        ! whether it is a list, be it of one value
    logical, allocatable :: truths(:)   ! of flexpath_attribute_kind_bool
    integer(int64), allocatable :: integers(:) ! of _integer and _unsigned; from 2**63 on these are negative
    real(real64), allocatable :: reals(:) ! of _real
    character(len=:), allocatable :: texts(:) ! of _text, as long as the longest
    integer(int8), allocatable :: bytes(:) ! of _bytes
  end type flexpath_attribute

  ! A block of a variable, as flexpath_block(rank, block) selects it.
  type :: flexpath_block_info
    integer :: rank = 0                 ! the rank that put it, from 0
    integer :: block = 0                ! its place among that rank's puts of the variable, from 1
    integer(int64), allocatable :: start(:) ! where it begins, from 1; 1 in a local array
    integer(int64), allocatable :: count(:) ! its extent in each dimension
  end type flexpath_block_info

  ! Selected elements where they lie: call c_f_pointer(view%elements, array, extents). Only to be read, and only until
  ! flexpath_view_release.
  type :: flexpath_view
    type(c_ptr) :: handle = c_null_ptr, elements = c_null_ptr
    integer(int64) :: len = 0           ! how many elements there are
  end type flexpath_view

  ! No kind of selection: what a wrong one becomes.
  integer, parameter :: selected_nothing = -1

  ! What went wrong on this side; without a text the library has one.
  type :: failing
    integer(c_int32_t) :: status = flexpath_status_ok
    character(len=:), allocatable :: text
  end type failing

  ! A put under way.
  type :: putting
    type(failing) :: failure
    type(c_ptr) :: publisher, variable, loan, memory
    integer(c_int64_t) :: start(8) = 0, count(8) = 0
  end type putting

  ! A get under way.
  type :: getting
    type(failing) :: failure
    type(c_ptr) :: step, fill = c_null_ptr, elements = c_null_ptr
    character(kind=c_char, len=:), allocatable :: name
    integer(c_int32_t) :: dtype = 0
    integer(c_int64_t) :: len = 0, timeout_ms = -1
    integer(c_int32_t) :: conversion = flexpath_conversion_none
    type(flexpath_selection) :: selection
  end type getting

  ! Gets that are fetched together.
  type :: flexpath_fetch
    private
    type(getting), allocatable :: gets(:)
  end type flexpath_fetch

  ! What makes records of others: reads type(flexpath_records) given by its handle, and says by flexpath_builder_resize,
  ! flexpath_builder_set or flexpath_builder_set_structs what it makes. Gives 0, or a number for the text of the failure.
  abstract interface
    integer(c_int32_t) function flexpath_transform(context, given, made) bind(C)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context, given, made
    end function flexpath_transform
  end interface

  ! What makes elements of those of one block of each variable: input_count arrays of count elements each, which inputs
  ! point to, for c_f_pointer. It sets all made_count elements that made points to. Gives 0, or a number of its own.
  abstract interface
    integer(c_int32_t) function flexpath_function(context, inputs, input_count, count, made, made_count) bind(C)
      import :: c_int32_t, c_int64_t, c_ptr
      integer(c_int64_t), value :: input_count, count, made_count
      type(c_ptr), value :: context, made
      type(c_ptr), intent(in) :: inputs(input_count)
    end function flexpath_function
  end interface

  ! Sets an option by its name: see docs/c.md for the names.
  interface flexpath_options_set
    procedure options_set_text, options_set_int32, options_set_int64, options_set_logical
  end interface flexpath_options_set

  ! Asks the simulation for a value of a parameter: a real or whole number, a truth value, or a text. All its ranks see
  ! it at the same step, and the answer comes when all have left that one. Only rank 0 of a cohort asks, and only under a
  ! policy that may drop steps. flexpath_status_not_taken: it is not taken, and the text says by whom and why.
  interface flexpath_subscriber_request
    procedure request_real64, request_int32, request_int64, request_logical, request_text
  end interface flexpath_subscriber_request

  ! Adds or changes an attribute of a variable. It is a text, a whole or a real number, a truth value, or a list of
  ! texts or numbers.
  interface flexpath_variable_set_attribute
    procedure set_attribute_text, set_attribute_int32, set_attribute_int64, set_attribute_real64
    procedure set_attribute_logical, set_attribute_texts, set_attribute_int32s, set_attribute_int64s
    procedure set_attribute_real64s
  end interface flexpath_variable_set_attribute

  ! call flexpath_put(publisher, variable, values [, start] [, stat] [, errmsg])
  ! Puts values into the step that is open. start: where the block of a global array begins, from 1 (default all 1).
  ! There is a procedure for each type and rank: many compilers get assumed rank with `select rank` wrong.
  interface flexpath_put
    procedure put_int8_0, put_int8_1, put_int8_2, put_int8_3
    procedure put_int8_4, put_int8_5, put_int8_6, put_int8_7
    procedure put_int16_0, put_int16_1, put_int16_2, put_int16_3
    procedure put_int16_4, put_int16_5, put_int16_6, put_int16_7
    procedure put_int32_0, put_int32_1, put_int32_2, put_int32_3
    procedure put_int32_4, put_int32_5, put_int32_6, put_int32_7
    procedure put_int64_0, put_int64_1, put_int64_2, put_int64_3
    procedure put_int64_4, put_int64_5, put_int64_6, put_int64_7
    procedure put_real32_0, put_real32_1, put_real32_2, put_real32_3
    procedure put_real32_4, put_real32_5, put_real32_6, put_real32_7
    procedure put_real64_0, put_real64_1, put_real64_2, put_real64_3
    procedure put_real64_4, put_real64_5, put_real64_6, put_real64_7
    procedure put_complex32_0, put_complex32_1, put_complex32_2, put_complex32_3
    procedure put_complex32_4, put_complex32_5, put_complex32_6, put_complex32_7
    procedure put_complex64_0, put_complex64_1, put_complex64_2, put_complex64_3
    procedure put_complex64_4, put_complex64_5, put_complex64_6, put_complex64_7
    procedure put_logical_0, put_logical_1, put_logical_2, put_logical_3
    procedure put_logical_4, put_logical_5, put_logical_6, put_logical_7
    procedure put_c_bool_0, put_c_bool_1, put_c_bool_2, put_c_bool_3
    procedure put_c_bool_4, put_c_bool_5, put_c_bool_6, put_c_bool_7
    procedure put_character_0, put_character_1, put_character_2, put_character_3
    procedure put_character_4, put_character_5, put_character_6, put_character_7
  end interface flexpath_put

  ! call flexpath_get(step, variable, values [, start] [, count] [, stride] [, selection] [, timeout_ms] [, fill]
  !     [, conversion] [, stat] [, errmsg])
  ! Takes what is selected into values, whose shape is that of the selection. Without a selection it is everything.
  ! fill, of the type of the values (numbers only), stands where no rank put an element, instead of a failure.
  ! conversion says whether numbers of another type than the variable's may be taken: with flexpath_conversion_exact
  ! those that hold every value of it, with flexpath_conversion_any all. Unless it is there such a get fails.
  interface flexpath_get
    procedure get_int8_0, get_int8_1, get_int8_2, get_int8_3
    procedure get_int8_4, get_int8_5, get_int8_6, get_int8_7
    procedure get_int16_0, get_int16_1, get_int16_2, get_int16_3
    procedure get_int16_4, get_int16_5, get_int16_6, get_int16_7
    procedure get_int32_0, get_int32_1, get_int32_2, get_int32_3
    procedure get_int32_4, get_int32_5, get_int32_6, get_int32_7
    procedure get_int64_0, get_int64_1, get_int64_2, get_int64_3
    procedure get_int64_4, get_int64_5, get_int64_6, get_int64_7
    procedure get_real32_0, get_real32_1, get_real32_2, get_real32_3
    procedure get_real32_4, get_real32_5, get_real32_6, get_real32_7
    procedure get_real64_0, get_real64_1, get_real64_2, get_real64_3
    procedure get_real64_4, get_real64_5, get_real64_6, get_real64_7
    procedure get_complex32_0, get_complex32_1, get_complex32_2, get_complex32_3
    procedure get_complex32_4, get_complex32_5, get_complex32_6, get_complex32_7
    procedure get_complex64_0, get_complex64_1, get_complex64_2, get_complex64_3
    procedure get_complex64_4, get_complex64_5, get_complex64_6, get_complex64_7
    procedure get_logical_0, get_logical_1, get_logical_2, get_logical_3
    procedure get_logical_4, get_logical_5, get_logical_6, get_logical_7
    procedure get_c_bool_0, get_c_bool_1, get_c_bool_2, get_c_bool_3
    procedure get_c_bool_4, get_c_bool_5, get_c_bool_6, get_c_bool_7
    procedure get_character_0, get_character_1, get_character_2, get_character_3
    procedure get_character_4, get_character_5, get_character_6, get_character_7
  end interface flexpath_get

  ! call flexpath_fetch_get(fetch, step, variable, values [, start] [, count] [, stride] [, selection] [, conversion]
  !     [, stat] [, errmsg])
  ! Adds a get of numbers to those that flexpath_fetch_wait does. The values have the attribute target, lie one after
  ! another and stay until then.
  interface flexpath_fetch_get
    procedure fetch_int8_0
    procedure fetch_int8_1
    procedure fetch_int8_2
    procedure fetch_int8_3
    procedure fetch_int8_4
    procedure fetch_int8_5
    procedure fetch_int8_6
    procedure fetch_int8_7
    procedure fetch_int16_0
    procedure fetch_int16_1
    procedure fetch_int16_2
    procedure fetch_int16_3
    procedure fetch_int16_4
    procedure fetch_int16_5
    procedure fetch_int16_6
    procedure fetch_int16_7
    procedure fetch_int32_0
    procedure fetch_int32_1
    procedure fetch_int32_2
    procedure fetch_int32_3
    procedure fetch_int32_4
    procedure fetch_int32_5
    procedure fetch_int32_6
    procedure fetch_int32_7
    procedure fetch_int64_0
    procedure fetch_int64_1
    procedure fetch_int64_2
    procedure fetch_int64_3
    procedure fetch_int64_4
    procedure fetch_int64_5
    procedure fetch_int64_6
    procedure fetch_int64_7
    procedure fetch_real32_0
    procedure fetch_real32_1
    procedure fetch_real32_2
    procedure fetch_real32_3
    procedure fetch_real32_4
    procedure fetch_real32_5
    procedure fetch_real32_6
    procedure fetch_real32_7
    procedure fetch_real64_0
    procedure fetch_real64_1
    procedure fetch_real64_2
    procedure fetch_real64_3
    procedure fetch_real64_4
    procedure fetch_real64_5
    procedure fetch_real64_6
    procedure fetch_real64_7
    procedure fetch_complex32_0
    procedure fetch_complex32_1
    procedure fetch_complex32_2
    procedure fetch_complex32_3
    procedure fetch_complex32_4
    procedure fetch_complex32_5
    procedure fetch_complex32_6
    procedure fetch_complex32_7
    procedure fetch_complex64_0
    procedure fetch_complex64_1
    procedure fetch_complex64_2
    procedure fetch_complex64_3
    procedure fetch_complex64_4
    procedure fetch_complex64_5
    procedure fetch_complex64_6
    procedure fetch_complex64_7
  end interface flexpath_fetch_get

  ! call flexpath_schema_set_default(schema, field, value [, stat] [, errmsg])
  ! What stands for a field where it is absent: an integer, a real(real64), a truth value or a text.
  interface flexpath_schema_set_default
    procedure default_int32, default_int64, default_real64, default_logical, default_text
  end interface flexpath_schema_set_default

  ! call flexpath_records_get(records, path, values [, first] [, count] [, stat] [, errmsg])
  ! Takes the numbers that path leads to, one after another, in count records (all) from first (1) on. There are exactly as
  ! many values. They are of a type that holds every number.
  interface flexpath_records_get
    procedure take_int8_0
    procedure take_int8_1
    procedure take_int16_0
    procedure take_int16_1
    procedure take_int32_0
    procedure take_int32_1
    procedure take_int64_0
    procedure take_int64_1
    procedure take_real32_0
    procedure take_real32_1
    procedure take_real64_0
    procedure take_real64_1
    procedure take_complex32_0
    procedure take_complex32_1
    procedure take_complex64_0
    procedure take_complex64_1
  end interface flexpath_records_get

  ! call flexpath_builder_set(builder, index, path, values [, stat] [, errmsg])
  ! Sets the value that path leads to in the record with that number, from 1: a number or an array, a text or texts.
  interface flexpath_builder_set
    procedure build_text, build_texts
    procedure build_int8_0
    procedure build_int8_1
    procedure build_int16_0
    procedure build_int16_1
    procedure build_int32_0
    procedure build_int32_1
    procedure build_int64_0
    procedure build_int64_1
    procedure build_real32_0
    procedure build_real32_1
    procedure build_real64_0
    procedure build_real64_1
    procedure build_complex32_0
    procedure build_complex32_1
    procedure build_complex64_0
    procedure build_complex64_1
  end interface flexpath_builder_set

contains

  ! Texts, numbers, failures.

  ! A text as C reads it; blanks at the end are none of it.
  function c_text(text) result(ended)
    character(len=*), intent(in) :: text
    character(kind=c_char, len=:), allocatable :: ended
    ended = trim(text) // c_null_char
  end function c_text

  ! A text of C.
  function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: at
    call c_f_pointer(pointer, letters, [c_strlen(pointer)])
    allocate (character(len=size(letters)) :: text)
    do at = 1, size(letters)
      text(at:at) = letters(at)
    end do
  end function text_of

  ! Texts as C reads them, and where they lie: in letters.
  subroutine c_texts(texts, letters, pointers)
    character(len=*), intent(in) :: texts(:)
    character(kind=c_char), allocatable, intent(out), target :: letters(:, :)
    type(c_ptr), allocatable, intent(out) :: pointers(:)
    integer :: text, at
    allocate (letters(len(texts) + 1, size(texts)), source=c_null_char)
    allocate (pointers(size(texts)))
    do text = 1, size(texts)
      do at = 1, len_trim(texts(text))
        letters(at, text) = texts(text)(at:at)
      end do
      pointers(text) = c_loc(letters(1, text))
    end do
  end subroutine c_texts

  ! The text of the last failure on this thread; empty if there was none.
  function flexpath_last_error() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_last_error())
  end function flexpath_last_error

  ! The version of the library, such as 0.1.0.
  function flexpath_version() result(text)
    character(len=:), allocatable :: text
    text = text_of(c_version())
  end function flexpath_version

  function text_of_number(number) result(text)
    integer(int64), intent(in) :: number
    character(len=:), allocatable :: text
    character(len=24) :: digits
    write (digits, '(i0)') number
    text = trim(digits)
  end function text_of_number

  ! Extents, as in (3, 4).
  function text_of_numbers(numbers) result(text)
    integer(int64), intent(in) :: numbers(:)
    character(len=:), allocatable :: text
    integer :: at
    text = '('
    do at = 1, size(numbers)
      if (at > 1) text = text // ', '
      text = text // text_of_number(numbers(at))
    end do
    text = text // ')'
  end function text_of_numbers

  ! What Fortran calls elements of a type.
  function text_of_dtype(dtype) result(text)
    integer, intent(in) :: dtype
    character(len=:), allocatable :: text
    select case (dtype)
    case (flexpath_dtype_i8); text = 'integer(int8)'
    case (flexpath_dtype_i16); text = 'integer(int16)'
    case (flexpath_dtype_i32); text = 'integer(int32)'
    case (flexpath_dtype_i64); text = 'integer(int64)'
    case (flexpath_dtype_u8); text = 'u8 (logical or character)'
    case (flexpath_dtype_f32); text = 'real(real32)'
    case (flexpath_dtype_f64); text = 'real(real64)'
    case (flexpath_dtype_c32); text = 'complex(real32)'
    case (flexpath_dtype_c64); text = 'complex(real64)'
    case (flexpath_dtype_bool); text = 'bool (logical)'
    case default; text = 'a type with the number ' // text_of_number(int(dtype, int64))
    end select
  end function text_of_dtype

  subroutine fail(failure, status, text)
    type(failing), intent(inout) :: failure
    integer, intent(in) :: status
    character(len=*), intent(in) :: text
    failure%status = int(status, c_int32_t)
    failure%text = text
  end subroutine fail

  ! Integers of either kind; what they are is for the text of a failure.
  subroutine take_integers(numbers, taken, what, failure)
    class(*), intent(in) :: numbers(:)
    integer(int64), allocatable, intent(out) :: taken(:)
    character(len=*), intent(in) :: what
    type(failing), intent(inout) :: failure
    select type (numbers)
    type is (integer(int32))
      taken = numbers
    type is (integer(int64))
      taken = numbers
    class default
      allocate (taken(0))
      call fail(failure, flexpath_status_misuse, what // ' must be of integer(int32) or integer(int64)')
    end select
  end subroutine take_integers

  ! How every procedure ends: tells what happened, and stops the program where nobody wants to know.
  subroutine conclude(procedure, failure, stat, errmsg)
    character(len=*), intent(in) :: procedure
    type(failing), intent(in) :: failure
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(len=:), allocatable :: text
    if (present(stat)) stat = failure%status
    if (failure%status >= 0) return
    if (present(stat) .and. .not. present(errmsg)) return
    if (allocated(failure%text)) then
      text = failure%text
    else
      text = flexpath_last_error()
    end if
    if (present(errmsg)) errmsg = text
    if (present(stat)) return
    write (error_unit, '(3a)') procedure, ': ', text
    error stop 1
  end subroutine conclude

  ! The same for procedures that only call the library.
  subroutine conclude_status(procedure, status, stat, errmsg)
    character(len=*), intent(in) :: procedure
    integer(c_int32_t), intent(in) :: status
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    if (status < 0) then
      failure%status = status
      call conclude(procedure, failure, stat, errmsg)
    else if (present(stat)) then
      stat = status
    end if
  end subroutine conclude_status

  ! Options.

  ! Makes a set of options, all at their defaults.
  subroutine flexpath_options_create(options, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_options_create', c_options_create(options%handle), stat, errmsg)
  end subroutine flexpath_options_create

  ! The options, which are made if they were not.
  integer(c_int32_t) function made(options) result(status)
    type(flexpath_options), intent(inout) :: options
    status = flexpath_status_ok
    if (.not. c_associated(options%handle)) status = c_options_create(options%handle)
  end function made

  subroutine options_set_text(options, name, text, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: name, text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = made(options)
    if (status == flexpath_status_ok) status = c_options_set(options%handle, c_text(name), c_text(text))
    call conclude_status('flexpath_options_set', status, stat, errmsg)
  end subroutine options_set_text

  subroutine options_set_int32(options, name, number, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: number
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call options_set_text(options, name, text_of_number(int(number, int64)), stat, errmsg)
  end subroutine options_set_int32

  subroutine options_set_int64(options, name, number, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: number
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call options_set_text(options, name, text_of_number(number), stat, errmsg)
  end subroutine options_set_int64

  subroutine options_set_logical(options, name, chosen, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: name
    logical, intent(in) :: chosen
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call options_set_text(options, name, trim(merge('true ', 'false', chosen)), stat, errmsg)
  end subroutine options_set_logical

  ! Says that this process is rank (from 0) of the size ranks that open the stream together.
  subroutine flexpath_options_set_cohort(options, rank, size, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    integer, intent(in) :: rank, size
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = made(options)
    if (status == flexpath_status_ok) &
        status = c_options_set_cohort(options%handle, int(rank, c_int32_t), int(size, c_int32_t))
    call conclude_status('flexpath_options_set_cohort', status, stat, errmsg)
  end subroutine flexpath_options_set_cohort

  ! Takes rank and size from the launcher: FLEXPATH_RANK and FLEXPATH_SIZE, Open MPI, MPICH, Slurm.
  subroutine flexpath_options_set_cohort_from_environment(options, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = made(options)
    if (status == flexpath_status_ok) status = c_options_set_cohort_from_environment(options%handle)
    call conclude_status('flexpath_options_set_cohort_from_environment', status, stat, errmsg)
  end subroutine flexpath_options_set_cohort_from_environment

  ! Adds a standing selection of a subscriber: what of a variable it will read in every step.
  subroutine flexpath_options_add_selection(options, variable, selection, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: variable
    type(flexpath_selection), intent(in), target :: selection
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    type(c_selection) :: described
    call describe(selection, described)
    status = made(options)
    if (status == flexpath_status_ok) &
        status = c_options_add_selection(options%handle, c_text(variable), described)
    call conclude_status('flexpath_options_add_selection', status, stat, errmsg)
  end subroutine flexpath_options_add_selection

  ! Has a variable derived, as 'vx, vy | magnitude' (docs/transforms.md): a subscriber reads it by its name as any other.
  ! Where the data is unless a flexpath_placement_... says otherwise. stat is flexpath_status_bad_option, and errmsg says
  ! at which place, for what cannot be read.
  subroutine flexpath_options_add_derivation(options, name, derivation, placement, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: name, derivation
    integer, intent(in), optional :: placement
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status, place
    place = flexpath_placement_publisher
    if (present(placement)) place = int(placement, c_int32_t)
    status = made(options)
    if (status == flexpath_status_ok) &
        status = c_options_add_derivation(options%handle, c_text(name), c_text(derivation), place)
    call conclude_status('flexpath_options_add_derivation', status, stat, errmsg)
  end subroutine flexpath_options_add_derivation

  ! Bounds the live steps of all streams that this process publishes together, in bytes.
  subroutine flexpath_limit_process_bytes(limit_bytes, stat, errmsg)
    integer(int64), intent(in) :: limit_bytes
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_limit_process_bytes', c_limit_process_bytes(max(limit_bytes, 0_int64)), stat, errmsg)
  end subroutine flexpath_limit_process_bytes

  ! Frees a set of options. What was opened with it stays.
  subroutine flexpath_options_free(options, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_options_free', c_options_free(options%handle), stat, errmsg)
    options%handle = c_null_ptr
  end subroutine flexpath_options_free

  ! Selections.

  ! A region, or every stride-th element of it; start counts from 1, count is the extent before the stride.
  function flexpath_region(start, count, stride) result(selection)
    class(*), intent(in) :: start(:), count(:)
    class(*), intent(in), optional :: stride(:)
    type(flexpath_selection) :: selection
    type(failing) :: failure
    selection%selected = flexpath_selected_region
    call take_integers(start, selection%start, 'start', failure)
    call take_integers(count, selection%count, 'count', failure)
    selection%start = selection%start - 1
    if (present(stride)) then
      selection%selected = flexpath_selected_strided
      call take_integers(stride, selection%stride, 'stride', failure)
    else
      allocate (selection%stride(size(selection%count)), source=1_int64)
    end if
    call refuse(selection, failure)
  end function flexpath_region

  ! Single elements: points(:, n) are the indices of the n-th, from 1.
  function flexpath_points(points) result(selection)
    class(*), intent(in) :: points(:, :)
    type(flexpath_selection) :: selection
    integer :: at
    integer(int64), allocatable :: point(:)
    type(failing) :: failure
    selection%selected = flexpath_selected_points
    allocate (selection%points(size(points, 1), size(points, 2)))
    do at = 1, size(points, 2)
      call take_integers(points(:, at), point, 'points', failure)
      if (failure%status == flexpath_status_ok) selection%points(:, at) = point - 1
    end do
    call refuse(selection, failure)
  end function flexpath_points

  ! One block as it was put: the rank counts from 0, as in MPI, its blocks from 1.
  pure function flexpath_block(rank, block) result(selection)
    integer, intent(in) :: rank, block
    type(flexpath_selection) :: selection
    selection%selected = flexpath_selected_block
    selection%rank = rank
    selection%block = block - 1
  end function flexpath_block

  ! All blocks of a rank, which counts from 0, one after another.
  pure function flexpath_rank(rank) result(selection)
    integer, intent(in) :: rank
    type(flexpath_selection) :: selection
    selection%selected = flexpath_selected_rank
    selection%rank = rank
  end function flexpath_rank

  ! Where numbers are none, or lie before the first element, nothing is selected: the use of it says so.
  subroutine refuse(selection, failure)
    type(flexpath_selection), intent(inout) :: selection
    type(failing), intent(in) :: failure
    logical :: is_wrong
    is_wrong = failure%status /= flexpath_status_ok
    if (allocated(selection%start)) is_wrong = is_wrong .or. any(selection%start < 0) &
        .or. size(selection%start) /= size(selection%count) .or. size(selection%stride) /= size(selection%count) &
        .or. any(selection%count < 0) .or. any(selection%stride < 1)
    if (allocated(selection%points)) is_wrong = is_wrong .or. any(selection%points < 0)
    if (is_wrong) selection%selected = selected_nothing
  end subroutine refuse

  ! A selection as C reads it: valid as long as the selection is.
  subroutine describe(selection, described)
    type(flexpath_selection), intent(in), target :: selection
    type(c_selection), intent(out) :: described
    described = c_selection(int(selection%selected, c_int32_t), 0, c_null_ptr, c_null_ptr, c_null_ptr, c_null_ptr, 0, &
        int(selection%rank, c_int32_t), int(selection%block, c_int32_t), int(flexpath_order_column_major, c_int32_t), &
        int(flexpath_conversion_none, c_int32_t))
    select case (selection%selected)
    case (flexpath_selected_region, flexpath_selected_strided)
      described%ndims = size(selection%count, kind=c_int32_t)
      described%start = c_loc(selection%start)
      described%count = c_loc(selection%count)
      described%stride = c_loc(selection%stride)
    case (flexpath_selected_points)
      described%ndims = size(selection%points, 1, c_int32_t)
      described%point_count = size(selection%points, 2, c_int64_t)
      described%points = c_loc(selection%points)
    end select
  end subroutine describe

  ! Variables. One that was defined before is freed and defined anew: its shape may differ from step to step.

  ! One value for all ranks; of several ranks that put it in a step the highest rank's counts.
  subroutine flexpath_variable_scalar(variable, name, dtype, unit, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    integer, intent(in) :: dtype
    character(len=*), intent(in), optional :: unit, description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    call forget(variable)
    failure%status = c_variable_scalar(c_text(name), int(dtype, c_int32_t), variable%handle)
    call define(variable, name, dtype, 0, flexpath_kind_scalar, failure, unit, description)
    call conclude('flexpath_variable_scalar', failure, stat, errmsg)
  end subroutine flexpath_variable_scalar

  ! One value of each rank.
  subroutine flexpath_variable_local_scalar(variable, name, dtype, unit, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    integer, intent(in) :: dtype
    character(len=*), intent(in), optional :: unit, description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    call forget(variable)
    failure%status = c_variable_local_scalar(c_text(name), int(dtype, c_int32_t), variable%handle)
    call define(variable, name, dtype, 0, flexpath_kind_local_scalar, failure, unit, description)
    call conclude('flexpath_variable_local_scalar', failure, stat, errmsg)
  end subroutine flexpath_variable_local_scalar

  ! One array of that shape. Each rank puts regions of it. Of texts the first dimension is their length.
  subroutine flexpath_variable_global(variable, name, dtype, shape, unit, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    integer, intent(in) :: dtype
    class(*), intent(in) :: shape(:)
    character(len=*), intent(in), optional :: unit, description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    integer(int64), allocatable :: extents(:)
    call forget(variable)
    call take_integers(shape, extents, 'shape', failure)
    if (failure%status == flexpath_status_ok) &
        failure%status = c_variable_global(c_text(name), int(dtype, c_int32_t), size(extents, kind=c_int32_t), &
        extents, variable%handle)
    call define(variable, name, dtype, size(shape), flexpath_kind_global_array, failure, unit, description)
    call conclude('flexpath_variable_global', failure, stat, errmsg)
  end subroutine flexpath_variable_global

  ! An array of each put, of ndims dimensions and any extent.
  subroutine flexpath_variable_local(variable, name, dtype, ndims, unit, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    integer, intent(in) :: dtype
    integer, intent(in) :: ndims
    character(len=*), intent(in), optional :: unit, description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    call forget(variable)
    failure%status = c_variable_local(c_text(name), int(dtype, c_int32_t), int(ndims, c_int32_t), variable%handle)
    call define(variable, name, dtype, ndims, flexpath_kind_local_array, failure, unit, description)
    call conclude('flexpath_variable_local', failure, stat, errmsg)
  end subroutine flexpath_variable_local

  ! One array that is the blocks of all ranks, one after another along the first dimension. row: the extents of
  ! the other dimensions (none for a plain list).
  subroutine flexpath_variable_joined(variable, name, dtype, row, unit, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    integer, intent(in) :: dtype
    class(*), intent(in), optional :: row(:)
    character(len=*), intent(in), optional :: unit, description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    integer(int64), allocatable :: extents(:)
    call forget(variable)
    allocate (extents(0))
    if (present(row)) call take_integers(row, extents, 'row', failure)
    if (failure%status == flexpath_status_ok) &
        failure%status = c_variable_joined(c_text(name), int(dtype, c_int32_t), size(extents, kind=c_int32_t), &
        extents, variable%handle)
    call define(variable, name, dtype, size(extents) + 1, flexpath_kind_joined_array, failure, unit, description)
    call conclude('flexpath_variable_joined', failure, stat, errmsg)
  end subroutine flexpath_variable_joined

  ! Frees what a variable was defined as before.
  subroutine forget(variable)
    type(flexpath_variable), intent(inout) :: variable
    integer(c_int32_t) :: status
    if (c_associated(variable%handle)) status = c_variable_free(variable%handle)
    variable = flexpath_variable()
  end subroutine forget

  ! Keeps what is known of a variable, which lies in memory as Fortran's arrays do.
  subroutine define(variable, name, dtype, ndims, kind, failure, unit, description)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    integer, intent(in) :: dtype, ndims, kind
    type(failing), intent(inout) :: failure
    character(len=*), intent(in), optional :: unit, description
    if (failure%status /= flexpath_status_ok) return
    variable%name = trim(name)
    variable%dtype = dtype
    variable%ndims = ndims
    variable%kind = kind
    failure%status = c_variable_set_order(variable%handle, int(flexpath_order_column_major, c_int32_t))
    if (present(unit) .and. failure%status == flexpath_status_ok) &
        failure%status = c_variable_set_unit(variable%handle, c_text(unit))
    if (present(description) .and. failure%status == flexpath_status_ok) &
        failure%status = c_variable_set_description(variable%handle, c_text(description))
  end subroutine define

  subroutine set_attribute_text(variable, name, text, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_variable_set_attribute', &
        c_variable_set_attribute_text(variable%handle, c_text(name), c_text(text)), stat, errmsg)
  end subroutine set_attribute_text

  subroutine set_attribute_int32(variable, name, number, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: number
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_variable_set_attribute', &
        c_variable_set_attribute_integer(variable%handle, c_text(name), int(number, int64)), stat, errmsg)
  end subroutine set_attribute_int32

  subroutine set_attribute_int64(variable, name, number, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: number
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_variable_set_attribute', &
        c_variable_set_attribute_integer(variable%handle, c_text(name), number), stat, errmsg)
  end subroutine set_attribute_int64

  subroutine set_attribute_real64(variable, name, number, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: number
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_variable_set_attribute', &
        c_variable_set_attribute_real(variable%handle, c_text(name), number), stat, errmsg)
  end subroutine set_attribute_real64

  ! Frees a variable. Steps that hold it stay.
  subroutine flexpath_variable_free(variable, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_variable_free', c_variable_free(variable%handle), stat, errmsg)
    variable%handle = c_null_ptr
  end subroutine flexpath_variable_free

  ! Publishers.

  ! Opens a stream for publishing. Waits for the other ranks of the cohort and for as many subscribers as the options
  ! say, at most OpenTimeoutSecs.
  subroutine flexpath_publisher_open(publisher, stream, options, stat, errmsg)
    type(flexpath_publisher), intent(inout) :: publisher
    character(len=*), intent(in) :: stream
    type(flexpath_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: chosen
    type(failing) :: failure
    chosen = c_null_ptr
    if (present(options)) chosen = options%handle
    if (c_associated(publisher%handle)) then
      call fail(failure, flexpath_status_misuse, 'the publisher is open: close it first')
    else
      failure%status = c_publisher_open(c_text(stream), chosen, publisher%handle)
    end if
    call conclude('flexpath_publisher_open', failure, stat, errmsg)
  end subroutine flexpath_publisher_open

  ! Begins the next step; step is its number, from 0. Waits while a subscription holds as much as it may.
  subroutine flexpath_publisher_begin_step(publisher, step, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    integer(int64), intent(out), optional :: step
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: number
    integer(c_int32_t) :: status
    status = c_publisher_begin_step(publisher%handle, number)
    if (present(step) .and. status == flexpath_status_ok) step = number
    call conclude_status('flexpath_publisher_begin_step', status, stat, errmsg)
  end subroutine flexpath_publisher_begin_step

  ! Ends the step that is open: it is announced when every rank has ended it. Returns at once.
  subroutine flexpath_publisher_end_step(publisher, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_publisher_end_step', c_publisher_end_step(publisher%handle), stat, errmsg)
  end subroutine flexpath_publisher_end_step

  ! Gives up the step that is open, for the whole cohort: nobody gets it.
  subroutine flexpath_publisher_abandon_step(publisher, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_publisher_abandon_step', c_publisher_abandon_step(publisher%handle), stat, errmsg)
  end subroutine flexpath_publisher_abandon_step

  ! Whether somebody subscribed to this variable in the step that is open: otherwise there is no need to compute it.
  subroutine flexpath_publisher_is_wanted(publisher, variable, wanted, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    character(len=*), intent(in) :: variable
    logical, intent(out) :: wanted
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status, answer
    answer = 0
    status = c_publisher_is_wanted(publisher%handle, c_text(variable), answer)
    wanted = answer /= 0
    call conclude_status('flexpath_publisher_is_wanted', status, stat, errmsg)
  end subroutine flexpath_publisher_is_wanted

  ! Whether there is a subscription.
  subroutine flexpath_publisher_has_subscribers(publisher, present_now, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    logical, intent(out) :: present_now
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status, answer
    answer = 0
    status = c_publisher_has_subscribers(publisher%handle, answer)
    present_now = answer /= 0
    call conclude_status('flexpath_publisher_has_subscribers', status, stat, errmsg)
  end subroutine flexpath_publisher_has_subscribers

  ! A counter, by its name. A name that is none fails, and the text lists all.
  subroutine flexpath_publisher_statistic(publisher, name, counted, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    character(len=*), intent(in) :: name
    integer(int64), intent(out) :: counted
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_publisher_statistic', &
        c_publisher_statistic(publisher%handle, c_text(name), counted), stat, errmsg)
  end subroutine flexpath_publisher_statistic

  ! Waits at most timeout_ms milliseconds (0: only looks) until every subscription that drops nothing has released all
  ! steps that this rank has ended. With stat flexpath_status_timed_out some are held; errmsg says by whom.
  subroutine flexpath_publisher_sync(publisher, timeout_ms, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_publisher_sync', &
        c_publisher_sync(publisher%handle, int(max(timeout_ms, 0), c_int64_t)), stat, errmsg)
  end subroutine flexpath_publisher_sync

  ! Closes the stream: what was published is still delivered, at most as long as CloseTimeoutSecs. A step that is
  ! open is abandoned. The handle is no more, whatever comes of it.
  subroutine flexpath_publisher_close(publisher, stat, errmsg)
    type(flexpath_publisher), intent(inout) :: publisher
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_publisher_close', c_publisher_close(publisher%handle), stat, errmsg)
    publisher%handle = c_null_ptr
  end subroutine flexpath_publisher_close

  ! Subscribers and their steps.

  ! Attaches to a stream. Waits for it to appear, at most OpenTimeoutSecs.
  subroutine flexpath_subscriber_open(subscriber, stream, options, stat, errmsg)
    type(flexpath_subscriber), intent(inout) :: subscriber
    character(len=*), intent(in) :: stream
    type(flexpath_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: chosen
    type(failing) :: failure
    chosen = c_null_ptr
    if (present(options)) chosen = options%handle
    if (c_associated(subscriber%handle)) then
      call fail(failure, flexpath_status_misuse, 'the subscriber is open: close it first')
    else
      failure%status = c_subscriber_open(c_text(stream), chosen, subscriber%handle)
    end if
    call conclude('flexpath_subscriber_open', failure, stat, errmsg)
  end subroutine flexpath_subscriber_open

  ! Waits at most timeout_ms milliseconds (0: only looks) for the next step. status is flexpath_status_ok,
  ! flexpath_status_not_yet, or flexpath_status_end_of_stream: then flexpath_subscriber_end says why, and
  ! flexpath_last_error() in words. A step that the variable still holds is released first.
  subroutine flexpath_subscriber_next_step(subscriber, step, timeout_ms, status, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    type(flexpath_step), intent(inout) :: step
    integer, intent(in) :: timeout_ms
    integer, intent(out) :: status
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: outcome
    if (c_associated(step%handle)) outcome = c_step_release(step%handle)
    step%handle = c_null_ptr
    outcome = c_subscriber_next_step(subscriber%handle, int(max(timeout_ms, 0), c_int64_t), step%handle)
    status = outcome
    if (outcome /= flexpath_status_ok) step%handle = c_null_ptr
    call conclude_status('flexpath_subscriber_next_step', outcome, stat, errmsg)
  end subroutine flexpath_subscriber_next_step

  ! Has what is derived or transformed by that name made on another side from now on: one of flexpath_placement_... No
  ! step is lost by it.
  subroutine flexpath_subscriber_place(subscriber, variable, placement, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: variable
    integer, intent(in) :: placement
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_subscriber_place', &
        c_subscriber_place(subscriber%handle, c_text(variable), int(placement, c_int32_t)), stat, errmsg)
  end subroutine flexpath_subscriber_place

  ! Why the stream is over: one of flexpath_end_...
  subroutine flexpath_subscriber_end(subscriber, reason, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    integer, intent(out) :: reason
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status, code
    code = flexpath_end_not_ended
    status = c_subscriber_end(subscriber%handle, code)
    reason = code
    call conclude_status('flexpath_subscriber_end', status, stat, errmsg)
  end subroutine flexpath_subscriber_end

  ! A counter, by its name. A name that is none fails, and the text lists all.
  subroutine flexpath_subscriber_statistic(subscriber, name, counted, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: name
    integer(int64), intent(out) :: counted
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_subscriber_statistic', &
        c_subscriber_statistic(subscriber%handle, c_text(name), counted), stat, errmsg)
  end subroutine flexpath_subscriber_statistic

  ! Leaves the stream. Steps that are still there stay valid until they are released. The handle is no more,
  ! whatever comes of it.
  subroutine flexpath_subscriber_close(subscriber, stat, errmsg)
    type(flexpath_subscriber), intent(inout) :: subscriber
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_subscriber_close', c_subscriber_close(subscriber%handle), stat, errmsg)
    subscriber%handle = c_null_ptr
  end subroutine flexpath_subscriber_close

  ! Steering: parameters that a simulation declares, and values of them that subscribers ask for.

  ! Lets subscribers ask for values of a parameter. kind is one of flexpath_parameter_kind_...; least and greatest count
  ! for real and integer alone, ends included. Rank 0's parameters count.
  subroutine flexpath_options_add_parameter(options, name, kind, least, greatest, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: name
    integer, intent(in) :: kind
    real(real64), intent(in), optional :: least, greatest
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    real(c_double) :: bounds(2)
    bounds = [-huge(1.0_c_double), huge(1.0_c_double)]
    if (present(least)) bounds(1) = least
    if (present(greatest)) bounds(2) = greatest
    status = made(options)
    if (status == flexpath_status_ok) status = c_options_add_parameter(options%handle, c_text(name), &
        int(kind, c_int32_t), bounds(1), bounds(2))
    call conclude_status('flexpath_options_add_parameter', status, stat, errmsg)
  end subroutine flexpath_options_add_parameter

  ! Says what a parameter is that was added before: its unit, and what it changes. At most 255 bytes.
  subroutine flexpath_options_describe_parameter(options, name, description, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: name, description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = made(options)
    if (status == flexpath_status_ok) status = c_options_describe_parameter(options%handle, c_text(name), c_text(description))
    call conclude_status('flexpath_options_describe_parameter', status, stat, errmsg)
  end subroutine flexpath_options_describe_parameter

  ! How many requests the step that is open has, in the order in which they were asked for. All ranks have the same. One
  ! that is not declined by the end of the step counts as taken.
  subroutine flexpath_publisher_request_count(publisher, requests, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    integer, intent(out) :: requests
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: counted
    integer(c_int32_t) :: status
    counted = 0
    status = c_publisher_request_count(publisher%handle, counted)
    requests = int(counted)
    call conclude_status('flexpath_publisher_request_count', status, stat, errmsg)
  end subroutine flexpath_publisher_request_count

  ! The request at index, from 1.
  subroutine flexpath_publisher_request_at(publisher, index, request, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    integer, intent(in) :: index
    type(flexpath_request), intent(out) :: request
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_request) :: told
    integer(c_int32_t) :: status
    status = c_publisher_request_at(publisher%handle, int(index, c_int64_t) - 1, told)
    if (status == flexpath_status_ok) then
      request%parameter = text_of(told%parameter)
      request%by = text_of(told%by)
      request%text = text_of(told%text)
      request%number = told%number
      request%integer = told%integer
      request%kind = told%kind
    end if
    call conclude_status('flexpath_publisher_request_at', status, stat, errmsg)
  end subroutine flexpath_publisher_request_at

  ! Whether the step that is open has a request for that parameter, whatever the value: for those without one.
  subroutine flexpath_publisher_is_asked(publisher, parameter, asked, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    character(len=*), intent(in) :: parameter
    logical, intent(out) :: asked
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status, answer
    answer = 0
    status = c_publisher_is_asked(publisher%handle, c_text(parameter), answer)
    asked = answer /= 0
    call conclude_status('flexpath_publisher_is_asked', status, stat, errmsg)
  end subroutine flexpath_publisher_is_asked

  ! Does not take the request at index, from 1, of the step that is open. Who asked is told the reason. The ranks of one
  ! simulation are to decline the same.
  subroutine flexpath_publisher_decline(publisher, index, reason, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    integer, intent(in) :: index
    character(len=*), intent(in) :: reason
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_publisher_decline', &
        c_publisher_decline(publisher%handle, int(index, c_int64_t) - 1, c_text(reason)), stat, errmsg)
  end subroutine flexpath_publisher_decline

  ! Asks, and waits at most timeout_ms milliseconds. step is the one at which all ranks saw it, and which they have left.
  ! With urgent it is the next that no rank has begun; for that they wait for one another.
  subroutine request_real64(subscriber, parameter, value, timeout_ms, step, urgent, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: parameter
    real(real64), intent(in) :: value
    integer, intent(in) :: timeout_ms
    integer(int64), intent(out), optional :: step
    logical, intent(in), optional :: urgent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(c_double), target :: sent
    sent = value
    call ask(subscriber, parameter, flexpath_attribute_kind_real, c_loc(sent), timeout_ms, step, urgent, stat, errmsg)
  end subroutine request_real64

  subroutine request_int32(subscriber, parameter, value, timeout_ms, step, urgent, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: parameter
    integer(int32), intent(in) :: value
    integer, intent(in) :: timeout_ms
    integer(int64), intent(out), optional :: step
    logical, intent(in), optional :: urgent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call request_int64(subscriber, parameter, int(value, int64), timeout_ms, step, urgent, stat, errmsg)
  end subroutine request_int32

  subroutine request_int64(subscriber, parameter, value, timeout_ms, step, urgent, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: parameter
    integer(int64), intent(in) :: value
    integer, intent(in) :: timeout_ms
    integer(int64), intent(out), optional :: step
    logical, intent(in), optional :: urgent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t), target :: sent
    sent = value
    call ask(subscriber, parameter, flexpath_attribute_kind_integer, c_loc(sent), timeout_ms, step, urgent, stat, errmsg)
  end subroutine request_int64

  ! For parameters without a value it is .true.
  subroutine request_logical(subscriber, parameter, value, timeout_ms, step, urgent, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: parameter
    logical, intent(in) :: value
    integer, intent(in) :: timeout_ms
    integer(int64), intent(out), optional :: step
    logical, intent(in), optional :: urgent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int8_t), target :: sent
    sent = merge(1_c_int8_t, 0_c_int8_t, value)
    call ask(subscriber, parameter, flexpath_attribute_kind_bool, c_loc(sent), timeout_ms, step, urgent, stat, errmsg)
  end subroutine request_logical

  subroutine request_text(subscriber, parameter, value, timeout_ms, step, urgent, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: parameter, value
    integer, intent(in) :: timeout_ms
    integer(int64), intent(out), optional :: step
    logical, intent(in), optional :: urgent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: sent(:)
    character(len=:), allocatable :: ended
    integer :: at
    ended = c_text(value)
    sent = [(ended(at:at), at=1, len(ended))]
    call ask(subscriber, parameter, flexpath_attribute_kind_text, c_loc(sent), timeout_ms, step, urgent, stat, errmsg)
  end subroutine request_text

  subroutine ask(subscriber, parameter, kind, value, timeout_ms, step, urgent, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: parameter
    integer, intent(in) :: kind, timeout_ms
    type(c_ptr), intent(in) :: value
    integer(int64), intent(out), optional :: step
    logical, intent(in), optional :: urgent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: seen
    integer(c_int32_t) :: status, soon
    soon = 0
    if (present(urgent)) soon = merge(1_c_int32_t, 0_c_int32_t, urgent)
    status = c_subscriber_request(subscriber%handle, c_text(parameter), int(kind, c_int32_t), value, soon, &
        int(max(timeout_ms, 0), c_int64_t), seen)
    if (present(step) .and. status == flexpath_status_ok) step = seen
    call conclude_status('flexpath_subscriber_request', status, stat, errmsg)
  end subroutine ask

  ! What happens on a stream, and what is to be known of it.

  ! Waits at most timeout_ms milliseconds (0: only looks) for something to happen. status is flexpath_status_ok, or
  ! flexpath_status_not_yet where nothing did. Every event is told once, in order; of those that nobody takes the last
  ! 1024 are kept.
  subroutine flexpath_publisher_next_event(publisher, event, timeout_ms, status, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_event), intent(out) :: event
    integer, intent(in) :: timeout_ms
    integer, intent(out) :: status
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_event) :: told
    integer(c_int32_t) :: outcome
    outcome = c_publisher_next_event(publisher%handle, int(max(timeout_ms, 0), c_int64_t), told)
    if (outcome == flexpath_status_ok) call tell_event(told, event)
    status = outcome
    call conclude_status('flexpath_publisher_next_event', outcome, stat, errmsg)
  end subroutine flexpath_publisher_next_event

  ! The same, of a subscriber.
  subroutine flexpath_subscriber_next_event(subscriber, event, timeout_ms, status, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    type(flexpath_event), intent(out) :: event
    integer, intent(in) :: timeout_ms
    integer, intent(out) :: status
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_event) :: told
    integer(c_int32_t) :: outcome
    outcome = c_subscriber_next_event(subscriber%handle, int(max(timeout_ms, 0), c_int64_t), told)
    if (outcome == flexpath_status_ok) call tell_event(told, event)
    status = outcome
    call conclude_status('flexpath_subscriber_next_event', outcome, stat, errmsg)
  end subroutine flexpath_subscriber_next_event

  subroutine tell_event(told, event)
    type(c_event), intent(in) :: told
    type(flexpath_event), intent(inout) :: event
    event%kind = told%kind
    event%rank = told%rank
    event%step = told%step
    event%text = text_of(told%text)
  end subroutine tell_event

  ! Waits at most timeout_ms milliseconds until there are count subscriptions. status is flexpath_status_ok, or
  ! flexpath_status_not_yet where there are fewer; subscriptions is how many there are.
  subroutine flexpath_publisher_wait_for_subscribers(publisher, count, timeout_ms, status, subscriptions, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    integer, intent(in) :: count, timeout_ms
    integer, intent(out) :: status
    integer, intent(out), optional :: subscriptions
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: outcome, counted
    counted = 0
    outcome = c_publisher_wait_for_subscribers(publisher%handle, int(count, c_int32_t), &
        int(max(timeout_ms, 0), c_int64_t), counted)
    status = outcome
    if (present(subscriptions)) subscriptions = counted
    call conclude_status('flexpath_publisher_wait_for_subscribers', outcome, stat, errmsg)
  end subroutine flexpath_publisher_wait_for_subscribers

  ! Promises that these variables will be put in the step that is open: ending it fails without them.
  subroutine flexpath_publisher_promise(publisher, variables, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    character(len=*), intent(in) :: variables(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: letters(:, :)
    type(c_ptr), allocatable :: pointers(:)
    call c_texts(variables, letters, pointers)
    call conclude_status('flexpath_publisher_promise', &
        c_publisher_promise(publisher%handle, pointers, size(pointers, kind=c_int64_t)), stat, errmsg)
  end subroutine flexpath_publisher_promise

  ! Asks for other variables, for the whole cohort: only what rank 0 asks for is sent. Steps that were under way come as
  ! they were. The event flexpath_event_kind_reselected says which step is the first with the other variables.
  subroutine flexpath_subscriber_select_variables(subscriber, variables, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: variables(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: letters(:, :)
    type(c_ptr), allocatable :: pointers(:)
    call c_texts(variables, letters, pointers)
    call conclude_status('flexpath_subscriber_select_variables', &
        c_subscriber_select_variables(subscriber%handle, pointers, size(pointers, kind=c_int64_t)), stat, errmsg)
  end subroutine flexpath_subscriber_select_variables

  ! Wants other steps than until now, for the whole cohort. The condition takes the place of the option Condition, with which
  ! the subscriber was opened. It waits until the publisher has said from which step on, which is written to first. Only
  ! rank 0 of a cohort asks. flexpath_status_not_taken: the publisher cannot judge by it, and the one before holds on.
  subroutine flexpath_subscriber_set_condition(subscriber, condition, timeout_ms, first, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=*), intent(in) :: condition
    integer, intent(in) :: timeout_ms
    integer(int64), intent(out), optional :: first
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: from
    integer(c_int32_t) :: status
    status = c_subscriber_set_condition(subscriber%handle, c_text(condition), int(max(timeout_ms, 0), c_int64_t), from)
    if (present(first) .and. status == flexpath_status_ok) first = from
    call conclude_status('flexpath_subscriber_set_condition', status, stat, errmsg)
  end subroutine flexpath_subscriber_set_condition

  ! The first step that the subscription holds for, in the epoch that it is attached to. A condition is looked at from there
  ! on. stat is flexpath_status_not_yet where it is not attached.
  subroutine flexpath_subscriber_first_step(subscriber, step, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    integer(int64), intent(out) :: step
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first
    integer(c_int32_t) :: status
    first = 0
    status = c_subscriber_first_step(subscriber%handle, first)
    step = first
    call conclude_status('flexpath_subscriber_first_step', status, stat, errmsg)
  end subroutine flexpath_subscriber_first_step

  ! Where this rank is reached: what others give as PublisherContact where no rendezvous directory is shared.
  subroutine flexpath_publisher_contact(publisher, text, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_publisher_contact(publisher%handle, told)
    call conclude_text('flexpath_publisher_contact', status, told, text, stat, errmsg)
  end subroutine flexpath_publisher_contact

  ! The epoch of this opening of the stream.
  subroutine flexpath_publisher_epoch(publisher, text, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_publisher_epoch(publisher%handle, told)
    call conclude_text('flexpath_publisher_epoch', status, told, text, stat, errmsg)
  end subroutine flexpath_publisher_epoch

  ! What each data link of this rank runs over, and why nothing better: a line for each peer.
  subroutine flexpath_publisher_transports(publisher, text, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_publisher_transports(publisher%handle, told)
    call conclude_text('flexpath_publisher_transports', status, told, text, stat, errmsg)
  end subroutine flexpath_publisher_transports

  ! The epoch of the publisher that it is attached to; empty while a restart is awaited.
  subroutine flexpath_subscriber_epoch(subscriber, text, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_subscriber_epoch(subscriber%handle, told)
    call conclude_text('flexpath_subscriber_epoch', status, told, text, stat, errmsg)
  end subroutine flexpath_subscriber_epoch

  ! What the data link to each publisher rank runs over, and why nothing better: a line for each.
  subroutine flexpath_subscriber_transports(subscriber, text, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_subscriber_transports(subscriber%handle, told)
    call conclude_text('flexpath_subscriber_transports', status, told, text, stat, errmsg)
  end subroutine flexpath_subscriber_transports

  ! How procedures end that give a text: it is empty where they failed.
  subroutine conclude_text(procedure, status, told, text, stat, errmsg)
    character(len=*), intent(in) :: procedure
    integer(c_int32_t), intent(in) :: status
    type(c_ptr), intent(in) :: told
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    text = ''
    if (status == flexpath_status_ok) text = text_of(told)
    call conclude_status(procedure, status, stat, errmsg)
  end subroutine conclude_text

  ! What is to be known of a step.
  subroutine flexpath_step_describe(step, info, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    type(flexpath_step_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_step_info) :: told
    integer(c_int32_t) :: status
    status = c_step_describe(step%handle, told)
    if (status == flexpath_status_ok) info = flexpath_step_info(told%step, told%skipped, told%len_bytes, &
        told%queued_steps, told%is_redelivered /= 0)
    call conclude_status('flexpath_step_describe', status, stat, errmsg)
  end subroutine flexpath_step_describe

  ! How many variables the step has.
  subroutine flexpath_step_variable_count(step, variables, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    integer, intent(out) :: variables
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: counted
    integer(c_int32_t) :: status
    counted = 0
    status = c_step_variable_count(step%handle, counted)
    variables = int(counted)
    call conclude_status('flexpath_step_variable_count', status, stat, errmsg)
  end subroutine flexpath_step_variable_count

  ! What is to be known of the variable at index, from 1, by name.
  subroutine flexpath_step_variable_at(step, index, info, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    integer, intent(in) :: index
    type(flexpath_variable_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_variable_info) :: told
    integer(c_int32_t) :: status
    status = c_step_variable_at(step%handle, int(index, c_int64_t) - 1, told)
    if (status == flexpath_status_ok) call tell_variable(told, info)
    call conclude_status('flexpath_step_variable_at', status, stat, errmsg)
  end subroutine flexpath_step_variable_at

  ! What is to be known of the variable of that name.
  subroutine flexpath_step_variable(step, name, info, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: name
    type(flexpath_variable_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_variable_info) :: told
    integer(c_int32_t) :: status
    status = c_step_variable(step%handle, c_text(name), told)
    if (status == flexpath_status_ok) call tell_variable(told, info)
    call conclude_status('flexpath_step_variable', status, stat, errmsg)
  end subroutine flexpath_step_variable

  subroutine tell_variable(told, info)
    type(c_variable_info), intent(in) :: told
    type(flexpath_variable_info), intent(inout) :: info
    info%name = text_of(told%name)
    info%unit = text_of(told%unit)
    info%description = text_of(told%description)
    info%dtype = told%dtype
    info%kind = told%kind
    info%order = told%order
    info%ndims = told%ndims
    info%shape = told%shape(:told%ndims)
  end subroutine tell_variable

  ! How many numbers the subscriber's option Condition looked at in this step. It is 0 without a condition, and of one
  ! that looks at variables alone.
  subroutine flexpath_step_measured_count(step, measured, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    integer, intent(out) :: measured
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: counted
    integer(c_int32_t) :: status
    counted = 0
    status = c_step_measured_count(step%handle, counted)
    measured = int(counted)
    call conclude_status('flexpath_step_measured_count', status, stat, errmsg)
  end subroutine flexpath_step_measured_count

  ! The number at index, from 1, in the order of the condition's text.
  subroutine flexpath_step_measured_at(step, index, info, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    integer, intent(in) :: index
    type(flexpath_measured), intent(out) :: info
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_measured) :: told
    integer(c_int32_t) :: status
    status = c_step_measured_at(step%handle, int(index, c_int64_t) - 1, told)
    if (status == flexpath_status_ok) then
      info%measure = text_of(told%measure)
      info%is_there = told%is_there /= 0
      info%number = told%number
      info%upper = told%upper
      info%place = told%place(:told%ndims) + 1
    end if
    call conclude_status('flexpath_step_measured_at', status, stat, errmsg)
  end subroutine flexpath_step_measured_at

  ! When the publisher decided the step: microseconds since 1970-01-01 00:00 UTC, by the clock of its rank 0. It is 0
  ! without a condition.
  subroutine flexpath_step_decided_at(step, micros, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    integer(c_int64_t), intent(out) :: micros
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: told
    integer(c_int32_t) :: status
    told = 0
    status = c_step_decided_at(step%handle, told)
    micros = told
    call conclude_status('flexpath_step_decided_at', status, stat, errmsg)
  end subroutine flexpath_step_decided_at

  ! Why the step could not be judged by the subscriber's option Condition: it comes all the same. Empty if it was
  ! judged, or there is no condition.
  subroutine flexpath_step_unjudged(step, reason, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=:), allocatable, intent(out) :: reason
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_step_unjudged(step%handle, told)
    call conclude_text('flexpath_step_unjudged', status, told, reason, stat, errmsg)
  end subroutine flexpath_step_unjudged

  ! Releases a step: the publisher needs its memory for others.
  subroutine flexpath_step_release(step, stat, errmsg)
    type(flexpath_step), intent(inout) :: step
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_step_release', c_step_release(step%handle), stat, errmsg)
    step%handle = c_null_ptr
  end subroutine flexpath_step_release

  ! Releases a step that is done: no member of a work-sharing set gets it again. That differs from flexpath_step_release
  ! where the option ShareExplicitDone is set. While another call uses the step that is a failure, and it is still held.
  subroutine flexpath_step_done(step, stat, errmsg)
    type(flexpath_step), intent(inout) :: step
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = c_step_done(step%handle)
    if (status /= flexpath_status_misuse) step%handle = c_null_ptr
    call conclude_status('flexpath_step_done', status, stat, errmsg)
  end subroutine flexpath_step_done

  ! Gives a step back to its work-sharing set (ShareRedeliver): a member gets it again, with is_redelivered, be it this
  ! one. In a set that does not redeliver, or in none, it is released and that is a failure.
  subroutine flexpath_step_give_back(step, stat, errmsg)
    type(flexpath_step), intent(inout) :: step
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = c_step_give_back(step%handle)
    if (status /= flexpath_status_misuse) step%handle = c_null_ptr
    call conclude_status('flexpath_step_give_back', status, stat, errmsg)
  end subroutine flexpath_step_give_back

  ! More of the variables of a step: attributes, dimensions, blocks, texts, views.

  ! How many attributes a variable has.
  subroutine flexpath_step_attribute_count(step, variable, attributes, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer, intent(out) :: attributes
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: counted
    integer(c_int32_t) :: status
    counted = 0
    status = c_step_attribute_count(step%handle, c_text(variable), counted)
    attributes = int(counted)
    call conclude_status('flexpath_step_attribute_count', status, stat, errmsg)
  end subroutine flexpath_step_attribute_count

  ! The attribute at index, from 1, by name.
  subroutine flexpath_step_attribute_at(step, variable, index, attribute, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer, intent(in) :: index
    type(flexpath_attribute), intent(out) :: attribute
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_attribute) :: told
    integer(c_int32_t) :: status
    status = c_step_attribute_at(step%handle, c_text(variable), int(index, c_int64_t) - 1, told)
    if (status == flexpath_status_ok) call tell_attribute(told, attribute)
    call conclude_status('flexpath_step_attribute_at', status, stat, errmsg)
  end subroutine flexpath_step_attribute_at

  ! The attribute of that name.
  subroutine flexpath_step_attribute(step, variable, name, attribute, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable, name
    type(flexpath_attribute), intent(out) :: attribute
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_attribute) :: told
    integer(c_int32_t) :: status
    status = c_step_attribute(step%handle, c_text(variable), c_text(name), told)
    if (status == flexpath_status_ok) call tell_attribute(told, attribute)
    call conclude_status('flexpath_step_attribute', status, stat, errmsg)
  end subroutine flexpath_step_attribute

  subroutine tell_attribute(told, attribute)
    type(c_attribute), intent(in) :: told
    type(flexpath_attribute), intent(inout) :: attribute
    integer(int8), pointer :: bytes(:)
    integer(int64), pointer :: integers(:)
    real(real64), pointer :: reals(:)
    type(c_ptr), pointer :: texts(:)
    attribute%name = text_of(told%name)
    attribute%kind = told%kind
    attribute%is_list = told%is_list /= 0
    select case (told%kind)
    case (flexpath_attribute_kind_bool)
      call c_f_pointer(told%values, bytes, [told%count])
      attribute%truths = bytes /= 0_int8
    case (flexpath_attribute_kind_integer, flexpath_attribute_kind_unsigned)
      call c_f_pointer(told%values, integers, [told%count])
      attribute%integers = integers
    case (flexpath_attribute_kind_real)
      call c_f_pointer(told%values, reals, [told%count])
      attribute%reals = reals
    case (flexpath_attribute_kind_text)
      call c_f_pointer(told%values, texts, [told%count])
      call tell_texts(texts, attribute%texts)
    case default
      call c_f_pointer(told%values, bytes, [told%count])
      attribute%bytes = bytes
    end select
  end subroutine tell_attribute

  ! Texts of C, all as long as the longest.
  subroutine tell_texts(told, texts)
    type(c_ptr), intent(in) :: told(:)
    character(len=:), allocatable, intent(out) :: texts(:)
    integer :: at, longest
    longest = 0
    do at = 1, size(told)
      longest = max(longest, int(c_strlen(told(at))))
    end do
    allocate (character(len=longest) :: texts(size(told)))
    do at = 1, size(told)
      texts(at) = text_of(told(at))
    end do
  end subroutine tell_texts

  subroutine set_attribute_logical(variable, name, truth, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: name
    logical, intent(in) :: truth
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_variable_set_attribute', &
        c_variable_set_attribute_bool(variable%handle, c_text(name), merge(1_c_int32_t, 0_c_int32_t, truth)), stat, errmsg)
  end subroutine set_attribute_logical

  subroutine set_attribute_texts(variable, name, texts, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: texts(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: letters(:, :)
    type(c_ptr), allocatable :: pointers(:)
    call c_texts(texts, letters, pointers)
    call conclude_status('flexpath_variable_set_attribute', &
        c_variable_set_attribute_texts(variable%handle, c_text(name), pointers, size(pointers, kind=c_int64_t)), &
        stat, errmsg)
  end subroutine set_attribute_texts

  subroutine set_attribute_int32s(variable, name, numbers, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: numbers(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call set_attribute_int64s(variable, name, int(numbers, int64), stat, errmsg)
  end subroutine set_attribute_int32s

  subroutine set_attribute_int64s(variable, name, numbers, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: numbers(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_variable_set_attribute', &
        c_variable_set_attribute_integers(variable%handle, c_text(name), numbers, size(numbers, kind=c_int64_t)), &
        stat, errmsg)
  end subroutine set_attribute_int64s

  subroutine set_attribute_real64s(variable, name, numbers, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: numbers(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_variable_set_attribute', &
        c_variable_set_attribute_reals(variable%handle, c_text(name), numbers, size(numbers, kind=c_int64_t)), &
        stat, errmsg)
  end subroutine set_attribute_real64s

  ! Names the dimensions of a variable, as many as it has; a blank name is none.
  subroutine flexpath_variable_set_dimensions(variable, names, stat, errmsg)
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: names(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: letters(:, :)
    type(c_ptr), allocatable :: pointers(:)
    call c_texts(names, letters, pointers)
    call conclude_status('flexpath_variable_set_dimensions', &
        c_variable_set_dimensions(variable%handle, pointers, size(pointers, kind=c_int64_t)), stat, errmsg)
  end subroutine flexpath_variable_set_dimensions

  ! The name of a dimension, from 1; empty if it has none.
  subroutine flexpath_step_dimension(step, variable, dimension, name, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer, intent(in) :: dimension
    character(len=:), allocatable, intent(out) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_step_dimension(step%handle, c_text(variable), int(dimension, c_int32_t) - 1, told)
    call conclude_text('flexpath_step_dimension', status, told, name, stat, errmsg)
  end subroutine flexpath_step_dimension

  ! All blocks of a variable, by rank and then in the order of its puts. The publisher is asked once for each step and
  ! variable, for at most FetchTimeoutSecs.
  subroutine flexpath_step_blocks(step, variable, blocks, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    type(flexpath_block_info), allocatable, intent(inout) :: blocks(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_block), allocatable :: told(:)
    integer(c_int64_t) :: counted
    integer(c_int32_t) :: status
    integer :: at, ndims
    counted = 0
    allocate (told(0))
    status = c_step_blocks(step%handle, c_text(variable), told, 0_c_int64_t, counted)
    if (status == flexpath_status_ok .and. counted > 0) then
      deallocate (told)
      allocate (told(counted))
      status = c_step_blocks(step%handle, c_text(variable), told, size(told, kind=c_int64_t), counted)
    end if
    if (status /= flexpath_status_ok) counted = 0
    if (allocated(blocks)) deallocate (blocks)
    allocate (blocks(counted))
    do at = 1, size(blocks)
      ndims = told(at)%ndims
      blocks(at) = flexpath_block_info(told(at)%rank, told(at)%block + 1, told(at)%start(:ndims) + 1, &
          told(at)%count(:ndims))
    end do
    call conclude_status('flexpath_step_blocks', status, stat, errmsg)
  end subroutine flexpath_step_blocks

  ! Puts the value of a scalar of flexpath_dtype_string. All scalars of a step may have 4096 bytes together.
  subroutine flexpath_put_text(publisher, variable, text, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_put_text', &
        c_publisher_put_text(publisher%handle, variable%handle, c_text(text)), stat, errmsg)
  end subroutine flexpath_put_text

  ! The value of a scalar of flexpath_dtype_string.
  subroutine flexpath_step_text(step, variable, text, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_step_text(step%handle, c_text(variable), told)
    call conclude_text('flexpath_step_text', status, told, text, stat, errmsg)
  end subroutine flexpath_step_text

  ! The extents of the array that a get of this selection wants; without one of everything.
  subroutine flexpath_step_selected_shape(step, variable, extents, selection, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), allocatable, intent(out) :: extents(:)
    type(flexpath_selection), intent(in), optional, target :: selection
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_selection) :: described
    integer(c_int64_t) :: told(8)
    integer(c_int32_t) :: status, ndims
    ndims = 0
    call describe_any(described, selection)
    status = c_step_selected_shape(step%handle, c_text(variable), described, ndims, told)
    if (status /= flexpath_status_ok) ndims = 0
    extents = told(:ndims)
    call conclude_status('flexpath_step_selected_shape', status, stat, errmsg)
  end subroutine flexpath_step_selected_shape

  ! A selection as the library reads it; everything where there is none.
  subroutine describe_any(described, selection)
    type(c_selection), intent(out) :: described
    type(flexpath_selection), intent(in), optional, target :: selection
    if (present(selection)) then
      call describe(selection, described)
    else
      call describe(flexpath_selection(), described)
    end if
  end subroutine describe_any

  ! Gives the selected elements, of type dtype, where they lie. Nothing is copied if they are a contiguous part of one
  ! block that is shared or of this process and lie there in Fortran's order. flexpath_view_is_zero_copy says whether it
  ! is so.
  subroutine flexpath_step_view(step, variable, view, dtype, selection, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    type(flexpath_view), intent(inout) :: view
    integer, intent(in) :: dtype
    type(flexpath_selection), intent(in), optional, target :: selection
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_selection) :: described
    type(failing) :: failure
    if (c_associated(view%handle)) then
      call fail(failure, flexpath_status_misuse, 'the view still holds elements: release it first')
    else
      call describe_any(described, selection)
      failure%status = c_step_view(step%handle, c_text(variable), described, int(dtype, c_int32_t), view%handle, &
          view%elements, view%len)
      if (failure%status /= flexpath_status_ok) view = flexpath_view()
    end if
    call conclude('flexpath_step_view', failure, stat, errmsg)
  end subroutine flexpath_step_view

  ! Whether the elements of a view lie where the publisher put them.
  subroutine flexpath_view_is_zero_copy(view, is_zero_copy, stat, errmsg)
    type(flexpath_view), intent(in) :: view
    logical, intent(out) :: is_zero_copy
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status, told
    told = 0
    status = c_view_is_zero_copy(view%handle, told)
    is_zero_copy = told /= 0
    call conclude_status('flexpath_view_is_zero_copy', status, stat, errmsg)
  end subroutine flexpath_view_is_zero_copy

  ! Releases a view: its elements are not to be read any more.
  subroutine flexpath_view_release(view, stat, errmsg)
    type(flexpath_view), intent(inout) :: view
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_view_release', c_view_release(view%handle), stat, errmsg)
    view = flexpath_view()
  end subroutine flexpath_view_release

  ! Puts.

  ! Says what is put where; dtype is what the values are.
  subroutine prepare_put(put, publisher, variable, dtype, extents, start)
    type(putting), intent(inout) :: put
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer, intent(in) :: dtype
    integer(int64), intent(in) :: extents(:)
    class(*), intent(in), optional :: start(:)
    put%publisher = publisher%handle
    put%variable = variable%handle
    if (.not. allocated(variable%name)) then
      call fail(put%failure, flexpath_status_bad_handle, 'the variable was not defined')
    else if (.not. is_of(variable%dtype, dtype)) then
      call fail(put%failure, flexpath_status_wrong_dtype, text_of_dtype(dtype) // ' put of "' // variable%name &
          // '", whose elements are ' // text_of_dtype(variable%dtype))
    else if (variable%kind == flexpath_kind_global_array .and. present(start)) then
      call place_block(put, variable, extents, start)
    else if (size(extents) /= variable%ndims) then
      call fail(put%failure, flexpath_status_wrong_len, 'values of rank ' // text_of_number(size(extents, kind=int64)) &
          // ' put of "' // variable%name // '", which has ' // text_of_number(int(variable%ndims, int64)) &
          // ' dimensions')
    else if (present(start)) then
      call fail(put%failure, flexpath_status_misuse, 'start= is for global arrays, and "' // variable%name &
          // '" is none')
    else
      put%count(:size(extents)) = extents
    end if
  end subroutine prepare_put

  ! Whether values of that type are elements of a variable; truth values and letters are bytes.
  pure logical function is_of(variable_dtype, dtype)
    integer, intent(in) :: variable_dtype, dtype
    is_of = variable_dtype == dtype &
        .or. (dtype == flexpath_dtype_logical .and. variable_dtype == flexpath_dtype_bool)
  end function is_of

  ! The values may have fewer dimensions than the variable: the last ones are then 1.
  subroutine place_block(put, variable, extents, start)
    type(putting), intent(inout) :: put
    type(flexpath_variable), intent(in) :: variable
    integer(int64), intent(in) :: extents(:)
    class(*), intent(in) :: start(:)
    integer(int64), allocatable :: from(:)
    call take_integers(start, from, 'start', put%failure)
    if (put%failure%status < 0) return
    if (size(from) /= variable%ndims .or. size(extents) > variable%ndims) then
      call fail(put%failure, flexpath_status_wrong_len, 'values of rank ' // text_of_number(size(extents, kind=int64)) &
          // ' put of "' // variable%name // '" at start=' // text_of_numbers(from) // ', but it has ' &
          // text_of_number(int(variable%ndims, int64)) // ' dimensions')
      return
    end if
    if (any(from < 1)) then
      call fail(put%failure, flexpath_status_misuse, 'start=' // text_of_numbers(from) // ': indices count from 1')
      return
    end if
    put%start(:variable%ndims) = from - 1
    put%count(:variable%ndims) = 1
    put%count(:size(extents)) = extents
  end subroutine place_block

  ! Puts elements that lie one after another: they are copied once.
  subroutine put_elements(put, elements)
    type(putting), intent(inout) :: put
    type(c_ptr), intent(in) :: elements
    if (put%failure%status < 0) return
    put%failure%status = c_publisher_put(put%publisher, put%variable, put%start, put%count, elements)
  end subroutine put_elements

  ! Whether there is memory to copy elements to that do not lie one after another: they too are copied once.
  logical function lends(put)
    type(putting), intent(inout) :: put
    lends = .false.
    if (put%failure%status < 0) return
    put%failure%status = c_publisher_loan(put%publisher, put%variable, put%start, put%count, put%loan, put%memory)
    lends = put%failure%status == flexpath_status_ok
  end function lends

  subroutine put_lent(put)
    type(putting), intent(inout) :: put
    put%failure%status = c_publisher_put_loan(put%publisher, put%loan)
  end subroutine put_lent

  ! Puts letters; extents(1) of them make a text. start counts texts.
  subroutine put_letters(publisher, variable, letters, extents, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(kind=c_char), intent(in), target :: letters(*)
    integer(int64), intent(in) :: extents(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    integer(int64), allocatable :: from(:)
    if (present(start)) then
      call take_integers(start, from, 'start', put%failure)
      call prepare_put(put, publisher, variable, flexpath_dtype_character, extents, [1_int64, from])
    else
      call prepare_put(put, publisher, variable, flexpath_dtype_character, extents)
    end if
    call put_elements(put, c_loc(letters))
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_letters

  subroutine put_int8_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int8), intent(in), target :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i8, [integer(int64) ::], start)
    call put_elements(put, c_loc(values))
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int8_0

  subroutine put_int8_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int8), intent(in), target :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer, contiguous :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i8, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int8_1

  subroutine put_int8_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int8), intent(in), target :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer, contiguous :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i8, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int8_2

  subroutine put_int8_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int8), intent(in), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer, contiguous :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i8, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int8_3

  subroutine put_int8_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int8), intent(in), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer, contiguous :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i8, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int8_4

  subroutine put_int8_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int8), intent(in), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer, contiguous :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i8, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int8_5

  subroutine put_int8_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int8), intent(in), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer, contiguous :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i8, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int8_6

  subroutine put_int8_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int8), intent(in), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer, contiguous :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i8, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int8_7

  subroutine put_int16_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int16), intent(in), target :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i16, [integer(int64) ::], start)
    call put_elements(put, c_loc(values))
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int16_0

  subroutine put_int16_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int16), intent(in), target :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), pointer, contiguous :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i16, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int16_1

  subroutine put_int16_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int16), intent(in), target :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), pointer, contiguous :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i16, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int16_2

  subroutine put_int16_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int16), intent(in), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), pointer, contiguous :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i16, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int16_3

  subroutine put_int16_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int16), intent(in), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), pointer, contiguous :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i16, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int16_4

  subroutine put_int16_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int16), intent(in), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), pointer, contiguous :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i16, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int16_5

  subroutine put_int16_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int16), intent(in), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), pointer, contiguous :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i16, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int16_6

  subroutine put_int16_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int16), intent(in), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), pointer, contiguous :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i16, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int16_7

  subroutine put_int32_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int32), intent(in), target :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i32, [integer(int64) ::], start)
    call put_elements(put, c_loc(values))
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int32_0

  subroutine put_int32_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int32), intent(in), target :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), pointer, contiguous :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int32_1

  subroutine put_int32_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int32), intent(in), target :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), pointer, contiguous :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int32_2

  subroutine put_int32_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int32), intent(in), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), pointer, contiguous :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int32_3

  subroutine put_int32_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int32), intent(in), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), pointer, contiguous :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int32_4

  subroutine put_int32_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int32), intent(in), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), pointer, contiguous :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int32_5

  subroutine put_int32_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int32), intent(in), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), pointer, contiguous :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int32_6

  subroutine put_int32_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int32), intent(in), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), pointer, contiguous :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int32_7

  subroutine put_int64_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int64), intent(in), target :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i64, [integer(int64) ::], start)
    call put_elements(put, c_loc(values))
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int64_0

  subroutine put_int64_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int64), intent(in), target :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), pointer, contiguous :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int64_1

  subroutine put_int64_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int64), intent(in), target :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), pointer, contiguous :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int64_2

  subroutine put_int64_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int64), intent(in), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), pointer, contiguous :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int64_3

  subroutine put_int64_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int64), intent(in), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), pointer, contiguous :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int64_4

  subroutine put_int64_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int64), intent(in), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), pointer, contiguous :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int64_5

  subroutine put_int64_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int64), intent(in), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), pointer, contiguous :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int64_6

  subroutine put_int64_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    integer(int64), intent(in), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), pointer, contiguous :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_i64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_int64_7

  subroutine put_real32_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real32), intent(in), target :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f32, [integer(int64) ::], start)
    call put_elements(put, c_loc(values))
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real32_0

  subroutine put_real32_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real32), intent(in), target :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), pointer, contiguous :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real32_1

  subroutine put_real32_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real32), intent(in), target :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), pointer, contiguous :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real32_2

  subroutine put_real32_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real32), intent(in), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), pointer, contiguous :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real32_3

  subroutine put_real32_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real32), intent(in), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), pointer, contiguous :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real32_4

  subroutine put_real32_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real32), intent(in), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), pointer, contiguous :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real32_5

  subroutine put_real32_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real32), intent(in), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), pointer, contiguous :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real32_6

  subroutine put_real32_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real32), intent(in), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), pointer, contiguous :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real32_7

  subroutine put_real64_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real64), intent(in), target :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f64, [integer(int64) ::], start)
    call put_elements(put, c_loc(values))
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real64_0

  subroutine put_real64_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real64), intent(in), target :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), pointer, contiguous :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real64_1

  subroutine put_real64_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real64), intent(in), target :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), pointer, contiguous :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real64_2

  subroutine put_real64_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real64), intent(in), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), pointer, contiguous :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real64_3

  subroutine put_real64_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real64), intent(in), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), pointer, contiguous :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real64_4

  subroutine put_real64_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real64), intent(in), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), pointer, contiguous :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real64_5

  subroutine put_real64_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real64), intent(in), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), pointer, contiguous :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real64_6

  subroutine put_real64_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    real(real64), intent(in), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), pointer, contiguous :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_f64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_real64_7

  subroutine put_complex32_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real32), intent(in), target :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c32, [integer(int64) ::], start)
    call put_elements(put, c_loc(values))
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex32_0

  subroutine put_complex32_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real32), intent(in), target :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), pointer, contiguous :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex32_1

  subroutine put_complex32_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real32), intent(in), target :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), pointer, contiguous :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex32_2

  subroutine put_complex32_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real32), intent(in), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), pointer, contiguous :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex32_3

  subroutine put_complex32_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real32), intent(in), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), pointer, contiguous :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex32_4

  subroutine put_complex32_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real32), intent(in), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), pointer, contiguous :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex32_5

  subroutine put_complex32_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real32), intent(in), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), pointer, contiguous :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex32_6

  subroutine put_complex32_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real32), intent(in), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), pointer, contiguous :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c32, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex32_7

  subroutine put_complex64_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real64), intent(in), target :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c64, [integer(int64) ::], start)
    call put_elements(put, c_loc(values))
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex64_0

  subroutine put_complex64_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real64), intent(in), target :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), pointer, contiguous :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex64_1

  subroutine put_complex64_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real64), intent(in), target :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), pointer, contiguous :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex64_2

  subroutine put_complex64_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real64), intent(in), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), pointer, contiguous :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex64_3

  subroutine put_complex64_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real64), intent(in), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), pointer, contiguous :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex64_4

  subroutine put_complex64_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real64), intent(in), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), pointer, contiguous :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex64_5

  subroutine put_complex64_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real64), intent(in), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), pointer, contiguous :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex64_6

  subroutine put_complex64_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    complex(real64), intent(in), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), pointer, contiguous :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_c64, shape(values, int64), start)
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_complex64_7

  subroutine put_logical_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical, intent(in) :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, [integer(int64) ::], start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place)
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_logical_0

  subroutine put_logical_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical, intent(in) :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_logical_1

  subroutine put_logical_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical, intent(in) :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_logical_2

  subroutine put_logical_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical, intent(in) :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_logical_3

  subroutine put_logical_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical, intent(in) :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_logical_4

  subroutine put_logical_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical, intent(in) :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_logical_5

  subroutine put_logical_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical, intent(in) :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_logical_6

  subroutine put_logical_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical, intent(in) :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_logical_7

  subroutine put_c_bool_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical(c_bool), intent(in) :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, [integer(int64) ::], start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place)
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_c_bool_0

  subroutine put_c_bool_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical(c_bool), intent(in) :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_c_bool_1

  subroutine put_c_bool_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical(c_bool), intent(in) :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_c_bool_2

  subroutine put_c_bool_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical(c_bool), intent(in) :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_c_bool_3

  subroutine put_c_bool_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical(c_bool), intent(in) :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_c_bool_4

  subroutine put_c_bool_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical(c_bool), intent(in) :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_c_bool_5

  subroutine put_c_bool_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical(c_bool), intent(in) :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_c_bool_6

  subroutine put_c_bool_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    logical(c_bool), intent(in) :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), pointer :: place(:, :, :, :, :, :, :)
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, shape(values, int64), start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_c_bool_7

  subroutine put_character_0(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: values
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call put_letters(publisher, variable, values, [len(values, kind=int64)], start, &
        stat, errmsg)
  end subroutine put_character_0

  subroutine put_character_1(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: values(:)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call put_letters(publisher, variable, values, [len(values, kind=int64), shape(values, int64)], start, &
        stat, errmsg)
  end subroutine put_character_1

  subroutine put_character_2(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: values(:, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call put_letters(publisher, variable, values, [len(values, kind=int64), shape(values, int64)], start, &
        stat, errmsg)
  end subroutine put_character_2

  subroutine put_character_3(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: values(:, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call put_letters(publisher, variable, values, [len(values, kind=int64), shape(values, int64)], start, &
        stat, errmsg)
  end subroutine put_character_3

  subroutine put_character_4(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call put_letters(publisher, variable, values, [len(values, kind=int64), shape(values, int64)], start, &
        stat, errmsg)
  end subroutine put_character_4

  subroutine put_character_5(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call put_letters(publisher, variable, values, [len(values, kind=int64), shape(values, int64)], start, &
        stat, errmsg)
  end subroutine put_character_5

  subroutine put_character_6(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call put_letters(publisher, variable, values, [len(values, kind=int64), shape(values, int64)], start, &
        stat, errmsg)
  end subroutine put_character_6

  subroutine put_character_7(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    character(len=*), intent(in) :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call put_letters(publisher, variable, values, [len(values, kind=int64), shape(values, int64)], start, &
        stat, errmsg)
  end subroutine put_character_7

  ! Gets.

  ! Says what is taken into an array with these extents.
  subroutine prepare_get(get, step, variable, dtype, extents, start, count, stride, selection, timeout_ms)
    type(getting), intent(inout) :: get
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer, intent(in) :: dtype
    integer(int64), intent(in) :: extents(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    get%step = step%handle
    get%name = c_text(variable)
    get%dtype = int(dtype, c_int32_t)
    get%len = product(extents)
    if (present(timeout_ms)) get%timeout_ms = timeout_ms
    if (present(selection)) then
      get%selection = selection
      if (present(start) .or. present(count) .or. present(stride)) then
        call fail(get%failure, flexpath_status_misuse, 'either selection= or start=, count= and stride=, not both')
      end if
    else if (present(start) .or. present(count) .or. present(stride)) then
      call select_by_numbers(get, extents, start, count, stride)
    end if
    if (get%failure%status == flexpath_status_ok) call check_extents(get, extents)
  end subroutine prepare_get

  ! A region; what is not said of it follows from the array that it is taken into.
  subroutine select_by_numbers(get, extents, start, count, stride)
    type(getting), intent(inout) :: get
    integer(int64), intent(in) :: extents(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    integer(int64), allocatable :: from(:), extent(:), every(:)
    integer :: ndims
    ndims = size(extents)
    if (present(start)) ndims = size(start)
    if (present(stride)) ndims = size(stride)
    if (present(count)) ndims = size(count)
    allocate (every(ndims), from(ndims), extent(ndims), source=1_int64)
    if (present(start)) call take_integers(start, from, 'start', get%failure)
    if (present(stride)) call take_integers(stride, every, 'stride', get%failure)
    if (present(count)) then
      call take_integers(count, extent, 'count', get%failure)
    else if (size(extents) <= ndims .and. size(every) == ndims) then
      extent(:size(extents)) = max(0_int64, (extents - 1) * every(:size(extents)) + 1)
    end if
    if (get%failure%status /= flexpath_status_ok) return
    if (size(from) /= ndims .or. size(every) /= ndims .or. size(extent) /= ndims .or. size(extents) > ndims) then
      call fail(get%failure, flexpath_status_misuse, 'start=, count= and stride= name different numbers of ' &
          // 'dimensions, or fewer than the array has')
      return
    end if
    get%selection = flexpath_region(from, extent, every)
  end subroutine select_by_numbers

  ! Checks that the array has the shape of what is selected; dimensions of one element may be left out.
  subroutine check_extents(get, extents)
    type(getting), intent(inout) :: get
    integer(int64), intent(in) :: extents(:)
    type(c_variable_info) :: info
    integer(int64), allocatable :: wanted(:)
    logical :: fits
    select case (get%selection%selected)
    case (flexpath_selected_all)
      get%failure%status = c_step_variable(get%step, get%name, info)
      if (get%failure%status /= flexpath_status_ok) return
      if (info%kind /= flexpath_kind_global_array .and. info%kind /= flexpath_kind_joined_array) return
      allocate (wanted, source=info%shape(:info%ndims))
    case (flexpath_selected_region, flexpath_selected_strided)
      allocate (wanted, source=(get%selection%count + get%selection%stride - 1) / get%selection%stride)
    case (selected_nothing)
      call fail(get%failure, flexpath_status_misuse, 'a selection takes indices and strides from 1, ' &
          // 'integer(int32) or integer(int64), as many of each as there are dimensions')
      return
    case default
      return
    end select
    fits = count(wanted /= 1) == count(extents /= 1)
    if (fits) fits = all(pack(wanted, wanted /= 1) == pack(extents, extents /= 1))
    if (fits) return
    call fail(get%failure, flexpath_status_wrong_len, 'an array of shape ' // text_of_numbers(extents) &
        // ' for a selection of shape ' // text_of_numbers(wanted))
  end subroutine check_extents

  ! Truth values are bytes, or the type that is made for them.
  subroutine admit_bool(get)
    type(getting), intent(inout) :: get
    type(c_variable_info) :: info
    if (get%failure%status /= flexpath_status_ok) return
    get%failure%status = c_step_variable(get%step, get%name, info)
    if (info%dtype == flexpath_dtype_bool) get%dtype = flexpath_dtype_bool
  end subroutine admit_bool

  ! Takes what is selected to elements that lie one after another.
  subroutine get_elements(get, elements)
    type(getting), intent(inout), target :: get
    type(c_ptr), intent(in) :: elements
    type(c_selection), target :: described
    character(kind=c_char, len=:), allocatable, target :: name
    if (get%failure%status /= flexpath_status_ok) return
    call describe(get%selection, described)
    described%conversion = get%conversion
    if (c_associated(get%fill)) then
      name = get%name
      get%failure%status = c_step_get_or_fill(get%step, c_get(c_loc(name), c_loc(described), elements, get%len, &
          get%dtype), get%fill, get%timeout_ms)
    else
      get%failure%status = c_step_get(get%step, get%name, described, get%dtype, elements, get%len, get%timeout_ms)
    end if
  end subroutine get_elements

  ! Takes letters; extents(1) of them make a text. start, count and stride count texts.
  subroutine get_letters(step, variable, letters, extents, start, count, stride, selection, timeout_ms, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(kind=c_char), intent(inout), target :: letters(*)
    integer(int64), intent(in) :: extents(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    type(flexpath_selection) :: texts
    if (present(selection) .or. .not. (present(start) .or. present(count) .or. present(stride))) then
      call prepare_get(get, step, variable, flexpath_dtype_character, extents, start, count, stride, selection, &
          timeout_ms)
    else
      call select_by_numbers(get, extents(2:), start, count, stride)
      texts = get%selection
      if (get%failure%status == flexpath_status_ok) then
        texts%start = [0_int64, texts%start]
        texts%count = [extents(1), texts%count]
        texts%stride = [1_int64, texts%stride]
        call prepare_get(get, step, variable, flexpath_dtype_character, extents, selection=texts, timeout_ms=timeout_ms)
      end if
    end if
    call get_elements(get, c_loc(letters))
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_letters

  subroutine get_int8_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int8), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call get_elements(get, c_loc(values))
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int8_0

  subroutine get_int8_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int8), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int8_1

  subroutine get_int8_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int8), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int8_2

  subroutine get_int8_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int8), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int8_3

  subroutine get_int8_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int8), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int8_4

  subroutine get_int8_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int8), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int8_5

  subroutine get_int8_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int8), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int8_6

  subroutine get_int8_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int8), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int8_7

  subroutine get_int16_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int16), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call get_elements(get, c_loc(values))
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int16_0

  subroutine get_int16_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int16), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int16_1

  subroutine get_int16_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int16), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int16_2

  subroutine get_int16_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int16), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int16_3

  subroutine get_int16_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int16), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int16_4

  subroutine get_int16_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int16), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int16_5

  subroutine get_int16_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int16), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int16_6

  subroutine get_int16_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int16), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int16), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int16_7

  subroutine get_int32_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call get_elements(get, c_loc(values))
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int32_0

  subroutine get_int32_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int32_1

  subroutine get_int32_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int32_2

  subroutine get_int32_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int32_3

  subroutine get_int32_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int32_4

  subroutine get_int32_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int32_5

  subroutine get_int32_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int32_6

  subroutine get_int32_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int32), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int32_7

  subroutine get_int64_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call get_elements(get, c_loc(values))
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int64_0

  subroutine get_int64_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int64_1

  subroutine get_int64_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int64_2

  subroutine get_int64_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int64_3

  subroutine get_int64_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int64_4

  subroutine get_int64_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int64_5

  subroutine get_int64_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int64_6

  subroutine get_int64_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer(int64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_int64_7

  subroutine get_real32_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call get_elements(get, c_loc(values))
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real32_0

  subroutine get_real32_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real32_1

  subroutine get_real32_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real32_2

  subroutine get_real32_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real32_3

  subroutine get_real32_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real32_4

  subroutine get_real32_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real32_5

  subroutine get_real32_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real32_6

  subroutine get_real32_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real32), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real32_7

  subroutine get_real64_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call get_elements(get, c_loc(values))
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real64_0

  subroutine get_real64_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real64_1

  subroutine get_real64_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real64_2

  subroutine get_real64_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real64_3

  subroutine get_real64_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real64_4

  subroutine get_real64_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real64_5

  subroutine get_real64_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real64_6

  subroutine get_real64_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    real(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_real64_7

  subroutine get_complex32_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call get_elements(get, c_loc(values))
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex32_0

  subroutine get_complex32_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex32_1

  subroutine get_complex32_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex32_2

  subroutine get_complex32_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex32_3

  subroutine get_complex32_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex32_4

  subroutine get_complex32_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex32_5

  subroutine get_complex32_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex32_6

  subroutine get_complex32_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real32), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real32), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex32_7

  subroutine get_complex64_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call get_elements(get, c_loc(values))
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex64_0

  subroutine get_complex64_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex64_1

  subroutine get_complex64_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex64_2

  subroutine get_complex64_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex64_3

  subroutine get_complex64_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex64_4

  subroutine get_complex64_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex64_5

  subroutine get_complex64_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex64_6

  subroutine get_complex64_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      fill, conversion, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    complex(real64), intent(in), optional, target :: fill
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    complex(real64), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    if (present(fill)) get%fill = c_loc(fill)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_complex64_7

  subroutine get_logical_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical, intent(inout) :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), target :: aside
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_logical_0

  subroutine get_logical_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical, intent(inout) :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_logical_1

  subroutine get_logical_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical, intent(inout) :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_logical_2

  subroutine get_logical_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical, intent(inout) :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_logical_3

  subroutine get_logical_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical, intent(inout) :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3), size(values, 4)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_logical_4

  subroutine get_logical_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical, intent(inout) :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3), size(values, 4), &
        size(values, 5)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_logical_5

  subroutine get_logical_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical, intent(inout) :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3), size(values, 4), &
        size(values, 5), size(values, 6)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_logical_6

  subroutine get_logical_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical, intent(inout) :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3), size(values, 4), &
        size(values, 5), size(values, 6), size(values, 7)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_logical_7

  subroutine get_c_bool_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical(c_bool), intent(inout) :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), target :: aside
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, [integer(int64) ::], start, count, stride, &
        selection, timeout_ms)
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_c_bool_0

  subroutine get_c_bool_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical(c_bool), intent(inout) :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_c_bool_1

  subroutine get_c_bool_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical(c_bool), intent(inout) :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_c_bool_2

  subroutine get_c_bool_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical(c_bool), intent(inout) :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_c_bool_3

  subroutine get_c_bool_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical(c_bool), intent(inout) :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3), size(values, 4)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_c_bool_4

  subroutine get_c_bool_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical(c_bool), intent(inout) :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3), size(values, 4), &
        size(values, 5)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_c_bool_5

  subroutine get_c_bool_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical(c_bool), intent(inout) :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3), size(values, 4), &
        size(values, 5), size(values, 6)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_c_bool_6

  subroutine get_c_bool_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    logical(c_bool), intent(inout) :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(int8), allocatable, target :: aside(:, :, :, :, :, :, :)
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_logical, shape(values, int64), start, count, stride, &
        selection, timeout_ms)
    allocate (aside(size(values, 1), size(values, 2), size(values, 3), size(values, 4), &
        size(values, 5), size(values, 6), size(values, 7)))
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_c_bool_7

  subroutine get_character_0(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(len=*), intent(inout) :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call get_letters(step, variable, values, [len(values, kind=int64)], start, count, stride, &
        selection, timeout_ms, stat, errmsg)
  end subroutine get_character_0

  subroutine get_character_1(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(len=*), intent(inout) :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call get_letters(step, variable, values, [len(values, kind=int64), shape(values, int64)], start, count, stride, &
        selection, timeout_ms, stat, errmsg)
  end subroutine get_character_1

  subroutine get_character_2(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(len=*), intent(inout) :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call get_letters(step, variable, values, [len(values, kind=int64), shape(values, int64)], start, count, stride, &
        selection, timeout_ms, stat, errmsg)
  end subroutine get_character_2

  subroutine get_character_3(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(len=*), intent(inout) :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call get_letters(step, variable, values, [len(values, kind=int64), shape(values, int64)], start, count, stride, &
        selection, timeout_ms, stat, errmsg)
  end subroutine get_character_3

  subroutine get_character_4(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(len=*), intent(inout) :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call get_letters(step, variable, values, [len(values, kind=int64), shape(values, int64)], start, count, stride, &
        selection, timeout_ms, stat, errmsg)
  end subroutine get_character_4

  subroutine get_character_5(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(len=*), intent(inout) :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call get_letters(step, variable, values, [len(values, kind=int64), shape(values, int64)], start, count, stride, &
        selection, timeout_ms, stat, errmsg)
  end subroutine get_character_5

  subroutine get_character_6(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(len=*), intent(inout) :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call get_letters(step, variable, values, [len(values, kind=int64), shape(values, int64)], start, count, stride, &
        selection, timeout_ms, stat, errmsg)
  end subroutine get_character_6

  subroutine get_character_7(step, variable, values, start, count, stride, selection, timeout_ms, &
      stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    character(len=*), intent(inout) :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call get_letters(step, variable, values, [len(values, kind=int64), shape(values, int64)], start, count, stride, &
        selection, timeout_ms, stat, errmsg)
  end subroutine get_character_7

  ! Several gets that are fetched together.

  ! Adds a get to those that flexpath_fetch_wait does.
  subroutine add_get(fetch, get, elements, is_dense)
    type(flexpath_fetch), intent(inout) :: fetch
    type(getting), intent(inout) :: get
    type(c_ptr), intent(in) :: elements
    logical, intent(in) :: is_dense
    type(getting), allocatable :: more(:)
    integer :: at, count
    if (.not. is_dense) call fail(get%failure, flexpath_status_misuse, 'elements that are fetched together must ' &
        // 'lie one after another: flexpath_get takes others')
    if (get%failure%status /= flexpath_status_ok) return
    count = 0
    if (allocated(fetch%gets)) count = size(fetch%gets)
    allocate (more(count + 1))
    do at = 1, count
      more(at) = fetch%gets(at)
    end do
    get%elements = elements
    more(count + 1) = get
    call move_alloc(more, fetch%gets)
  end subroutine add_get

  ! Does the gets that were added, with one message to each owner, and forgets them. Where one is wrong none is done.
  subroutine flexpath_fetch_wait(fetch, timeout_ms, stat, errmsg)
    type(flexpath_fetch), intent(inout), target :: fetch
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    if (allocated(fetch%gets)) then
      call fetch_all(fetch%gets, failure, timeout_ms)
      deallocate (fetch%gets)
    end if
    call conclude('flexpath_fetch_wait', failure, stat, errmsg)
  end subroutine flexpath_fetch_wait

  subroutine fetch_all(gets, failure, timeout_ms)
    type(getting), intent(in), target :: gets(:)
    type(failing), intent(inout) :: failure
    integer, intent(in), optional :: timeout_ms
    type(c_get) :: plain(size(gets))
    type(c_selection), target :: described(size(gets))
    character(kind=c_char), allocatable, target :: letters(:, :)
    integer(c_int64_t) :: patience
    integer :: at, longest
    longest = 0
    do at = 1, size(gets)
      longest = max(longest, len(gets(at)%name))
    end do
    allocate (letters(longest, size(gets)), source=c_null_char)
    do at = 1, size(gets)
      if (.not. c_associated(gets(at)%step, gets(1)%step)) then
        call fail(failure, flexpath_status_misuse, 'gets that are fetched together are of one step')
        return
      end if
      call spell(gets(at)%name, letters(:, at))
      call describe(gets(at)%selection, described(at))
      described(at)%conversion = gets(at)%conversion
      plain(at) = c_get(c_loc(letters(1, at)), c_loc(described(at)), gets(at)%elements, gets(at)%len, gets(at)%dtype)
    end do
    patience = -1
    if (present(timeout_ms)) patience = timeout_ms
    failure%status = c_step_get_all(gets(1)%step, plain, size(plain, kind=c_int64_t), patience)
  end subroutine fetch_all

  ! A text letter by letter.
  pure subroutine spell(text, letters)
    character(kind=c_char, len=*), intent(in) :: text
    character(kind=c_char), intent(inout) :: letters(:)
    integer :: at
    do at = 1, len(text)
      letters(at) = text(at:at)
    end do
  end subroutine spell

  subroutine fetch_int8_0(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, [integer(int64) ::], start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), .true.)
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int8_0

  subroutine fetch_int8_1(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int8_1

  subroutine fetch_int8_2(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int8_2

  subroutine fetch_int8_3(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int8_3

  subroutine fetch_int8_4(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int8_4

  subroutine fetch_int8_5(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int8_5

  subroutine fetch_int8_6(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int8_6

  subroutine fetch_int8_7(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int8), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i8, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int8_7

  subroutine fetch_int16_0(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, [integer(int64) ::], start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), .true.)
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int16_0

  subroutine fetch_int16_1(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int16_1

  subroutine fetch_int16_2(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int16_2

  subroutine fetch_int16_3(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int16_3

  subroutine fetch_int16_4(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int16_4

  subroutine fetch_int16_5(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int16_5

  subroutine fetch_int16_6(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int16_6

  subroutine fetch_int16_7(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int16), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i16, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int16_7

  subroutine fetch_int32_0(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, [integer(int64) ::], start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), .true.)
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int32_0

  subroutine fetch_int32_1(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int32_1

  subroutine fetch_int32_2(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int32_2

  subroutine fetch_int32_3(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int32_3

  subroutine fetch_int32_4(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int32_4

  subroutine fetch_int32_5(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int32_5

  subroutine fetch_int32_6(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int32_6

  subroutine fetch_int32_7(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int32), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int32_7

  subroutine fetch_int64_0(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, [integer(int64) ::], start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), .true.)
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int64_0

  subroutine fetch_int64_1(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int64_1

  subroutine fetch_int64_2(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int64_2

  subroutine fetch_int64_3(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int64_3

  subroutine fetch_int64_4(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int64_4

  subroutine fetch_int64_5(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int64_5

  subroutine fetch_int64_6(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int64_6

  subroutine fetch_int64_7(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    integer(int64), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_i64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_int64_7

  subroutine fetch_real32_0(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, [integer(int64) ::], start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), .true.)
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real32_0

  subroutine fetch_real32_1(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real32_1

  subroutine fetch_real32_2(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real32_2

  subroutine fetch_real32_3(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real32_3

  subroutine fetch_real32_4(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real32_4

  subroutine fetch_real32_5(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real32_5

  subroutine fetch_real32_6(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real32_6

  subroutine fetch_real32_7(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real32), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real32_7

  subroutine fetch_real64_0(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, [integer(int64) ::], start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), .true.)
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real64_0

  subroutine fetch_real64_1(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real64_1

  subroutine fetch_real64_2(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real64_2

  subroutine fetch_real64_3(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real64_3

  subroutine fetch_real64_4(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real64_4

  subroutine fetch_real64_5(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real64_5

  subroutine fetch_real64_6(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real64_6

  subroutine fetch_real64_7(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    real(real64), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_f64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_real64_7

  subroutine fetch_complex32_0(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, [integer(int64) ::], start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), .true.)
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex32_0

  subroutine fetch_complex32_1(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex32_1

  subroutine fetch_complex32_2(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex32_2

  subroutine fetch_complex32_3(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex32_3

  subroutine fetch_complex32_4(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex32_4

  subroutine fetch_complex32_5(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex32_5

  subroutine fetch_complex32_6(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex32_6

  subroutine fetch_complex32_7(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real32), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c32, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex32_7

  subroutine fetch_complex64_0(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, [integer(int64) ::], start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), .true.)
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex64_0

  subroutine fetch_complex64_1(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex64_1

  subroutine fetch_complex64_2(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex64_2

  subroutine fetch_complex64_3(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex64_3

  subroutine fetch_complex64_4(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex64_4

  subroutine fetch_complex64_5(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex64_5

  subroutine fetch_complex64_6(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex64_6

  subroutine fetch_complex64_7(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    complex(real64), intent(inout), target :: values(:, :, :, :, :, :, :)
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_c64, shape(values, int64), start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), is_contiguous(values))
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_complex64_7

  ! Types of records.

  ! Makes a type without fields. They are added in their order in memory, which is that of a type with bind(C).
  subroutine flexpath_schema_create(schema, name, stat, errmsg)
    type(flexpath_schema), intent(inout) :: schema
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    if (c_associated(schema%handle)) then
      call fail(failure, flexpath_status_misuse, 'the schema is made: free it first')
    else
      schema%struct_bytes = -1
      failure%status = c_schema_create(c_text(name), schema%handle)
    end if
    call conclude('flexpath_schema_create', failure, stat, errmsg)
  end subroutine flexpath_schema_create

  ! Adds a field of that element type. shape: an array within the record, in Fortran's order. list: of any length. sized_by:
  ! the earlier field that says how long the list is. optional: may be absent.
  subroutine flexpath_schema_add_field(schema, name, dtype, shape, list, sized_by, optional, unit, description, stat, &
      errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in) :: name
    integer, intent(in) :: dtype
    class(*), intent(in), optional :: shape(:)
    logical, intent(in), optional :: list, optional
    character(len=*), intent(in), optional :: sized_by, unit, description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    integer(int64), allocatable :: extents(:)
    if (present(shape)) call take_integers(shape, extents, 'shape', failure)
    if (failure%status == flexpath_status_ok) &
        failure%status = c_schema_add_field(schema%handle, c_text(name), int(dtype, c_int32_t))
    call say_of_field(schema, name, failure, shape, list, sized_by, optional, unit, description)
    call conclude('flexpath_schema_add_field', failure, stat, errmsg)
  end subroutine flexpath_schema_add_field

  ! Adds a field that is a record of another type, as that is now. Otherwise as flexpath_schema_add_field.
  subroutine flexpath_schema_add_record(schema, name, record, shape, list, sized_by, optional, description, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema, record
    character(len=*), intent(in) :: name
    class(*), intent(in), optional :: shape(:)
    logical, intent(in), optional :: list, optional
    character(len=*), intent(in), optional :: sized_by, description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    integer(int64), allocatable :: extents(:)
    if (present(shape)) call take_integers(shape, extents, 'shape', failure)
    if (failure%status == flexpath_status_ok) &
        failure%status = c_schema_add_record(schema%handle, c_text(name), record%handle)
    call say_of_field(schema, name, failure, shape, list, sized_by, optional, description=description)
    call conclude('flexpath_schema_add_record', failure, stat, errmsg)
  end subroutine flexpath_schema_add_record

  ! Adds a field that is one of several names, each with its number: an integer of type dtype in memory.
  subroutine flexpath_schema_add_enum(schema, name, dtype, type_name, names, numbers, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in) :: name, type_name, names(:)
    integer, intent(in) :: dtype
    class(*), intent(in) :: numbers(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    integer(int64), allocatable :: taken(:)
    character(kind=c_char), allocatable, target :: letters(:, :)
    type(c_ptr), allocatable :: pointers(:)
    call take_integers(numbers, taken, 'numbers', failure)
    if (failure%status == flexpath_status_ok .and. size(names) /= size(taken)) &
        call fail(failure, flexpath_status_wrong_len, 'each of names wants one of numbers')
    if (failure%status == flexpath_status_ok) then
      call c_texts(names, letters, pointers)
      failure%status = c_schema_add_enum(schema%handle, c_text(name), int(dtype, c_int32_t), c_text(type_name), &
          pointers, taken, size(names, kind=c_int64_t))
    end if
    call conclude('flexpath_schema_add_enum', failure, stat, errmsg)
  end subroutine flexpath_schema_add_enum

  subroutine say_of_field(schema, name, failure, shape, list, sized_by, optional, unit, description)
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in) :: name
    type(failing), intent(inout) :: failure
    class(*), intent(in), optional :: shape(:)
    logical, intent(in), optional :: list, optional
    character(len=*), intent(in), optional :: sized_by, unit, description
    integer(int64), allocatable :: extents(:)
    character(kind=c_char, len=:), allocatable, target :: length
    if (present(shape) .and. failure%status == flexpath_status_ok) then
      call take_integers(shape, extents, 'shape', failure)
      if (failure%status == flexpath_status_ok) failure%status = c_schema_set_fixed(schema%handle, c_text(name), &
          size(extents, kind=c_int32_t), extents, int(flexpath_order_column_major, c_int32_t))
    end if
    if (present(sized_by) .and. failure%status == flexpath_status_ok) then
      length = c_text(sized_by)
      failure%status = c_schema_set_list(schema%handle, c_text(name), c_loc(length))
    else if (present(list) .and. failure%status == flexpath_status_ok) then
      if (list) failure%status = c_schema_set_list(schema%handle, c_text(name), c_null_ptr)
    end if
    if (present(optional) .and. failure%status == flexpath_status_ok) then
      if (optional) failure%status = c_schema_set_optional(schema%handle, c_text(name))
    end if
    if (present(unit) .and. failure%status == flexpath_status_ok) &
        failure%status = c_schema_set_unit(schema%handle, c_text(name), c_text(unit))
    if (present(description) .and. failure%status == flexpath_status_ok) &
        failure%status = c_schema_set_description(schema%handle, c_text(name), c_text(description))
  end subroutine say_of_field

  subroutine default_int32(schema, field, value, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in) :: field
    integer(int32), intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call default_int64(schema, field, int(value, int64), stat, errmsg)
  end subroutine default_int32

  subroutine default_int64(schema, field, value, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in) :: field
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_schema_set_default', &
        c_schema_set_default_integer(schema%handle, c_text(field), value), stat, errmsg)
  end subroutine default_int64

  subroutine default_real64(schema, field, value, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in) :: field
    real(real64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_schema_set_default', &
        c_schema_set_default_real(schema%handle, c_text(field), value), stat, errmsg)
  end subroutine default_real64

  subroutine default_logical(schema, field, value, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in) :: field
    logical, intent(in) :: value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_schema_set_default', &
        c_schema_set_default_bool(schema%handle, c_text(field), merge(1_c_int32_t, 0_c_int32_t, value)), stat, errmsg)
  end subroutine default_logical

  subroutine default_text(schema, field, value, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in) :: field, value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_schema_set_default', &
        c_schema_set_default_text(schema%handle, c_text(field), c_text(value)), stat, errmsg)
  end subroutine default_text

  ! Says that numbers of a field are places in another one of the record, or in another variable.
  subroutine flexpath_schema_set_indexes(schema, field, target, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in) :: field, target
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_schema_set_indexes', &
        c_schema_set_indexes(schema%handle, c_text(field), c_text(target)), stat, errmsg)
  end subroutine flexpath_schema_set_indexes

  ! Says where the fields are in elements of a type that lies otherwise than one with bind(C) and these fields: the bytes
  ! before each, in their order, and the bytes of an element.
  subroutine flexpath_schema_set_struct(schema, offsets, struct_bytes, stat, errmsg)
    type(flexpath_schema), intent(inout) :: schema
    class(*), intent(in) :: offsets(:)
    integer(c_size_t), intent(in) :: struct_bytes
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    integer(int64), allocatable :: taken(:)
    call take_integers(offsets, taken, 'offsets', failure)
    if (failure%status == flexpath_status_ok) failure%status = c_schema_set_struct(schema%handle, &
        int(taken, c_size_t), size(taken, kind=c_int64_t), struct_bytes)
    if (failure%status == flexpath_status_ok) schema%struct_bytes = struct_bytes
    call conclude('flexpath_schema_set_struct', failure, stat, errmsg)
  end subroutine flexpath_schema_set_struct

  ! The type in words, as flexpath describe prints it.
  subroutine flexpath_schema_text(schema, text, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_schema_text(schema%handle, told)
    text = ''
    if (status == flexpath_status_ok) text = text_of(told)
    call conclude_status('flexpath_schema_text', status, stat, errmsg)
  end subroutine flexpath_schema_text

  ! How the type that there is differs from the one that is wanted: a line for each; empty where they are the same.
  subroutine flexpath_schema_differences(found, wanted, text, stat, errmsg)
    type(flexpath_schema), intent(in) :: found, wanted
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_schema_differences(found%handle, wanted%handle, told)
    text = ''
    if (status == flexpath_status_ok) text = text_of(told)
    call conclude_status('flexpath_schema_differences', status, stat, errmsg)
  end subroutine flexpath_schema_differences

  ! A text that is the same for the same type, wherever it was made.
  subroutine flexpath_schema_fingerprint(schema, text, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_schema_fingerprint(schema%handle, told)
    text = ''
    if (status == flexpath_status_ok) text = text_of(told)
    call conclude_status('flexpath_schema_fingerprint', status, stat, errmsg)
  end subroutine flexpath_schema_fingerprint

  ! Frees a type. What was made with it stays.
  subroutine flexpath_schema_free(schema, stat, errmsg)
    type(flexpath_schema), intent(inout) :: schema
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_schema_free', c_schema_free(schema%handle), stat, errmsg)
    schema%handle = c_null_ptr
  end subroutine flexpath_schema_free

  ! Bytes of an element as it lies in the program's memory.
  integer(int64) function struct_bytes_of(schema, failure) result(bytes)
    type(flexpath_schema), intent(in) :: schema
    type(failing), intent(inout) :: failure
    integer(c_int64_t) :: told
    bytes = schema%struct_bytes
    if (bytes >= 0 .or. failure%status /= flexpath_status_ok) return
    failure%status = c_schema_size(schema%handle, told)
    if (failure%status == flexpath_status_ok) bytes = told
  end function struct_bytes_of

  ! Elements of another size are of another type, or lie otherwise.
  subroutine check_struct(expected, given, what, failure)
    integer(int64), intent(in) :: expected
    integer(c_size_t), intent(in) :: given
    character(len=*), intent(in) :: what
    type(failing), intent(inout) :: failure
    if (failure%status /= flexpath_status_ok .or. expected == given) return
    call fail(failure, flexpath_status_wrong_len, what // ': elements of ' // text_of_number(int(given, int64)) &
        // ' bytes, and its type has ' // text_of_number(expected) // ': flexpath_schema_set_struct says otherwise')
  end subroutine check_struct

  ! Records.

  ! One record for all ranks.
  subroutine flexpath_variable_record(variable, name, schema, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in), optional :: description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    call forget(variable)
    failure%status = c_variable_record(c_text(name), schema%handle, variable%handle)
    call define_records(variable, name, schema, 0, flexpath_kind_scalar, failure, description)
    call conclude('flexpath_variable_record', failure, stat, errmsg)
  end subroutine flexpath_variable_record

  ! One record of each rank.
  subroutine flexpath_variable_local_record(variable, name, schema, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in), optional :: description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    call forget(variable)
    failure%status = c_variable_local_record(c_text(name), schema%handle, variable%handle)
    call define_records(variable, name, schema, 0, flexpath_kind_local_scalar, failure, description)
    call conclude('flexpath_variable_local_record', failure, stat, errmsg)
  end subroutine flexpath_variable_local_record

  ! One array of records of that shape. Each rank puts regions of it.
  subroutine flexpath_variable_global_records(variable, name, schema, shape, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    type(flexpath_schema), intent(in) :: schema
    class(*), intent(in) :: shape(:)
    character(len=*), intent(in), optional :: description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    integer(int64), allocatable :: extents(:)
    call forget(variable)
    call take_integers(shape, extents, 'shape', failure)
    if (failure%status == flexpath_status_ok) failure%status = c_variable_global_records(c_text(name), &
        schema%handle, size(extents, kind=c_int32_t), extents, variable%handle)
    call define_records(variable, name, schema, size(shape), flexpath_kind_global_array, failure, description)
    call conclude('flexpath_variable_global_records', failure, stat, errmsg)
  end subroutine flexpath_variable_global_records

  ! An array of records of each put, of ndims dimensions and any extent.
  subroutine flexpath_variable_local_records(variable, name, schema, ndims, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    type(flexpath_schema), intent(in) :: schema
    integer, intent(in) :: ndims
    character(len=*), intent(in), optional :: description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    call forget(variable)
    failure%status = c_variable_local_records(c_text(name), schema%handle, int(ndims, c_int32_t), variable%handle)
    call define_records(variable, name, schema, ndims, flexpath_kind_local_array, failure, description)
    call conclude('flexpath_variable_local_records', failure, stat, errmsg)
  end subroutine flexpath_variable_local_records

  ! One array of the records of all ranks, one block after another.
  subroutine flexpath_variable_joined_records(variable, name, schema, description, stat, errmsg)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in), optional :: description
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    integer(c_int64_t) :: none(1)
    call forget(variable)
    none = 0
    failure%status = c_variable_joined_records(c_text(name), schema%handle, 0_c_int32_t, none, variable%handle)
    call define_records(variable, name, schema, 1, flexpath_kind_joined_array, failure, description)
    call conclude('flexpath_variable_joined_records', failure, stat, errmsg)
  end subroutine flexpath_variable_joined_records

  subroutine define_records(variable, name, schema, ndims, kind, failure, description)
    type(flexpath_variable), intent(inout) :: variable
    character(len=*), intent(in) :: name
    type(flexpath_schema), intent(in) :: schema
    integer, intent(in) :: ndims, kind
    type(failing), intent(inout) :: failure
    character(len=*), intent(in), optional :: description
    call define(variable, name, flexpath_dtype_bytes, ndims, kind, failure, description=description)
    if (failure%status == flexpath_status_ok) variable%struct_bytes = struct_bytes_of(schema, failure)
  end subroutine define_records

  ! Puts records that lie one after another from elements, as c_loc gives it, on. struct_bytes is c_sizeof of one, count
  ! the extents of the block, and start where it begins in a global array (default all 1).
  subroutine flexpath_put_records(publisher, variable, elements, struct_bytes, count, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    type(c_ptr), intent(in) :: elements
    integer(c_size_t), intent(in) :: struct_bytes
    class(*), intent(in), optional :: count(:), start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_records(put, publisher, variable, count, start)
    if (allocated(variable%name)) &
        call check_struct(variable%struct_bytes, struct_bytes, 'put of "' // variable%name // '"', put%failure)
    call put_elements(put, elements)
    call conclude('flexpath_put_records', put%failure, stat, errmsg)
  end subroutine flexpath_put_records

  ! Puts the records of a builder, which keeps them.
  subroutine flexpath_put_built(publisher, variable, builder, count, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    type(flexpath_builder), intent(in) :: builder
    class(*), intent(in), optional :: count(:), start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(putting) :: put
    call prepare_records(put, publisher, variable, count, start)
    if (put%failure%status >= 0) put%failure%status = &
        c_publisher_put_built(put%publisher, put%variable, put%start, put%count, builder%handle)
    call conclude('flexpath_put_built', put%failure, stat, errmsg)
  end subroutine flexpath_put_built

  subroutine prepare_records(put, publisher, variable, count, start)
    type(putting), intent(inout) :: put
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    class(*), intent(in), optional :: count(:), start(:)
    integer(int64), allocatable :: extents(:)
    allocate (extents(0))
    if (present(count)) call take_integers(count, extents, 'count', put%failure)
    if (put%failure%status >= 0) call prepare_put(put, publisher, variable, flexpath_dtype_bytes, extents, start)
  end subroutine prepare_records

  ! Takes the selected records as the program's own type, converted if need be: len of them, one after another from
  ! elements, as c_loc gives it, on. struct_bytes is c_sizeof of one.
  subroutine flexpath_get_records(step, variable, schema, elements, struct_bytes, len, selection, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    type(flexpath_schema), intent(in) :: schema
    type(c_ptr), intent(in) :: elements
    integer(c_size_t), intent(in) :: struct_bytes
    integer, intent(in) :: len
    type(flexpath_selection), intent(in), optional, target :: selection
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    type(flexpath_selection), target :: everything
    type(c_selection) :: described
    integer(int64) :: expected
    call describe(everything, described)
    if (present(selection)) call describe(selection, described)
    expected = struct_bytes_of(schema, failure)
    call check_struct(expected, struct_bytes, 'get of "' // trim(variable) // '"', failure)
    if (failure%status == flexpath_status_ok) failure%status = c_step_get_records(step%handle, c_text(variable), &
        described, schema%handle, elements, int(len, c_int64_t))
    call conclude('flexpath_get_records', failure, stat, errmsg)
  end subroutine flexpath_get_records

  ! Takes the selected records to be read field by field: of the publisher's type, or of schema, converted if need be.
  subroutine flexpath_step_records(step, variable, records, schema, selection, stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    type(flexpath_records), intent(inout) :: records
    type(flexpath_schema), intent(in), optional :: schema
    type(flexpath_selection), intent(in), optional, target :: selection
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(flexpath_selection), target :: everything
    type(c_selection) :: described
    type(c_ptr) :: wanted
    integer(c_int32_t) :: status
    if (c_associated(records%handle)) status = c_records_release(records%handle)
    records%handle = c_null_ptr
    call describe(everything, described)
    if (present(selection)) call describe(selection, described)
    wanted = c_null_ptr
    if (present(schema)) wanted = schema%handle
    status = c_step_records(step%handle, c_text(variable), described, wanted, records%handle)
    if (status /= flexpath_status_ok) records%handle = c_null_ptr
    call conclude_status('flexpath_step_records', status, stat, errmsg)
  end subroutine flexpath_step_records

  ! How many records there are.
  subroutine flexpath_records_count(records, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    integer, intent(out) :: count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: counted
    integer(c_int32_t) :: status
    counted = 0
    status = c_records_count(records%handle, counted)
    count = int(counted)
    call conclude_status('flexpath_records_count', status, stat, errmsg)
  end subroutine flexpath_records_count

  ! What the value at a path is in the record with that number, from 1: kind, one of flexpath_value_kind_..., element type,
  ! and how many elements.
  subroutine flexpath_records_describe(records, index, path, kind, dtype, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    integer, intent(out) :: kind
    integer, intent(out), optional :: dtype, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_value) :: told
    integer(c_int32_t) :: status
    told = c_value(flexpath_value_kind_absent, 0, 0)
    status = c_records_describe(records%handle, int(index - 1, c_int64_t), c_text(path), told)
    kind = told%kind
    if (present(dtype)) dtype = told%dtype
    if (present(count)) count = int(told%count)
    call conclude_status('flexpath_records_describe', status, stat, errmsg)
  end subroutine flexpath_records_describe

  ! Takes the numbers at a path of count records, or as many as there are, from first on.
  subroutine take_numbers(records, path, dtype, elements, len, first, count, status)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    integer, intent(in) :: dtype, len
    type(c_ptr), intent(in) :: elements
    integer, intent(in), optional :: first, count
    integer(c_int32_t), intent(out) :: status
    integer(c_int64_t) :: from, many
    from = 0
    if (present(first)) from = first - 1
    status = c_records_count(records%handle, many)
    many = many - from
    if (present(count)) many = count
    if (status == flexpath_status_ok) status = c_records_get(records%handle, from, many, c_text(path), &
        int(dtype, c_int32_t), elements, int(len, c_int64_t))
  end subroutine take_numbers

  ! The text at a path, or the name of an enumeration, in the record with that number, from 1.
  subroutine flexpath_records_text(records, index, path, text, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: told
    integer(c_int32_t) :: status
    status = c_records_text(records%handle, int(index - 1, c_int64_t), c_text(path), told)
    text = ''
    if (status == flexpath_status_ok) text = text_of(told)
    call conclude_status('flexpath_records_text', status, stat, errmsg)
  end subroutine flexpath_records_text

  ! Where the records lie, for c_f_pointer: of a type without lists and texts. Valid until they are released.
  subroutine flexpath_records_elements(records, elements, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    type(c_ptr), intent(out) :: elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: is_zero_copy, status
    status = c_records_elements(records%handle, elements, is_zero_copy)
    if (status /= flexpath_status_ok) elements = c_null_ptr
    call conclude_status('flexpath_records_elements', status, stat, errmsg)
  end subroutine flexpath_records_elements

  ! Releases records.
  subroutine flexpath_records_release(records, stat, errmsg)
    type(flexpath_records), intent(inout) :: records
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_records_release', c_records_release(records%handle), stat, errmsg)
    records%handle = c_null_ptr
  end subroutine flexpath_records_release

  ! Makes records field by field: count of them, of a type that may have lists and texts.
  subroutine flexpath_builder_create(builder, schema, count, stat, errmsg)
    type(flexpath_builder), intent(inout) :: builder
    type(flexpath_schema), intent(in) :: schema
    integer, intent(in) :: count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    if (c_associated(builder%handle)) then
      call fail(failure, flexpath_status_misuse, 'the builder is made: free it first')
    else
      failure%status = c_builder_create(schema%handle, int(count, c_int64_t), builder%handle)
    end if
    call conclude('flexpath_builder_create', failure, stat, errmsg)
  end subroutine flexpath_builder_create

  subroutine build_text(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path, values
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', &
        c_builder_set_text(builder%handle, int(index - 1, c_int64_t), c_text(path), c_text(values)), stat, errmsg)
  end subroutine build_text

  subroutine build_texts(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path, values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable, target :: letters(:, :)
    type(c_ptr), allocatable :: pointers(:)
    call c_texts(values, letters, pointers)
    call conclude_status('flexpath_builder_set', c_builder_set_texts(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), pointers, size(values, kind=c_int64_t)), stat, errmsg)
  end subroutine build_texts

  ! Says how many records a list of records has. Those of it are set by paths such as atoms[0].x, which count from 0.
  subroutine flexpath_builder_set_len(builder, index, path, len, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index, len
    character(len=*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set_len', c_builder_set_len(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(len, c_int64_t)), stat, errmsg)
  end subroutine flexpath_builder_set_len

  ! Says how many records there are.
  subroutine flexpath_builder_resize(builder, count, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_resize', c_builder_resize(builder%handle, int(count, c_int64_t)), stat, errmsg)
  end subroutine flexpath_builder_resize

  ! Sets all records at once: count of them, from elements, as c_loc gives it, on.
  subroutine flexpath_builder_set_structs(builder, elements, count, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    type(c_ptr), intent(in) :: elements
    integer, intent(in) :: count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set_structs', &
        c_builder_set_structs(builder%handle, elements, int(count, c_int64_t)), stat, errmsg)
  end subroutine flexpath_builder_set_structs

  ! Frees a builder.
  subroutine flexpath_builder_free(builder, stat, errmsg)
    type(flexpath_builder), intent(inout) :: builder
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_free', c_builder_free(builder%handle), stat, errmsg)
    builder%handle = c_null_ptr
  end subroutine flexpath_builder_free

  subroutine take_int8_0(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    integer(int8), intent(inout), target :: values
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_i8, c_loc(values), 1, first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_int8_0

  subroutine take_int8_1(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    integer(int8), intent(inout), target, contiguous :: values(:)
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_i8, c_loc(values), size(values), first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_int8_1

  subroutine take_int16_0(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    integer(int16), intent(inout), target :: values
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_i16, c_loc(values), 1, first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_int16_0

  subroutine take_int16_1(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    integer(int16), intent(inout), target, contiguous :: values(:)
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_i16, c_loc(values), size(values), first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_int16_1

  subroutine take_int32_0(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    integer(int32), intent(inout), target :: values
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_i32, c_loc(values), 1, first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_int32_0

  subroutine take_int32_1(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    integer(int32), intent(inout), target, contiguous :: values(:)
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_i32, c_loc(values), size(values), first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_int32_1

  subroutine take_int64_0(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    integer(int64), intent(inout), target :: values
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_i64, c_loc(values), 1, first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_int64_0

  subroutine take_int64_1(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    integer(int64), intent(inout), target, contiguous :: values(:)
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_i64, c_loc(values), size(values), first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_int64_1

  subroutine take_real32_0(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    real(real32), intent(inout), target :: values
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_f32, c_loc(values), 1, first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_real32_0

  subroutine take_real32_1(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    real(real32), intent(inout), target, contiguous :: values(:)
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_f32, c_loc(values), size(values), first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_real32_1

  subroutine take_real64_0(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    real(real64), intent(inout), target :: values
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_f64, c_loc(values), 1, first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_real64_0

  subroutine take_real64_1(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    real(real64), intent(inout), target, contiguous :: values(:)
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_f64, c_loc(values), size(values), first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_real64_1

  subroutine take_complex32_0(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    complex(real32), intent(inout), target :: values
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_c32, c_loc(values), 1, first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_complex32_0

  subroutine take_complex32_1(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    complex(real32), intent(inout), target, contiguous :: values(:)
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_c32, c_loc(values), size(values), first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_complex32_1

  subroutine take_complex64_0(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    complex(real64), intent(inout), target :: values
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_c64, c_loc(values), 1, first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_complex64_0

  subroutine take_complex64_1(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    complex(real64), intent(inout), target, contiguous :: values(:)
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_c64, c_loc(values), size(values), first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_complex64_1

  subroutine build_int8_0(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    integer(int8), intent(in), target :: values
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_i8, c_int32_t), c_loc(values), 1_c_int64_t), stat, errmsg)
  end subroutine build_int8_0

  subroutine build_int8_1(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    integer(int8), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_i8, c_int32_t), c_loc(values), size(values, kind=c_int64_t)), stat, errmsg)
  end subroutine build_int8_1

  subroutine build_int16_0(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    integer(int16), intent(in), target :: values
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_i16, c_int32_t), c_loc(values), 1_c_int64_t), stat, errmsg)
  end subroutine build_int16_0

  subroutine build_int16_1(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    integer(int16), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_i16, c_int32_t), c_loc(values), size(values, kind=c_int64_t)), stat, errmsg)
  end subroutine build_int16_1

  subroutine build_int32_0(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    integer(int32), intent(in), target :: values
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_i32, c_int32_t), c_loc(values), 1_c_int64_t), stat, errmsg)
  end subroutine build_int32_0

  subroutine build_int32_1(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    integer(int32), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_i32, c_int32_t), c_loc(values), size(values, kind=c_int64_t)), stat, errmsg)
  end subroutine build_int32_1

  subroutine build_int64_0(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    integer(int64), intent(in), target :: values
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_i64, c_int32_t), c_loc(values), 1_c_int64_t), stat, errmsg)
  end subroutine build_int64_0

  subroutine build_int64_1(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    integer(int64), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_i64, c_int32_t), c_loc(values), size(values, kind=c_int64_t)), stat, errmsg)
  end subroutine build_int64_1

  subroutine build_real32_0(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    real(real32), intent(in), target :: values
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_f32, c_int32_t), c_loc(values), 1_c_int64_t), stat, errmsg)
  end subroutine build_real32_0

  subroutine build_real32_1(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    real(real32), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_f32, c_int32_t), c_loc(values), size(values, kind=c_int64_t)), stat, errmsg)
  end subroutine build_real32_1

  subroutine build_real64_0(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    real(real64), intent(in), target :: values
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_f64, c_int32_t), c_loc(values), 1_c_int64_t), stat, errmsg)
  end subroutine build_real64_0

  subroutine build_real64_1(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    real(real64), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_f64, c_int32_t), c_loc(values), size(values, kind=c_int64_t)), stat, errmsg)
  end subroutine build_real64_1

  subroutine build_complex32_0(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    complex(real32), intent(in), target :: values
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_c32, c_int32_t), c_loc(values), 1_c_int64_t), stat, errmsg)
  end subroutine build_complex32_0

  subroutine build_complex32_1(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    complex(real32), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_c32, c_int32_t), c_loc(values), size(values, kind=c_int64_t)), stat, errmsg)
  end subroutine build_complex32_1

  subroutine build_complex64_0(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    complex(real64), intent(in), target :: values
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_c64, c_int32_t), c_loc(values), 1_c_int64_t), stat, errmsg)
  end subroutine build_complex64_0

  subroutine build_complex64_1(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    complex(real64), intent(in), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_c64, c_int32_t), c_loc(values), size(values, kind=c_int64_t)), stat, errmsg)
  end subroutine build_complex64_1

  ! Transforms, and what streams provide.

  ! Makes an empty set. Each call of a transform may take timeout_ms milliseconds, 10,000 unless it is there.
  subroutine flexpath_transforms_create(transforms, timeout_ms, stat, errmsg)
    type(flexpath_transforms), intent(inout) :: transforms
    integer, intent(in), optional :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(failing) :: failure
    integer(c_int64_t) :: limit
    limit = 0
    if (present(timeout_ms)) limit = max(timeout_ms, 0)
    if (c_associated(transforms%handle)) then
      call fail(failure, flexpath_status_misuse, 'the transforms are made: free them first')
    else
      failure%status = c_transforms_create(limit, transforms%handle)
    end if
    call conclude('flexpath_transforms_create', failure, stat, errmsg)
  end subroutine flexpath_transforms_create

  ! Adds a function from records of one type to records of another. each: it makes one record of each that it is given.
  ! It is called with context on threads of Flexpath, on several at one time.
  subroutine flexpath_transforms_add(transforms, name, from, to, run, context, each, stat, errmsg)
    type(flexpath_transforms), intent(in) :: transforms
    character(len=*), intent(in) :: name
    type(flexpath_schema), intent(in) :: from, to
    procedure(flexpath_transform) :: run
    type(c_ptr), intent(in), optional :: context
    logical, intent(in), optional :: each
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    integer(c_int32_t) :: status
    logical :: is_each
    given = c_null_ptr
    if (present(context)) given = context
    is_each = .false.
    if (present(each)) is_each = each
    if (is_each) then
      status = c_transforms_add_each(transforms%handle, c_text(name), from%handle, to%handle, c_funloc(run), &
          c_null_funptr, given)
    else
      status = c_transforms_add(transforms%handle, c_text(name), from%handle, to%handle, c_funloc(run), &
          c_null_funptr, given)
    end if
    call conclude_status('flexpath_transforms_add', status, stat, errmsg)
  end subroutine flexpath_transforms_add

  ! Adds a function over plain arrays, for derivations that call it: 'x, y | call(name)'. takes and gives are element
  ! types. Of each block it makes as many elements as it is given, or made_count: a row, for 'call(name, f64, 3)'. It is
  ! called with context on threads of Flexpath, on several at one time.
  subroutine flexpath_transforms_add_function(transforms, name, takes, gives, run, made_count, context, stat, errmsg)
    type(flexpath_transforms), intent(in) :: transforms
    character(len=*), intent(in) :: name
    integer, intent(in) :: takes, gives
    procedure(flexpath_function) :: run
    integer, intent(in), optional :: made_count
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: given
    integer(c_int64_t) :: count
    given = c_null_ptr
    if (present(context)) given = context
    count = 0
    if (present(made_count)) count = max(made_count, 0)
    call conclude_status('flexpath_transforms_add_function', c_transforms_add_function(transforms%handle, &
        c_text(name), int(takes, c_int32_t), int(gives, c_int32_t), count, c_funloc(run), c_null_funptr, given), &
        stat, errmsg)
  end subroutine flexpath_transforms_add_function

  ! Says of a transform that was added: what it gives of blocks, one after the other, is what it gives of all.
  subroutine flexpath_transforms_set_per_block(transforms, name, stat, errmsg)
    type(flexpath_transforms), intent(in) :: transforms
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_transforms_set_per_block', &
        c_transforms_set_per_block(transforms%handle, c_text(name)), stat, errmsg)
  end subroutine flexpath_transforms_set_per_block

  ! Says of a transform that it is asked for by name alone.
  subroutine flexpath_transforms_set_by_name_only(transforms, name, stat, errmsg)
    type(flexpath_transforms), intent(in) :: transforms
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_transforms_set_by_name_only', &
        c_transforms_set_by_name_only(transforms%handle, c_text(name)), stat, errmsg)
  end subroutine flexpath_transforms_set_by_name_only

  ! Says on which side a transform runs: one of flexpath_placement_...
  subroutine flexpath_transforms_set_placement(transforms, name, placement, stat, errmsg)
    type(flexpath_transforms), intent(in) :: transforms
    character(len=*), intent(in) :: name
    integer, intent(in) :: placement
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_transforms_set_placement', &
        c_transforms_set_placement(transforms%handle, c_text(name), int(placement, c_int32_t)), stat, errmsg)
  end subroutine flexpath_transforms_set_placement

  ! Says what a transform costs: nanoseconds for each byte that goes in, and bytes that come out for each.
  subroutine flexpath_transforms_set_cost(transforms, name, nanos_per_byte, output_ratio, stat, errmsg)
    type(flexpath_transforms), intent(in) :: transforms
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: nanos_per_byte, output_ratio
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_transforms_set_cost', &
        c_transforms_set_cost(transforms%handle, c_text(name), nanos_per_byte, output_ratio), stat, errmsg)
  end subroutine flexpath_transforms_set_cost

  ! Says how many milliseconds each call of a transform may take, at least 1.
  subroutine flexpath_transforms_set_timeout(transforms, name, timeout_ms, stat, errmsg)
    type(flexpath_transforms), intent(in) :: transforms
    character(len=*), intent(in) :: name
    integer, intent(in) :: timeout_ms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_transforms_set_timeout', &
        c_transforms_set_timeout(transforms%handle, c_text(name), int(max(timeout_ms, 0), c_int64_t)), stat, errmsg)
  end subroutine flexpath_transforms_set_timeout

  ! Frees a set of transforms. Who was opened with it keeps it.
  subroutine flexpath_transforms_free(transforms, stat, errmsg)
    type(flexpath_transforms), intent(inout) :: transforms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_transforms_free', c_transforms_free(transforms%handle), stat, errmsg)
    transforms%handle = c_null_ptr
  end subroutine flexpath_transforms_free

  ! Gives transforms to whoever is opened with these options. A publisher offers them by name.
  subroutine flexpath_options_set_transforms(options, transforms, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    type(flexpath_transforms), intent(in) :: transforms
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = made(options)
    if (status == flexpath_status_ok) status = c_options_set_transforms(options%handle, transforms%handle)
    call conclude_status('flexpath_options_set_transforms', status, stat, errmsg)
  end subroutine flexpath_options_set_transforms

  ! Has the records of a variable go through a transform before a subscriber reads them by name. Where the data is unless
  ! a flexpath_placement_... says otherwise.
  subroutine flexpath_options_add_transformed(options, name, variable, transform, placement, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: name, variable, transform
    integer, intent(in), optional :: placement
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status, place
    place = flexpath_placement_publisher
    if (present(placement)) place = int(placement, c_int32_t)
    status = made(options)
    if (status == flexpath_status_ok) status = c_options_add_transformed(options%handle, c_text(name), &
        c_text(variable), c_text(transform), place)
    call conclude_status('flexpath_options_add_transformed', status, stat, errmsg)
  end subroutine flexpath_options_add_transformed

  ! Names a WebAssembly module, which is copied, for derivations that are added after it: 'vx | module(name)'.
  subroutine flexpath_options_add_module(options, name, module, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    character(len=*), intent(in) :: name
    integer(int8), intent(in), contiguous, target :: module(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    status = made(options)
    if (status == flexpath_status_ok) status = c_options_add_module(options%handle, c_text(name), c_loc(module), &
        size(module, kind=c_int64_t))
    call conclude_status('flexpath_options_add_module', status, stat, errmsg)
  end subroutine flexpath_options_add_module

  ! Has a subscriber attach only if that variable, or any, provides records of a type: stat is
  ! flexpath_status_incompatible otherwise. Opening then waits for the first step.
  subroutine flexpath_options_add_type(options, schema, variable, stat, errmsg)
    type(flexpath_options), intent(inout) :: options
    type(flexpath_schema), intent(in) :: schema
    character(len=*), intent(in), optional :: variable
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name
    type(c_ptr) :: named
    integer(c_int32_t) :: status
    named = c_null_ptr
    if (present(variable)) then
      name = c_text(variable)
      named = c_loc(name)
    end if
    status = made(options)
    if (status == flexpath_status_ok) status = c_options_add_type(options%handle, named, schema%handle)
    call conclude_status('flexpath_options_add_type', status, stat, errmsg)
  end subroutine flexpath_options_add_type

  ! The variables of a stream that provide records of a type, those that fit best first. Waits for the first step.
  subroutine flexpath_subscriber_of(subscriber, schema, provided, stat, errmsg)
    type(flexpath_subscriber), intent(in) :: subscriber
    type(flexpath_schema), intent(in) :: schema
    type(flexpath_provided), allocatable, intent(inout) :: provided(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_provided), allocatable :: told(:)
    integer(c_int64_t) :: count
    integer(c_int32_t) :: status
    integer :: at
    allocate (told(64))
    count = 0
    status = c_subscriber_of(subscriber%handle, schema%handle, told, size(told, kind=c_int64_t), count)
    if (status == flexpath_status_ok .and. count > size(told)) then
      deallocate (told)
      allocate (told(count))
      status = c_subscriber_of(subscriber%handle, schema%handle, told, size(told, kind=c_int64_t), count)
    end if
    if (status /= flexpath_status_ok) count = 0
    if (allocated(provided)) deallocate (provided)
    allocate (provided(min(count, size(told, kind=c_int64_t))))
    do at = 1, size(provided)
      provided(at)%variable = text_of(told(at)%variable)
      provided(at)%differences = text_of(told(at)%differences)
      provided(at)%is_converted = told(at)%is_converted /= 0
    end do
    call conclude_status('flexpath_subscriber_of', status, stat, errmsg)
  end subroutine flexpath_subscriber_of

  ! The streams that provide records of a type, the best first, and then the others with the reason. Looks at all streams
  ! of the rendezvous, for at most timeout_ms milliseconds.
  subroutine flexpath_subscriber_find(schema, timeout_ms, found, options, stat, errmsg)
    type(flexpath_schema), intent(in) :: schema
    integer, intent(in) :: timeout_ms
    type(flexpath_found), allocatable, intent(inout) :: found(:)
    type(flexpath_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_found), allocatable :: told(:)
    type(c_ptr) :: chosen
    integer(c_int64_t) :: count
    integer(c_int32_t) :: status
    integer :: at
    allocate (told(4096))
    chosen = c_null_ptr
    if (present(options)) chosen = options%handle
    count = 0
    status = c_subscriber_find(chosen, schema%handle, int(max(timeout_ms, 0), c_int64_t), told, &
        size(told, kind=c_int64_t), count)
    if (status /= flexpath_status_ok) count = 0
    if (allocated(found)) deallocate (found)
    allocate (found(min(count, size(told, kind=c_int64_t))))
    do at = 1, size(found)
      found(at)%stream = text_of(told(at)%stream)
      found(at)%contact = text_of(told(at)%contact)
      found(at)%variable = text_of(told(at)%variable)
      found(at)%differences = text_of(told(at)%differences)
      found(at)%variables = told(at)%variable_count
      found(at)%is_converted = told(at)%is_converted /= 0
    end do
    call conclude_status('flexpath_subscriber_find', status, stat, errmsg)
  end subroutine flexpath_subscriber_find
end module flexpath
