//! A Fortran program that publishes, or takes, a variable of every type and rank, whose elements tell their index.
//!
//! Each element is a function of the step and of its index in the whole array, counted in Fortran's order. Two ranks
//! put the halves of each array, one dense and one as a section of a wider array.

use std::fmt::Write;

/// The extents of an array of rank 7; of lower ranks the first of them.
pub(crate) const EXTENTS: [u64; 7] = [4, 3, 2, 3, 2, 2, 2];

/// A Fortran type: its name, how it is declared, its element type, and the value at index `at`.
pub(crate) struct Type {
    pub(crate) name: &'static str,
    declaration: &'static str,
    dtype: &'static str,
    value: &'static str,
    same: &'static str,
}

const fn of(
    name: &'static str,
    declaration: &'static str,
    dtype: &'static str,
    value: &'static str,
    same: &'static str,
) -> Type {
    Type { name, declaration, dtype, value, same }
}

pub(crate) const TYPES: [Type; 11] = [
    of("int8", "integer(int8)", "i8", "int(mod(at, 120_int64), int8)", "=="),
    of("int16", "integer(int16)", "i16", "int(mod(at, 30000_int64), int16)", "=="),
    of("int32", "integer(int32)", "i32", "int(at, int32)", "=="),
    of("int64", "integer(int64)", "i64", "at * 2**33", "=="),
    of("real32", "real(real32)", "f32", "0.5 * real(at, real32)", "=="),
    of("real64", "real(real64)", "f64", "0.5d0 * real(at, real64)", "=="),
    of("complex32", "complex(real32)", "c32", "cmplx(at, -2 * at, real32)", "=="),
    of("complex64", "complex(real64)", "c64", "cmplx(at, -2 * at, real64)", "=="),
    of("logical", "logical", "logical", "mod(at, 3_int64) == 0", ".eqv."),
    of("c_bool", "logical(c_bool)", "logical", "logical(mod(at, 3_int64) == 0, c_bool)", ".eqv."),
    of("character", "character(len=3)", "character", "word(at)", "=="),
];

fn list(numbers: impl IntoIterator<Item = impl ToString>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
}

/// What one type and rank adds to the program: its extents here are those of one rank's half.
struct Case<'a> {
    of: &'a Type,
    rank: usize,
}

