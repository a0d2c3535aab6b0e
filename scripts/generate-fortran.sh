#!/bin/sh
# Writes the Fortran module to standard output: the files of fortran/parts, with a put and a get for every type and rank.
#
# usage: generate-fortran.sh >fortran/flexpath.f90
set -eu

folder=$(cd "$(dirname "$0")/../fortran/parts" && pwd)
parts="c head texts options selections variables publisher subscriber steering events step attributes put get together schemas
    records transforms"

# Name, declaration, element type: those whose memory is taken as it is.
types="
int8:integer(int8):i8
int16:integer(int16):i16
int32:integer(int32):i32
int64:integer(int64):i64
real32:real(real32):f32
real64:real(real64):f64
complex32:complex(real32):c32
complex64:complex(real64):c64
"
# Name and declaration of those that become bytes of 0 and 1.
logicals="
logical:logical
c_bool:logical(c_bool)
"
ranks="0 1 2 3 4 5 6 7"

# Every type and rank as "name declaration dtype rank".
each() {
    for kind in $1; do
        for rank in ${2:-$ranks}; do
            echo "$kind:$rank" | tr ':' ' '
        done
    done
}

# The names of all specific procedures of put or get.
names() {
    for kind in $types $logicals character; do
        specific="$1_${kind%%:*}"
        printf '    procedure %s_0, %s_1, %s_2, %s_3\n' "$specific" "$specific" "$specific" "$specific"
        printf '    procedure %s_4, %s_5, %s_6, %s_7\n' "$specific" "$specific" "$specific" "$specific"
    done
}

# Sets what depends on the rank: the dimensions of a dummy, of an allocation, its extents, what a pointer wants.
describe_rank() {
    dims= sizes= separator=
    for dim in $(seq 1 "$1"); do
        dims="$dims${dims:+, }:"
        [ "$dim" -ne 5 ] || sizes="$sizes, &
        " separator=
        sizes="$sizes${separator}size(values, $dim)"
        separator=', '
    done
    if [ "$1" -eq 0 ]; then
        extents='[integer(int64) ::]'
        shaped= letters='[len(values, kind=int64)]'
    else
        dims="($dims)" sizes="($sizes)" extents='shape(values, int64)'
        shaped=', shape(values)' letters='[len(values, kind=int64), shape(values, int64)]'
    fi
}

put_head() {
    cat <<END
  subroutine put_${name}_$rank(publisher, variable, values, start, stat, errmsg)
    type(flexpath_publisher), intent(in) :: publisher
    type(flexpath_variable), intent(in) :: variable
    $1 :: values$dims
    class(*), intent(in), optional :: start(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
END
}

put_tail() {
    cat <<END
    call conclude('flexpath_put', put%failure, stat, errmsg)
  end subroutine put_${name}_$rank

END
}

# Values that lie one after another are copied by the library, others element by element into lent memory.
put_plain() {
    put_head "$declaration, intent(in), target"
    [ "$rank" -eq 0 ] || echo "    $declaration, pointer, contiguous :: place$dims"
    cat <<END
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_$dtype, $extents, start)
END
    if [ "$rank" -eq 0 ]; then
        echo '    call put_elements(put, c_loc(values))'
    else
        cat <<END
    if (is_contiguous(values)) then
      call put_elements(put, c_loc(values))
    else if (lends(put)) then
      call c_f_pointer(put%memory, place, shape(values))
      place = values
      call put_lent(put)
    end if
END
    fi
    put_tail
}

put_logical() {
    put_head "$declaration, intent(in)"
    cat <<END
    integer(int8), pointer :: place$dims
    type(putting) :: put
    call prepare_put(put, publisher, variable, flexpath_dtype_logical, $extents, start)
    if (lends(put)) then
      call c_f_pointer(put%memory, place$shaped)
      place = merge(1_int8, 0_int8, values)
      call put_lent(put)
    end if
END
    put_tail
}

put_character() {
    put_head 'character(len=*), intent(in)'
    cat <<END
    call put_letters(publisher, variable, values, $letters, start, &
        stat, errmsg)
  end subroutine put_${name}_$rank

END
}

get_head() {
    cat <<END
  subroutine get_${name}_$rank(step, variable, values, start, count, stride, selection, timeout_ms, &
      ${2}stat, errmsg)
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    $1 :: values$dims
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: timeout_ms
END
    if [ -n "$2" ]; then
        echo "    $declaration, intent(in), optional, target :: fill"
        echo '    integer, intent(in), optional :: conversion'
    fi
    cat <<END
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
END
}

get_tail() {
    cat <<END
    call conclude('flexpath_get', get%failure, stat, errmsg)
  end subroutine get_${name}_$rank

END
}

get_prepare() {
    cat <<END
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_$dtype, $extents, start, count, stride, &
        selection, timeout_ms)
END
}

# Values that lie one after another are filled straight, others by way of an array of our own.
get_plain() {
    get_head "$declaration, intent(inout), target" 'fill, conversion, '
    [ "$rank" -eq 0 ] || echo "    $declaration, allocatable, target :: aside$dims"
    get_prepare
    echo '    if (present(fill)) get%fill = c_loc(fill)'
    echo '    if (present(conversion)) get%conversion = int(conversion, c_int32_t)'
    if [ "$rank" -eq 0 ]; then
        echo '    call get_elements(get, c_loc(values))'
    else
        cat <<END
    if (is_contiguous(values)) then
      call get_elements(get, c_loc(values))
    else
      allocate (aside, mold=values)
      call get_elements(get, c_loc(aside))
      if (get%failure%status == flexpath_status_ok) values = aside
    end if
END
    fi
    get_tail
}

