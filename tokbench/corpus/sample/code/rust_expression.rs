//! A pocket calculator: tokenises, parses and evaluates infix expressions.

use std::collections::HashMap;
use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

#[derive(Debug, Clone, PartialEq)]
pub enum EvalError {
    UnexpectedChar(char),
    UnexpectedEnd,
    UnknownName(String),
    BadNumber(String),
    DivisionByZero,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedChar(c) => write!(f, "unexpected character {c:?}"),
            Self::UnexpectedEnd => f.write_str("the expression stops too soon"),
            Self::UnknownName(name) => write!(f, "unknown name `{name}`"),
            Self::BadNumber(text) => write!(f, "malformed number `{text}`"),
            Self::DivisionByZero => f.write_str("division by zero"),
        }
    }
}

impl std::error::Error for EvalError {}

type Result<T> = std::result::Result<T, EvalError>;

/// Named values that expressions may refer to.
#[derive(Default)]
pub struct Scope {
    values: HashMap<String, f64>,
}

impl Scope {
    pub fn with_constants() -> Self {
        let mut scope = Self::default();
        scope.set("π", std::f64::consts::PI);
        scope.set("tau", std::f64::consts::TAU);
        scope
    }

    pub fn set(&mut self, name: impl Into<String>, value: f64) -> &mut Self {
        self.values.insert(name.into(), value);
        self
    }

    pub fn eval(&self, source: &str) -> Result<f64> {
        let mut parser = Parser { chars: source.chars().peekable(), scope: self };
        let value = parser.sum()?;
        match parser.peek() {
            None => Ok(value),
            Some(c) => Err(EvalError::UnexpectedChar(c)),
        }
    }
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
    scope: &'a Scope,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
        self.chars.peek().copied()
    }

    fn accept(&mut self, options: &[char]) -> Option<char> {
        let found = self.peek().filter(|c| options.contains(c))?;
        self.chars.next();
        Some(found)
    }

    fn sum(&mut self) -> Result<f64> {
        let mut total = self.product()?;
        while let Some(op) = self.accept(&['+', '-', '−']) {
            let rhs = self.product()?;
            total += if op == '+' { rhs } else { -rhs };
        }
        Ok(total)
    }

    fn product(&mut self) -> Result<f64> {
        let mut total = self.power()?;
        while let Some(op) = self.accept(&['*', '×', '/', '÷']) {
            let rhs = self.power()?;
            match op {
                '*' | '×' => total *= rhs,
                _ if rhs == 0.0 => return Err(EvalError::DivisionByZero),
                _ => total /= rhs,
            }
        }
        Ok(total)
    }

    fn power(&mut self) -> Result<f64> {
        if self.accept(&['-', '−']).is_some() {
            return self.power().map(|value| -value);
        }
        let base = self.atom()?;
        match self.accept(&['^']) {
            Some(_) => Ok(base.powf(self.power()?)), // binds to the right
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<f64> {
        let first = self.peek().ok_or(EvalError::UnexpectedEnd)?;
        if self.accept(&['(']).is_some() {
            let inner = self.sum()?;
            return self.accept(&[')']).map(|_| inner).ok_or(EvalError::UnexpectedEnd);
        }
        let word = self.take_while(|c| c.is_alphanumeric() || c == '.' || c == '_');
        if first.is_ascii_digit() {
            word.replace('_', "").parse().map_err(|_| EvalError::BadNumber(word))
        } else if word.is_empty() {
            Err(EvalError::UnexpectedChar(first))
        } else {
            self.scope.values.get(&word).copied().ok_or(EvalError::UnknownName(word))
        }
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> String {
        std::iter::from_fn(|| self.chars.next_if(|&c| keep(c))).collect()
    }
}

#[test]
fn honours_precedence() {
    let scope = Scope::with_constants();
    assert_eq!(scope.eval("2 + 3 × 4 ^ 2 / 1_0"), Ok(6.8));
    assert_eq!(scope.eval("1 ÷ (2 − 2)"), Err(EvalError::DivisionByZero));
}
