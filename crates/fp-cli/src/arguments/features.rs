//! What the command line of `features` says.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fp_analysis::{Column, Connectivity, PeriodicDim, Threshold};
use fp_core::ListenAddress;

use super::seconds;
use crate::credentials::CredentialOptions;
use crate::failure::Failure;

/// Options of `features`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
  flexpath features heat --of 'temperature > 900'                 as stream heat-features, until heat ends
  flexpath features heat --of 'temperature > 900' --ranks 4 --neighbours 26 --periodic x,y
  flexpath features heat --of 'pressure < 0.1' --as voids --json
  flexpath features heat --of 'temperature > 900' --pictures births
  flexpath watch heat-features 'any(born.volume > 1000)'          a feature of more than 1000 elements is born
  srun -n 4 sh -c 'flexpath features heat --of \"T > 900\" --ranks 4 --rank $SLURM_PROCID'

Ids stay as long as features of steps that follow one another share elements. Of several the one that shares most keeps
the id. docs/features.md says what stands in a step of the features' stream.")]
pub(crate) struct FeaturesOptions {
    /// The stream's name, as `flexpath ls` shows it
    pub(crate) stream: String,
    /// Which elements of which variable count: with >, >=, < or <=. NaN never does
    #[arg(long, value_name = "VARIABLE > NUMBER")]
    pub(crate) of: Threshold,
    /// The stream of features; {} is the name of the stream that is taken
    #[arg(long = "as", value_name = "NAME", default_value = "{}-features")]
    pub(crate) published: String,
    /// Which elements are neighbours: `faces` or `all`, or how many: 4 or 8 in two dimensions, 6 or 26 in three
    #[arg(long, value_name = "N", default_value = "faces")]
    pub(crate) neighbours: Connectivity,
    /// The dimensions in which the last element is a neighbour of the first: names, or numbers from 0 on
    #[arg(long, value_name = "DIMENSIONS", value_delimiter = ',', value_parser = dimension)]
    pub(crate) periodic: Vec<PeriodicDim>,
    /// Two columns that are correlated: volume, growth, age, min, max, peak, mean or variance
    #[arg(long, value_name = "COLUMN,COLUMN", default_value = "volume,peak", value_parser = columns)]
    pub(crate) correlate: (Column, Column),
    /// How many ranks share the array: threads of this process, unless --rank is said
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) ranks: u32,
    /// This process is one of these ranks alone, and others are processes too. Rank 0 publishes the features
    #[arg(long, value_name = "R")]
    pub(crate) rank: Option<u32>,
    /// Draws each step with an event: the features by their ids, which keep their colours. Of three dimensions the first
    /// feature along the first one is seen. Said to all ranks, if these are processes; rank 0 draws
    #[arg(long, value_name = "DIR")]
    pub(crate) pictures: Option<PathBuf>,
    /// Prints one JSON object a line for each step
    #[arg(long)]
    pub(crate) json: bool,
    /// Never lets the publisher wait: old steps are dropped, and features followed over the gap
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Ends after that many steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: Option<u64>,
    /// How long a publisher that is lost is awaited
    #[arg(long = "await", value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) awaits: Duration,
    /// Waits for so many subscribers of the features before their first step
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) subscribers: u32,
    /// Keeps so many of the last steps of features for those who come late
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) reserve: u32,
    /// How long to wait for the stream, for other ranks, and for --subscribers
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Where ranks listen for others [default: FLEXPATH_LISTEN, else loopback]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<ListenAddress>,
    /// Who this is, and who is let in.
    #[command(flatten)]
    pub(crate) credentials: CredentialOptions,
}

impl FeaturesOptions {
    /// Under which name features are published.
    pub(crate) fn published(&self) -> Result<String, Failure> {
        let published = self.published.replace("{}", &self.stream);
        match published == self.stream {
            true => Err(Failure::Usage("features are published under another name: see --as".to_owned())),
            false => Ok(published),
        }
    }
}

fn dimension(text: &str) -> Result<PeriodicDim, String> {
    if text.is_empty() { Err("a dimension has a name or a number".to_owned()) } else { Ok(text.into()) }
}

fn columns(text: &str) -> Result<(Column, Column), String> {
    let (one, other) = text.split_once(',').ok_or("two columns are expected, such as volume,peak")?;
    let column = |text: &str| text.trim().parse::<Column>().map_err(|error| error.to_string());
    Ok((column(one)?, column(other)?))
}
