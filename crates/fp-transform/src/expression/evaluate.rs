//! Computes expressions strip by strip. Every instruction is one loop over a strip. The compiler makes vector
//! instructions of it where the machine has them.

use fp_types::Instructions;

use super::Expression;
use super::program::{Function, Instruction};
use crate::numbers::STRIP;

/// A strip of values.
type Values = [f64; STRIP];

/// Where an operand is.
#[derive(Clone, Copy)]
enum Operand {
    /// In the strip at its height of the stack.
    Strip,
    /// In a variable: read from there, without a copy.
    Input(usize),
}

impl Operand {
    /// Where it is, if not in its strip.
    fn place<'i>(&self, inputs: &[&'i [f64]]) -> Option<&'i [f64]> {
        match self {
            Self::Strip => None,
            Self::Input(index) => Some(inputs[*index]),
        }
    }
}

/// An expression and the room to compute it.
pub(crate) struct Evaluation<'a> {
    program: &'a [Instruction],
    operands: Vec<Operand>,
    /// As many strips as the expression needs at once, but the lowest: that is the output.
    stack: Vec<Values>,
    instructions: Instructions,
}

/// The strips of the stack, as long as the output, which is the lowest.
struct Strips<'s> {
    output: &'s mut [f64],
    stack: &'s mut [Values],
}

impl Strips<'_> {
    /// The strip at that height, and those above it.
    fn at(&mut self, height: usize) -> (&mut [f64], &[Values]) {
        let Some(height) = height.checked_sub(1) else { return (self.output, self.stack) };
        let count = self.output.len();
        let (strip, above) =
            self.stack[height..].split_first_mut().expect("as many strips as the program needs");
        (&mut strip[..count], above)
    }
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(expression: &'a Expression) -> Self {
        Self::with_instructions(expression, Instructions::widest())
    }

    fn with_instructions(expression: &'a Expression, instructions: Instructions) -> Self {
        let (mut height, mut highest) = (0usize, 1);
        for instruction in expression.program() {
            height += 1;
            if let Instruction::Call(function) = instruction {
                height = height.saturating_sub(function.arguments());
            }
            highest = highest.max(height);
        }
        // The output is one more: an instruction's result is counted before its operands are gone.
        let stack = vec![[0.0; STRIP]; highest];
        Self { program: expression.program(), operands: Vec::with_capacity(highest), stack, instructions }
    }

    /// Computes the elements of one strip: `inputs` has as many as `output` for each variable.
    pub(crate) fn run(&mut self, inputs: &[&[f64]], output: &mut [f64]) {
        let Self { program, operands, stack, instructions } = self;
        let mut strips = Strips { output, stack };
        operands.clear();
        let mut rest = *program;
        while let Some((instruction, after)) = rest.split_first() {
            if let Some((products, after)) = Products::first_of(rest) {
                products.write(strips.at(operands.len()).0, inputs, *instructions);
                operands.push(Operand::Strip);
                rest = after;
                continue;
            }
            rest = after;
            match instruction {
                Instruction::Number(number) => {
                    strips.at(operands.len()).0.fill(*number);
                    operands.push(Operand::Strip);
                }
                Instruction::Variable(index) => operands.push(Operand::Input(*index)),
                Instruction::Call(function) => {
                    let height = operands.len() - function.arguments();
                    let (below, of) = operands.split_at(height);
                    if let (
                        Function::Multiply,
                        [Instruction::Call(Function::Add), after @ ..],
                        [.., Operand::Strip],
                    ) = (function, after, below)
                    {
                        add_product(strips.at(height - 1), of, inputs, *instructions);
                        operands.truncate(height);
                        rest = after;
                        continue;
                    }
                    call(*function, strips.at(height), of, inputs, *instructions);
                    operands.truncate(height);
                    operands.push(Operand::Strip);
                }
            }
        }
        if let Some(Operand::Input(index)) = operands.first() {
            output.copy_from_slice(inputs[*index]);
        }
    }
}

/// A sum of two or three products of variables, or its root, in one loop: the norms that most expressions are. What
/// waits for memory and what waits for the root wait together.
struct Products {
    terms: [(usize, usize); 3],
    count: usize,
    is_root: bool,
}