impl Case<'_> {
    fn name(&self) -> String {
        format!("{}_{}", self.of.name, self.rank)
    }

    /// The half of one publisher rank, and the whole: the last dimension is cut.
    fn half(&self) -> &[u64] {
        EXTENTS.get(..self.rank).expect("at most 7")
    }

    fn whole(&self) -> Vec<u64> {
        let mut whole = self.half().to_vec();
        whole.iter_mut().next_back().into_iter().for_each(|last| *last *= 2);
        whole
    }

    fn len(&self) -> u64 {
        self.half().iter().product()
    }

    fn colons(&self) -> String {
        list(vec![":"; self.rank])
    }

    /// Every second row of a wider array.
    fn section(&self) -> String {
        let rest = vec![":"; self.rank - 1];
        list(["::2"].into_iter().chain(rest))
    }

    /// `len` elements; the first has that index.
    fn values(&self, first: &str, len: u64, extents: &[u64]) -> String {
        let (value, of) = (self.of.value, self.of.declaration);
        format!("reshape([{of} :: ({value}, at = {first}, {first} + {})], [{}])", len - 1, list(extents))
    }

    /// Extents of the variable: of texts their length first.
    fn shape(&self) -> String {
        let letters = (self.of.name == "character").then_some(3);
        list(letters.into_iter().chain(self.whole()))
    }

    fn wide(&self, extents: &[u64]) -> String {
        list(extents.iter().enumerate().map(|(dim, extent)| if dim == 0 { 2 * extent } else { *extent }))
    }

    fn publish(&self) -> String {
        let (name, dtype, declaration) = (self.name(), self.of.dtype, self.of.declaration);
        let mut text = format!(
            "  subroutine publish_{name}()\n    integer(int64) :: at\n    type(flexpath_variable) :: v\n"
        );
        if self.rank == 0 && self.of.name != "character" {
            let value = self.of.value;
            let _ = write!(text, "    {declaration} :: values\n    at = 1000 * step\n    values = {value}\n");
            let _ = writeln!(text, "    call flexpath_variable_scalar(v, '{name}', flexpath_dtype_{dtype})");
            let _ = write!(
                text,
                "    call flexpath_put(publisher, v, values)\n    call flexpath_variable_free(v)\n"
            );
            return text + "  end subroutine\n\n";
        }
        if self.rank == 0 {
            let _ = write!(
                text,
                "    at = 1000 * step\n    call flexpath_variable_global(v, '{name}', flexpath_dtype_{dtype}, [3])\n"
            );
            let _ = write!(
                text,
                "    if (me == 1) call flexpath_put(publisher, v, word(at))\n    call flexpath_variable_free(v)\n"
            );
            return text + "  end subroutine\n\n";
        }
        let values = self.values(&format!("1000 * step + me * {}", self.len()), self.len(), self.half());
        let start = list(
            (1..self.rank)
                .map(|_| "1".to_owned())
                .chain([format!("1 + me * {}", self.half().last().expect("a rank above 0"))]),
        );
        let _ = write!(
            text,
            "    {declaration}, allocatable :: values({colons}), wide({colons})\n    values = {values}\n    allocate (wide({}))\n    wide({section}) = values\n",
            self.wide(self.half()),
            colons = self.colons(),
            section = self.section(),
        );
        for (suffix, given) in [("", "values".to_owned()), ("s", format!("wide({})", self.section()))] {
            let _ = write!(
                text,
                "    call flexpath_variable_global(v, '{name}{suffix}', flexpath_dtype_{dtype}, [{}])\n    call flexpath_put(publisher, v, {given}, [{start}])\n    call flexpath_variable_free(v)\n",
                self.shape(),
            );
        }
        text + "  end subroutine\n\n"
    }

    fn take(&self, suffixes: &[&str]) -> String {
        let (name, declaration, same) = (self.name(), self.of.declaration, self.of.same);
        let mut text = format!("  subroutine take_{name}()\n    integer(int64) :: at\n");
        if self.rank == 0 {
            let value = self.of.value;
            let _ = write!(
                text,
                "    {declaration} :: values\n    at = 1000 * step\n    call flexpath_get(held, '{name}', values)\n    call check('{name}', logical(values {same} ({value})))\n"
            );
            return text + "  end subroutine\n\n";
        }
        let whole = self.whole();
        let (colons, section) = (self.colons(), self.section());
        let expected = self.values("1000 * step", 2 * self.len(), &whole);
        let _ = write!(
            text,
            "    {declaration}, allocatable :: expected({colons}), values({colons}), wide({colons}), some({colons})\n    expected = {expected}\n    allocate (values({}), wide({}), some({}))\n",
            list(&whole),
            self.wide(&whole),
            list(whole.iter().enumerate().map(|(dim, extent)| if dim == 0 { extent / 2 } else { *extent })),
        );
        let start = list((0..self.rank).map(|dim| if dim == 0 { "2" } else { "1" }));
        let stride = list((0..self.rank).map(|dim| if dim == 0 { "2" } else { "1" }));
        let every = list(["2::2"].into_iter().chain(vec![":"; self.rank - 1]));
        for suffix in suffixes {
            let of = format!("'{name}{suffix}'");
            let _ = write!(
                text,
                "    call flexpath_get(held, {of}, values)\n    call check({of}, logical(all(values {same} expected)))\n    call flexpath_get(held, {of}, wide({section}))\n    call check({of}, logical(all(wide({section}) {same} expected)))\n    call flexpath_get(held, {of}, some, start=[{start}], stride=[{stride}])\n    call check({of}, logical(all(some {same} expected({every}))))\n",
            );
        }
        text + "  end subroutine\n\n"
    }
}

/// The program, for these types. With `sections` the subscriber expects that the variables of sections are there too.
pub(crate) fn program(types: &[&str], sections: bool) -> String {
    let chosen = || TYPES.iter().filter(|of| types.contains(&of.name));
    let cases: Vec<Case<'_>> = chosen().flat_map(|of| (0..8).map(move |rank| Case { of, rank })).collect();
    let calls = |verb: &str| -> String {
        cases.iter().map(|case| format!("      call {verb}_{}()\n", case.name())).collect()
    };
    let suffixes: &[&str] = if sections { &["", "s"] } else { &[""] };
    let mut text = include_str!("everything.f90.in")
        .replace("@publish@\n", &calls("publish"))
        .replace("@take@\n", &calls("take"));
    let procedures: String = cases.iter().map(|case| case.publish() + &case.take(suffixes)).collect();
    text = text.replace("@procedures@\n", &procedures);
    text
}
