//! Reads expressions by the binding power of their operators (Pratt's way), with a bound on nesting.
//!
//! The parser is our own, as texts come from peers and none of the crates bounds nesting
//! (`docs/decisions/0032-expressions-and-lossy-compression.md`).

use super::lexer::Token;
use super::program::{COMPARISON, Function, Instruction, POWER, PREFIX};
use super::{ExpressionFault, MAX_EXPRESSION_DEPTH};

type Parsed<T> = Result<T, (usize, ExpressionFault)>;

struct Parser<'a> {
    tokens: &'a [(usize, Token)],
    /// Where the text ends.
    end: usize,
    variables: &'a [&'a str],
    program: Vec<Instruction>,
    depth: usize,
}

/// Turns words into a program.
pub(super) fn parse(tokens: &[(usize, Token)], end: usize, variables: &[&str]) -> Parsed<Vec<Instruction>> {
    let mut parser = Parser { tokens, end, variables, program: Vec::new(), depth: 0 };
    parser.expression(0)?;
    match parser.tokens.first() {
        None => Ok(parser.program),
        Some(_) => Err(parser.unexpected("an operator, or the end,")),
    }
}

impl Parser<'_> {
    fn at(&self) -> usize {
        self.tokens.first().map_or(self.end, |(at, _)| *at)
    }

    fn sign(&self) -> Option<&'static str> {
        match self.tokens.first() {
            Some((_, Token::Sign(sign))) => Some(sign),
            _ => None,
        }
    }

    fn advance(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    fn unexpected(&self, wanted: &'static str) -> (usize, ExpressionFault) {
        let found = self.tokens.first().map_or("the end".to_owned(), |(_, token)| token.to_string());
        (self.at(), ExpressionFault::Unexpected { wanted, found })
    }

    fn expect(&mut self, sign: &str, wanted: &'static str) -> Parsed<()> {
        if self.sign() != Some(sign) {
            return Err(self.unexpected(wanted));
        }
        Ok(self.advance())
    }

    /// An operand, and all operators after it that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_EXPRESSION_DEPTH {
            return Err((self.at(), ExpressionFault::TooDeep));
        }
        self.operand()?;
        let mut compared = false;
        while let Some((function, binds)) = self.sign().and_then(Function::infix).filter(|it| it.1 >= least) {
            if compared && binds == COMPARISON {
                return Err((self.at(), ExpressionFault::Chained));
            }
            compared = binds == COMPARISON;
            self.advance();
            // The right operand of a power may be a power, or signed; that of all others must bind tighter.
            self.expression(if binds == POWER { PREFIX } else { binds + 1 })?;
            self.program.push(Instruction::Call(function));
        }
        self.depth -= 1;
        Ok(())
    }

    fn operand(&mut self) -> Parsed<()> {
        let Some((at, token)) = self.tokens.first() else {
            return Err(self.unexpected("a value"));
        };
        match token {
            Token::Number(number) => self.program.push(Instruction::Number(*number)),
            Token::Quoted(name) => self.variable(*at, name)?,
            Token::Word(name) => {
                self.advance();
                return if self.sign() == Some("(") {
                    self.call(*at, name)
                } else {
                    self.variable(*at, name)
                };
            }
            Token::Sign("(") => {
                self.advance();
                self.expression(0)?;
                return self.expect(")", "')'");
            }
            Token::Sign(sign @ ("-" | "!" | "+")) => {
                self.advance();
                return self.prefixed(sign);
            }
            Token::Sign(_) => return Err(self.unexpected("a value")),
        }
        Ok(self.advance())
    }

    fn prefixed(&mut self, sign: &str) -> Parsed<()> {
        self.expression(PREFIX)?;
        let function = match sign {
            "-" => Some(Function::Negate),
            "!" => Some(Function::Not),
            _ => None,
        };
        Ok(self.program.extend(function.map(Instruction::Call)))
    }

    fn variable(&mut self, at: usize, name: &str) -> Parsed<()> {
        let instruction = match self.variables.iter().position(|known| *known == name) {
            Some(index) => Instruction::Variable(index),
            None if name == "pi" => Instruction::Number(std::f64::consts::PI),
            None => {
                let (name, variables) = (name.to_owned(), self.variables.join(", "));
                return Err((at, ExpressionFault::UnknownVariable { name, variables }));
            }
        };
        Ok(self.program.push(instruction))
    }

    fn call(&mut self, at: usize, name: &str) -> Parsed<()> {
        let unknown = || (at, ExpressionFault::UnknownFunction(name.to_owned()));
        let function = Function::named(name).ok_or_else(unknown)?;
        self.advance();
        self.expression(0)?;
        let mut found = 1;
        while self.sign() == Some(",") {
            self.advance();
            self.expression(0)?;
            found += 1;
        }
        self.expect(")", "',' or ')'")?;
        let wanted = function.arguments();
        if found != wanted {
            return Err((at, ExpressionFault::Arguments { function, wanted, found }));
        }
        Ok(self.program.push(Instruction::Call(function)))
    }
}
