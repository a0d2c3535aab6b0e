//! The addresses of a port, from its table of gids: those that RoCE v2 uses, IPv4 ones first.
//!
//! librdmacm takes the gid that belongs to the address of a connection, so to choose a gid is to choose an address.

use std::fs::read_to_string;
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

/// Addresses of a port that can be dialled over RoCE v2 (or over InfiniBand's own gids: none).
pub(super) fn addresses(device: &str, port: u8) -> Vec<IpAddr> {
    addresses_in(Path::new(&format!("/sys/class/infiniband/{device}/ports/{port}")))
}

fn addresses_in(port: &Path) -> Vec<IpAddr> {
    let types = std::fs::read_dir(port.join("gid_attrs/types"));
    let indices =
        types.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<IpAddr> = indices.filter_map(|index| address(port, &index)).collect();
    found.sort_by_key(|address| (address.is_ipv6(), *address));
    found.dedup();
    found
}

fn address(port: &Path, index: &str) -> Option<IpAddr> {
    let kind = read_to_string(port.join("gid_attrs/types").join(index)).ok()?;
    if kind.trim() != "RoCE v2" {
        return None;
    }
    let gid: Ipv6Addr = read_to_string(port.join("gids").join(index)).ok()?.trim().parse().ok()?;
    let dialled = gid.to_ipv4_mapped().map_or(IpAddr::V6(gid), IpAddr::V4);
    // An address of a link alone says nothing without that link.
    (!gid.is_unspecified() && !gid.is_unicast_link_local()).then_some(dialled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_second_version_come_first_and_mapped_ones_before_others() {
        let folder = std::env::temp_dir().join(format!("flexpath-gids-{}", std::process::id()));
        let gids = [
            ("0", "RoCE v2\n", "fe80:0000:0000:0000:6e31:73ff:fe80:f360\n"),
            ("1", "IB/RoCE v1\n", "0000:0000:0000:0000:0000:ffff:0a09:0009\n"),
            ("2", "RoCE v2\n", "2001:0db8:0000:0000:0000:0000:0000:0001\n"),
            ("3", "RoCE v2\n", "0000:0000:0000:0000:0000:ffff:0a09:0001\n"),
            ("4", "RoCE v2\n", "0000:0000:0000:0000:0000:0000:0000:0000\n"),
        ];
        for (index, kind, gid) in gids {
            for (name, text) in [("gid_attrs/types", kind), ("gids", gid)] {
                std::fs::create_dir_all(folder.join(name)).expect("a folder");
                std::fs::write(folder.join(name).join(index), text).expect("room");
            }
        }
        let expected: Vec<IpAddr> =
            ["10.9.0.1", "2001:db8::1"].map(|text| text.parse().expect("an address")).into();
        assert_eq!(addresses_in(&folder), expected);
        std::fs::remove_dir_all(folder).expect("ours");
        assert!(addresses("no-such-device", 1).is_empty());
    }
}
