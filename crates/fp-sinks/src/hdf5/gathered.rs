//! Many pieces of memory into a file, as few writes.

use std::fs::File;
use std::io::{self, IoSlice};

/// Linux takes no more pieces in one write.
const MOST: usize = 1024;

/// Writes pieces to their places, which are in ascending order. Those that follow one another are written together.
pub(super) fn write_all(file: &File, pieces: &[(u64, &[u8])]) -> io::Result<()> {
    let mut rest = pieces;
    while let Some((first, _)) = rest.first() {
        let (mut end, mut together) = (*first, Vec::new());
        for (_, piece) in rest.iter().take(MOST).take_while(|(offset, piece)| {
            let follows = *offset == end;
            end += if follows { piece.len() as u64 } else { 0 };
            follows
        }) {
            together.push(IoSlice::new(piece));
        }
        rest = &rest[together.len()..];
        write_together(file, *first, &mut together)?;
    }
    Ok(())
}

/// Writes pieces that follow one another.
fn write_together(file: &File, mut offset: u64, mut pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
    IoSlice::advance_slices(&mut pieces, 0);
    while !pieces.is_empty() {
        match rustix::io::pwritev(file, pieces, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(len) => {
                offset += len as u64;
                IoSlice::advance_slices(&mut pieces, len);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn pieces_are_written_to_their_places_however_many_there_are() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[9; 6000], 0).unwrap();
        let bytes: Vec<u8> = (0..3000).map(|at| at as u8).collect();
        // 1,500 that follow one another, an empty one, and two that stand apart.
        let mut pieces: Vec<(u64, &[u8])> =
            (0..1500).map(|at| (at + 10, &bytes[at as usize..at as usize + 1])).collect();
        pieces.push((1510, &[]));
        pieces.extend([(2000, &bytes[..300]), (5000, &bytes[700..])]);
        write_all(&file, &pieces).unwrap();
        let mut expected = vec![9; 7300];
        for (offset, piece) in pieces {
            expected[offset as usize..offset as usize + piece.len()].copy_from_slice(piece);
        }
        let mut found = vec![0; 7300];
        file.read_exact_at(&mut found, 0).unwrap();
        assert_eq!(found, expected);
    }
}
