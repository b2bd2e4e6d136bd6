//! Runs a private S3 server: a bucket over a temporary folder, on a free local port.

use std::convert::Infallible;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use s3s::Body;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use server::store::{BucketVariables, StoreAddress};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// Name of the bucket, and the prefix of the object names.
const BUCKET: &str = "snapshots";
const PREFIX: &str = "test";

/// Credentials of the bucket.
const KEY: &str = "test-key";
const SECRET: &str = "test-secret";

/// Behaviour of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Fine,
    /// Answers every request with status 500.
    Fails,
    Hangs,
    /// Closes the connection without an answer.
    Drops,
}

/// S3 server with one bucket, which stops when dropped.
#[derive(Debug)]
pub struct S3 {
    address: SocketAddr,
    folder: TempDir,
    mood: Arc<Mutex<Mood>>,
    // The last field, so that the runtime that serves requests is dropped last.
    _runtime: Runtime,
}

impl S3 {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join(BUCKET)).expect("room");
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).expect("a folder"));
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let service = builder.build();
        let mood = Arc::new(Mutex::new(Mood::Fine));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a thread");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("an address");
        runtime.spawn(serve(listener, service, Arc::clone(&mood)));
        Self { address, folder, mood, _runtime: runtime }
    }

    /// Returns the value of the setting `store` for the bucket.
    pub fn store(&self) -> String {
        format!("s3://{BUCKET}/{PREFIX}")
    }

    /// Returns the environment variables that a process needs for the bucket.
    pub fn variables(&self) -> Vec<(String, String)> {
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            variable("AWS_ENDPOINT_URL", &format!("http://{}", self.address)),
            variable("AWS_REGION", "us-east-1"),
            variable("AWS_ACCESS_KEY_ID", KEY),
            variable("AWS_SECRET_ACCESS_KEY", SECRET),
        ]
    }

    /// Returns the same address as [`Self::store`] and [`Self::variables`], for a store in this process.
    pub fn address(&self) -> StoreAddress {
        let address = StoreAddress::parse(&self.store()).expect("an address");
        address.with_variables(BucketVariables::new(self.variables()))
    }

    /// Changes the behaviour from the next request on.
    pub fn set_mood(&self, mood: Mood) {
        *self.mood.lock().unwrap_or_else(PoisonError::into_inner) = mood;
    }

    /// Returns the folder where an object is a file of the same path.
    pub fn objects(&self) -> &Path {
        self.folder.path()
    }
}

/// Accepts connections until the runtime ends.
async fn serve(listener: TcpListener, service: S3Service, mood: Arc<Mutex<Mood>>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(connection(stream, service.clone(), Arc::clone(&mood)))),
            // No file descriptor is free at this moment.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Serves one connection until it ends or the client closes it.
async fn connection(stream: TcpStream, service: S3Service, mood: Arc<Mutex<Mood>>) {
    let answer = service_fn(|request: Request<Incoming>| {
        let (service, mood) = (service.clone(), Arc::clone(&mood));
        async move { answer(request, service, &mood).await }
    });
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

/// Answers according to the mood; an error closes the connection.
async fn answer(
    request: Request<Incoming>,
    service: S3Service,
    mood: &Mutex<Mood>,
) -> Result<Response<Body>, std::io::Error> {
    let mood = *mood.lock().unwrap_or_else(PoisonError::into_inner);
    match mood {
        Mood::Fine => {
            service.call(request.map(Body::from)).await.map_err(|error| std::io::Error::other(format!("{error:?}")))
        }
        Mood::Fails => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            Ok(response)
        }
        Mood::Hangs => std::future::pending::<Result<_, Infallible>>().await.map_err(|never| match never {}),
        Mood::Drops => Err(std::io::ErrorKind::ConnectionAborted.into()),
    }
}
