//! What the command line of `request` says.

use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use fp_core::AttributeValue;

use super::seconds;
use crate::credentials::CredentialOptions;

/// Options of `request`.
#[derive(Debug, Args)]
#[command(after_help = "\
  flexpath request heat
  flexpath request heat conductivity=2
  flexpath request heat title='a warm day' --timeout 60
  flexpath request heat checkpoint
  flexpath request heat pause=30 --now
  flexpath request heat resume

Without a parameter, those that there are are listed: name, values, and what each is. A value is true, false, a whole number, a number, or else a text; in double quotes it is a text in any case. What takes no
value is named alone. All ranks of the simulation see it at the same step, and the command ends when all have left that one.
`pause` stops all ranks before the same step, for so many seconds or until `resume`, if the simulation allows it; the command
ends when they stand. Exit status 1: it was refused, declined, or not answered in time.")]
pub(crate) struct RequestOptions {
    /// The stream's name, as `flexpath ls` shows it
    pub(crate) stream: String,
    /// What is asked for: one parameter after another. Without any, the parameters that there are are listed
    #[arg(value_name = "PARAMETER[=VALUE]")]
    pub(crate) assignments: Vec<Assignment>,
    /// Have the ranks wait for one another, so that they see it at the next step that none has begun
    #[arg(long, requires = "assignments")]
    pub(crate) now: bool,
    /// List the parameters as JSON
    #[arg(long, conflicts_with = "assignments")]
    pub(crate) json: bool,
    /// How long to wait for the stream, and for each answer
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Who this is.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

/// A parameter and the value that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// The parameter.
    pub(crate) parameter: String,
    /// The value.
    pub(crate) value: AttributeValue,
}

/// Why a text asks for nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a request is written PARAMETER=VALUE, as conductivity=2, or PARAMETER alone, as checkpoint")]
pub(crate) struct ParseAssignmentError;

impl FromStr for Assignment {
    type Err = ParseAssignmentError;

    fn from_str(text: &str) -> Result<Self, ParseAssignmentError> {
        // What has no value is only asked for.
        let (parameter, value) = text.split_once('=').unwrap_or((text, "true"));
        let (parameter, value) = (parameter.trim().to_owned(), value.trim());
        if parameter.is_empty() {
            return Err(ParseAssignmentError);
        }
        let value = match value {
            "true" => true.into(),
            "false" => false.into(),
            value if value.len() > 1 && value.starts_with('"') && value.ends_with('"') => {
                AttributeValue::Text(value[1..value.len() - 1].to_owned())
            }
            value => match (value.parse::<i64>(), value.parse::<f64>()) {
                (Ok(number), _) => number.into(),
                (_, Ok(number)) => number.into(),
                _ => AttributeValue::Text(value.to_owned()),
            },
        };
        Ok(Self { parameter, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_they_look_like() {
        let value = |text: &str| text.parse::<Assignment>().map(|read| (read.parameter, read.value));
        let named = |value: AttributeValue| Ok(("level".to_owned(), value));
        assert_eq!(value("level=2"), named(2i64.into()));
        assert_eq!(value(" level = -2.5 "), named((-2.5).into()));
        assert_eq!(value("level=true"), named(true.into()));
        assert_eq!(value("level=a=b"), named(AttributeValue::Text("a=b".to_owned())));
        assert_eq!(value("level=\"2\""), named(AttributeValue::Text("2".to_owned())));
        assert_eq!(value("level"), named(true.into()));
        assert_eq!([value(""), value("=2")], [Err(ParseAssignmentError), Err(ParseAssignmentError)]);
    }
}
