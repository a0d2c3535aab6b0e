//! Options by name. They have the names that users of SST know, where the meaning is the same, and names of our own.

use crate::words;
use fp_core::{
    Access, Contact, DeployLimits, DeployPolicy, LinkOptions, ListenAddress, ModuleHash, OnLoss,
    PublisherOptions, QueuePolicy, Rendezvous, Share, ShareMode, StartAt, StepId, SubscriberOptions,
    TlsOptions, Token, TransportPolicy, VariableSet, start_log,
};
use std::str::FromStr;
use std::time::Duration;

/// The options of both handles, as they are set.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    pub(crate) publisher: PublisherOptions,
    pub(crate) subscriber: SubscriberOptions,
    /// Whatever `Transports` says, before or after this.
    pub(crate) forbid_fallback: bool,
}

impl Settings {
    pub(crate) fn links(&mut self, set: impl Fn(&mut LinkOptions)) {
        set(&mut self.publisher.link);
        set(&mut self.subscriber.link);
    }

    /// Sets a part of what TLS needs; the name is the usual one until it is set.
    fn tls(&mut self, set: impl Fn(&mut TlsOptions)) {
        let none = || TlsOptions::new("", "", "");
        self.links(|link| set(link.tls.get_or_insert_with(none)));
    }

    /// The option that TLS still needs, if only a part of what it needs is set.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let tls = self.publisher.link.tls.as_ref()?;
        let parts =
            [("TlsCertificate", &tls.certificate), ("TlsKey", &tls.key), ("TlsAuthority", &tls.authority)];
        parts.into_iter().find(|(_, path)| path.as_os_str().is_empty()).map(|(name, _)| name)
    }
}

/// Whose option it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Both,
    Publisher,
    Subscriber,
}

/// Why a value was not taken, in words.
type Set = fn(&mut Settings, &str) -> Result<(), String>;

/// An option.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    pub(crate) set: Set,
}

fn parsed<T: FromStr>(value: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    value.parse().map_err(|error: T::Err| error.to_string())
}

/// A whole number from `least` to the largest that the option can hold.
fn number<T: TryFrom<u64>>(value: &str, least: u64) -> Result<T, String> {
    let most = u64::MAX >> (64 - 8 * size_of::<T>().min(8));
    let number = value.parse::<u64>().ok().filter(|number| *number >= least);
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("a whole number from {least} to {most} is expected"))
}

fn seconds(value: &str) -> Result<Duration, String> {
    let seconds = value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "a number of seconds is expected, such as 2.5".to_owned())
}

fn truth(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err("true or false is expected".to_owned()),
    }
}

fn policy(value: &str) -> Result<QueuePolicy, String> {
    const WAIT: Duration = Duration::from_secs(60);
    let (name, bound) = value.split_once(':').unwrap_or((value, ""));
    match (name, bound) {
        ("Block" | "EveryStep", "") => Ok(QueuePolicy::EveryStep { max_wait: WAIT }),
        ("Block" | "EveryStep", wait) => Ok(QueuePolicy::EveryStep { max_wait: seconds(wait)? }),
        ("Discard" | "DropNewest", "") => Ok(QueuePolicy::DropNewest),
        ("DropOldest", "") => Ok(QueuePolicy::DropOldest),
        ("LatestOnly", "") => Ok(QueuePolicy::LatestOnly),
        ("EveryKth", every) => Ok(QueuePolicy::EveryKth { every: number(every, 1)?, max_wait: WAIT }),
        ("WaitAtMost", wait) => Ok(QueuePolicy::WaitAtMost { wait: seconds(wait)? }),
        _ => Err("Block, EveryStep[:seconds], Discard, DropNewest, DropOldest, LatestOnly, EveryKth:<k> or \
                  WaitAtMost:<seconds> is expected"
            .to_owned()),
    }
}

fn share(settings: &mut Settings) -> &mut Share {
    let none = Share { set: String::new(), mode: ShareMode::OnDemand, redeliver: false };
    settings.subscriber.share.get_or_insert(none)
}

/// What only a library that runs deployed code can take.
fn deployable<T>(value: Result<T, String>) -> Result<T, String> {
    if cfg!(feature = "wasm") {
        return value;
    }
    Err("this library was built without the feature `wasm` and runs no deployed code; `make install DEPLOY=yes` \
         builds it with it, and so does `cargo build -p flexpath-ffi --features wasm`"
        .to_owned())
}