impl Products {
    /// The sum with which a program begins, and what follows it.
    fn first_of(program: &[Instruction]) -> Option<(Self, &[Instruction])> {
        use Instruction::{Call, Variable};
        const ADD: Instruction = Call(Function::Add);
        const MULTIPLY: Instruction = Call(Function::Multiply);
        let [Variable(left), Variable(right), MULTIPLY, rest @ ..] = program else { return None };
        let mut sum = Self { terms: [(*left, *right); 3], count: 1, is_root: false };
        let mut rest = rest;
        while let [Variable(left), Variable(right), MULTIPLY, ADD, after @ ..] = rest
            && let Some(term) = sum.terms.get_mut(sum.count)
        {
            *term = (*left, *right);
            (sum.count, rest) = (sum.count + 1, after);
        }
        if let [Call(Function::SquareRoot), after @ ..] = rest {
            (sum.is_root, rest) = (true, after);
        }
        (sum.count > 1).then_some((sum, rest))
    }

    /// Each value is rounded as if one product came after the other.
    fn write(&self, to: &mut [f64], inputs: &[&[f64]], instructions: Instructions) {
        let [first, second, third] = self.terms.map(|(left, right)| inputs[left].iter().zip(inputs[right]));
        let two = to.iter_mut().zip(first).zip(second);
        match (self.count, self.is_root) {
            (2, false) => instructions.run(|| two.for_each(|((to, (a, b)), (c, d))| *to = a * b + c * d)),
            (2, true) => {
                instructions.run(|| two.for_each(|((to, (a, b)), (c, d))| *to = (a * b + c * d).sqrt()));
            }
            (_, false) => instructions.run(|| {
                two.zip(third).for_each(|(((to, (a, b)), (c, d)), (e, f))| *to = a * b + c * d + e * f);
            }),
            (_, true) => instructions.run(|| {
                two.zip(third)
                    .for_each(|(((to, (a, b)), (c, d)), (e, f))| *to = (a * b + c * d + e * f).sqrt());
            }),
        }
    }
}

/// Adds the product of two operands, whose strips lie above that of the sum. It is rounded in between as if one came
/// after the other.
fn add_product(
    (sum, above): (&mut [f64], &[Values]),
    operands: &[Operand],
    inputs: &[&[f64]],
    instructions: Instructions,
) {
    let ([left, right], [first, second, ..]) = (operands, above) else { return };
    let left = left.place(inputs).unwrap_or(&first[..sum.len()]);
    let right = right.place(inputs).unwrap_or(&second[..sum.len()]);
    instructions.run(|| {
        sum.iter_mut().zip(left).zip(right).for_each(|((sum, left), right)| *sum += left * right);
    });
}

/// Computes a function of operands; the result is the strip of the first of them, those of the others lie above it.
fn call(
    function: Function,
    (result, above): (&mut [f64], &[Values]),
    operands: &[Operand],
    inputs: &[&[f64]],
    instructions: Instructions,
) {
    let count = result.len();
    match (operands, above) {
        ([a], _) => {
            let a = a.place(inputs);
            instructions.run(
                #[inline(always)]
                || unary(function, result, a),
            );
        }
        ([a, b], [strip, ..]) => {
            let (a, b) = (a.place(inputs), b.place(inputs).unwrap_or(&strip[..count]));
            instructions.run(
                #[inline(always)]
                || binary(function, result, a, b),
            );
        }
        ([condition, then, otherwise], [second, third, ..]) => {
            if let Some(condition) = condition.place(inputs) {
                result.copy_from_slice(condition);
            }
            let then = then.place(inputs).unwrap_or(&second[..count]);
            let otherwise = otherwise.place(inputs).unwrap_or(&third[..count]);
            for ((condition, then), otherwise) in result.iter_mut().zip(then).zip(otherwise) {
                *condition = if *condition != 0.0 { *then } else { *otherwise };
            }
        }
        _ => {}
    }
}

