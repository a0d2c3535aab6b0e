//! A transform of several streams into one: a function takes a window, and makes a step of it. (Multi-queue stones of the
//! Flexpath paper, section IV.A.1.)

use std::time::Duration;

use fp_core::{Publisher, StepWriter, StreamEnding};

use crate::error::{PublishError, TransformFailure};
use crate::window::Window;
use crate::windows::{NextWindow, Windows};

/// What was published of windows.
#[derive(Debug)]
#[non_exhaustive]
pub struct PublishedWindows {
    /// Windows, and so steps.
    pub windows: u64,
    /// The stream that ended, and how; `None` if no window came in time.
    pub ended: Option<(String, StreamEnding)>,
}

impl Windows {
    /// Publishes a step for each window, until a stream ends or no window comes within `timeout`. The function puts into the
    /// step what it makes of the window. Each rank of a publishing cohort calls it, with windows of its own.
    ///
    /// # Errors
    /// As [`Windows::next`]; a step that cannot be begun or ended. The function failed: then its step is given up, and the
    /// next call goes on with the window behind.
    pub fn publish(
        &mut self,
        publisher: &mut Publisher,
        timeout: Duration,
        mut transform: impl FnMut(&Window, &mut StepWriter) -> Result<(), TransformFailure>,
    ) -> Result<PublishedWindows, PublishError> {
        let mut published = PublishedWindows { windows: 0, ended: None };
        loop {
            match self.next(timeout)? {
                NextWindow::Window(window) => {
                    let mut writer = publisher.begin_step()?;
                    transform(&window, &mut writer).map_err(|source| failed(&window, source))?;
                    writer.end()?;
                    published.windows += 1;
                }
                NextWindow::Missing { .. } => {}
                NextWindow::NotYet => return Ok(published),
                NextWindow::Ended { stream, ending } => {
                    published.ended = Some((stream, ending));
                    return Ok(published);
                }
            }
        }
    }
}

fn failed(window: &Window, source: TransformFailure) -> PublishError {
    PublishError::Transform { first: window.first().key(), last: window.last().key(), source }
}
