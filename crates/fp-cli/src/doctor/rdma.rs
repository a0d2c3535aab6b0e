//! What this machine has of RDMA, found by looking: no library is linked or opened for it.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What programs that use RDMA open at run time.
const LIBRARIES: [&str; 2] = ["libibverbs.so.1", "librdmacm.so.1"];

/// A device, as the kernel shows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Device {
    /// Its name, such as `mlx5_0`.
    name: String,
    /// State and kind of each port, such as `1: ACTIVE (Ethernet)`.
    ports: Vec<String>,
    /// Why this process may not use it.
    refused: Option<String>,
}

impl Device {
    /// Whether a link could be had through it now.
    fn is_usable(&self) -> bool {
        self.refused.is_none() && self.ports.iter().any(|port| port.contains("ACTIVE"))
    }
}

/// What there is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rdma {
    /// Whether the kernel speaks verbs at all.
    kernel: bool,
    pub(super) devices: Vec<Device>,
    /// Libraries that no folder of the loader has.
    missing: Vec<&'static str>,
}

impl Rdma {
    /// Looks at this machine.
    pub(super) fn look() -> Self {
        Self::look_below(Path::new("/"), &library_folders())
    }

    fn look_below(root: &Path, folders: &[PathBuf]) -> Self {
        let cache = fs::read(root.join("etc/ld.so.cache")).unwrap_or_default();
        let lacks = |library: &&str| {
            !is_in_cache(&cache, library) && !folders.iter().any(|at| at.join(library).exists())
        };
        Self {
            kernel: root.join("sys/class/infiniband_verbs").is_dir(),
            devices: names(&root.join("sys/class/infiniband")).map(|name| device(root, name)).collect(),
            missing: LIBRARIES.into_iter().filter(lacks).collect(),
        }
    }

    /// What is in the way of RDMA here, and what to do about it; none: nothing.
    pub(super) fn obstacle(&self) -> Option<(String, String)> {
        let said = |what: String, advice: &str| Some((what, advice.to_owned()));
        if !self.kernel {
            return said(
                format!("the kernel has no verbs (no /sys/class/infiniband_verbs){}", self.libraries()),
                "load the driver of the RDMA adapter (modprobe mlx5_ib, ...) and ib_uverbs; without an adapter there is \
                 no RDMA, and shm and tcp are what there is",
            );
        }
        if self.devices.is_empty() {
            return said(
                format!(
                    "the kernel has verbs, but no device (nothing in /sys/class/infiniband){}",
                    self.libraries()
                ),
                "load the driver of the adapter; for a trial over ethernet: rdma link add rxe0 type rxe netdev eth0",
            );
        }
        if !self.missing.is_empty() {
            return said(
                format!("{}{}", self.text(), self.libraries()),
                "install rdma-core's libraries (Debian: libibverbs1 librdmacm1 ibverbs-providers)",
            );
        }
        let usable = self.devices.iter().any(Device::is_usable);
        (!usable).then(|| {
            (
                self.text(),
                "bring the port up (ip link, cable, subnet manager), or allow this user to open the device"
                    .to_owned(),
            )
        })
    }

    /// The devices, for people.
    pub(super) fn text(&self) -> String {
        let devices = self.devices.iter().map(|device| match &device.refused {
            Some(why) => format!("{} ({why})", device.name),
            None => format!("{} port {}", device.name, device.ports.join(", ")),
        });
        devices.collect::<Vec<_>>().join("; ")
    }

    fn libraries(&self) -> String {
        if self.missing.is_empty() {
            String::new()
        } else {
            format!("; not installed: {}", self.missing.join(", "))
        }
    }
}

/// What the kernel shows of a device, and whether this process may open it.
fn device(root: &Path, name: String) -> Device {
    let folder = root.join("sys/class/infiniband").join(&name);
    let of_port = |port: String| {
        let word = |file| fs::read_to_string(folder.join("ports").join(&port).join(file)).unwrap_or_default();
        // As `4: ACTIVE`.
        let state = word("state").trim().split(": ").last().unwrap_or_default().to_owned();
        format!("{port}: {state} ({})", word("link_layer").trim())
    };
    let ports = names(&folder.join("ports")).map(of_port).collect();
    Device { refused: refusal(root, &name), name, ports }
}

