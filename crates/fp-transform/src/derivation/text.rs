//! Derivations as they are written: `vx, vy | compute(vx + vy) | cast(f32) | lz4`.

use std::fmt;
use std::str::FromStr;

use fp_types::{Comparison, Dims, Dtype, MemoryOrder};

use super::Derivation;
use crate::compression::Compression;
use crate::error::DeriveError;
use crate::operation::{Bins, Extreme, ModuleCall, Operation, Reduction, Relation};

/// Why a text is no derivation, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("at character {position} of {text:?}: {fault}")]
pub struct ParseDerivationError {
    /// The text, or the beginning of a long one.
    pub text: String,
    /// Where what cannot be read begins, in characters from 1.
    pub position: usize,
    /// What is wrong with it.
    pub fault: ParseFault,
}

/// What can be wrong with the text of a derivation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFault {
    /// Quotes or brackets that are not closed.
    #[error("something is opened and not closed")]
    Open,
    /// Nothing that is known.
    #[error(
        "{0:?} is no operation; there are cast, scale, order, stride, slice, average, magnitude, compute, min, max, argmin, argmax, sum, mean, variance, covariance, count, any, all, histogram, histogram2d, points, module, call, and at the end lz4, pco, bounded"
    )]
    Unknown(String),
    /// An operation with other words between its brackets than it takes.
    #[error("written is {wanted}")]
    Arguments {
        /// How it is written.
        wanted: &'static str,
    },
    /// An operation that compares, without what it compares with.
    #[error("{name} compares with a number: write {name}(> 5), with one of > >= < <=, and not {given:?}")]
    Comparison {
        /// The operation.
        name: String,
        /// What stands between its brackets.
        given: String,
    },
    /// Slices that cannot be read.
    #[error("{0}; written is slice(0:10, ::2, 5), a slice for each dimension")]
    Slices(fp_types::ParseSelectionError),
    /// Something behind the compression.
    #[error("nothing follows compression")]
    AfterCompression,
    /// A derivation that cannot be.
    #[error(transparent)]
    Refused(#[from] DeriveError),
}

impl From<fp_types::ParseSelectionError> for ParseFault {
    fn from(error: fp_types::ParseSelectionError) -> Self {
        Self::Slices(error)
    }
}

impl TryFrom<&str> for Derivation {
    type Error = ParseDerivationError;

    fn try_from(text: &str) -> Result<Self, ParseDerivationError> {
        text.parse()
    }
}

impl TryFrom<String> for Derivation {
    type Error = ParseDerivationError;

    fn try_from(text: String) -> Result<Self, ParseDerivationError> {
        text.parse()
    }
}

impl FromStr for Derivation {
    type Err = ParseDerivationError;

    fn from_str(text: &str) -> Result<Self, ParseDerivationError> {
        let fail = |at_byte: usize, fault: ParseFault| {
            let position = text.char_indices().take_while(|(byte, _)| *byte < at_byte).count() + 1;
            ParseDerivationError { text: text.chars().take(200).collect(), position, fault }
        };
        let mut parts = split(text, '|').map_err(|at| fail(at, ParseFault::Open))?.into_iter();
        let (at, names) = parts.next().unwrap_or_default();
        let names = split(names, ',').map_err(|inside| fail(at + inside, ParseFault::Open))?;
        let names: Vec<String> = names.iter().map(|(_, name)| unquoted(name)).collect();
        let mut derivation = Derivation::of(names).map_err(|error| fail(at, error.into()))?;
        for (at, part) in parts {
            derivation = apply(derivation, part).map_err(|(inside, fault)| fail(at + inside, fault))?;
        }
        Ok(derivation)
    }
}