fn deployment(value: &str) -> Result<DeployPolicy, String> {
    match value.split_once(':') {
        None if value == "Nobody" => Ok(DeployPolicy::Nobody),
        None if value == "SameUid" => deployable(Ok(DeployPolicy::SameUid)),
        Some(("Listed", hashes)) => {
            let hashes = hashes.split(',').map(|hash| parsed::<ModuleHash>(hash.trim()));
            deployable(hashes.collect::<Result<_, _>>().map(DeployPolicy::Listed))
        }
        _ => Err("Nobody, SameUid or Listed:<hash>,<hash>... is expected".to_owned()),
    }
}

/// Sets one of the limits of deployed code.
fn limit<T: TryFrom<u64>>(
    settings: &mut Settings,
    value: &str,
    set: impl FnOnce(&mut DeployLimits, T),
) -> Result<(), String> {
    let value = deployable(number(value, 0))?;
    set(&mut settings.publisher.deploy_limits, value);
    Ok(())
}

/// An option whose value is made from the text and put in its place.
macro_rules! keys {
    ($($name:literal, $role:ident, |$settings:ident, $value:ident| $run:expr;)*) => {
        /// Every option.
        pub(crate) const KEYS: &[Key] = &[$(Key {
            name: $name,
            role: Role::$role,
            set: |$settings, $value| { $run; Ok(()) },
        }),*];
    };
}