get_logical() {
    get_head "$declaration, intent(inout)" ''
    if [ "$rank" -eq 0 ]; then echo '    integer(int8), target :: aside'; else echo "    integer(int8), allocatable, target :: aside$dims"; fi
    get_prepare
    [ "$rank" -eq 0 ] || echo "    allocate (aside$sizes)"
    cat <<END
    call admit_bool(get)
    call get_elements(get, c_loc(aside))
    if (get%failure%status == flexpath_status_ok) values = aside /= 0_int8
END
    get_tail
}

get_character() {
    get_head 'character(len=*), intent(inout)' ''
    cat <<END
    call get_letters(step, variable, values, $letters, start, count, stride, &
        selection, timeout_ms, stat, errmsg)
  end subroutine get_${name}_$rank

END
}

# Names of specific procedures for types whose memory is taken as it is, by ranks.
plain_names() {
    for kind in $types; do
        for rank in $2; do echo "    procedure $1_${kind%%:*}_$rank"; done
    done
}

fetch_plain() {
    dense=.true.
    [ "$rank" -eq 0 ] || dense='is_contiguous(values)'
    cat <<END
  subroutine fetch_${name}_$rank(fetch, step, variable, values, start, count, stride, selection, conversion, stat, errmsg)
    type(flexpath_fetch), intent(inout) :: fetch
    type(flexpath_step), intent(in) :: step
    character(len=*), intent(in) :: variable
    $declaration, intent(inout), target :: values$dims
    class(*), intent(in), optional :: start(:), count(:), stride(:)
    type(flexpath_selection), intent(in), optional :: selection
    integer, intent(in), optional :: conversion
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(getting) :: get
    call prepare_get(get, step, variable, flexpath_dtype_$dtype, $extents, start, count, stride, &
        selection)
    if (present(conversion)) get%conversion = int(conversion, c_int32_t)
    call add_get(fetch, get, c_loc(values), $dense)
    call conclude('flexpath_fetch_get', get%failure, stat, errmsg)
  end subroutine fetch_${name}_$rank

END
}

# A number or an array of them, in a record.
take_plain() {
    len='1'
    [ "$rank" -eq 0 ] || len='size(values)'
    cat <<END
  subroutine take_${name}_$rank(records, path, values, first, count, stat, errmsg)
    type(flexpath_records), intent(in) :: records
    character(len=*), intent(in) :: path
    $declaration, intent(inout), target${contiguous} :: values$dims
    integer, intent(in), optional :: first, count
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status
    call take_numbers(records, path, flexpath_dtype_$dtype, c_loc(values), $len, first, count, status)
    call conclude_status('flexpath_records_get', status, stat, errmsg)
  end subroutine take_${name}_$rank

END
}

build_plain() {
    len='1_c_int64_t'
    [ "$rank" -eq 0 ] || len='size(values, kind=c_int64_t)'
    cat <<END
  subroutine build_${name}_$rank(builder, index, path, values, stat, errmsg)
    type(flexpath_builder), intent(in) :: builder
    integer, intent(in) :: index
    character(len=*), intent(in) :: path
    $declaration, intent(in), target${contiguous} :: values$dims
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    call conclude_status('flexpath_builder_set', c_builder_set(builder%handle, int(index - 1, c_int64_t), &
        c_text(path), int(flexpath_dtype_$dtype, c_int32_t), c_loc(values), $len), stat, errmsg)
  end subroutine build_${name}_$rank

END
}

# All procedures of a kind that has types whose memory is taken as it is, by ranks.
plain_procedures() {
    each "$types" "$2" | while read -r name declaration dtype rank; do
        describe_rank "$rank"
        contiguous=
        [ "$rank" -eq 0 ] || contiguous=', contiguous'
        "$1_plain"
    done
}

# All specific procedures of put or get.
procedures() {
    each "$types" | while read -r name declaration dtype rank; do
        describe_rank "$rank"
        "$1_plain"
    done
    each "$logicals" | while read -r name declaration rank; do
        dtype=logical
        describe_rank "$rank"
        "$1_logical"
    done
    each character | while read -r name rank; do
        describe_rank "$rank"
        "$1_character"
    done
}

for part in $parts; do cat "$folder/$part.f90.in"; done | while IFS= read -r line; do
    case $line in
    @warning@) echo '! Made by scripts/generate-fortran.sh of fortran/parts: not to be edited by hand.' ;;
    @put-names@) names put ;;
    @get-names@) names get ;;
    @puts@) procedures put ;;
    @gets@) procedures get ;;
    @fetch-names@) plain_names fetch "$ranks" ;;
    @fetches@) plain_procedures fetch "$ranks" ;;
    @take-names@) plain_names take "0 1" ;;
    @build-names@) plain_names build "0 1" ;;
    @record-numbers@) plain_procedures take "0 1" && plain_procedures build "0 1" ;;
    *) printf '%s\n' "$line" ;;
    esac
done
