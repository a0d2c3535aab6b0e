//! An access list as a file: TOML with a table `[[rule]]` for each rule. What cannot be understood is refused with its
//! line, as a list that is read half could open what it was to keep closed.

use crate::error::access::AccessError;
use crate::options::access::{Access, AccessRule, Who};
use fp_proto::access::Action;
use fp_transform::ModuleHash;
use fp_transport::{Token, TokenHash};
use serde::Deserialize;
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The variable of the environment that names the file.
const VARIABLE: &str = "FLEXPATH_ACCESS_FILE";
/// Far more than a list has.
const LIMIT_FILE_BYTES: u64 = 1 << 20;
/// The bits of a mode by which others than the owner may write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
const ROOT: u32 = 0;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    rule: Vec<Spanned<Entry>>,
}

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    stream: String,
    anybody: Option<Spanned<bool>>,
    uid: Option<u32>,
    certificate: Option<String>,
    token_file: Option<Spanned<PathBuf>>,
    token_hash: Option<Spanned<String>>,
    may: Vec<Spanned<String>>,
    modules: Option<Vec<Spanned<String>>>,
}

/// The text that is read, for the lines in errors.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Access {
    /// The list that a file holds. Tokens are looked for from the file's folder on.
    ///
    /// # Errors
    /// [`AccessError`], with the file, and the line of what is wrong in it. A file that others can write is refused.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, AccessError> {
        let path = path.as_ref();
        let text = read(path)?;
        let source = Source { path, text: &text };
        let document: Document = toml::from_str(&text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            source.wrong(&at, error.message())
        })?;
        let rules = document.rule.into_iter().map(|entry| source.rule(entry)).collect::<Result<_, _>>()?;
        Ok(Self { rules, file: Some(path.to_owned()) })
    }

    /// The list in the file that `FLEXPATH_ACCESS_FILE` names; `None` where it is not set, or empty.
    ///
    /// # Errors
    /// As [`Access::from_file`].
    pub fn from_environment() -> Result<Option<Self>, AccessError> {
        let file = std::env::var_os(VARIABLE).filter(|file| !file.is_empty());
        file.map(Self::from_file).transpose()
    }
}

/// The file's text, if it is its owner's alone to write.
fn read(path: &Path) -> Result<String, AccessError> {
    let unreadable = |source| AccessError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let (mode, owner, own) = (metadata.mode() & 0o7777, metadata.uid(), rustix::process::geteuid().as_raw());
    if mode & WRITABLE_BY_OTHERS != 0 {
        return Err(AccessError::Writable { path: path.to_owned(), mode });
    }
    if owner != own && owner != ROOT {
        return Err(AccessError::OtherOwner { path: path.to_owned(), owner, own });
    }
    let mut text = String::new();
    file.take(LIMIT_FILE_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > LIMIT_FILE_BYTES {
        let what = format!("an access list has at most {LIMIT_FILE_BYTES} bytes");
        return Err(unreadable(std::io::Error::new(std::io::ErrorKind::FileTooLarge, what)));
    }
    Ok(text)
}

impl Source<'_> {
    fn line(&self, at: &Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..at.start).unwrap_or_default();
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    fn wrong(&self, at: &Range<usize>, what: impl Into<String>) -> AccessError {
        AccessError::Wrong { path: self.path.to_owned(), line: self.line(at), what: what.into() }
    }

    fn rule(&self, entry: Spanned<Entry>) -> Result<AccessRule, AccessError> {
        let at = entry.span();
        let mut entry = entry.into_inner();
        let who = self.who(&at, &mut entry)?;
        let may: Vec<Action> = entry.may.iter().map(|word| self.action(word)).collect::<Result<_, _>>()?;
        if entry.modules.is_some() && !may.contains(&Action::Deploy) {
            return Err(
                self.wrong(&at, "`modules` says which code may be deployed, and `may` has no \"deploy\"")
            );
        }
        let mut rule = AccessRule::new(&entry.stream, who).with_actions(may);
        if let Some(modules) = &entry.modules {
            let hashes = modules.iter().map(|text| self.module(text)).collect::<Result<Vec<_>, _>>()?;
            rule = rule.with_modules(hashes);
        }
        (rule.name, rule.line) = (entry.name, Some(self.line(&at)));
        Ok(rule)
    }

    fn who(&self, at: &Range<usize>, entry: &mut Entry) -> Result<Who, AccessError> {
        let anybody = entry.anybody.take().map(|said| match said.get_ref() {
            true => Ok(Who::Anybody),
            false => Err(self.wrong(&said.span(), "`anybody` is true, or not there")),
        });
        let uid = entry.uid.map(|uid| Ok(Who::Uid(uid)));
        let certificate = entry.certificate.take().map(|name| Ok(Who::Certificate(name)));
        let token_file = entry.token_file.take().map(|file| self.token_file(&file));
        let token_hash = entry.token_hash.take().map(|hash| self.token_hash(&hash));
        let mut said = [anybody, uid, certificate, token_file, token_hash].into_iter().flatten();
        match (said.next(), said.next()) {
            (Some(who), None) => who,
            (None, _) | (Some(_), Some(_)) => Err(self.wrong(
                at,
                "a rule has exactly one of `uid`, `certificate`, `token_file`, `token_hash` and `anybody = true`",
            )),
        }
    }

    fn token_file(&self, file: &Spanned<PathBuf>) -> Result<Who, AccessError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let token = Token::from_file(folder.join(file.get_ref()));
        let (path, line) = (self.path, self.line(&file.span()));
        let token = token.map_err(|source| AccessError::Token { path: path.to_owned(), line, source })?;
        Ok(Who::Token(TokenHash::of(&token)))
    }

    fn token_hash(&self, hash: &Spanned<String>) -> Result<Who, AccessError> {
        let parsed = hash.get_ref().parse();
        parsed.map(Who::Token).map_err(|_| {
            self.wrong(
                &hash.span(),
                "the hash of a token is 64 hexadecimal digits; `flexpath token --hash FILE` prints it",
            )
        })
    }

    fn action(&self, word: &Spanned<String>) -> Result<Action, AccessError> {
        let found = Action::LISTED.into_iter().find(|action| action.word() == word.get_ref());
        found.ok_or_else(|| {
            let words = Action::LISTED.map(Action::word).join(", ");
            self.wrong(&word.span(), format!("{:?} is no action: they are {words}", word.get_ref()))
        })
    }

    fn module(&self, text: &Spanned<String>) -> Result<ModuleHash, AccessError> {
        text.get_ref().parse().map_err(|error| self.wrong(&text.span(), format!("{error}")))
    }
}