keys! {
    "OpenTimeoutSecs", Both, |s, v| { let time = seconds(v)?; s.links(|link| link.open_timeout = time) };
    "CloseTimeoutSecs", Both, |s, v| { let time = seconds(v)?; s.links(|link| link.close_timeout = time) };
    "SilenceSecs", Both, |s, v| { let time = seconds(v)?; s.links(|link| link.silence = time) };
    "Rendezvous", Both, |s, v| {
        let place = Rendezvous::at(v).map_err(|error| error.to_string())?;
        s.links(|link| link.rendezvous = Some(place.clone()))
    };
    "Transports", Both, |s, v| {
        let policy: TransportPolicy = parsed(v)?;
        s.links(|link| link.transports = Some(policy.clone()))
    };
    "ForbidFallback", Both, |s, v| s.forbid_fallback = truth(v)?;
    "VerbsDevice", Both, |s, v| s.links(|link| link.verbs_device = Some(v.to_owned()));
    "Listen", Both, |s, v| {
        let address: ListenAddress = parsed(v)?;
        s.links(|link| link.tcp = Some(address))
    };
    "Advertise", Both, |s, v| { let address = parsed(v)?; s.links(|link| link.advertised = Some(address)) };
    "TokenFile", Both, |s, v| {
        // No stream is open yet, and the log may have something to say of the file.
        start_log();
        let token = Token::from_file(v).map_err(|error| error.to_string())?;
        s.links(|link| link.token = Some(token.clone()))
    };
    "TlsCertificate", Both, |s, v| s.tls(|tls| tls.certificate = v.into());
    "TlsKey", Both, |s, v| s.tls(|tls| tls.key = v.into());
    "TlsAuthority", Both, |s, v| s.tls(|tls| tls.authority = v.into());
    "TlsName", Both, |s, v| s.tls(|tls| tls.name = v.to_owned());
    "BusyPollSecs", Both, |s, v| { let time = seconds(v)?; s.links(|link| link.busy_poll = time) };
    "KeptDescriptors", Both, |s, v| { let kept = number(v, 0)?; s.links(|link| link.kept_descriptors = Some(kept)) };
    "LeadContact", Both, |s, v| {
        let contact: Contact = parsed(v)?;
        s.links(|link| link.lead_contact = Some(contact.clone()))
    };
    "RendezvousReaderCount", Publisher, |s, v| s.publisher.min_subscribers = number(v, 0)?;
    "MinSubscribers", Publisher, |s, v| s.publisher.min_subscribers = number(v, 0)?;
    "ReserveQueueLimit", Publisher, |s, v| s.publisher.reserve_steps = number(v, 0)?;
    "ReserveCondition", Publisher, |s, v| {
        let steps = s.publisher.reserve_steps;
        let with = s.publisher.clone().with_reserved_hits(steps, v);
        s.publisher = with.map_err(|error| words::of_c(&error.to_string()))?;
    };
    "ReserveByteLimit", Publisher, |s, v| s.publisher.reserve_bytes = number(v, 1)?;
    "FirstTimestepPrecious", Publisher, |s, v| s.publisher.precious_first = truth(v)?;
    "LeastQueueLimit", Publisher, |s, v| s.publisher.least_limit_steps = number(v, 0)?;
    "FirstStep", Publisher, |s, v| s.publisher.first_step = Some(number(v, 0)?);
    "RefuseIncomplete", Publisher, |s, v| s.publisher.refuse_incomplete = truth(v)?;
    "SkewSteps", Publisher, |s, v| s.publisher.skew_steps = number(v, 1)?;
    "SkewTimeoutSecs", Publisher, |s, v| s.publisher.skew_timeout = seconds(v)?;
    "PauseLimitSecs", Publisher, |s, v| {
        let longest = seconds(v)?;
        s.publisher = s.publisher.clone().with_pause(longest)
    };
    "RequestsPerSecond", Publisher, |s, v| s.publisher.limit_requests_per_second = number(v, 1)?;
    "DeriveTimeoutSecs", Publisher, |s, v| s.publisher.derive_timeout = seconds(v)?;
    "DeriveBudgetSecs", Publisher, |s, v| s.publisher.derive_budget = seconds(v)?;
    "DeriveSharePercent", Publisher, |s, v| s.publisher.derive_share_percent = number(v, 0)?;
    "Derivations", Publisher, |s, v| s.publisher.derivations = truth(v)?;
    "AccessFile", Publisher, |s, v| {
        let access = Access::from_file(v).map_err(|error| error.to_string())?;
        s.publisher.access = Some(access)
    };
    "DeployPolicy", Publisher, |s, v| s.publisher.deployment = deployment(v)?;
    "DeployMemoryBytes", Publisher, |s, v| limit(s, v, |of, bytes| of.memory_bytes = bytes)?;
    "DeployKeptBytes", Publisher, |s, v| limit(s, v, |of, bytes| of.kept_bytes = bytes)?;
    "DeployFuel", Publisher, |s, v| limit(s, v, |of, fuel| of.fuel = fuel)?;
    "DeployTimeSecs", Publisher, |s, v| s.publisher.deploy_limits.time = deployable(seconds(v))?;
    "DeployModuleBytes", Publisher, |s, v| limit(s, v, |of, bytes| of.module_bytes = bytes)?;
    "LimitBytes", Publisher, |s, v| s.publisher.limit_bytes = number(v, 1)?;
    "LimitSubscriptions", Publisher, |s, v| s.publisher.limit_subscriptions = number(v, 1)?;
    "LimitPeerSubscriptions", Publisher, |s, v| s.publisher.limit_peer_subscriptions = number(v, 1)?;
    "KeptBytes", Publisher, |s, v| s.publisher.kept_bytes = number(v, 0)?;
    "LimitWaitSecs", Publisher, |s, v| s.publisher.limit_wait = seconds(v)?;
    "SegmentBytes", Publisher, |s, v| s.publisher.segment_len_bytes = number(v, 1)?;
    "QueueLimit", Subscriber, |s, v| s.subscriber.limit_steps = number(v, 1)?;
    "QueueFullPolicy", Subscriber, |s, v| s.subscriber.policy = policy(v)?;
    "AlwaysProvideLatestTimestep", Subscriber, |s, v| {
        if truth(v)? { s.subscriber.policy = QueuePolicy::LatestOnly }
    };
    "Name", Subscriber, |s, v| s.subscriber.name = Some(v.to_owned());
    "Variables", Subscriber, |s, v| {
        s.subscriber.variables = VariableSet::named(v.split(',').map(str::trim))
    };
    "Condition", Subscriber, |s, v| {
        let with = s.subscriber.clone().with_condition(v);
        s.subscriber = with.map_err(|error| words::of_c(&error.to_string()))?;
    };
    "CreditSteps", Subscriber, |s, v| s.subscriber.credit_steps = Some(number(v, 1)?);
    "StartAt", Subscriber, |s, v| s.subscriber.start_at = match v {
        "Next" => StartAt::Next,
        "OldestReserved" => StartAt::OldestReserved,
        _ => match v.strip_prefix("After:") {
            Some(step) => StartAt::After(StepId(number(step, 0)?)),
            None => return Err("Next, OldestReserved or After:<step> is expected".to_owned()),
        },
    };
    "ShareSet", Subscriber, |s, v| share(s).set = v.to_owned();
    "ShareMode", Subscriber, |s, v| share(s).mode = match v {
        "RoundRobin" => ShareMode::RoundRobin,
        "OnDemand" => ShareMode::OnDemand,
        _ => return Err("RoundRobin or OnDemand is expected".to_owned()),
    };
    "ShareRedeliver", Subscriber, |s, v| share(s).redeliver = truth(v)?;
    "ShareExplicitDone", Subscriber, |s, v| s.subscriber.explicit_done = truth(v)?;
    "AwaitRestartSecs", Subscriber, |s, v| s.subscriber.on_loss = OnLoss::AwaitRestart(seconds(v)?);
    "FetchTimeoutSecs", Subscriber, |s, v| s.subscriber.fetch_timeout = seconds(v)?;
    "PublisherContact", Subscriber, |s, v| s.subscriber.publisher_contact = Some(parsed(v)?);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        let key = KEYS.iter().find(|key| key.name == name).ok_or("no such option")?;
        (key.set)(&mut settings, value)?;
        Ok(settings)
    }

    #[test]
    fn words_of_sst_are_understood() -> Result<(), String> {
        assert_eq!(set("QueueLimit", "3")?.subscriber.limit_steps, 3);
        assert_eq!(set("QueueFullPolicy", "Discard")?.subscriber.policy, QueuePolicy::DropNewest);
        assert_eq!(set("RendezvousReaderCount", "2")?.publisher.min_subscribers, 2);
        assert_eq!(set("FirstStep", "42")?.publisher.first_step, Some(42));
        assert_eq!(set("StartAt", "After:41")?.subscriber.start_at, StartAt::After(StepId(41)));
        let condition = set("Condition", "has(x)")?.subscriber.condition;
        assert_eq!(condition.map(|condition| condition.to_string()), Some("has(x)".to_owned()));
        let both = set("OpenTimeoutSecs", "1.5")?;
        assert_eq!(both.publisher.link.open_timeout, Duration::from_millis(1500));
        assert_eq!(both.subscriber.link.open_timeout, Duration::from_millis(1500));
        assert_eq!(
            set("QueueFullPolicy", "EveryKth:3")?.subscriber.policy,
            QueuePolicy::EveryKth { every: 3, max_wait: Duration::from_secs(60) }
        );
        Ok(())
    }

    #[test]
    fn numbers_are_wanted_in_words() {
        let refused = |name, value| set(name, value).err().expect("refused");
        for value in ["0", "-1", "three", "1.5", "4294967296", ""] {
            assert_eq!(refused("QueueLimit", value), "a whole number from 1 to 4294967295 is expected");
        }
        assert_eq!(refused("LimitBytes", "0"), "a whole number from 1 to 18446744073709551615 is expected");
        assert_eq!(refused("QueueFullPolicy", "EveryKth:0"), refused("LimitBytes", "0"));
        for value in ["soon", "-1", "inf", ""] {
            assert_eq!(refused("SilenceSecs", value), "a number of seconds is expected, such as 2.5");
        }
        let refused = |name, value| set(name, value).err().expect("refused");
        assert_eq!(refused("StartAt", "41"), "Next, OldestReserved or After:<step> is expected");
        assert_eq!(refused("StartAt", "After:-1"), refused("FirstStep", "-1"));
        assert!(set("MinSubscribers", "0").is_ok() && set("ReserveQueueLimit", "0").is_ok());
    }

    #[test]
    fn tls_is_set_part_by_part() -> Result<(), String> {
        let mut settings = set("TlsKey", "key.pem")?;
        assert_eq!(settings.missing(), Some("TlsCertificate"));
        settings.tls(|tls| (tls.certificate, tls.authority) = ("own.pem".into(), "all.pem".into()));
        assert_eq!((settings.missing(), Settings::default().missing()), (None, None));
        let expected = TlsOptions::new("own.pem", "key.pem", "all.pem");
        assert_eq!(settings.subscriber.link.tls, Some(expected));
        Ok(())
    }

    #[test]
    fn a_device_and_a_fallback_are_for_both_ends() -> Result<(), String> {
        let both = set("VerbsDevice", "rxe0")?;
        let devices = [both.publisher.link.verbs_device, both.subscriber.link.verbs_device];
        assert_eq!(devices, [Some("rxe0".to_owned()), Some("rxe0".to_owned())]);
        assert!(
            set("ForbidFallback", "true")?.forbid_fallback && !set("ForbidFallback", "no")?.forbid_fallback
        );
        Ok(())
    }

    #[test]
    fn a_token_file_has_digits() -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = folder.path().join("run.token");
        let written = |content: &[u8]| std::fs::write(&file, content).map_err(|error| error.to_string());
        let path = file.to_str().ok_or("no text")?;
        written(format!("{}\n", "5a".repeat(32)).as_bytes())?;
        assert_eq!(set("TokenFile", path)?.publisher.link.token, Token::new([0x5a; 32]));
        written(&[0xff; 32])?;
        let refused = set("TokenFile", path).err().unwrap_or_default();
        assert!(refused.contains("64 hexadecimal digits") && refused.contains("od -An"), "{refused}");
        Ok(())
    }

    #[test]
    fn descriptors_are_kept_for_the_program() -> Result<(), String> {
        let both = set("KeptDescriptors", "300")?;
        let kept = [both.publisher.link.kept_descriptors, both.subscriber.link.kept_descriptors];
        assert_eq!(kept, [Some(300); 2]);
        Ok(())
    }

    #[test]
    fn an_access_file_is_read_when_it_is_named() -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = folder.path().join("access.toml");
        let path = file.to_str().ok_or("no text")?;
        std::fs::write(&file, "[[rule]]\nstream = '*'\nuid = 7\nmay = ['subscribe']\n")
            .map_err(|error| error.to_string())?;
        assert!(set("AccessFile", path)?.publisher.access.is_some());
        std::fs::write(&file, "[[rule]]\nstream = '*'\nuid = 7\nmay = ['steer']\n")
            .map_err(|error| error.to_string())?;
        let refused = set("AccessFile", path).err().unwrap_or_default();
        assert!(refused.starts_with(&format!("{path}, line 4: \"steer\" is no action")), "{refused}");
        Ok(())
    }

    #[test]
    fn listening_is_at_an_address_or_nowhere() -> Result<(), String> {
        let none = set("Listen", "none")?.publisher.link.tcp;
        assert_eq!(none, Some(ListenAddress::Nowhere));
        let some = set("Listen", "[::1]:0")?.subscriber.link.tcp;
        assert_eq!(
            some.and_then(ListenAddress::address).map(|address| address.to_string()).as_deref(),
            Some("[::1]:0")
        );
        assert_eq!(Settings::default().publisher.link.tcp, None);
        Ok(())
    }

    #[test]
    fn deployed_code_is_allowed_where_it_can_be_run() -> Result<(), String> {
        assert_eq!(set("DeployPolicy", "Nobody")?.publisher.deployment, DeployPolicy::Nobody);
        let refused = "Nobody, SameUid or Listed:<hash>,<hash>... is expected";
        assert_eq!(set("DeployPolicy", "Everybody").err().as_deref(), Some(refused));
        let hashes = [ModuleHash::of(b"one"), ModuleHash::of(b"other")];
        let listed = format!("Listed:{}, {}", hashes[0], hashes[1]);
        let limits = [("DeployMemoryBytes", "65536"), ("DeployFuel", "7"), ("DeployTimeSecs", "0.5")];
        let more = [("DeployPolicy", "SameUid"), ("DeployPolicy", &listed), ("DeployModuleBytes", "9")];
        let more = more.into_iter().chain([("DeployKeptBytes", "0")]);
        if !cfg!(feature = "wasm") {
            for (name, value) in limits.into_iter().chain(more) {
                let refused = set(name, value).err().unwrap_or_default();
                assert!(refused.contains("--features wasm"), "{name}={value}: {refused}");
            }
            return Ok(());
        }
        assert_eq!(set("DeployPolicy", "SameUid")?.publisher.deployment, DeployPolicy::SameUid);
        assert_eq!(set("DeployPolicy", &listed)?.publisher.deployment, DeployPolicy::Listed(hashes.into()));
        assert!(set("DeployPolicy", "Listed:").is_err() && set("DeployPolicy", "Listed:12").is_err());
        let set = |name: &str, value| Ok::<_, String>(set(name, value)?.publisher.deploy_limits);
        assert_eq!(set("DeployMemoryBytes", "65536")?.memory_bytes, 65536);
        assert_eq!(set("DeployKeptBytes", "0")?.kept_bytes, 0);
        assert_eq!((set("DeployFuel", "7")?.fuel, set("DeployModuleBytes", "9")?.module_bytes), (7, 9));
        assert_eq!(set("DeployTimeSecs", "0.5")?.time, Duration::from_millis(500));
        assert!(set("DeployFuel", "some").is_err());
        Ok(())
    }

    #[test]
    fn nonsense_is_refused() {
        for (name, value) in [
            ("QueueLimit", "many"),
            ("QueueFullPolicy", "Block:x"),
            ("OpenTimeoutSecs", "-1"),
            ("Listen", "here"),
            ("FirstTimestepPrecious", "perhaps"),
        ] {
            assert!(set(name, value).is_err(), "{name}={value}");
        }
    }
}
