//! An authority of a test's own and the certificates that it signs, as files, removed at the end.
#![allow(dead_code, unreachable_pub)] // each test binary uses its part

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Signs certificates.
pub struct Authority {
    directory: PathBuf,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// The files of a certificate: itself, its key.
pub struct Issued {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Authority {
    pub fn new() -> Authority {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("flexpath-authority-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(&name);
        fs::create_dir_all(&directory).expect("a directory");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("signed");
        fs::write(directory.join("authority.pem"), issuer.pem()).expect("written");
        Authority { directory, issuer }
    }

    pub fn path(&self) -> PathBuf {
        self.directory.join("authority.pem")
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A certificate that is valid now, for this name.
    pub fn issue(&self, name: &str) -> Issued {
        self.issue_between(name, 1975, 4096)
    }

    /// A certificate that is valid now, for these names.
    pub fn issue_for(&self, names: &[&str]) -> Issued {
        self.sign(names, 1975, 4096)
    }

    /// A certificate that is valid between these years.
    pub fn issue_between(&self, name: &str, first: i32, last: i32) -> Issued {
        self.sign(&[name], first, last)
    }

    fn sign(&self, names: &[&str], first: i32, last: i32) -> Issued {
        let listed = names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let name = names.join("-");
        let mut params = CertificateParams::new(listed).expect("names");
        (params.not_before, params.not_after) = (date_time_ymd(first, 1, 1), date_time_ymd(last, 1, 1));
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        let file = |kind| self.directory.join(format!("{name}-{last}-{kind}.pem"));
        let issued = Issued { certificate: file("certificate"), key: file("key") };
        fs::write(&issued.certificate, certificate.pem()).expect("written");
        fs::write(&issued.key, key.serialize_pem()).expect("written");
        issued
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}
