//! A picture of a step in which something happened to features: each in the colour of its id.

use std::path::Path;

use fp_analysis::{AnalysedStep, FeatureMap, TrackedStep};
use fp_core::StepId;
use fp_pictures::IdMap;

use super::line::texts;
use crate::arguments::FeaturesOptions;
use crate::failure::Failure;

/// More events than that are not written below.
const LIMIT_EVENTS: usize = 12;

/// Draws a step into a file of its own: one that is there already stays as it is, and is an error.
pub(super) fn draw(
    folder: &Path,
    options: &FeaturesOptions,
    step: &AnalysedStep<'_>,
    (tracked, map): (&TrackedStep, &FeatureMap),
) -> Result<(), Failure> {
    let wrong = |error: fp_pictures::PictureError| Failure::NotDrawn {
        stream: options.stream.clone(),
        step: StepId(step.step),
        variable: options.of.variable().to_owned(),
        what: error.to_string(),
    };
    let path = folder.join(format!("{}-{}.png", options.published()?, step.step));
    if path.exists() {
        return Err(Failure::Usage(format!("{} is there already: name another folder", path.display())));
    }
    let title = [format!("{}, step {}", options.stream, step.step), format!("features of {}", options.of)];
    let mut events = texts(step);
    if let Some(more) = events.len().checked_sub(LIMIT_EVENTS).filter(|more| *more > 0) {
        events.truncate(LIMIT_EVENTS);
        events.push(format!("and {more} more"));
    }
    let listed =
        tracked.features.iter().map(|of| (of.id, format!("{}: {} elements", of.id, of.feature.volume)));
    let picture = IdMap::new(map.shape, &map.ids).map_err(wrong)?;
    let drawn = picture.with_title(title).with_footer(events).with_list(listed).draw();
    drawn.picture.write_png(&path).map_err(wrong)
}
