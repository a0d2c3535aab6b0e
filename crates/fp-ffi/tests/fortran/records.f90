! Records, gets that are fetched together, transforms and streams by type, with both ends in one process.
module fortran_transforms
  use flexpath
  use, intrinsic :: iso_c_binding, only: c_associated, c_double, c_f_pointer, c_int32_t, c_int64_t, c_loc, c_ptr
  implicit none

  type, bind(C) :: atom
    integer(c_int32_t) :: id
    real(c_double) :: place(3)
  end type atom

  type, bind(C) :: distance
    integer(c_int32_t) :: id
    real(c_double) :: far
  end type distance
contains
  ! How far each atom is from the origin, times what the context says.
  integer(c_int32_t) function distances(context, given, made) bind(C)
    type(c_ptr), value :: context, given, made
    type(distance), allocatable, target :: all(:)
    type(atom), pointer :: atoms(:)
    type(c_ptr) :: elements
    real(c_double), pointer :: scale
    integer :: count, stat
    distances = 1
    call c_f_pointer(context, scale)
    call flexpath_records_count(flexpath_records(given), count, stat)
    if (stat /= flexpath_status_ok) return
    call flexpath_records_elements(flexpath_records(given), elements, stat)
    if (stat /= flexpath_status_ok) return
    call c_f_pointer(elements, atoms, [count])
    allocate (all(count))
    call measure(atoms, scale, all)
    call flexpath_builder_set_structs(flexpath_builder(made), c_loc(all), count, stat)
    distances = stat
  end function distances

  ! The sum of two arrays, element by element.
  integer(c_int32_t) function added(context, inputs, input_count, count, made, made_count) bind(C)
    integer(c_int64_t), value :: input_count, count, made_count
    type(c_ptr), value :: context, made
    type(c_ptr), intent(in) :: inputs(input_count)
    real(c_double), pointer :: one(:), other(:), sums(:)
    added = 1
    if (input_count /= 2 .or. c_associated(context)) return
    call c_f_pointer(inputs(1), one, [count])
    call c_f_pointer(inputs(2), other, [count])
    call c_f_pointer(made, sums, [made_count])
    sums = one + other
    added = 0
  end function added

  subroutine measure(atoms, scale, all)
    type(atom), intent(in) :: atoms(:)
    real(c_double), intent(in) :: scale
    type(distance), intent(out) :: all(:)
    integer :: at
    do at = 1, size(atoms)
      all(at) = distance(atoms(at)%id, scale * norm2(atoms(at)%place))
    end do
  end subroutine measure
end module fortran_transforms

program records
  use flexpath
  use fortran_transforms
  use, intrinsic :: iso_c_binding, only: c_double, c_f_pointer, c_loc, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  implicit none
  type(flexpath_schema) :: atoms, near, measured, molecules
  type(flexpath_publisher) :: publisher
  type(flexpath_subscriber) :: subscriber
  type(flexpath_options) :: options, offering
  type(flexpath_transforms) :: offered, own
  type(flexpath_variable) :: of_atoms, of_molecules, grid, one
  type(flexpath_step) :: step
  real(c_double), target :: scale = 2
  character(len=400) :: errmsg
  integer :: stat, status

  call make_types()
  call open_both()
  call publish()
  call find_provided()
  call flexpath_subscriber_next_step(subscriber, step, 60000, status)
  call check('a step', status == flexpath_status_ok)
  call read_structs()
  call read_fields()
  call read_lists()
  call read_transformed()
  call read_together()
  call flexpath_step_release(step)
  call flexpath_subscriber_place(subscriber, 'far', flexpath_placement_subscriber)
  call flexpath_subscriber_place(subscriber, 'none', flexpath_placement_subscriber, stat, errmsg)
  call check('nothing of that name', stat == flexpath_status_unknown_variable .and. index(errmsg, '"none"') > 0)
  call flexpath_limit_process_bytes(0_int64, stat, errmsg)
  call check('a bound of 0', stat == flexpath_status_misuse)
  call flexpath_subscriber_close(subscriber)
  call flexpath_publisher_close(publisher)
  call open_by_type()
  call free_all()
  print '(a)', 'all there'