/// The parts between separators that stand outside quotes and brackets, trimmed, each with its byte; or the byte of
/// what is not closed.
fn split(text: &str, separator: char) -> Result<Vec<(usize, &str)>, usize> {
    let (mut parts, mut start, mut depth, mut quoted, mut opened) = (Vec::new(), 0, 0u32, false, 0);
    for (at, c) in text.char_indices() {
        match c {
            '"' => {
                (quoted, opened) = (!quoted, at);
            }
            _ if quoted => {}
            '(' => {
                opened = at;
                depth += 1;
            }
            ')' => depth = depth.saturating_sub(1),
            _ if c == separator && depth == 0 => {
                parts.push((start, &text[start..at]));
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if quoted || depth > 0 {
        return Err(opened);
    }
    parts.push((start, &text[start..]));
    let trimmed = |(at, part): (usize, &'_ str)| at + part.len() - part.trim_start().len();
    Ok(parts.iter().map(|part| (trimmed(*part), part.1.trim())).collect())
}

/// A name as it is, of one that stands in quotes; two of them inside are one of the name.
fn unquoted(name: &str) -> String {
    let inside = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.map_or_else(|| name.to_owned(), |inside| inside.replace("\"\"", "\""))
}

/// A name in quotes, as [`unquoted`] reads it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Adds one operation as it is written; an error has its byte within the part.
fn apply(derivation: Derivation, part: &str) -> Result<Derivation, (usize, ParseFault)> {
    let (name, arguments) = match part.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        Some((name, arguments)) => (name.trim_end(), Some(arguments)),
        None => (part, None),
    };
    let at = name.len() + 1;
    if derivation.compression.is_some() {
        return Err((0, ParseFault::AfterCompression));
    }
    let refused = |error: DeriveError| {
        let DeriveError::Expression(error) = error else { return (0, ParseFault::Refused(error)) };
        let bytes = arguments.map_or(0, |text| byte_of(text, error.position));
        (part.len() - arguments.map_or(0, str::len) - 1 + bytes, ParseFault::Refused(error.into()))
    };
    if name == "compute" {
        let text = arguments.ok_or((at, ParseFault::Arguments { wanted: "compute(expression)" }))?;
        return derivation.compute(text).map_err(refused);
    }
    if let Some(compression) = compression(name, arguments) {
        let wanted = ParseFault::Arguments { wanted: "lz4, pco or bounded(1e-3)" };
        return derivation.compressed(compression.ok_or((at, wanted))?).map_err(refused);
    }
    let operation = operation(name, arguments).map_err(|fault| (0, fault))?;
    derivation.then(operation).map_err(refused)
}

/// The byte of a character that is counted from 1.
fn byte_of(text: &str, position: usize) -> usize {
    text.char_indices().nth(position - 1).map_or(text.len(), |(byte, _)| byte)
}

/// A compression by name: none at all if it is none, none inside if it is badly written.
fn compression(name: &str, arguments: Option<&str>) -> Option<Option<Compression>> {
    match (name, arguments) {
        ("lz4", arguments) => Some(arguments.is_none().then_some(Compression::Lz4)),
        ("pco", arguments) => Some(arguments.is_none().then_some(Compression::Pco)),
        ("bounded", arguments) => {
            let max_error = arguments.and_then(|text| text.trim().parse().ok());
            Some(max_error.map(|max_error| Compression::Bounded { max_error }))
        }
        _ => None,
    }
}

fn operation(name: &str, arguments: Option<&str>) -> Result<Operation, ParseFault> {
    let simple = match name {
        "magnitude" => Some(Operation::Magnitude),
        "min" => Some(Operation::Reduce(Reduction::Minimum)),
        "max" => Some(Operation::Reduce(Reduction::Maximum)),
        "sum" => Some(Operation::Reduce(Reduction::Sum)),
        "mean" => Some(Operation::Reduce(Reduction::Mean)),
        "variance" => Some(Operation::Reduce(Reduction::Variance)),
        "argmin" => Some(Operation::Locate(Extreme::Least)),
        "argmax" => Some(Operation::Locate(Extreme::Greatest)),
        "covariance" => Some(Operation::Relate(Relation::Covariance)),
        _ => None,
    };
    if let Some(operation) = simple {
        return match arguments {
            None => Ok(operation),
            Some(_) => {
                Err(ParseFault::Arguments { wanted: "without brackets: the variables stand before it" })
            }
        };
    }
    let arguments = arguments.unwrap_or_default();
    let words: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let (wanted, found) = match name {
        "cast" => ("cast(f32)", words[0].parse().ok().filter(|_| words.len() == 1).map(Operation::Cast)),
        "scale" => ("scale(factor) or scale(factor, offset)", scale(&words)),
        "order" => ("order(row) or order(column)", order(&words).map(Operation::Reorder)),
        "stride" => ("stride(2, 2)", dims(&words).map(Operation::Stride)),
        "average" => ("average(2, 2)", dims(&words).map(Operation::Average)),
        "histogram" => ("histogram(low, high, bins)", histogram(&words)),
        "histogram2d" => (
            "histogram2d(low, high, bins, low, high, bins): those of one variable and the other",
            counts(&words),
        ),
        "slice" => return Ok(Operation::Slice(format!("[{arguments}]").parse()?)),
        "points" | "count" | "any" | "all" => return comparing(name, arguments),
        "module" => ("module(name), module(name, f32) or module(name, f64, 3)", module(&words)),
        "call" => ("call(name), call(name, f32) or call(name, f64, 3)", called(arguments)),
        _ => return Err(ParseFault::Unknown(name.chars().take(40).collect())),
    };
    found.ok_or(ParseFault::Arguments { wanted })
}

fn scale(words: &[&str]) -> Option<Operation> {
    match words {
        [factor] => Some(Operation::Scale { factor: factor.parse().ok()?, offset: 0.0 }),
        [factor, offset] => {
            Some(Operation::Scale { factor: factor.parse().ok()?, offset: offset.parse().ok()? })
        }
        _ => None,
    }
}

fn order(words: &[&str]) -> Option<MemoryOrder> {
    match words {
        ["row"] => Some(MemoryOrder::RowMajor),
        ["column"] => Some(MemoryOrder::ColumnMajor),
        _ => None,
    }
}

/// Extents; nothing between the brackets is those of a scalar.
fn dims(words: &[&str]) -> Option<Dims> {
    if words == [""] {
        return Some(Dims::default());
    }
    let extents = words.iter().map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
    Dims::from_slice(&extents).ok()
}

fn histogram(words: &[&str]) -> Option<Operation> {
    let [low, high, bins] = words else {
        return None;
    };
    let (low, high, bins) = (low.parse().ok()?, high.parse().ok()?, bins.parse().ok()?);
    Some(Operation::Reduce(Reduction::Histogram { low, high, bins }))
}

fn counts(words: &[&str]) -> Option<Operation> {
    let bins = |words: &[&str]| {
        let [low, high, count] = words else { return None };
        Some(Bins { low: low.parse().ok()?, high: high.parse().ok()?, count: count.parse().ok()? })
    };
    let (first, second) = words.split_at_checked(3)?;
    let (first, second) = (bins(first)?, bins(second)?);
    Some(Operation::Relate(Relation::Histogram { first, second }))
}

fn module(words: &[&str]) -> Option<Operation> {
    let (name, gives) = words.split_first().filter(|(name, _)| !name.is_empty())?;
    giving(ModuleCall::new(*name), gives)
}

/// A function's name may be any that can be registered, in quotes if it is no word.
fn called(arguments: &str) -> Option<Operation> {
    let words = split(arguments, ',').ok()?;
    let words: Vec<&str> = words.into_iter().map(|(_, word)| word).collect();
    let (name, gives) = words.split_first().filter(|(name, _)| !name.is_empty())?;
    giving(ModuleCall::registered(unquoted(name)), gives)
}

/// The call with what it is said to give.
fn giving(call: ModuleCall, words: &[&str]) -> Option<Operation> {
    let call = match words {
        [] => call,
        [dtype] => call.with_dtype(dtype.parse::<Dtype>().ok()?),
        [dtype, rows @ ..] => call.with_dtype(dtype.parse::<Dtype>().ok()?).with_rows(dims(rows)?),
    };
    Some(Operation::Module(call))
}

/// What compares elements with a number.
fn comparing(name: &str, arguments: &str) -> Result<Operation, ParseFault> {
    let missing = || ParseFault::Comparison { name: name.to_owned(), given: arguments.trim().to_owned() };
    let (comparison, threshold) = comparison(arguments.trim()).ok_or_else(missing)?;
    Ok(match name {
        "count" => Operation::Reduce(Reduction::Count { comparison, threshold }),
        "any" => Operation::Reduce(Reduction::Any { comparison, threshold }),
        "all" => Operation::Reduce(Reduction::All { comparison, threshold }),
        _ => Operation::Points { comparison, threshold },
    })
}

fn comparison(text: &str) -> Option<(Comparison, f64)> {
    // The longer signs begin with the shorter ones.
    let mut comparisons = Comparison::ALL;
    comparisons.sort_by_key(|comparison| std::cmp::Reverse(comparison.sign().len()));
    let found =
        comparisons.iter().find_map(|&comparison| Some((comparison, text.strip_prefix(comparison.sign())?)));
    let (comparison, number) = found?;
    Some((comparison, number.trim().parse().ok()?))
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.inputs.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let plain = !name.contains(|c: char| c == '"' || !crate::expression::is_word(c));
            if plain { write!(f, "{comma}{name}")? } else { write!(f, "{comma}{}", quoted(name))? }
        }
        self.operations.iter().try_for_each(|operation| write!(f, " | {operation}"))?;
        self.compression.iter().try_for_each(|compression| write!(f, " | {compression}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "T",
            "T | stride(2, 2) | cast(f32) | lz4",
            "vx, vy, vz | compute(sqrt(vx*vx+vy*vy+vz*vz)) | bounded(0.001)",
            "\"a | b, (c)\", d | compute(\"a | b, (c)\"+d||0)",
            "\"say \"\"T\"\"\", \"\"\"\" | magnitude",
            "p | scale(1e-5, -273.15) | order(column)",
            "p | average(4, 4, 1)",
            "p | points(>= -1.5)",
            "p | points(< 2.0)",
            "p | histogram(0.0, 1.0, 64)",
            "a, b | magnitude | variance",
            "p | slice(0:10, ::2, -1) | argmax",
            "p | slice() | argmin",
            "p | count(> 0.5)",
            "p | any(<= -1e300) | lz4",
            "p | all(>= 0.0)",
            "a, b | covariance",
            "a, b | histogram2d(0.0, 1.0, 64, -4.0, 4.0, 16)",
            "p | stride() | pco",
            "a, b | module(drift)",
            "a | cast(f32) | module(drift, f64) | lz4",
            "a | module(reduce, f64, 1)",
            "a, b | call(drift)",
            "a | cast(f32) | call(drift, f64) | pco",
            "a | call(\"drift of (x | y), mean\", f64, 2, 3)",
        ] {
            let derivation: Derivation = text.parse().unwrap();
            assert_eq!(derivation.to_string(), text);
            assert_eq!(Derivation::from_bytes(&derivation.to_bytes()), Ok(derivation));
        }
    }

    #[test]
    fn errors_say_where() {
        let place = |text: &str| {
            let error = text.parse::<Derivation>().expect_err(text);
            (error.position, error.to_string())
        };
        assert_eq!(place("T | sinus").0, 5);
        assert_eq!(place("T | cast(float)").0, 5);
        assert_eq!(place("T | lz4 | cast(f32)").0, 11);
        assert_eq!(place("T | max | cast(f32)").0, 11);
        assert_eq!(place("T | stride(2, 0)").0, 5);
        assert_eq!(place("T | stride(2").0, 11);
        assert_eq!(place("\"T").0, 1);
        assert_eq!(place(" | max").0, 2);
        assert_eq!(place("T | max(T)").0, 5);
        assert_eq!(place("T | module").0, 5);
        assert_eq!(place("T | module(reduce, f64, 0)").0, 5);
        assert_eq!(place("T | module(reduce, 3)").0, 5);
        assert_eq!(place("T | module(reduce, f64, 1) | cast(f32)").0, 30);
        assert_eq!(place("T | call").0, 5);
        assert_eq!(place("T | call(\"\")").0, 5);
        assert_eq!(place("T | call(drift, f64, 0)").0, 5);
        assert_eq!(place("T | call(drift, f64, 2) | cast(f32)").0, 27);
        assert!(place("T | call(drift, 3)").1.contains("call(name, f64, 3)"));
        assert!(place("T | call(a/b)").1.contains("no function can be called so"));
        for name in ["points", "count", "any", "all"] {
            let (position, shown) = place(&format!("T | {name}"));
            assert_eq!(position, 5);
            let wanted = format!(
                "{name} compares with a number: write {name}(> 5), with one of > >= < <=, and not \"\""
            );
            assert!(shown.ends_with(&wanted), "{shown}");
            assert!(place(&format!("T | {name}(5)")).1.ends_with("and not \"5\""));
            assert!(place(&format!("T | {name}(> NaN)")).1.contains("nothing compares with NaN"));
        }
        let (position, shown) = place("T | sum(1) | slice(0:1:2:3)");
        assert_eq!((position, shown.contains("without brackets")), (5, true), "{shown}");
        let (position, shown) = place("T | slice(0:1:2:3)");
        assert!(position == 5 && shown.contains("\"0:1:2:3\" is no slice"), "{shown}");
        assert!(place("T | slice(::0)").1.contains("no stride may be 0"));
        assert!(place("T | slice(rank 3)").1.contains("slices are wanted, one for each dimension"));
        assert!(
            place("a, b | histogram2d(0, 1, 4)").1.contains("histogram2d(low, high, bins, low, high, bins)")
        );
        assert!(place("a, b | histogram2d(0, 1, 4, 1, 0, 4)").1.contains("the lower end comes first"));
        assert!(place("a, b | histogram2d(0, 1, 1022, 0, 1, 1022)").1.contains("too many bins"));
        let (position, shown) = place("ü | compute(ü + 2 * v)");
        assert_eq!(position, 21);
        assert!(shown.contains("\"v\" is none of the variables ü"), "{shown}");
    }
}
