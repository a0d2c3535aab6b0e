//! Certificate, key and authority as read from their files, ready for any number of links.

use super::cipher::Cipher;
use super::files::Files;
use super::options::{TlsError, TlsOptions};
use super::verifier::NamedClients;
use crate::secret_file;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ClientConnection, Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, DnsName, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{ServerConnection, WebPkiClientVerifier};
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, Error, RootCertStore, ServerConfig};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Who this side is and whom it trusts, for [`crate::ListenOptions`] and [`crate::DialOptions`].
#[derive(Clone)]
pub struct TlsIdentity {
    dialling: Arc<ClientConfig>,
    listening: Arc<ServerConfig>,
    name: ServerName<'static>,
    files: Arc<Files>,
}

impl TlsOptions {
    /// Reads and checks the files.
    ///
    /// # Errors
    /// [`TlsError`], naming the file.
    pub fn load(&self) -> Result<TlsIdentity, TlsError> {
        let name = server_name(&self.name)?;
        let chain = certificates("certificate", &self.certificate)?;
        let roots = authorities(&self.authority)?;
        // Named, never the process's default: a program may use another provider for its own ends.
        let provider = Arc::new(ring::default_provider());
        let listeners = WebPkiServerVerifier::builder_with_provider(roots.clone(), provider.clone())
            .build()
            .map_err(unreadable("authority", &self.authority))?;
        let diallers = WebPkiClientVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .map_err(unreadable("authority", &self.authority))?;
        check_own(self, &chain, listeners.as_ref(), &name)?;
        let diallers = Arc::new(NamedClients { chain: diallers, name: name.clone() });
        secret_file::look_at("private key", &self.key);
        let key = || private_key(&self.key);
        let unusable = |error: Error| TlsError::Unusable {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            error: error.to_string(),
        };
        Ok(TlsIdentity {
            dialling: Arc::new(dialling(&provider, listeners, chain.clone(), key()?).map_err(unusable)?),
            listening: Arc::new(listening(&provider, diallers, chain, key()?).map_err(unusable)?),
            name,
            files: Arc::new(Files {
                certificate: self.certificate.clone(),
                authority: self.authority.clone(),
                name: self.name.clone(),
            }),
        })
    }
}

impl TlsIdentity {
    /// The dialler's end of a new connection.
    pub(crate) fn dial(&self) -> Result<Cipher, Error> {
        let connection = ClientConnection::new(self.dialling.clone(), self.name.clone())?;
        Ok(Cipher::new(connection.into(), self.files.clone()))
    }

    /// The listener's end of a new connection.
    pub(crate) fn listen(&self) -> Result<Cipher, Error> {
        let connection = ServerConnection::new(self.listening.clone())?;
        Ok(Cipher::new(connection.into(), self.files.clone()))
    }
}

impl fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TlsIdentity").field(&self.files).finish()
    }
}

fn server_name(name: &str) -> Result<ServerName<'static>, TlsError> {
    let wrong = |_| TlsError::Name { name: name.to_owned() };
    Ok(ServerName::DnsName(DnsName::try_from(name.to_owned()).map_err(wrong)?))
}

/// A file that holds nothing of the kind.
fn unreadable<E: fmt::Display>(what: &'static str, path: &Path) -> impl FnOnce(E) -> TlsError {
    move |error| TlsError::File { what, path: path.to_owned(), error: error.to_string() }
}

fn certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = CertificateDer::pem_file_iter(path).and_then(|found| found.collect::<Result<Vec<_>, _>>());
    let found = found.map_err(unreadable(what, path))?;
    if found.is_empty() { Err(unreadable(what, path)("it holds none")) } else { Ok(found) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path).map_err(unreadable("private key", path))
}

fn authorities(path: &Path) -> Result<Arc<RootCertStore>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates("authority", path)? {
        roots.add(certificate).map_err(unreadable("authority", path))?;
    }
    Ok(Arc::new(roots))
}

/// Looks at the own certificate as a peer with the same authority would. One that is out of date is of use to nobody.
/// But a peer may be meant to trust another authority than this side, or to expect another name.
fn check_own(
    options: &TlsOptions,
    chain: &[CertificateDer<'static>],
    peers: &dyn ServerCertVerifier,
    name: &ServerName<'static>,
) -> Result<(), TlsError> {
    let Some((own, others)) = chain.split_first() else { return Ok(()) };
    let Err(error) = peers.verify_server_cert(own, others, name, &[], UnixTime::now()) else { return Ok(()) };
    let dated = matches!(
        &error,
        Error::InvalidCertificate(
            CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. }
        )
    );
    let path = options.certificate.clone();
    if dated {
        return Err(TlsError::OutOfDate { path, error: error.to_string() });
    }
    tracing::warn!(certificate = %path.display(), %error, "a peer configured like this side would refuse its certificate");
    Ok(())
}

fn dialling(
    provider: &Arc<CryptoProvider>,
    verifier: Arc<WebPkiServerVerifier>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ClientConfig, Error> {
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .with_webpki_verifier(verifier)
        .with_client_auth_cert(chain, key)?;
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok(config)
}

fn listening(
    provider: &Arc<CryptoProvider>,
    verifier: Arc<NamedClients>,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, Error> {
    let mut config = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)?;
    config.send_tls13_tickets = 0;
    Ok(config)
}
