//! What the command shows to streams that do not let everybody in: the token of the run, and a certificate.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use fp_core::rendezvous::{Rendezvous, RendezvousError};
use fp_core::{LinkOptions, ListenAddress, TlsError, TlsOptions, Token};

use crate::failure::Failure;

/// Above these options in a command's help.
const HEADING: &str = "Streams that do not let everybody in";

/// Options of every command that connects to a stream.
#[derive(Clone, Debug, Default, Args)]
pub struct CredentialOptions {
    /// The token of the run: a file of 64 hexadecimal digits, as `flexpath token` makes it
    #[arg(long, value_name = "FILE", help_heading = HEADING, env = "FLEXPATH_TOKEN_FILE", hide_env_values = true, value_parser = file())]
    pub(crate) token_file: Option<PathBuf>,
    /// The own certificate (PEM), and so TLS on every tcp link [default: FLEXPATH_TLS_CERTIFICATE, else no TLS]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The key of the own certificate (PEM) [default: FLEXPATH_TLS_KEY]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub(crate) tls_key: Option<PathBuf>,
    /// The authorities that may have signed a peer's certificate (PEM) [default: FLEXPATH_TLS_AUTHORITY]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub(crate) tls_authority: Option<PathBuf>,
    /// The name that a peer's certificate must hold [default: FLEXPATH_TLS_NAME, else flexpath]
    #[arg(long, value_name = "NAME", help_heading = HEADING)]
    pub(crate) tls_name: Option<String>,
}

/// A file's name. An empty one, as an empty variable has it, is let through and passed over.
fn file() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// What the files hold.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    token: Option<Token>,
    tls: Option<TlsOptions>,
}

impl CredentialOptions {
    /// Reads the files that are named. Of TLS alone nothing is read before a link is made.
    ///
    /// # Errors
    /// A file that cannot be read; TLS of which a part is missing.
    pub fn read(&self) -> Result<Credentials, Failure> {
        let file = self.token_file.as_ref().filter(|file| !file.as_os_str().is_empty());
        Ok(Credentials { token: file.map(Token::from_file).transpose()?, tls: self.tls()? })
    }

    /// TLS if an option speaks of it: what no option names is the environment's. Where none does, all of it is.
    fn tls(&self) -> Result<Option<TlsOptions>, Failure> {
        let files = [&self.tls_certificate, &self.tls_key, &self.tls_authority];
        if files.iter().all(|file| file.is_none()) && self.tls_name.is_none() {
            return Ok(None);
        }
        let tls = TlsOptions::new(
            named(&self.tls_certificate, "--tls-certificate", "FLEXPATH_TLS_CERTIFICATE")?,
            named(&self.tls_key, "--tls-key", "FLEXPATH_TLS_KEY")?,
            named(&self.tls_authority, "--tls-authority", "FLEXPATH_TLS_AUTHORITY")?,
        );
        let name = self.tls_name.clone();
        let name = name.or_else(|| variable("FLEXPATH_TLS_NAME").and_then(|name| name.into_string().ok()));
        Ok(Some(match name {
            Some(name) => tls.with_name(name),
            None => tls,
        }))
    }

    /// The same options, for another process of this command.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let files = [
            ("--token-file", &self.token_file),
            ("--tls-certificate", &self.tls_certificate),
            ("--tls-key", &self.tls_key),
            ("--tls-authority", &self.tls_authority),
        ];
        let files = files.into_iter().filter_map(|(name, file)| Some((name, file.as_ref()?.as_os_str())));
        let name = self.tls_name.iter().map(|name| ("--tls-name", OsStr::new(name)));
        // In one word: a value may begin with a dash.
        let joined = |(name, value): (&str, &OsStr)| {
            let mut word = OsString::from(name);
            word.push("=");
            word.push(value);
            word
        };
        files.chain(name).map(joined).collect()
    }
}

/// The file that an option names, else the environment.
fn named(option: &Option<PathBuf>, name: &str, variable_name: &str) -> Result<PathBuf, Failure> {
    let file = option.clone().or_else(|| variable(variable_name).map(PathBuf::from));
    file.ok_or_else(|| {
        Failure::Usage(format!(
            "TLS needs --tls-certificate, --tls-key and --tls-authority: {name} is missing, and {variable_name} not set"
        ))
    })
}

/// A variable that is set, and not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

impl Credentials {
    /// Has a link show them. It listens on loopback alone: a lone subscriber is dialled by nobody, and
    /// `FLEXPATH_LISTEN` speaks of the simulation.
    pub(crate) fn set(&self, link: &mut LinkOptions) {
        link.token.clone_from(&self.token);
        link.tls.clone_from(&self.tls);
        link.tcp = Some(ListenAddress::default());
    }

    /// Has a rendezvous that is a meeting place shown them.
    pub(crate) fn shown_to(&self, rendezvous: Rendezvous) -> Result<Rendezvous, RendezvousError> {
        let (token, tls) = self.shown()?;
        Ok(rendezvous.with_credentials(token, tls))
    }

    /// The token, and TLS: where no option speaks of it, the environment's.
    pub(crate) fn shown(&self) -> Result<(Option<Token>, Option<TlsOptions>), TlsError> {
        let tls = match &self.tls {
            Some(given) => Some(given.clone()),
            None => TlsOptions::from_environment()?,
        };
        Ok((self.token.clone(), tls))
    }

    /// What they say of TLS.
    pub(crate) fn tls(&self) -> Option<&TlsOptions> {
        self.tls.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_is_told_the_same() {
        let options = CredentialOptions {
            token_file: Some("run.token".into()),
            tls_key: Some("-key.pem".into()),
            tls_name: Some("run7".into()),
            ..CredentialOptions::default()
        };
        assert_eq!(options.arguments(), ["--token-file=run.token", "--tls-key=-key.pem", "--tls-name=run7"]);
    }

    #[test]
    fn tls_is_whole_or_says_what_is_missing() {
        let whole = CredentialOptions {
            tls_certificate: Some("c.pem".into()),
            tls_key: Some("k.pem".into()),
            tls_authority: Some("a.pem".into()),
            tls_name: Some("run7".into()),
            ..CredentialOptions::default()
        };
        let expected = TlsOptions::new("c.pem", "k.pem", "a.pem").with_name("run7");
        assert_eq!(whole.read().unwrap().tls(), Some(&expected));
        let error = CredentialOptions { tls_key: None, ..whole }.read().unwrap_err();
        assert!(matches!(&error, Failure::Usage(why) if why.contains("--tls-key is missing")), "{error}");
        assert!(CredentialOptions::default().read().unwrap().tls().is_none());
    }
}
