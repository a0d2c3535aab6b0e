! The heat equation in three dimensions, each rank with its own box, as it publishes while it runs.
!
! mpifort ~/.local/share/flexpath/fortran/flexpath_mpi.f90 heat.f90 -o heat \
!     $(pkg-config --cflags --libs flexpath-fortran)
! mpirun -n 4 ./heat
!
! The start is one mode of the box, sin(pi x) sin(2 pi y) sin(3 pi z), with zero outside. Every step of the scheme
! multiplies it by the same factor, so whoever reads the field can tell what each cell has to be. See
! examples/heat_rows.rs, which takes it in rows.
!
! While it runs somebody may change how well heat is conducted: flexpath request heat3d conductivity=1. Or the run itself
! does, at a step: ./heat ITERATIONS STEP CONDUCTIVITY.
program heat
  use flexpath
  use flexpath_mpi
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: cells(3) = [24, 18, 12], modes(3) = [1, 2, 3], every = 20
  real(real64), parameter :: pi = acos(-1.0_real64)
  type(flexpath_options) :: options
  type(flexpath_publisher) :: publisher
  type(flexpath_variable) :: temperature, iteration_number
  type(MPI_Comm) :: grid
  integer :: rank, cohort, ranks(3), place(3), first(3), own(3), iteration, i, j, k
  integer :: iterations = 200, scripted = -1
  integer(int64) :: step
  real(real64) :: share(3), conductivity = 2, planned
  real(real64), allocatable :: u(:, :, :), next(:, :, :)

  call MPI_Init()
  call divide()
  call read_plan()
  call begin()

  ! The cohort is the communicator; every rank waits until somebody subscribes.
  call flexpath_options_create(options)
  call flexpath_set_cohort_mpi(options%handle, grid)
  call flexpath_options_set(options, 'MinSubscribers', 1)
  call flexpath_options_add_parameter(options, 'conductivity', flexpath_parameter_kind_real, 0.0_real64, 2.5_real64)
  call flexpath_publisher_open(publisher, 'heat3d', options)
  call flexpath_variable_global(temperature, 'temperature', flexpath_dtype_f64, cells, unit='K')
  call flexpath_variable_scalar(iteration_number, 'iteration', flexpath_dtype_i32)

  do iteration = 0, iterations
    if (mod(iteration, every) == 0) then
      call flexpath_publisher_begin_step(publisher, step)
      call steer()
      ! The cells without their halo: one copy, from where they lie to memory that the subscribers see.
      call flexpath_put(publisher, temperature, u(1:own(1), 1:own(2), 1:own(3)), start=first)
      call flexpath_put(publisher, iteration_number, iteration)
      call flexpath_publisher_end_step(publisher)
    end if
    call exchange()
    do concurrent (k = 1:own(3), j = 1:own(2), i = 1:own(1))
      next(i, j, k) = u(i, j, k) &
          + share(1) * (u(i - 1, j, k) - 2 * u(i, j, k) + u(i + 1, j, k)) &
          + share(2) * (u(i, j - 1, k) - 2 * u(i, j, k) + u(i, j + 1, k)) &
          + share(3) * (u(i, j, k - 1) - 2 * u(i, j, k) + u(i, j, k + 1))
    end do
    u(1:own(1), 1:own(2), 1:own(3)) = next
  end do

  call flexpath_variable_free(temperature)
  call flexpath_variable_free(iteration_number)
  call flexpath_publisher_close(publisher)
  call flexpath_options_free(options)
  call MPI_Finalize()
contains
  ! Divides the box among the ranks: which cells are this rank's.
  subroutine divide()
    call MPI_Comm_size(MPI_COMM_WORLD, cohort)
    ranks = 0
    call MPI_Dims_create(cohort, 3, ranks)
    call MPI_Cart_create(MPI_COMM_WORLD, 3, ranks, [.false., .false., .false.], .false., grid)
    call MPI_Comm_rank(grid, rank)
    call MPI_Cart_coords(grid, rank, 3, place)
    first = cells * place / ranks + 1
    own = cells * (place + 1) / ranks + 1 - first
  end subroutine divide

  ! What the command line says: how many iterations, and at which step the conductivity becomes another.
  subroutine read_plan()
    character(len=32) :: word(3)
    integer :: at
    do at = 1, 3
      call get_command_argument(at, word(at))
    end do
    if (word(1) /= '') read (word(1), *) iterations
    if (word(2) /= '') read (word(2), *) scripted
    if (word(3) /= '') read (word(3), *) planned
  end subroutine read_plan

  ! Takes what is asked for: all ranks see it at the same step.
  subroutine steer()
    type(flexpath_request) :: request
    integer :: requests, which
    if (step == scripted) conductivity = planned
    call flexpath_publisher_request_count(publisher, requests)
    do which = 1, requests
      call flexpath_publisher_request_at(publisher, which, request)
      if (request%parameter == 'conductivity') conductivity = request%number
    end do
    call conduct()
  end subroutine steer

  ! The part of a difference that flows in an iteration: stable, and the same in all dimensions.
  subroutine conduct()
    real(real64) :: squares(3)
    squares = real(cells + 1, real64)**2
    share = conductivity * 0.2_real64 * squares / (2 * sum(squares))
  end subroutine conduct

  ! The mode.
  subroutine begin()
    call conduct()
    allocate (u(0:own(1) + 1, 0:own(2) + 1, 0:own(3) + 1), source=0.0_real64)
    allocate (next(own(1), own(2), own(3)))
    do concurrent (k = 1:own(3), j = 1:own(2), i = 1:own(1))
      u(i, j, k) = wave(1, i) * wave(2, j) * wave(3, k)
    end do
  end subroutine begin

  ! The mode along one dimension, at a cell of this rank.
  pure real(real64) function wave(dim, cell)
    integer, intent(in) :: dim, cell
    wave = sin(modes(dim) * pi * (first(dim) + cell - 1) / (cells(dim) + 1))
  end function wave

  ! Tells the neighbours what lies at the faces.
  subroutine exchange()
    integer :: dim, below, above
    do dim = 1, 3
      call MPI_Cart_shift(grid, dim - 1, 1, below, above)
      call pass(dim, own(dim), above, 0, below)
      call pass(dim, 1, below, own(dim) + 1, above)
    end do
  end subroutine exchange

  ! Sends one layer of cells to a neighbour and receives another from the other one; there may be none.
  subroutine pass(dim, layer, to, halo, from)
    integer, intent(in) :: dim, layer, to, halo, from
    real(real64), allocatable :: sent(:, :), received(:, :)
    select case (dim)
    case (1); sent = u(layer, :, :); received = u(halo, :, :)
    case (2); sent = u(:, layer, :); received = u(:, halo, :)
    case default; sent = u(:, :, layer); received = u(:, :, halo)
    end select
    call MPI_Sendrecv(sent, size(sent), MPI_DOUBLE_PRECISION, to, dim, &
        received, size(received), MPI_DOUBLE_PRECISION, from, dim, grid, MPI_STATUS_IGNORE)
    select case (dim)
    case (1); u(halo, :, :) = received
    case (2); u(:, halo, :) = received
    case default; u(:, :, halo) = received
    end select
  end subroutine pass
end program heat