/// Replaces each value by the function of it, or by that of a variable's value.
#[inline(always)]
fn unary(function: Function, values: &mut [f64], variable: Option<&[f64]>) {
    macro_rules! each {
        ($apply:expr) => {
            match variable {
                Some(from) => values.iter_mut().zip(from).for_each(|(value, from)| *value = $apply(*from)),
                None => values.iter_mut().for_each(|value| *value = $apply(*value)),
            }
        };
    }
    match function {
        Function::Not => each!(|a| truth(a == 0.0)),
        Function::Negate => each!(|a: f64| -a),
        Function::SquareRoot => each!(f64::sqrt),
        Function::CubeRoot => each!(f64::cbrt),
        Function::Absolute => each!(f64::abs),
        Function::Sign => each!(|a: f64| if a == 0.0 || a.is_nan() { a } else { a.signum() }),
        Function::Exponential => each!(f64::exp),
        Function::Logarithm | Function::LogarithmOfC => each!(f64::ln),
        Function::Logarithm2 => each!(f64::log2),
        Function::Logarithm10 => each!(f64::log10),
        Function::Sine => each!(f64::sin),
        Function::Cosine => each!(f64::cos),
        Function::Tangent => each!(f64::tan),
        Function::ArcSine => each!(f64::asin),
        Function::ArcCosine => each!(f64::acos),
        Function::ArcTangent => each!(f64::atan),
        Function::HyperbolicSine => each!(f64::sinh),
        Function::HyperbolicCosine => each!(f64::cosh),
        Function::HyperbolicTangent => each!(f64::tanh),
        Function::Floor => each!(f64::floor),
        Function::Ceiling => each!(f64::ceil),
        Function::Round => each!(f64::round),
        Function::IsNan => each!(|a: f64| truth(a.is_nan())),
        #[rustfmt::skip] // those of another number of operands
        Function::Add | Function::Subtract | Function::Multiply | Function::Divide
        | Function::Remainder | Function::Less | Function::AtMost | Function::Greater
        | Function::AtLeast | Function::Equal | Function::Unequal | Function::And | Function::Or
        | Function::Power | Function::Angle | Function::Hypotenuse | Function::Minimum
        | Function::Maximum | Function::If => {}
    }
}

/// Replaces each value by the function of it, or of a variable's value, and of the one to its right.
#[inline(always)]
fn binary(function: Function, values: &mut [f64], variable: Option<&[f64]>, right: &[f64]) {
    macro_rules! each {
        ($apply:expr) => {
            match variable {
                Some(left) => values
                    .iter_mut()
                    .zip(left)
                    .zip(right)
                    .for_each(|((value, left), right)| *value = $apply(*left, *right)),
                None => {
                    values.iter_mut().zip(right).for_each(|(value, right)| *value = $apply(*value, *right))
                }
            }
        };
    }
    match function {
        Function::Add => each!(|a, b| a + b),
        Function::Subtract => each!(|a, b| a - b),
        Function::Multiply => each!(|a, b| a * b),
        Function::Divide => each!(|a, b| a / b),
        Function::Remainder => each!(|a, b| a % b),
        Function::Less => each!(|a, b| truth(a < b)),
        Function::AtMost => each!(|a, b| truth(a <= b)),
        Function::Greater => each!(|a, b| truth(a > b)),
        Function::AtLeast => each!(|a, b| truth(a >= b)),
        Function::Equal => each!(|a, b| truth(a == b)),
        Function::Unequal => each!(|a, b| truth(a != b)),
        Function::And => each!(|a, b| truth(a != 0.0 && b != 0.0)),
        Function::Or => each!(|a, b| truth(a != 0.0 || b != 0.0)),
        Function::Power => each!(power),
        Function::Angle => each!(f64::atan2),
        Function::Hypotenuse => each!(f64::hypot),
        Function::Minimum => each!(f64::min),
        Function::Maximum => each!(f64::max),
        #[rustfmt::skip] // those of another number of operands
        Function::Not | Function::Negate | Function::SquareRoot | Function::CubeRoot
        | Function::Absolute | Function::Sign | Function::Exponential | Function::Logarithm
        | Function::LogarithmOfC | Function::Logarithm2 | Function::Logarithm10 | Function::Sine
        | Function::Cosine | Function::Tangent | Function::ArcSine | Function::ArcCosine
        | Function::ArcTangent | Function::HyperbolicSine | Function::HyperbolicCosine
        | Function::HyperbolicTangent | Function::Floor | Function::Ceiling | Function::Round
        | Function::IsNan | Function::If => {}
    }
}

/// Squares are what powers mostly are.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent == 2.0 { base * base } else { base.powf(exponent) }
}

