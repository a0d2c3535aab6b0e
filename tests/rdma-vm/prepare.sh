#!/bin/sh
# Makes what the virtual machine boots, once: Debian's kernel, unpacked from its package (never installed), and an
# initramfs with the modules of soft-RoCE. Prints the folder that holds them. A second call finds everything there.
#
# usage: prepare.sh
#
# FLEXPATH_RDMA_VM_CACHE: the folder. Default: rdma-vm in cargo's target folder.
# Exit status: 0 the folder is ready; 77 this machine cannot have it (what is missing is said); 1 something failed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${FLEXPATH_RDMA_VM_CACHE:-${CARGO_TARGET_DIR:-$root/target}/rdma-vm}
# Programs of administrators are not on everybody's path.
PATH=$PATH:/usr/sbin:/sbin

# Modules that the guest loads, without those that they need themselves.
modules="virtio_pci virtio_console virtio_net virtio-rng 9pnet_virtio 9p overlay dummy crc32_generic crc32c_generic
    rdma_rxe rdma_ucm sch_tbf"

say() { printf 'rdma-vm: %s\n' "$*" >&2; }
skip() {
    say "skipped: $*"
    exit 77
}

if [ "${1:-}" = --help ]; then
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 0
fi

# Gets the package of the kernel that linux-image-amd64 stands for, unless one is here already.
download_kernel() {
    if ls "$cache"/linux-image-*.deb >/dev/null 2>&1; then return; fi
    command -v apt-get >/dev/null || skip "no apt-get here, which the guest's kernel would come by"
    kernel=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*\)$/\1/p' | head -n 1)
    [ -n "$kernel" ] || skip "apt knows no linux-image-amd64 (it is Debian's; apt-get update may help)"
    say "downloading $kernel"
    (cd "$cache" && apt-get -q download "$kernel" >/dev/null 2>"$cache/download.log") ||
        skip "apt-get could not download $kernel: $(tail -n 1 "$cache/download.log")"
}

# Paths of the modules below the kernel's folder, each after those that it needs.
in_order() {
    awk -v wanted="$modules" '
        function base(path) { sub(/.*\//, "", path); sub(/\.ko.*/, "", path); gsub("-", "_", path); return path }
        { sub(":", "", $1); path[base($1)] = $1; needs = ""
          # modules.dep names the nearest first: what must be loaded first stands last.
          for (at = NF; at > 1; at--) needs = needs " " $at
          before[base($1)] = needs }
        END { count = split(wanted, names)
              for (at = 1; at <= count; at++) { name = names[at]; gsub("-", "_", name)
                  if (!(name in path)) continue # built into the kernel
                  listed = split(before[name] " " path[name], chain, " ")
                  for (link = 1; link <= listed; link++) if (!seen[chain[link]]++) print chain[link] } }
    ' "$1/modules.dep"
}

# The kernel as qemu starts it fastest: the ELF file that lies compressed in the image of the package.
unpack_kernel() {
    word() { od -A n -t u4 -j "$1" -N 4 "$2" | tr -d ' '; }
    sectors=$(od -A n -t u1 -j 497 -N 1 "$1" | tr -d ' ')
    start=$(((sectors + 1) * 512 + $(word 584 "$1")))
    # The length of what was compressed follows the stream of xz, and is none of it.
    tail -c "+$((start + 1))" "$1" | head -c "$(word 588 "$1")" | xz --decompress --stdout --single-stream >"$2" 2>/dev/null || true
    [ "$(head -c 4 "$2" | od -A n -c | tr -d ' ')" = '177ELF' ] || cp "$1" "$2"
}

# Everything the guest needs before it sees the files of this machine.
make_initramfs() {
    ram=$tree/ram
    mkdir -p "$ram/bin" "$ram/modules" "$ram/proc" "$ram/sys" "$ram/dev" "$ram/host" "$ram/own" "$ram/root"
    cp "$(command -v busybox)" "$ram/bin/busybox"
    install -m 755 "$here/guest-init.sh" "$ram/init"
    in_order "$1" | while read -r module; do
        cp "$1/$module" "$ram/modules/"
        basename "$module" >>"$ram/modules/order"
    done
    (cd "$ram" && find . | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$2"
}

make_all() {
    download_kernel
    tree=$(mktemp -d "$cache/unpacking.XXXXXX")
    trap 'rm -rf "$tree"' EXIT
    dpkg-deb --fsys-tarfile "$(ls "$cache"/linux-image-*.deb)" | tar -x -C "$tree" ./boot ./lib/modules
    version=$(ls "$tree/lib/modules")
    depmod -b "$tree" "$version" 2>/dev/null
    unpack_kernel "$tree/boot/vmlinuz-$version" "$cache/kernel"
    make_initramfs "$tree/lib/modules/$version" "$cache/initramfs"
    say "made from Debian's kernel $version"
}

[ "$(uname -m)" = x86_64 ] || skip "the guest is made of x86_64 binaries of this machine, which is $(uname -m)"
mkdir -p "$cache"
# Others may be at it at the same time.
exec 9>"$cache/lock"
flock 9
recipe=$(cat "$here/prepare.sh" "$here/guest-init.sh" | cksum)
if [ "$(cat "$cache/recipe" 2>/dev/null)" != "$recipe" ] || ! command -v qemu-system-x86_64 >/dev/null; then
    "$root/scripts/install-rdma-vm.sh" >&2 || skip "qemu, or what else the machine is made with, is not installed"
    make_all
    echo "$recipe" >"$cache/recipe"
fi
echo "$cache"
