! Every kind of variable but plain arrays: joined, local, scalars of each rank, several blocks of a rank, texts that grow.
!
! usage: kinds publish | kinds subscribe
program kinds
  use flexpath
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real32, real64
  implicit none
  integer, parameter :: steps = 3
  character(len=16) :: role
  integer :: me, step
  call get_command_argument(1, role)
  if (role == 'publish') call publish()
  if (role == 'subscribe') call subscribe()
contains
  subroutine publish()
    type(flexpath_options) :: options
    type(flexpath_publisher) :: publisher
    type(flexpath_variable) :: positions, ids, patch, energy, grid
    integer(int64) :: number, counted
    logical :: wanted, is_followed
    character(len=16) :: rank
    call get_environment_variable('FLEXPATH_RANK', rank)
    read (rank, *) me
    call flexpath_options_set_cohort(options, me, 2)
    call flexpath_options_set(options, 'MinSubscribers', 2)
    call flexpath_options_set(options, 'FirstTimestepPrecious', .false.)
    call flexpath_options_set(options, 'LimitBytes', 2_int64**28)
    call flexpath_publisher_open(publisher, 'kinds', options)
    call flexpath_publisher_has_subscribers(publisher, is_followed)
    call check('somebody subscribed', is_followed .or. me == 1)
    call flexpath_variable_joined(positions, 'positions', flexpath_dtype_f32, [3], unit='m', description='of particles')
    call flexpath_variable_set_attribute(positions, 'order', 'x, y, z')
    call flexpath_variable_set_attribute(positions, 'masses', 7)
    call flexpath_variable_set_attribute(positions, 'seed', 2_int64**40)
    call flexpath_variable_set_attribute(positions, 'density', 0.25_real64)
    call flexpath_variable_joined(ids, 'ids', flexpath_dtype_i64)
    call flexpath_variable_local(patch, 'patch', flexpath_dtype_f64, 2)
    call flexpath_variable_local_scalar(energy, 'energy', flexpath_dtype_f64)
    do step = 0, steps - 1
      ! Defined anew for each step, as its shape grows.
      call flexpath_variable_global(grid, 'grid', flexpath_dtype_i32, [4, 2 * (step + 2)])
      call flexpath_publisher_begin_step(publisher, number)
      call flexpath_publisher_is_wanted(publisher, 'nobody wants this', wanted)
      call put_particles(publisher, positions, ids)
      call put_patches(publisher, patch)
      call put_columns(publisher, grid)
      call flexpath_put(publisher, energy, 100.0_real64 * step + me)
      call flexpath_publisher_end_step(publisher)
    end do
    ! Nobody gets this one.
    call flexpath_publisher_begin_step(publisher)
    call flexpath_publisher_abandon_step(publisher)
    call flexpath_publisher_statistic(publisher, 'put_copied_bytes', counted)
    call check('what is put is copied once', counted > 0)
    call flexpath_publisher_close(publisher)
    print '(a, i0, a)', 'published ', number + 1, ' steps'
  end subroutine publish

  ! Rank r has 2 + r + step particles; that of number n is at (n, n + 0.25, n + 0.5).
  subroutine put_particles(publisher, positions, ids)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: positions, ids
    integer(int64) :: numbers(2 + me + step)
    real(real32) :: at(3, 2 + me + step)
    integer :: n
    numbers = [(int(n + me * (2 + step), int64), n = 0, 1 + me + step)]
    do n = 1, size(numbers)
      at(:, n) = real(numbers(n), real32) + [0.0, 0.25, 0.5]
    end do
    call flexpath_put(publisher, positions, transpose(at))
    call flexpath_put(publisher, ids, numbers)
  end subroutine put_particles

  ! Two blocks of a rank, of different extents.
  subroutine put_patches(publisher, patch)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: patch
    integer :: block, i, j
    real(real64), allocatable :: values(:, :)
    do block = 1, 2
      values = reshape([((real(1000 * step + 100 * me + 10 * i + j, real64), i = 1, block + 1), j = 1, 3)], [block + 1, 3])
      call flexpath_put(publisher, patch, values)
    end do
  end subroutine put_patches

  ! Rank r has every second column: one block each.
  subroutine put_columns(publisher, grid)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: grid
    integer :: i, j
    do j = 1 + me, 2 * (step + 2), 2
      call flexpath_put(publisher, grid, [(100 * i + j, i = 1, 4)], start=int([1, j], int64))
    end do
  end subroutine put_columns

  subroutine subscribe()
    type(flexpath_options) :: options
    type(flexpath_subscriber) :: subscriber
    type(flexpath_step) :: held
    type(flexpath_step_info) :: info
    type(flexpath_variable_info) :: of_grid, of_positions
    integer, allocatable :: grid(:, :)
    real(real32), allocatable :: positions(:, :)
    integer(int64), allocatable :: ids(:)
    real(real64) :: patch(3, 3), both(15), energies(2)
    integer :: status, i, j
    call flexpath_options_add_selection(options, 'grid', flexpath_region([2, 1], [1, 4]))
    call flexpath_options_set(options, 'FetchTimeoutSecs', 30)
    call flexpath_subscriber_open(subscriber, 'kinds', options)
    do
      call flexpath_subscriber_next_step(subscriber, held, 60000, status)
      if (status /= flexpath_status_ok) exit
      call flexpath_step_describe(held, info)
      step = int(info%step)
      call flexpath_step_variable(held, 'grid', of_grid)
      call check('the grid grows', all(of_grid%shape == [4, 2 * (step + 2)]))
      allocate (grid(of_grid%shape(1), of_grid%shape(2)))
      call flexpath_get(held, 'grid', grid)
      call check('grid', all(grid == reshape([((100 * i + j, i = 1, 4), j = 1, 2 * (step + 2))], shape(grid))))
      call flexpath_get(held, 'grid', grid(2, :4), start=[2, 1], count=[1, 4], timeout_ms=20000)
      call check('a row of it', all(grid(2, :4) == [201, 202, 203, 204]))
      call flexpath_step_variable(held, 'positions', of_positions)
      call check('unit and description', of_positions%unit == 'm' .and. of_positions%description == 'of particles')
      call check('joined', of_positions%kind == flexpath_kind_joined_array .and. of_positions%shape(2) == 3)
      allocate (positions(of_positions%shape(1), 3), ids(of_positions%shape(1)))
      call flexpath_get(held, 'positions', positions)
      call flexpath_get(held, 'ids', ids)
      call check('ids', all(ids == [(int(i, int64), i = 0, size(ids) - 1)]) .and. size(ids) == 5 + 2 * step)
      call check('positions', all(nint(4 * positions(:, 2)) == 4 * ids + 1))
      call flexpath_get(held, 'patch', patch, selection=flexpath_block(1, 2))
      call check('a block', all(nint(patch) == reshape([((1000 * step + 100 + 10 * i + j, i = 1, 3), j = 1, 3)], [3, 3])))
      call flexpath_get(held, 'patch', both, selection=flexpath_rank(0))
      call check('the blocks of a rank', all(nint(both([1, 2, 7, 8, 15])) - 1000 * step == [11, 21, 11, 21, 33]))
      call flexpath_get(held, 'energy', energies)
      call check('energies', all(nint(energies) == 100 * step + [0, 1]))
      deallocate (grid, positions, ids)
    end do
    call check('the end', status == flexpath_status_end_of_stream)
    call flexpath_subscriber_close(subscriber)
    print '(a, i0, a)', 'took ', step + 1, ' steps'
  end subroutine subscribe

  subroutine check(what, is_so)
    character(len=*), intent(in) :: what
    logical, intent(in) :: is_so
    if (is_so) return
    write (error_unit, '(3a, i0)') 'wrong: ', what, ' of step ', step
    error stop 2
  end subroutine check
end program kinds
