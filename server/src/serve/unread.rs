//! Closes connections whose request body was not read to its end.
//!
//! actix-web does so while somebody holds the body. Once it is dropped, the rest of a chunked body is awaited without a
//! limit, and a client that sends none holds a connection for ever.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use actix_web::{Error, HttpMessage as _};
use futures_util::stream::{Stream, StreamExt as _};

/// Outermost middleware: holds what is left of a request body until its response is sent.
pub(crate) async fn close_unread(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let payload = request.take_payload();
    if matches!(payload, Payload::None) {
        return Ok(next.call(request).await?.map_into_left_body());
    }
    let body = Body(Rc::new(RefCell::new(payload)));
    request.set_payload(Payload::Stream { payload: Box::pin(body.clone()) });
    let response = next.call(request).await?;
    Ok(response.map_body(|_, answer| Answer { answer: answer.boxed(), _body: body }).map_into_right_body())
}

/// A request body that its handler and this middleware hold.
#[derive(Clone)]
struct Body(Rc<RefCell<Payload>>);

impl Stream for Body {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.borrow_mut().poll_next_unpin(context)
    }
}

/// A response body that holds the body of its request.
struct Answer {
    answer: BoxBody,
    _body: Body,
}

impl MessageBody for Answer {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.answer.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.answer).poll_next(context)
    }
}