/// Why the file by which programs reach a device cannot be opened.
fn refusal(root: &Path, device: &str) -> Option<String> {
    let belongs = |verbs: &String| {
        let owner = root.join("sys/class/infiniband_verbs").join(verbs).join("ibdev");
        fs::read_to_string(owner).is_ok_and(|owner| owner.trim() == device)
    };
    let Some(verbs) = names(&root.join("sys/class/infiniband_verbs")).find(belongs) else {
        return Some("the kernel offers it to no program".to_owned());
    };
    let file = root.join("dev/infiniband").join(&verbs);
    match OpenOptions::new().read(true).write(true).open(&file) {
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Some(format!("this user may not open /dev/infiniband/{verbs}"))
        }
        Err(error) => Some(format!("/dev/infiniband/{verbs}: {error}")),
    }
}

/// The names in a folder, in order; none if it is not there.
fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names.into_iter()
}

/// Whether the loader's cache lists a library: its name stands there between zeros, as does its path.
fn is_in_cache(cache: &[u8], library: &str) -> bool {
    cache.split(|byte| *byte == 0).any(|text| text.ends_with(library.as_bytes()))
}

/// Where the loader looks besides its cache.
fn library_folders() -> Vec<PathBuf> {
    let set = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let usual = ["/lib", "/usr/lib", "/lib64", "/usr/lib64"].map(PathBuf::from);
    std::env::split_paths(&set).filter(|path| path.is_absolute()).chain(usual).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of files.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (path, text) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn look(&self) -> Rdma {
            Rdma::look_below(self.0.path(), &[self.0.path().join("usr/lib")])
        }
    }

    const LIBRARY_FILES: [(&str, &str); 2] = [
        ("usr/lib/libibverbs.so.1", ""),
        ("etc/ld.so.cache", "x\0librdmacm.so.1\0/usr/lib/librdmacm.so.1\0"),
    ];
    const VERBS: (&str, &str) = ("sys/class/infiniband_verbs/uverbs0/ibdev", "rxe0\n");
    const DEVICE_FILE: (&str, &str) = ("dev/infiniband/uverbs0", "");
    const STATE: &str = "sys/class/infiniband/rxe0/ports/1/state";
    const LAYER: (&str, &str) = ("sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet\n");

    fn reason(files: &[&[(&str, &str)]]) -> String {
        Machine::new(&files.concat()).look().obstacle().expect("an obstacle").0
    }

    #[test]
    fn each_obstacle_is_told_apart() {
        let bare = reason(&[]);
        assert!(
            bare.contains("kernel has no verbs") && bare.contains("libibverbs.so.1, librdmacm.so.1"),
            "{bare}"
        );
        let no_device = reason(&[&LIBRARY_FILES, &[("sys/class/infiniband_verbs/abi_version", "6")]]);
        assert!(no_device.contains("no device") && !no_device.contains("not installed"), "{no_device}");
        let active = [VERBS, DEVICE_FILE, (STATE, "4: ACTIVE\n"), LAYER];
        let no_library = reason(&[&active]);
        assert!(no_library.contains("not installed: libibverbs.so.1"), "{no_library}");
        let down = reason(&[&LIBRARY_FILES, &[VERBS, DEVICE_FILE, (STATE, "1: DOWN\n"), LAYER]]);
        assert_eq!(down, "rxe0 port 1: DOWN (Ethernet)");
        let no_file = reason(&[&LIBRARY_FILES, &[VERBS, (STATE, "4: ACTIVE\n")]]);
        assert!(no_file.contains("/dev/infiniband/uverbs0"), "{no_file}");
        let ready = Machine::new(&[active.as_slice(), &LIBRARY_FILES].concat()).look();
        assert_eq!(ready.obstacle(), None);
        assert_eq!(ready.text(), "rxe0 port 1: ACTIVE (Ethernet)");
    }
}
