//! Reads what conditions compare: measures of arrays, and what is made of these.

use std::ops::RangeInclusive;

use super::parse::{Read, Reading, is_word_character};
use super::parse_error::ParseConditionError;
use super::{
    Comparison, FunctionOrigin, LIMIT_HELD_STEPS, LIMIT_QUANTILE_BINS, Measure, MeasuredCall, Quantity,
    Statistic, WindowStatistic,
};
use crate::attribute::Real;
use crate::dims::MAX_DIMS;
use crate::dtype::Dtype;
use crate::selection::{SelectionExpression, Slice};

/// The signs, those first that another one begins.
const SIGNS: [(&str, Comparison); 4] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
];
/// What is expected where two numbers or elements are compared.
const SIGN: &str = "one of >, >=, <, <=";

impl Reading<'_> {
    /// What is compared, of which the word is read.
    pub(super) fn quantity(&mut self, at: usize, word: &str) -> Read<Quantity> {
        match word {
            "change" => {
                self.open()?;
                let of = Box::new(self.one_number()?);
                self.close()?;
                Ok(Quantity::ChangeOf(of))
            }
            "window" => self.window(),
            "argmin" => self.place(at, Statistic::Minimum),
            "argmax" => self.place(at, Statistic::Maximum),
            word => Ok(Quantity::Of(self.measure(at, word)?)),
        }
    }

    /// A quantity of which there is a change.
    fn one_number(&mut self) -> Read<Quantity> {
        self.skip_space();
        let start = self.at;
        let quantity = self.deeper(|inside| {
            let (at, word) = inside.word()?;
            inside.quantity(at, word)
        })?;
        if quantity.is_one_number() {
            return Ok(quantity);
        }
        self.at = start;
        Err(self.expected("a measure that is a number"))
    }

    fn window(&mut self) -> Read<Quantity> {
        self.open()?;
        let of = Box::new(self.one_number()?);
        self.comma()?;
        let steps = self.integer(1..=LIMIT_HELD_STEPS.into(), "a number of steps from 1 to 64")? as u8;
        self.comma()?;
        let by = self.window_statistic()?;
        self.close()?;
        Ok(Quantity::WindowOf { of, steps, by })
    }

    fn window_statistic(&mut self) -> Read<WindowStatistic> {
        self.skip_space();
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_word_character(c)).unwrap_or(rest.len())];
        let by = WindowStatistic::ALL.into_iter().find(|by| by.word() == word);
        let by = by.ok_or_else(|| self.expected("one of min, max, sum, mean, range"))?;
        self.at += word.len();
        Ok(by)
    }

    /// Where an extreme lies, of which the word is read.
    fn place(&mut self, at: usize, statistic: Statistic) -> Read<Quantity> {
        let measure = self.measure_by(at, statistic)?;
        self.must_take("[", "a dimension, as argmax(T)[0],")?;
        let dim = self.integer(0..=MAX_DIMS as u64 - 1, "a dimension from 0 to 7")? as u8;
        self.must_take("]", "a closing square bracket")?;
        Ok(Quantity::PlaceOf { measure, dim })
    }

    /// A measure, of which the word is read.
    pub(super) fn measure(&mut self, at: usize, word: &str) -> Read<Measure> {
        let (comparison, unset) = (Comparison::Above, Real(0.0));
        let statistic = match word {
            "min" => Statistic::Minimum,
            "max" => Statistic::Maximum,
            "sum" => Statistic::Sum,
            "mean" => Statistic::Mean,
            "variance" => Statistic::Variance,
            "quantile" => Statistic::Quantile { share: unset, low: unset, high: unset, bins: 1 },
            "count" => Statistic::Count(comparison, unset),
            "any" => Statistic::Any(comparison, unset),
            "all" => Statistic::All(comparison, unset),
            word => {
                let (text, at, word) = (self.text.to_owned(), self.number(at), word.to_owned());
                return Err(ParseConditionError::Word { text, at, word });
            }
        };
        self.measure_by(at, statistic)
    }

    /// A measure by that statistic, of which the numbers are read as well.
    fn measure_by(&mut self, at: usize, statistic: Statistic) -> Read<Measure> {
        self.open()?;
        let mut call = self.called()?;
        let variable = self.name(&[')', '[', '<', '>', '=', ','])?;
        let region = self.region()?;
        if let Some(call) = &mut call {
            call.dtype = self.dtype()?;
            self.close()?;
        }
        let statistic = match statistic {
            Statistic::Count(..) => self.comparison().map(|(how, with)| Statistic::Count(how, with))?,
            Statistic::Any(..) => self.comparison().map(|(how, with)| Statistic::Any(how, with))?,
            Statistic::All(..) => self.comparison().map(|(how, with)| Statistic::All(how, with))?,
            Statistic::Quantile { .. } => self.share_and_bins()?,
            #[rustfmt::skip]
            Statistic::Minimum | Statistic::Maximum | Statistic::Sum | Statistic::Mean | Statistic::Variance => statistic,
        };
        self.close()?;
        let measure = Measure::of(statistic, variable);
        let measure = measure.map_err(|source| self.no_name(at, source))?;
        let measure = measure.within(region);
        Ok(if let Some(call) = call { measure.calling(call) } else { measure })
    }

    /// `call(speed, ` or `module(speed, ` before the variable, if it comes next: else `call` is a variable.
    fn called(&mut self) -> Read<Option<MeasuredCall>> {
        for origin in [FunctionOrigin::Registered, FunctionOrigin::HandedOver] {
            let start = self.at;
            if self.take_word(origin.word()) && self.take("(") {
                let name = self.name(&[',', ')'])?;
                self.comma()?;
                return Ok(Some(MeasuredCall { origin, name, dtype: None }));
            }
            self.at = start;
        }
        Ok(None)
    }

    /// `, f32` behind the variable, if it comes next.
    fn dtype(&mut self) -> Read<Option<Dtype>> {
        if !self.take(",") {
            return Ok(None);
        }
        self.skip_space();
        let rest = self.rest();
        let word = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())];
        let dtype = word.parse().ok().ok_or_else(|| self.expected("a type of elements, as f32,"))?;
        self.at += word.len();
        Ok(Some(dtype))
    }

    /// `, 0.99, 0..1000 / 64`
    fn share_and_bins(&mut self) -> Read<Statistic> {
        self.comma()?;
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        let share = self.real("", is_share, "which quantile, from 0 to 1,")?;
        self.comma()?;
        self.skip_space();
        let start = self.at;
        let low = self.real("..", |low| low.is_finite(), "a finite number and ..")?;
        self.must_take("..", "..")?;
        let high = self.real("", |high| high.is_finite(), "a finite number")?;
        if low.0 >= high.0 || !(high.0 - low.0).is_finite() {
            self.at = start;
            return Err(self.expected("a finite interval, of which the lower end comes first,"));
        }
        self.must_take("/", "a slash, and how many bins")?;
        let bins = self.integer(1..=LIMIT_QUANTILE_BINS.into(), "a number of bins from 1 to 1024")? as u16;
        Ok(Statistic::Quantile { share, low, high, bins })
    }

    pub(super) fn comparison(&mut self) -> Read<(Comparison, Real)> {
        let sign = SIGNS.into_iter().find(|(sign, _)| self.take(sign));
        let (_, comparison) = sign.ok_or_else(|| self.expected(SIGN))?;
        let threshold = self.real("", |number| !number.is_nan(), "a number that is not NaN")?;
        Ok((comparison, threshold))
    }

    /// A number, up to that sign if there is one.
    fn real(&mut self, end: &str, fits: impl Fn(&f64) -> bool, expected: &'static str) -> Read<Real> {
        self.skip_space();
        let rest = self.rest();
        let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let digits = &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())];
        let digits = match end {
            "" => digits,
            end => digits.split(end).next().unwrap_or_default(),
        };
        let number = digits.parse::<f64>().ok().filter(fits).ok_or_else(|| self.expected(expected))?;
        self.at += digits.len();
        Ok(Real(number))
    }

    /// A whole number that lies in that range.
    pub(super) fn integer(&mut self, range: RangeInclusive<u64>, expected: &'static str) -> Read<u64> {
        self.skip_space();
        let rest = self.rest();
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        let number = digits.parse::<u64>().ok().filter(|number| range.contains(number));
        let number = number.ok_or_else(|| self.expected(expected))?;
        self.at += digits.len();
        Ok(number)
    }

    /// Slices in square brackets, if they come next.
    fn region(&mut self) -> Read<Vec<Slice>> {
        self.skip_space();
        if !self.rest().starts_with('[') {
            return Ok(Vec::new());
        }
        let at = self.at;
        let end = self.rest().find(']').ok_or_else(|| {
            self.at = self.text.len();
            self.expected("a closing square bracket")
        })?;
        let inside = &self.rest()[..=end];
        let fail = |source| {
            let (text, at) = (self.text.to_owned(), self.number(at));
            ParseConditionError::Region { text, at, source }
        };
        if let SelectionExpression::Slices(slices) = inside.parse().map_err(fail)?
            && !slices.is_empty()
        {
            self.at += inside.len();
            return Ok(slices);
        }
        Err(self.expected("a slice for each dimension, as [0:64, :],"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;

    fn read(text: &str) -> Result<Condition, ParseConditionError> {
        text.parse()
    }

    #[test]
    fn what_is_compared_has_one_text() {
        for (text, written) in [
            ("argmax(T[0:64, :]) [1]<64", "argmax(T[0:64, :])[1] < 64.0"),
            ("argmin( \"a(b)\" )[ 7 ] >= 1", "argmin(\"a(b)\")[7] >= 1.0"),
            ("change(argmax(T)[0]) > 3", "change(argmax(T)[0]) > 3.0"),
            ("window(mean(T),10,mean)>5", "window(mean(T), 10, mean) > 5.0"),
            ("window(count(T > 1), 64, range) <= 0", "window(count(T > 1.0), 64, range) <= 0.0"),
            ("change(window(sum(T), 1, sum)) > 0", "change(window(sum(T), 1, sum)) > 0.0"),
            ("window(change(max(T)), 3, min) > 0", "window(change(max(T)), 3, min) > 0.0"),
            ("quantile(T[2:],.99,-1e3..+1000/64)>900", "quantile(T[2:], 0.99, -1000.0..1000.0 / 64) > 900.0"),
            ("quantile(T, 1, 0. .. .5 / 1) < 1", "quantile(T, 1.0, 0.0..0.5 / 1) < 1.0"),
            ("max( call(speed,T[0:3]) )>1", "max(call(speed, T[0:3])) > 1.0"),
            ("argmin(call(\"a, b\", T, f32))[0] > 1", "argmin(call(\"a, b\", T, f32))[0] > 1.0"),
            ("any(call(bad, T) < 0) or max(call) > 1", "any(call(bad, T) < 0.0) or max(call) > 1.0"),
            ("quantile(call(f, T), 0.5, 0..1 / 2) > 0", "quantile(call(f, T), 0.5, 0.0..1.0 / 2) > 0.0"),
            ("every(010) and has(T)", "every(10) and has(T)"),
        ] {
            let condition = read(text).expect(text);
            assert_eq!(condition.to_string(), written);
            assert_eq!(read(written), Ok(condition));
        }
    }

    #[test]
    fn errors_give_the_character() {
        for (text, at, what) in [
            ("argmax(T) > 1", 11, "a dimension, as argmax"),
            ("argmax(T)[8] > 1", 11, "a dimension from 0 to 7"),
            ("argmax(T)[-1] > 1", 11, "a dimension from 0 to 7"),
            ("argmax(T)[0 > 1", 13, "a closing square bracket"),
            ("argmax(T)[0]", 13, "one of >"),
            ("change(quantile(T, 0.5, 0..1 / 4)) > 1", 8, "a measure that is a number"),
            ("window(any(T > 1), 3, max) > 1", 8, "a measure that is a number"),
            ("window(max(T), 0, max) > 1", 16, "a number of steps from 1 to 64"),
            ("window(max(T), 65, max) > 1", 16, "a number of steps from 1 to 64"),
            ("window(max(T), 5, median) > 1", 19, "one of min, max"),
            ("window(max(T), 5) > 1", 17, "a comma"),
            ("quantile(T) > 1", 11, "a comma"),
            ("quantile(T, 1.5, 0..1 / 4) > 1", 13, "which quantile"),
            ("quantile(T, NaN, 0..1 / 4) > 1", 13, "which quantile"),
            ("quantile(T, 0.5, 0 1 / 4) > 1", 20, ".."),
            ("quantile(T, 0.5, x..1 / 4) > 1", 18, "a finite number and .."),
            ("quantile(T, 0.5, 1..1 / 4) > 1", 18, "a finite interval"),
            ("quantile(T, 0.5, 2..1 / 4) > 1", 18, "a finite interval"),
            ("quantile(T, 0.5, -1e308..1e308 / 4) > 1", 18, "a finite interval"),
            ("quantile(T, 0.5, 0..inf / 4) > 1", 21, "a finite number"),
            ("quantile(T, 0.5, 0..1) > 1", 22, "a slash"),
            ("quantile(T, 0.5, 0..1 / 0) > 1", 25, "a number of bins"),
            ("quantile(T, 0.5, 0..1 / 1025) > 1", 25, "a number of bins"),
            ("max(call(f)) > 1", 11, "a comma"),
            ("max(call(f, T, f31)) > 1", 16, "a type of elements"),
            ("max(call(f, T) > 1", 16, "a closing bracket"),
            ("every(0)", 7, "a number of steps, 1 or more"),
            ("every(4294967296)", 7, "a number of steps, 1 or more"),
            ("every(3) > 1", 10, "the end"),
        ] {
            let error = read(text).expect_err(text);
            let ParseConditionError::Expected { at: found, expected, .. } = &error else {
                panic!("{text:?}: {error}")
            };
            assert!(*found == at && expected.starts_with(what), "{text:?}: {error}");
        }
        let deep = format!("{}max(T){} > 1", "change(".repeat(40), ")".repeat(40));
        assert!(matches!(read(&deep), Err(ParseConditionError::TooLarge { .. })));
    }
}
