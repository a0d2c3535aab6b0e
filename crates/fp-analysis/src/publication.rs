//! The stream of features: a step for each step of the stream that is taken, under its number.

use fp_core::{Dims, Element, Publisher, Region, StepWriter, Variable, VariableError};

use crate::error::AnalysisError;
use crate::options::AnalysisOptions;
use crate::track::{EventKind, TrackedFeature, TrackedStep};

/// Steps that may be missing before one, so that numbers go on. Behind a longer gap the stream opens anew.
const LIMIT_GAP: u64 = 100_000;

/// The stream of features, as soon as there is a step.
pub(crate) struct Publication<'o> {
    options: &'o AnalysisOptions,
    /// And the number of the step that begins next.
    open: Option<(Publisher, u64)>,
}

impl<'o> Publication<'o> {
    pub(crate) fn new(options: &'o AnalysisOptions) -> Self {
        Self { options, open: None }
    }

    /// Publishes the features of a step of so many dimensions, or in words why there are none.
    pub(crate) fn publish(
        &mut self,
        step: u64,
        content: Result<(&TrackedStep, usize), &str>,
    ) -> Result<(), AnalysisError> {
        let mut writer = self.begin(step)?;
        match content {
            Ok((tracked, ndims)) => Columns { writer: &mut writer, ndims }.put(tracked)?,
            Err(why) => {
                let why = why.chars().take(1000).collect::<String>();
                writer.put_text(&Variable::text("unlabelled")?, &why)?;
            }
        }
        Ok(writer.end()?)
    }

    /// Waits until all is taken.
    pub(crate) fn close(self) -> Result<(), AnalysisError> {
        self.open.map_or(Ok(()), |(publisher, _)| Ok(publisher.close()?))
    }

    fn begin(&mut self, step: u64) -> Result<StepWriter, AnalysisError> {
        let goes_on = |next: u64| (next..next.saturating_add(LIMIT_GAP)).contains(&step);
        if let Some((publisher, _)) = self.open.take_if(|(_, next)| !goes_on(*next)) {
            publisher.close()?;
        }
        if self.open.is_none() {
            let publisher = Publisher::open(&self.options.published, self.options.publication(step))?;
            self.open = Some((publisher, step));
        }
        loop {
            let Some((publisher, next)) = &mut self.open else { return self.begin(step) };
            // Nobody gets steps that were not there: no room is needed for them.
            let begun = *next;
            *next += 1;
            match begun == step {
                true => return Ok(publisher.begin_step()?),
                false => publisher.begin_stored_step()?.abandon(),
            }
        }
    }
}

/// Writes what is known of a step, an array for each kind of number.
struct Columns<'w> {
    writer: &'w mut StepWriter,
    ndims: usize,
}

impl Columns<'_> {
    fn put(&mut self, tracked: &TrackedStep) -> Result<(), AnalysisError> {
        self.put_statistics(tracked)?;
        self.put_features(&tracked.features)?;
        self.put_places(&tracked.features)?;
        self.put_events(tracked)
    }

    fn put_statistics(&mut self, tracked: &TrackedStep) -> Result<(), AnalysisError> {
        self.writer.put_scalar(&Variable::scalar::<u64>("features")?, tracked.features.len() as u64)?;
        let statistics = &tracked.statistics;
        for (name, number) in [
            ("volume.mean", statistics.volume_mean),
            ("volume.variance", statistics.volume_variance),
            ("correlation", statistics.correlation),
        ] {
            self.writer.put_scalar(&Variable::scalar::<f64>(name)?, number)?;
        }
        Ok(())
    }

    fn put_features(&mut self, of: &[TrackedFeature]) -> Result<(), AnalysisError> {
        self.column("id", of, |of| of.id)?;
        self.column("age", of, |of| of.age)?;
        self.column("growth", of, |of| of.growth)?;
        self.column("volume", of, |of| of.feature.volume)?;
        self.column("min", of, |of| of.feature.min)?;
        self.column("max", of, |of| of.feature.max)?;
        self.column("peak", of, |of| of.feature.peak)?;
        self.column("mean", of, |of| of.feature.mean)?;
        self.column("variance", of, |of| of.feature.variance)?;
        self.column("life.correlation", of, |of| of.correlation)
    }

    fn put_places(&mut self, of: &[TrackedFeature]) -> Result<(), AnalysisError> {
        let dims = [self.ndims as u64];
        self.rows("first", &dims, of, |of| of.feature.first.clone())?;
        self.rows("centroid", &dims, of, |of| of.feature.centroid.clone())?;
        self.rows("low", &dims, of, |of| of.feature.low.clone())?;
        self.rows("high", &dims, of, |of| of.feature.high.clone())?;
        self.rows("min.place", &dims, of, |of| of.feature.min_place.clone())?;
        self.rows("max.place", &dims, of, |of| of.feature.max_place.clone())?;
        self.rows("peak.place", &dims, of, |of| of.feature.peak_place.clone())?;
        self.rows("wraps", &dims, of, |of| of.feature.wraps.iter().map(|&wraps| u8::from(wraps)).collect())?;
        self.rows("covariance", &[dims[0], dims[0]], of, |of| of.feature.covariance.clone())
    }

    fn put_events(&mut self, tracked: &TrackedStep) -> Result<(), AnalysisError> {
        self.column("event.kind", &tracked.events, |event| event.kind as u8)?;
        self.column("event.id", &tracked.events, |event| event.id)?;
        self.column("event.other", &tracked.events, |event| event.other.unwrap_or(0))?;
        self.column("died.id", &tracked.died, |(id, _)| *id)?;
        self.column("died.volume", &tracked.died, |(_, volume)| *volume)?;
        for (kind, id, volume) in [
            (EventKind::Birth, "born.id", "born.volume"),
            (EventKind::Merge, "merged.id", "merged.volume"),
            (EventKind::Split, "split.id", "split.volume"),
        ] {
            let made: Vec<&TrackedFeature> = tracked.made_by(kind).collect();
            self.column(id, &made, |of| of.id)?;
            self.column(volume, &made, |of| of.feature.volume)?;
        }
        Ok(())
    }

    fn column<I, T: Element>(
        &mut self,
        name: &str,
        of: &[I],
        value: impl Fn(&I) -> T,
    ) -> Result<(), AnalysisError> {
        self.rows(name, &[], of, |one| vec![value(one)])
    }

    /// An array with a row for each of them.
    fn rows<I, T: Element>(
        &mut self,
        name: &str,
        row: &[u64],
        of: &[I],
        values: impl Fn(&I) -> Vec<T>,
    ) -> Result<(), AnalysisError> {
        let shape: Vec<u64> = [of.len() as u64].iter().chain(row).copied().collect();
        let variable = Variable::global::<T>(name, &shape)?;
        let dims = |of: &[u64]| Dims::from_slice(of).map_err(VariableError::from);
        let start = vec![0; shape.len()];
        // As many dimensions on both sides, and no more than there can be.
        if let Ok(region) = Region::new(dims(&start)?, dims(&shape)?) {
            self.writer.put(&variable, &region, of.iter().flat_map(values).collect())?;
        }
        Ok(())
    }
}
