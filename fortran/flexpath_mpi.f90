! Flexpath for Fortran programs under MPI: a cohort from a communicator, of mpi_f08 or a plain integer.
!
!     use flexpath_mpi, only: flexpath_set_cohort_mpi
!     call flexpath_set_cohort_mpi(options%handle, MPI_COMM_WORLD, stat, errmsg)
!
! `options` is the C handle of a set of options. Compile this file with the program's own MPI compiler, after the MPI
! was chosen: libflexpath knows nothing of MPI. MPI is called only while a stream opens (one allgather of 512 bytes a
! rank, one barrier). It is called on the thread that opens the stream, never in a step or in close. So MPI_Init,
! without threads, will do. The communicator must stay valid until the last open with these options has returned.
module flexpath_mpi
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_funloc, c_int32_t, c_int8_t, c_size_t, c_intptr_t, &
    c_char, c_null_ptr, c_null_char, c_f_pointer, c_associated
  use mpi_f08, only: MPI_Comm, MPI_Comm_rank, MPI_Comm_size, MPI_Allgather, MPI_Barrier, MPI_BYTE, MPI_SUCCESS
  implicit none
  private
  public :: flexpath_set_cohort_mpi

  ! Says that the ranks of a communicator open the stream together. Calls no collective itself. Without `stat` a
  ! failure ends the program with its text, as for statements of the language.
  interface flexpath_set_cohort_mpi
    module procedure set_cohort_f08
    module procedure set_cohort_integer
  end interface

  interface
    function c_set_cohort(options, rank, size, allgather, barrier, context) result(status) &
        bind(C, name='flexpath_options_set_cohort_collectives')
      import :: c_ptr, c_funptr, c_int32_t
      type(c_ptr), value :: options
      integer(c_int32_t), value :: rank, size
      type(c_funptr), value :: allgather, barrier
      type(c_ptr), value :: context
      integer(c_int32_t) :: status
    end function

    function c_last_error() result(text) bind(C, name='flexpath_last_error')
      import :: c_ptr
      type(c_ptr) :: text
    end function

    function c_strlen(text) result(len_bytes) bind(C, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: len_bytes
    end function
  end interface

contains

  subroutine set_cohort_f08(options, comm, stat, errmsg)
    type(c_ptr), intent(in) :: options
    type(MPI_Comm), intent(in) :: comm
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: rank, size, code
    integer(c_int32_t) :: status
    call MPI_Comm_rank(comm, rank, code)
    if (code == MPI_SUCCESS) call MPI_Comm_size(comm, size, code)
    if (code /= MPI_SUCCESS) then
      call report(-11_c_int32_t, 'the communicator has no rank or no size', stat, errmsg)
      return
    end if
    status = c_set_cohort(options, int(rank, c_int32_t), int(size, c_int32_t), c_funloc(allgather), &
      c_funloc(barrier), context_of(comm))
    call report(status, last_error(), stat, errmsg)
  end subroutine

  subroutine set_cohort_integer(options, comm, stat, errmsg)
    type(c_ptr), intent(in) :: options
    integer, intent(in) :: comm
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call set_cohort_f08(options, MPI_Comm(comm), stat, errmsg)
  end subroutine

  ! The number of a communicator travels in the shape of a pointer that nobody follows.
  function context_of(comm) result(context)
    type(MPI_Comm), intent(in) :: comm
    type(c_ptr) :: context
    context = transfer(int(comm%MPI_VAL, c_intptr_t), c_null_ptr)
  end function

  function comm_of(context) result(comm)
    type(c_ptr), intent(in) :: context
    type(MPI_Comm) :: comm
    comm%MPI_VAL = int(transfer(context, 0_c_intptr_t))
  end function

  function allgather(context, own, len_bytes, all) result(code) bind(C)
    type(c_ptr), value :: context, own, all
    integer(c_size_t), value :: len_bytes
    integer(c_int32_t) :: code
    integer(c_int8_t), pointer :: given(:), gathered(:)
    integer :: size, failed
    call MPI_Comm_size(comm_of(context), size, failed)
    if (failed == MPI_SUCCESS) then
      call c_f_pointer(own, given, [len_bytes])
      call c_f_pointer(all, gathered, [len_bytes * int(size, c_size_t)])
      call MPI_Allgather(given, int(len_bytes), MPI_BYTE, gathered, int(len_bytes), MPI_BYTE, comm_of(context), failed)
    end if
    code = int(failed, c_int32_t)
  end function

  function barrier(context) result(code) bind(C)
    type(c_ptr), value :: context
    integer(c_int32_t) :: code
    integer :: failed
    call MPI_Barrier(comm_of(context), failed)
    code = int(failed, c_int32_t)
  end function

  function last_error() result(text)
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: found
    integer :: at
    found = c_last_error()
    call c_f_pointer(found, letters, [c_strlen(found)])
    allocate (character(len=size(letters)) :: text)
    do at = 1, size(letters)
      text(at:at) = letters(at)
    end do
  end function

  subroutine report(status, text, stat, errmsg)
    integer(c_int32_t), intent(in) :: status
    character(len=*), intent(in) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    if (present(stat)) stat = int(status)
    if (status >= 0) return
    if (present(errmsg)) errmsg = text
    if (.not. present(stat)) error stop 'flexpath: ' // text
  end subroutine

end module
