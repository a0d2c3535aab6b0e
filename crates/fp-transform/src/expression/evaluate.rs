//! Computes expressions strip by strip: every instruction is one loop over a strip, of which the compiler makes vector
//! instructions where the machine has them.

use super::Expression;
use super::program::{Function, Instruction};
use crate::numbers::STRIP;

/// A strip of values.
type Values = [f64; STRIP];

/// An expression and the room to compute it.
pub(crate) struct Evaluation<'a> {
    program: &'a [Instruction],
    /// As many strips as the expression needs at once.
    stack: Vec<Values>,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(expression: &'a Expression) -> Self {
        let (mut height, mut highest) = (0usize, 1);
        for instruction in expression.program() {
            height += 1;
            if let Instruction::Call(function) = instruction {
                height = height.saturating_sub(function.arguments());
            }
            highest = highest.max(height);
        }
        // One to spare: an instruction's result is counted before its operands are gone.
        Self { program: expression.program(), stack: vec![[0.0; STRIP]; highest + 1] }
    }

    /// Computes the elements of one strip: `inputs` has as many as `output` for each variable.
    pub(crate) fn run(&mut self, inputs: &[&[f64]], output: &mut [f64]) {
        let (count, mut height) = (output.len(), 0);
        for instruction in self.program {
            match instruction {
                Instruction::Number(number) => self.stack[height][..count].fill(*number),
                Instruction::Variable(index) => self.stack[height][..count].copy_from_slice(inputs[*index]),
                Instruction::Call(function) => {
                    height -= function.arguments();
                    call(*function, &mut self.stack[height..height + function.arguments()], count);
                }
            }
            height += 1;
        }
        output.copy_from_slice(&self.stack[0][..count]);
    }
}

/// Replaces the first operand by the function's result.
fn call(function: Function, operands: &mut [Values], count: usize) {
    match operands {
        [a] => unary(function, &mut a[..count]),
        [a, b] => binary(function, &mut a[..count], &b[..count]),
        [condition, then, otherwise] => {
            for ((condition, then), otherwise) in
                condition[..count].iter_mut().zip(then.iter()).zip(otherwise.iter())
            {
                *condition = if *condition != 0.0 { *then } else { *otherwise };
            }
        }
        _ => {}
    }
}

fn unary(function: Function, values: &mut [f64]) {
    let values = values.iter_mut();
    macro_rules! each {
        ($apply:expr) => {
            values.for_each(|value| *value = $apply(*value))
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
        _ => {}
    }
}

fn binary(function: Function, left: &mut [f64], right: &[f64]) {
    let pairs = left.iter_mut().zip(right);
    macro_rules! each {
        ($apply:expr) => {
            pairs.for_each(|(left, right)| *left = $apply(*left, *right))
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
        _ => {}
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
}
