//! Peers and listeners that speak TLS as the library alone does, and a wire that is listened on.
#![allow(dead_code, unreachable_pub)] // each test binary uses its part

use super::certificates::{Authority, Issued};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

pub type Dialler = StreamOwned<ClientConnection, TcpStream>;

fn roots(authority: &Authority) -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority.path()).expect("a certificate")).expect("an authority");
    Arc::new(roots)
}

fn chain(path: &Path) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_file_iter(path).expect("a file").map(|found| found.expect("a certificate")).collect()
}

fn key(path: &Path) -> PrivateKeyDer<'static> {
    PrivateKeyDer::from_pem_file(path).expect("a key")
}

/// Dials with TLS and shows this certificate, or none.
pub fn dial_with(authority: &Authority, shown: Option<&Issued>, address: SocketAddr) -> Dialler {
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots(authority));
    let config = match shown {
        Some(shown) => {
            config.with_client_auth_cert(chain(&shown.certificate), key(&shown.key)).expect("sound")
        }
        None => config.with_no_client_auth(),
    };
    let name = ServerName::try_from("flexpath").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a connection");
    StreamOwned::new(connection, TcpStream::connect(address).expect("it listens"))
}

/// Listens with TLS and shows this certificate to one dialler.
pub fn listen_with(authority: &Authority, shown: &Issued) -> (SocketAddr, JoinHandle<()>) {
    let provider = Arc::new(default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots(authority), provider.clone()).build();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier.expect("an authority"))
        .with_single_cert(chain(&shown.certificate), key(&shown.key))
        .expect("sound");
    let connection = ServerConnection::new(Arc::new(config)).expect("a connection");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound");
    let serving = thread::spawn(move || {
        let (socket, _) = listener.accept().expect("a dialler");
        let _ = StreamOwned::new(connection, socket).read(&mut [0; 1]);
    });
    (address, serving)
}

/// A wire between a dialler and a listener, on which somebody listens, and changes or cuts.
pub struct Wire {
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<u8>>>,
    change: Arc<Mutex<bool>>,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    /// For one connection.
    pub fn to(listener: SocketAddr) -> Wire {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
        let wire = Wire {
            address: socket.local_addr().expect("bound"),
            heard: Arc::default(),
            change: Arc::default(),
            ends: Arc::default(),
        };
        let (heard, change, ends) = (wire.heard.clone(), wire.change.clone(), wire.ends.clone());
        thread::spawn(move || {
            let (near, _) = socket.accept().expect("a dialler");
            let far = TcpStream::connect(listener).expect("it listens");
            ends.lock().expect("no panic").extend([clone(&near), clone(&far)]);
            let (heard_there, change_there) = (heard.clone(), change.clone());
            let (near_end, far_end) = (clone(&near), clone(&far));
            thread::spawn(move || forward(near_end, far_end, &heard_there, &change_there));
            forward(far, near, &heard, &change);
        });
        wire
    }

    /// Whether these bytes went over it in clear.
    pub fn heard(&self, bytes: &[u8]) -> bool {
        self.heard.lock().expect("no panic").windows(bytes.len()).any(|window| window == bytes)
    }

    pub fn heard_bytes(&self) -> usize {
        self.heard.lock().expect("no panic").len()
    }

    /// From now on the last byte of whatever comes is another one.
    pub fn change(&self) {
        *self.change.lock().expect("no panic") = true;
    }

    /// Ends both directions in the politest way that the network has.
    pub fn cut(&self) {
        for end in &*self.ends.lock().expect("no panic") {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

fn clone(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("a descriptor")
}

fn forward(mut from: TcpStream, mut to: TcpStream, heard: &Mutex<Vec<u8>>, change: &Mutex<bool>) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(received @ 1..) = from.read(&mut bytes) {
        heard.lock().expect("no panic").extend_from_slice(&bytes[..received]);
        if *change.lock().expect("no panic") {
            bytes[received - 1] ^= 1;
        }
        if to.write_all(&bytes[..received]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
