//! What is measured, and what stands beside what.

use crate::copies::Tool;
use crate::course::{Course, Place, Road};
use crate::data::PART_BYTES;
use std::fmt;

const BLOCKS: [u64; 4] = [64 << 10, 1 << 20, 16 << 20, 256 << 20];
/// No data set has more blocks than one in blocks of so many bytes: the stager has a descriptor for each step in memory.
const LEAST_BYTES: u64 = 1 << 20;
/// The data set of a virtual machine, each of whose instructions is translated.
const EMULATED_BYTES: u64 = 64 << 20;
const PLACES: [Place; 2] = [Place::Memory, Place::Disk];
const ROADS: [Road; 2] = [Road::Shared, Road::Gate];
/// Data sets of figure 5.
const SIZES: [u64; 3] = [256 << 20, 1 << 30, 5 << 30];
/// Threads of the paper's clients: ranks of ours, and programs that copy at once.
const THREADS: [u32; 2] = [1, 4];

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Run {
    /// Ours.
    Ours(Course),
    /// Files are copied, by so many programs at once.
    Copied { tool: Tool, at_once: u32, place: Place, data_bytes: u64 },
    /// A connection that is forwarded twice by ssh.
    Tunnelled { data_bytes: u64 },
}

/// One beside another.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) ours: Run,
    pub(crate) other: Run,
}

/// All rows. Data sets have so many bytes but where they vary.
pub(crate) fn rows(data_bytes: u64, has_rsync: bool) -> Vec<Row> {
    let mut rows: Vec<Row> = by_block(3, 1, data_bytes);
    rows.extend(by_block(4, 4, data_bytes));
    rows.extend(by_size());
    let tools = [Tool::Scp, Tool::Rsync].into_iter().filter(|tool| *tool == Tool::Scp || has_rsync);
    rows.extend(tools.flat_map(|tool| by_tool(tool, data_bytes)));
    let ours = Run::Ours(course(PART_BYTES, (1, Road::Tls, Place::Memory), data_bytes));
    let other = Run::Tunnelled { data_bytes };
    rows.push(Row { name: "6: tls, memory, of ssh -L twice".to_owned(), ours, other });
    rows
}

/// Figure 3 over RDMA, beside tcp, into memory: for a virtual machine, whose device is emulated.
pub(crate) fn emulated_rows() -> Vec<Row> {
    let row = |block_bytes| {
        let own_bytes = EMULATED_BYTES / LEAST_BYTES * LEAST_BYTES.min(block_bytes);
        let course = |over| Run::Ours(course(block_bytes, (1, Road::Only(over), Place::Memory), own_bytes));
        let name = format!("3, emulated: {}, verbs, memory, of tcp", size(block_bytes));
        Row { name, ours: course("verbs"), other: course("tcp") }
    };
    BLOCKS[..3].iter().copied().map(row).collect()
}

/// Figures 3 and 4: blocks of several sizes, from so many ranks, beside as many scp at once.
fn by_block(figure: u32, ranks: u32, data_bytes: u64) -> Vec<Row> {
    let each = BLOCKS.into_iter().flat_map(|block| ROADS.map(|road| (block, road)));
    let each = each.flat_map(|(block, road)| PLACES.map(|place| (block, road, place)));
    let row = |(block_bytes, road, place)| {
        let name = format!("{figure}: {}, {road}, {place}, of {ranks} scp", size(block_bytes));
        let own_bytes = data_bytes.min(data_bytes / LEAST_BYTES * block_bytes);
        let ours = Run::Ours(course(block_bytes, (ranks, road, place), own_bytes));
        Row { name, ours, other: Run::Copied { tool: Tool::Scp, at_once: ranks, place, data_bytes } }
    };
    each.map(row).collect()
}

/// Figure 5: data sets of several sizes.
fn by_size() -> Vec<Row> {
    let each = SIZES.into_iter().flat_map(|bytes| ROADS.map(|road| (bytes, road)));
    let each = each.flat_map(|(bytes, road)| PLACES.map(|place| (bytes, road, place)));
    let row = |(data_bytes, road, place)| {
        let name = format!("5: {} in all, {road}, {place}, of 1 scp", size(data_bytes));
        let ours = Run::Ours(course(PART_BYTES, (1, road, place), data_bytes));
        Row { name, ours, other: Run::Copied { tool: Tool::Scp, at_once: 1, place, data_bytes } }
    };
    each.map(row).collect()
}

/// Figure 6: a tool beside what is enciphered as it is.
fn by_tool(tool: Tool, data_bytes: u64) -> Vec<Row> {
    let each = THREADS.into_iter().flat_map(|threads| PLACES.map(|place| (threads, place)));
    let row = |(threads, place)| {
        let name = format!("6: tls, {place}, of {threads} {}", format!("{tool:?}").to_lowercase());
        let ours = Run::Ours(course(PART_BYTES, (threads, Road::Tls, place), data_bytes));
        Row { name, ours, other: Run::Copied { tool, at_once: threads, place, data_bytes } }
    };
    each.map(row).collect()
}

fn course(block_bytes: u64, (ranks, road, place): (u32, Road, Place), data_bytes: u64) -> Course {
    Course { block_bytes, data_bytes, ranks, road, place }
}

/// Bytes in words.
fn size(bytes: u64) -> String {
    match bytes {
        ..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(Course { block_bytes, data_bytes, ranks, road, place }) => {
                let (block, data) = (size(*block_bytes), size(*data_bytes));
                write!(f, "{data} in blocks of {block}, ranks: {ranks}, {road} to {place}")
            }
            Self::Copied { tool, at_once, place, data_bytes } => {
                write!(f, "{} by {tool:?}, at once: {at_once}, to {place}", size(*data_bytes))
            }
            Self::Tunnelled { data_bytes } => write!(f, "{} by ssh -L twice", size(*data_bytes)),
        }
    }
}

impl fmt::Display for Road {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shared => "shm",
            Self::Gate => "gate",
            Self::Tls => "tls",
            Self::Only(transport) => transport,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Disk => "disk",
        })
    }
}
