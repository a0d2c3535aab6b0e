//! How a family is opened.

use fp_core::rendezvous::{Rendezvous, RendezvousError};
use fp_core::{SubscriberOptions, TlsOptions, Token};

use crate::error::FamilyError;

/// Members that a family has at most, unless it is said.
const LIMIT_MEMBERS: usize = 64;

/// How a family is opened, and how each member is subscribed to.
///
/// ```
/// # use fp_core as flexpath;
/// # use fp_flow as flow;
/// use flexpath::SubscriberOptions;
/// use flow::FamilyOptions;
///
/// let each = SubscriberOptions::default().with_variables(["energy"]);
/// let options = FamilyOptions::from(each).with_limit_members(16);
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FamilyOptions {
    /// How each member is subscribed to.
    pub subscriber: SubscriberOptions,
    /// Members at one time. Default 64.
    pub limit_members: usize,
    /// Whether a stream of which a member has gone is a member again when it is opened anew. Default true.
    pub follow_restarts: bool,
}

impl Default for FamilyOptions {
    fn default() -> Self {
        Self { subscriber: SubscriberOptions::default(), limit_members: LIMIT_MEMBERS, follow_restarts: true }
    }
}

impl From<SubscriberOptions> for FamilyOptions {
    fn from(subscriber: SubscriberOptions) -> Self {
        Self { subscriber, ..Self::default() }
    }
}

impl FamilyOptions {
    /// Sets the most members at one time.
    #[must_use]
    pub fn with_limit_members(mut self, members: usize) -> Self {
        self.limit_members = members;
        self
    }

    /// Sets whether a stream of which a member has gone is a member again when it is opened anew.
    #[must_use]
    pub fn with_follow_restarts(mut self, follow: bool) -> Self {
        self.follow_restarts = follow;
        self
    }

    pub(crate) fn check(&self) -> Result<(), FamilyError> {
        let cohort = &self.subscriber.link.cohort;
        if cohort.size() > 1 {
            return Err(FamilyError::Cohort { rank: cohort.rank().0, size: cohort.size() });
        }
        if self.subscriber.publisher_contact.is_some() {
            return Err(FamilyError::Contact);
        }
        if self.limit_members == 0 {
            return Err(FamilyError::NoRoom);
        }
        Ok(())
    }

    /// Where members are looked for, shown what each subscriber shows.
    pub(crate) fn rendezvous(&self) -> Result<Rendezvous, RendezvousError> {
        let link = &self.subscriber.link;
        let rendezvous = match &link.rendezvous {
            Some(given) => given.clone(),
            None => Rendezvous::from_environment()?,
        };
        let token = link.token.clone().map_or_else(Token::from_environment, |token| Ok(Some(token)))?;
        let tls = link.tls.clone().map_or_else(TlsOptions::from_environment, |tls| Ok(Some(tls)))?;
        Ok(rendezvous.with_credentials(token, tls))
    }
}
