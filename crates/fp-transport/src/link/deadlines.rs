//! Calls of a link that wait, each with a deadline, for straight-line users.

use super::Link;
use super::error::LinkError;
use super::outbox::Flushed;
use crate::frame::{InFrame, OutFrame};
use crate::socket::{wait_for, wait_for_any};
use rustix::event::PollFlags;
use std::io::{self, IoSliceMut};
use std::os::fd::AsFd;
use std::time::Instant;

impl Link {
    /// Sends a frame and waits until all of it is written.
    ///
    /// # Errors
    /// [`LinkError::Deadline`], and as [`Link::send`] but for [`LinkError::Full`]: it waits for room.
    pub fn send_all(&mut self, frame: OutFrame, deadline: Instant) -> Result<(), LinkError> {
        while !self.has_room(frame.wire_len()) {
            self.await_event(PollFlags::OUT, "room to send", deadline)?;
            self.flush()?;
        }
        self.send(frame)?;
        self.flush_all(deadline)
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// [`LinkError::Deadline`], and as [`Link::flush`].
    pub fn flush_all(&mut self, deadline: Instant) -> Result<(), LinkError> {
        while self.flush()? == Flushed::Pending {
            self.await_event(PollFlags::OUT, "the peer to read", deadline)?;
        }
        Ok(())
    }

    /// Waits for the next frame.
    ///
    /// # Errors
    /// [`LinkError::Deadline`], and as [`Link::recv`].
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<InFrame, LinkError> {
        loop {
            if let Some(frame) = self.recv()? {
                return Ok(frame);
            }
            self.await_event(PollFlags::IN, "a frame", deadline)?;
        }
    }

    /// Fills `destination` from the body, waiting for its bytes. Says how many bytes: fewer than asked for only where
    /// the body is shorter.
    ///
    /// # Errors
    /// [`LinkError::Deadline`], and as [`Link::recv_body`].
    pub fn recv_body_deadline(
        &mut self,
        destination: &mut [u8],
        deadline: Instant,
    ) -> Result<usize, LinkError> {
        let mut filled = 0;
        while filled < destination.len() && self.body_remaining() > 0 {
            let received = self.recv_body(&mut [IoSliceMut::new(&mut destination[filled..])])?;
            filled += received;
            if received == 0 {
                self.await_event(PollFlags::IN, "the body of a frame", deadline)?;
            }
        }
        Ok(filled)
    }

    /// Flushes, says that nothing more will be sent, and waits until the peer has done the same: then everything has
    /// arrived. Frames that still come are thrown away.
    ///
    /// # Errors
    /// [`LinkError::Deadline`], and as [`Link::flush`].
    pub fn finish(mut self, deadline: Instant) -> Result<(), LinkError> {
        self.flush_all(deadline)?;
        self.end_sending();
        loop {
            match self.discard_one() {
                Err(LinkError::Closed) => return Ok(()),
                Ok(true) => {}
                Ok(false) => self.await_event(PollFlags::IN, "the peer to close", deadline)?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Throws away what is here; `false` if that is nothing.
    fn discard_one(&mut self) -> Result<bool, LinkError> {
        if self.body_remaining() > 0 {
            return Ok(self.skip_body()? == 0);
        }
        Ok(self.recv()?.is_some())
    }

    /// Waits until something can be received or the deadline is over; says which. Also for a link that is not armed.
    /// What is here already must have been received: a part of a frame is nothing.
    ///
    /// # Errors
    /// What the system said.
    pub fn await_readable(&mut self, deadline: Instant) -> io::Result<bool> {
        if self.channel.stream().is_some_and(|stream| stream.look(deadline)) {
            return Ok(true);
        }
        let armed = self.rings.armed;
        let here = self.arm(true);
        let came = if here { Ok(true) } else { wait_for(self.as_fd(), PollFlags::IN, deadline) };
        self.rings.arm(armed);
        came
    }

    /// The same for several links; says of each whether it has something.
    ///
    /// # Errors
    /// What the system said.
    pub fn await_any(links: &mut [&mut Link], deadline: Instant) -> io::Result<Vec<bool>> {
        if let Some(came) = look_at_all(links, deadline) {
            return Ok(came);
        }
        let armed: Vec<bool> = links.iter().map(|link| link.rings.armed).collect();
        let here: Vec<bool> = links.iter_mut().map(|link| link.has_buffered() || link.arm(true)).collect();
        let came = match here.contains(&true) {
            true => Ok(here),
            false => wait_for_any(links.iter().map(|link| link.as_fd()), deadline),
        };
        links.iter_mut().zip(armed).for_each(|(link, armed)| link.rings.arm(armed));
        came
    }

    fn await_event(
        &mut self,
        events: PollFlags,
        waiting_for: &'static str,
        deadline: Instant,
    ) -> Result<(), LinkError> {
        let came = match events {
            PollFlags::IN => self.await_readable(deadline),
            _ => self.channel.await_room(deadline),
        };
        match came {
            Ok(true) => Ok(()),
            Ok(false) => Err(LinkError::Deadline { waiting_for }),
            Err(error) => Err(LinkError::Lost(error)),
        }
    }
}

/// Looks at links over verbs again and again, as long as one of them alone would; what came, if anything did.
fn look_at_all(links: &mut [&mut Link], deadline: Instant) -> Option<Vec<bool>> {
    let longest = links.iter_mut().filter_map(|link| Some(link.channel.stream()?.busy_poll())).max();
    let until = deadline.min(Instant::now() + longest?);
    while Instant::now() < until {
        let glance = |link: &mut &mut Link| link.channel.stream().is_some_and(|stream| stream.glance());
        let came: Vec<bool> = links.iter_mut().map(glance).collect();
        if came.contains(&true) {
            return Some(came);
        }
        std::hint::spin_loop();
    }
    None
}