fn truth(is_true: bool) -> f64 {
    f64::from(u8::from(is_true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str, a: f64, b: f64) -> f64 {
        let expression = Expression::new(text, &["a", "b"]).unwrap();
        let mut output = [0.0; 3];
        Evaluation::new(&expression).run(&[&[a; 3], &[b; 3]], &mut output);
        assert!(output.iter().all(|x| x.to_bits() == output[0].to_bits()));
        output[0]
    }

    #[test]
    fn operators_bind_as_on_paper() {
        for (text, wanted) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("2^3^2", 512.0),
            ("2**3", 8.0),
            ("-a^2 * 3", -27.0),
            ("10 - 4 - 3", 3.0),
            ("16 / 4 / 2", 2.0),
            ("-7 % 4", -3.0),
            ("1 < 2 && 2 < 1 || 1", 1.0),
            ("!0 + 1", 2.0),
            ("!(a == 3)", 0.0),
            ("- - a", 3.0),
            ("+a", 3.0),
            ("if(a > b, a, b)", 4.0),
            ("max(a, min(b, 10))", 4.0),
            ("hypot(a, b)", 5.0),
            ("2e1 + 1E-1", 20.1),
            ("sqrt(a*a + b*b)", 5.0),
            ("1 + sqrt(2*a + 5*(b - 2)) * 2", 9.0),
            ("a*b + b*a", 24.0),
            ("a*a + a*b + b*b + b*b", 53.0),
            ("2 * sqrt(a*a + b*b + a*b + a*a + a*a - 6) - 1", 2.0 * 49f64.sqrt() - 1.0),
            ("a != b", 1.0),
            ("cos(pi)", -1.0),
            ("sign(-3) + sign(0)", -1.0),
            ("1 - 2^2 + isnan(0/0)", -2.0),
            ("if(a<b && !(a==b), a*a^a, 0)", 81.0),
            ("1+2 < 3*4", 1.0),
        ] {
            assert_eq!(value(text, 3.0, 4.0), wanted, "{text}");
        }
    }

    #[test]
    fn every_function_is_computed() {
        for function in Function::ALL.iter().filter(|function| Function::named(function.name()).is_some()) {
            let arguments = ["0.25", "0.75", "0.5"][..function.arguments()].join(", ");
            let result = value(&format!("{function}({arguments})"), 0.0, 0.0);
            let changed = result != 0.25 || matches!(function, Function::Minimum | Function::Absolute);
            assert!(changed && result.is_finite(), "{function} gives {result}");
        }
    }

    /// One value of one function of operands that are variables, results and numbers.
    fn by_itself(text: &str, a: f64, b: f64) -> f64 {
        let expression = Expression::new(text, &["a", "b"]).unwrap();
        let mut output = [0.0];
        Evaluation::with_instructions(&expression, Instructions::plain()).run(&[&[a], &[b]], &mut output);
        output[0]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn all_instructions_and_operands_give_the_same(
            pairs in prop::collection::vec((any::<f64>(), any::<f64>()), 1..STRIP + 1), left in 0..4usize, right in 0..4usize,
        ) {
            let operand = |of: usize| ["a", "b", "(a + b)", "2.5"][of];
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            for function in Function::ALL.iter().filter(|function| Function::named(function.name()).is_some()) {
                let arguments = [operand(left), operand(right), "b"][..function.arguments()].join(", ");
                let text = format!("-{function}({arguments}) * a + {function}({arguments}) * b");
                let expression = Expression::new(&text, &["a", "b"]).unwrap();
                for instructions in [Instructions::plain(), Instructions::widest()] {
                    let mut found = vec![0.0; pairs.len()];
                    Evaluation::with_instructions(&expression, instructions).run(&[&a, &b], &mut found);
                    for ((a, b), found) in pairs.iter().zip(&found).step_by(7) {
                        let wanted = by_itself(&text, *a, *b);
                        let same = wanted == *found || wanted.is_nan() && found.is_nan();
                        prop_assert!(same, "{text} of {a} and {b}: {found}, not {wanted}");
                    }
                }
            }
        }

        /// Against the same written in Rust, number by number.
        #[test]
        fn strips_give_what_numbers_give(
            pairs in prop::collection::vec((-1e3..1e3f64, -1e3..1e3f64), 1..STRIP + 1),
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let text = "if(a < b, sqrt(a*a + b*b), abs(a - b) / (1 + b*b)) - max(floor(a), -b) + a*b + (a+b)*(a-b)";
            let expression = Expression::new(text, &["a", "b"]).unwrap();
            let wanted: Vec<f64> = pairs.iter().map(|&(a, b)| {
                let first = if a < b { (a * a + b * b).sqrt() } else { (a - b).abs() / (1.0 + b * b) };
                first - a.floor().max(-b) + a * b + (a + b) * (a - b)
            }).collect();
            for instructions in [Instructions::plain(), Instructions::widest()] {
                let mut found = vec![0.0; pairs.len()];
                Evaluation::with_instructions(&expression, instructions).run(&[&a, &b], &mut found);
                prop_assert_eq!(&found, &wanted);
            }
        }
    }
}
