//! What an expression becomes: instructions for a machine with a stack of strips.

/// One instruction: takes its operands from the stack and leaves its result there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Instruction {
    /// A constant.
    Number(f64),
    /// The variable with that index.
    Variable(usize),
    /// The result of a function.
    Call(Function),
}

macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $arguments:literal;)*) => {
        /// What an expression computes with: functions by name, and operators as functions of theirs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Function {
            $($(#[$doc])* $variant,)*
        }

        impl Function {
            /// Every function and operator.
            pub const ALL: &'static [Function] = &[$(Self::$variant),*];

            /// The name, or the operator's sign.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How many arguments it takes.
            pub fn arguments(self) -> usize {
                match self { $(Self::$variant => $arguments,)* }
            }
        }
    };
}

functions! {
    /// `a + b`
    Add = "+", 2;
    /// `a - b`
    Subtract = "-", 2;
    /// `a * b`
    Multiply = "*", 2;
    /// `a / b`
    Divide = "/", 2;
    /// `a % b`: the remainder, with the sign of `a`.
    Remainder = "%", 2;
    /// `a < b`
    Less = "<", 2;
    /// `a <= b`
    AtMost = "<=", 2;
    /// `a > b`
    Greater = ">", 2;
    /// `a >= b`
    AtLeast = ">=", 2;
    /// `a == b`
    Equal = "==", 2;
    /// `a != b`
    Unequal = "!=", 2;
    /// `a && b`
    And = "&&", 2;
    /// `a || b`
    Or = "||", 2;
    /// `!a`: 1 where `a` is 0, else 0.
    Not = "!", 1;
    /// `-a`
    Negate = "negate", 1;
    /// `pow(a, b)`, also `a ^ b` and `a ** b`.
    Power = "pow", 2;
    /// The square root.
    SquareRoot = "sqrt", 1;
    /// The cube root.
    CubeRoot = "cbrt", 1;
    /// The absolute value.
    Absolute = "abs", 1;
    /// -1, 0 or 1.
    Sign = "sign", 1;
    /// The power of e.
    Exponential = "exp", 1;
    /// The natural logarithm.
    Logarithm = "ln", 1;
    /// The natural logarithm, as C calls it.
    LogarithmOfC = "log", 1;
    /// The logarithm to base 2.
    Logarithm2 = "log2", 1;
    /// The logarithm to base 10.
    Logarithm10 = "log10", 1;
    /// The sine, of radians as all of them.
    Sine = "sin", 1;
    /// The cosine.
    Cosine = "cos", 1;
    /// The tangent.
    Tangent = "tan", 1;
    /// The inverse of the sine.
    ArcSine = "asin", 1;
    /// The inverse of the cosine.
    ArcCosine = "acos", 1;
    /// The inverse of the tangent.
    ArcTangent = "atan", 1;
    /// The angle of the point `(x, y)`: `atan2(y, x)`.
    Angle = "atan2", 2;
    /// The hyperbolic sine.
    HyperbolicSine = "sinh", 1;
    /// The hyperbolic cosine.
    HyperbolicCosine = "cosh", 1;
    /// The hyperbolic tangent.
    HyperbolicTangent = "tanh", 1;
    /// `sqrt(a*a + b*b)` without overflow between.
    Hypotenuse = "hypot", 2;
    /// The next integer below.
    Floor = "floor", 1;
    /// The next integer above.
    Ceiling = "ceil", 1;
    /// The nearest integer, halves away from 0.
    Round = "round", 1;
    /// The lesser; of a number and NaN the number.
    Minimum = "min", 2;
    /// The greater; of a number and NaN the number.
    Maximum = "max", 2;
    /// Whether it is NaN.
    IsNan = "isnan", 1;
    /// `if(condition, then, else)`.
    If = "if", 3;
}

impl Function {
    /// The function that is called by that word.
    pub(super) fn named(word: &str) -> Option<Self> {
        let is_word = word.chars().next().is_some_and(|first| first.is_ascii_alphabetic());
        let found = Self::ALL.iter().find(|function| function.name() == word && **function != Self::Negate);
        found.copied().filter(|_| is_word)
    }

    /// The operator between two operands that is written so, and how tightly it binds.
    pub(super) fn infix(sign: &str) -> Option<(Self, u8)> {
        let binds = match sign {
            "||" => 1,
            "&&" => 2,
            "<" | "<=" | ">" | ">=" | "==" | "!=" => COMPARISON,
            "+" | "-" => 4,
            "*" | "/" | "%" => 5,
            "^" | "**" => return Some((Self::Power, POWER)),
            _ => return None,
        };
        Self::ALL.iter().find(|function| function.name() == sign).map(|function| (*function, binds))
    }
}

/// How tightly comparisons bind.
pub(super) const COMPARISON: u8 = 3;
/// How tightly signs before an operand bind: tighter than products, less than powers.
pub(super) const PREFIX: u8 = 6;
/// How tightly powers bind.
pub(super) const POWER: u8 = 7;

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