contains
  subroutine make_types()
    type(flexpath_schema) :: site
    character(len=:), allocatable :: text, other
    call flexpath_schema_create(atoms, 'Atom')
    call flexpath_schema_add_field(atoms, 'id', flexpath_dtype_i32)
    call flexpath_schema_add_field(atoms, 'place', flexpath_dtype_f64, shape=[3], unit='nm', description='where it is')
    call flexpath_schema_create(atoms, 'Atom', stat, errmsg)
    call check('it is made', stat == flexpath_status_misuse .and. index(errmsg, 'free it first') > 0)
    call flexpath_schema_add_field(atoms, 'id', flexpath_dtype_i32, shape=[1.5], stat=stat, errmsg=errmsg)
    call check('a field twice, or no shape', stat == flexpath_status_misuse)
    call flexpath_schema_create(near, 'Near')
    call flexpath_schema_add_field(near, 'place', flexpath_dtype_f64, shape=[3], unit='nm')
    call flexpath_schema_add_field(near, 'charge', flexpath_dtype_f64, optional=.true.)
    call flexpath_schema_set_default(near, 'charge', 0.5_real64)
    call flexpath_schema_create(measured, 'Distance')
    call flexpath_schema_add_field(measured, 'id', flexpath_dtype_i32)
    call flexpath_schema_add_field(measured, 'far', flexpath_dtype_f64)
    call flexpath_schema_create(site, 'Site')
    call flexpath_schema_add_enum(site, 'element', flexpath_dtype_u8, 'Element', [character(len=2) :: 'H', 'C'], [1, 6])
    call flexpath_schema_add_field(site, 'label', flexpath_dtype_string)
    call flexpath_schema_create(molecules, 'Molecule')
    call flexpath_schema_add_field(molecules, 'name', flexpath_dtype_string)
    call flexpath_schema_add_record(molecules, 'sites', site, list=.true.)
    call flexpath_schema_add_field(molecules, 'count', flexpath_dtype_i32)
    call flexpath_schema_add_field(molecules, 'bonds', flexpath_dtype_i64, sized_by='count')
    call flexpath_schema_set_indexes(molecules, 'bonds', 'sites')
    call flexpath_schema_free(site)
    call flexpath_schema_text(molecules, text)
    call check('in words', index(text, 'Molecule') > 0 .and. index(text, 'bonds') > 0)
    call flexpath_schema_differences(atoms, near, text)
    call check('what differs', index(text, 'id') > 0)
    call flexpath_schema_fingerprint(atoms, text)
    call flexpath_schema_fingerprint(near, other)
    call check('two types', text /= other)
  end subroutine make_types

  subroutine open_both()
    call flexpath_transforms_create(offered, 20000)
    call flexpath_transforms_add(offered, 'distances', atoms, measured, distances, c_loc(scale), each=.true.)
    call flexpath_transforms_add_function(offered, 'added', flexpath_dtype_f64, flexpath_dtype_f64, added)
    call flexpath_options_add_derivation(options, 'twice', 'grid, grid | call(added)')
    call flexpath_transforms_set_by_name_only(offered, 'distances')
    call flexpath_transforms_set_timeout(offered, 'distances', 10000)
    call flexpath_transforms_set_per_block(offered, 'none', stat, errmsg)
    call check('no such transform', stat == flexpath_status_misuse .and. index(errmsg, 'added first') > 0)
    call flexpath_options_set_transforms(offering, offered)
    call flexpath_options_set(offering, 'DeriveBudgetSecs', '60')
    call flexpath_transforms_create(own)
    call flexpath_transforms_add(own, 'distances', atoms, measured, distances, c_loc(scale))
    call flexpath_transforms_set_cost(own, 'distances', 2.0_real64, 0.5_real64)
    call flexpath_options_set_transforms(options, own)
    call flexpath_options_add_transformed(options, 'far', 'atoms', 'distances')
    call flexpath_options_set(options, 'Variables', 'atoms,molecules,one,grid')
    call flexpath_publisher_open(publisher, 'records', offering)
    call flexpath_subscriber_open(subscriber, 'records', options)
    call flexpath_publisher_wait_for_subscribers(publisher, 1, 60000, status)
    call flexpath_variable_global_records(of_atoms, 'atoms', atoms, [6], description='all of them')
    call flexpath_variable_record(one, 'one', atoms)
    call flexpath_variable_joined_records(of_molecules, 'molecules', molecules)
    call flexpath_variable_global(grid, 'grid', flexpath_dtype_f64, [3, 2])
  end subroutine open_both

  function made(first, count) result(some)
    integer, intent(in) :: first, count
    type(atom) :: some(count)
    integer :: at
    do at = 1, count
      some(at) = atom(first + at - 1, [3, 4, 0] * real(first + at - 1, real64))
    end do
  end function made

  subroutine publish()
    type(atom), target :: some(3)
    type(distance), target :: others(3)
    type(flexpath_builder) :: builder
    call flexpath_publisher_begin_step(publisher)
    some = made(1, 3)
    call flexpath_put_records(publisher, of_atoms, c_loc(some), c_sizeof(some(1)), count=[3])
    call flexpath_put_records(publisher, of_atoms, c_loc(others), c_sizeof(others(1)), count=[3], start=[4], &
        stat=stat, errmsg=errmsg)
    call check('of another size', stat == flexpath_status_wrong_len .and. index(errmsg, 'elements of 16 bytes') > 0)
    some = made(4, 3)
    call flexpath_put_records(publisher, of_atoms, c_loc(some), c_sizeof(some(1)), count=[3], start=[4])
    call flexpath_put_records(publisher, one, c_loc(some), c_sizeof(some(1)))
    call flexpath_builder_create(builder, molecules, 2)
    call flexpath_builder_set(builder, 1, 'name', 'water')
    call flexpath_builder_set(builder, 2, 'name', 'methane')
    call flexpath_builder_set_len(builder, 2, 'sites', 2)
    call flexpath_builder_set(builder, 2, 'sites[0].element', 6)
    call flexpath_builder_set(builder, 2, 'sites[1].element', 1)
    call flexpath_builder_set(builder, 2, 'sites[1].label', 'first')
    call flexpath_builder_set(builder, 2, 'bonds', [0_int64, 1_int64])
    call flexpath_builder_set(builder, 3, 'name', 'none', stat, errmsg)
    call check('no third record', stat < 0)
    call flexpath_put_built(publisher, of_molecules, builder, count=[2])
    call flexpath_builder_free(builder)
    call flexpath_put(publisher, grid, reshape([1, 2, 3, 4, 5, 6] * 1.0_real64, [3, 2]))
    call flexpath_publisher_end_step(publisher)
  end subroutine publish

  subroutine find_provided()
    type(flexpath_provided), allocatable :: provided(:)
    call flexpath_subscriber_of(subscriber, near, provided)
    call check('two variables', size(provided) == 2)
    call check('converted', all([provided(1)%is_converted, index(provided(1)%differences, 'charge') > 0]))
    call flexpath_subscriber_of(subscriber, measured, provided)
    call check('as it is made', provided(1)%variable == 'far' .and. .not. provided(1)%is_converted)
    call check('by a transform', index(provided(size(provided))%differences, 'distances') > 0)
  end subroutine find_provided

  subroutine read_structs()
    type(atom), target :: some(6), alone
    type(distance), target :: few(2)
    call flexpath_get_records(step, 'atoms', atoms, c_loc(some), c_sizeof(some(1)), 6)
    call check('all atoms', all(some%id == [1, 2, 3, 4, 5, 6]) .and. nint(some(6)%place(2)) == 24)
    call flexpath_get_records(step, 'one', atoms, c_loc(alone), c_sizeof(alone), 1)
    call check('the one', alone%id == 4)
    call flexpath_get_records(step, 'atoms', measured, c_loc(few), c_sizeof(few(1)), 2, flexpath_region([2], [2]))
    call check('through a transform', all(few%id == [2, 3]) .and. all(nint(few%far) == [20, 30]))
    call flexpath_get_records(step, 'atoms', atoms, c_loc(few), c_sizeof(few(1)), 2, flexpath_region([2], [2]), &
        stat, errmsg)
    call check('of another size', stat == flexpath_status_wrong_len .and. index(errmsg, 'its type has 32') > 0)
  end subroutine read_structs

  subroutine read_fields()
    type(flexpath_records) :: taken
    type(atom), pointer :: lying(:)
    type(c_ptr) :: elements
    real(real64) :: places(3, 6), charges(6), second(3)
    integer(int32) :: id
    integer :: count
    call flexpath_step_records(step, 'atoms', taken)
    call flexpath_records_count(taken, count)
    call check('six atoms', count == 6)
    call flexpath_records_get(taken, 'id', id, first=5, count=1)
    call flexpath_records_get(taken, 'place', second, first=2, count=1)
    call check('the fifth, and the second', id == 5 .and. all(nint(second) == [6, 8, 0]))
    call flexpath_records_elements(taken, elements)
    call c_f_pointer(elements, lying, [count])
    call check('as they lie', lying(3)%id == 3)
    call flexpath_records_get(taken, 'place', second(:2), first=2, count=1, stat=stat, errmsg=errmsg)
    call check('three numbers', stat == flexpath_status_wrong_len)
    call flexpath_step_records(step, 'atoms', taken, schema=near)
    call flexpath_records_get(taken, 'charge', charges)
    call check('what stands for it', all(nint(2 * charges) == 1))
    call take_places(taken, places)
    call check('all places', nint(places(2, 6)) == 24)
    call flexpath_records_release(taken)
  end subroutine read_fields

  subroutine take_places(taken, places)
    type(flexpath_records), intent(in) :: taken
    real(real64), intent(out), target, contiguous :: places(:, :)
    real(real64), pointer, contiguous :: flat(:)
    call c_f_pointer(c_loc(places), flat, [size(places)])
    call flexpath_records_get(taken, 'place', flat)
  end subroutine take_places

  subroutine read_lists()
    type(flexpath_records) :: taken
    character(len=:), allocatable :: text
    integer(int64) :: bonds(2)
    integer :: kind, dtype, count
    call flexpath_step_records(step, 'molecules', taken, selection=flexpath_region([2], [1]))
    call flexpath_records_text(taken, 1, 'name', text)
    call check('methane', text == 'methane')
    call flexpath_records_text(taken, 1, 'sites[0].element', text)
    call check('a name', text == 'C')
    call flexpath_records_text(taken, 1, 'sites[1].label', text)
    call check('a label', text == 'first')
    call flexpath_records_describe(taken, 1, 'bonds', kind, dtype, count)
    call check('a list', kind == flexpath_value_kind_array .or. kind == flexpath_value_kind_number)
    call check('of two', count == 2 .and. dtype == flexpath_dtype_i64)
    call flexpath_records_get(taken, 'bonds', bonds)
    call check('the bonds', all(bonds == [0, 1]))
    call flexpath_records_release(taken)
  end subroutine read_lists

  ! Made by the publisher, by name.
  subroutine read_transformed()
    type(distance), target :: all_of(6)
    call flexpath_get_records(step, 'far', measured, c_loc(all_of), c_sizeof(all_of(1)), 6)
    call check('distances', all(nint(all_of%far) == [10, 20, 30, 40, 50, 60]))
  end subroutine read_transformed

  subroutine read_together()
    type(flexpath_fetch) :: fetch
    real(real64), target :: column(3), point, wide(6), twice(3, 2)
    real(real32), target :: whole(3, 2)
    call flexpath_fetch_get(fetch, step, 'grid', column, start=[1, 2], count=[3, 1])
    call flexpath_fetch_get(fetch, step, 'grid', point, selection=flexpath_points(reshape([2, 1], [2, 1])))
    call flexpath_fetch_get(fetch, step, 'grid', whole, conversion=flexpath_conversion_any)
    call flexpath_fetch_get(fetch, step, 'grid', wide(::2), start=[1, 1], count=[3, 1], stat=stat, errmsg=errmsg)
    call check('apart', stat == flexpath_status_misuse .and. index(errmsg, 'one after another') > 0)
    call flexpath_fetch_wait(fetch, 60000)
    call check('together', all(nint(column) == [4, 5, 6]) .and. nint(point) == 2 .and. nint(whole(3, 2)) == 6)
    call flexpath_get(step, 'twice', twice)
    call check('by a function', all(nint(twice) == reshape([2, 4, 6, 8, 10, 12], [3, 2])))
    call flexpath_fetch_get(fetch, step, 'none', column, start=[1], stat=stat, errmsg=errmsg)
    call flexpath_fetch_wait(fetch, stat=stat, errmsg=errmsg)
    call check('no such variable', stat == flexpath_status_unknown_variable .and. index(errmsg, 'none') > 0)
    call flexpath_fetch_wait(fetch)
  end subroutine read_together

  subroutine open_by_type()
    type(flexpath_options) :: wanting
    type(flexpath_found), allocatable :: found(:)
    call flexpath_subscriber_find(atoms, 1000, found)
    call check('nothing is published', size(found) == 0)
    call flexpath_options_add_type(wanting, atoms, 'atoms')
    call flexpath_options_set(wanting, 'OpenTimeoutSecs', 1)
    call flexpath_publisher_open(publisher, 'silent')
    call flexpath_subscriber_open(subscriber, 'silent', wanting, stat, errmsg)
    call check('no step says it', stat == flexpath_status_not_opened)
    call flexpath_publisher_close(publisher)
    call flexpath_options_free(wanting)
  end subroutine open_by_type

  subroutine free_all()
    call flexpath_variable_free(of_atoms)
    call flexpath_variable_free(of_molecules)
    call flexpath_variable_free(one)
    call flexpath_variable_free(grid)
    call flexpath_schema_free(atoms)
    call flexpath_schema_free(near)
    call flexpath_schema_free(measured)
    call flexpath_schema_free(molecules)
    call flexpath_transforms_free(offered)
    call flexpath_transforms_free(own)
    call flexpath_options_free(options)
    call flexpath_options_free(offering)
  end subroutine free_all

  subroutine check(what, is_so)
    character(len=*), intent(in) :: what
    logical, intent(in) :: is_so
    if (is_so) return
    write (error_unit, '(4a)') 'not so: ', what, ', ', trim(errmsg)
    error stop 2
  end subroutine check
end program records
