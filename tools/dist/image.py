"""Writes the layout of an OCI image, FROM scratch, with what a container needs to dump a JVM in another one.

Usage: image.py VERSION DIST FOLDER: DIST has the folders that tools/dist.sh staged. For each processor the image has
/hprof (static), /libhprof_rs.so for glibc, /musl/libhprof_rs.so and /LICENSES.txt. The same input gives the same bytes.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile

PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


class Layout:
    def __init__(self, folder):
        self.blobs = folder / "blobs/sha256"
        self.blobs.mkdir(parents=True)
        (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}\n')
        self.folder = folder

    def add(self, kind, data):
        """Stores bytes under their checksum; what refers to them."""
        digest = hashlib.sha256(data).hexdigest()
        (self.blobs / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    def add_json(self, kind, value):
        return self.add(kind, json.dumps(value, sort_keys=True).encode())


def layer(files):
    """A tar archive of these files, owned by root, readable by all."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        folders = sorted({str(pathlib.PurePath(name).parent) for name in files} - {"."})
        for name in folders + sorted(files):
            entry = tarfile.TarInfo(name)
            entry.mtime = EPOCH
            if name in folders:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
            else:
                entry.size, entry.mode = len(files[name]), 0o755 if name == "hprof" else 0o644
                archive.addfile(entry, io.BytesIO(files[name]))
    return output.getvalue()


def image(layout, version, dist, processor):
    """One processor's image; None if its command was not built."""
    staged = {libc: dist / f"hprof-rs-{version}-{processor}-unknown-linux-{end}" for libc, end in (("musl", "musl"), ("glibc", "gnu"))}
    if not staged["musl"].is_dir():
        return None
    files = {"hprof": (staged["musl"] / "hprof").read_bytes()}
    licences = [(staged["musl"] / name).read_bytes() for name in ("LICENSE", "LICENSES-OF-OTHERS.txt")]
    files["LICENSES.txt"] = b"\n".join(licences)
    for folder, name in ((staged["glibc"], "libhprof_rs.so"), (staged["musl"], "musl/libhprof_rs.so")):
        if folder.is_dir():
            files[name] = (folder / "libhprof_rs.so").read_bytes()
    plain = layer(files)
    packed = gzip.compress(plain, mtime=0)
    platform = {"architecture": PROCESSORS[processor], "os": "linux"}
    config = layout.add_json("config.v1+json", {
        **platform,
        "config": {"Entrypoint": ["/hprof"], "Labels": {"org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0"}},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(plain).hexdigest()]},
        "history": [{"created_by": "tools/dist/image.py"}],
    })
    manifest = layout.add_json("manifest.v1+json", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": [layout.add("layer.v1.tar+gzip", packed)],
    })
    return {**manifest, "platform": platform}


def main():
    version, dist, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    layout = Layout(folder)
    images = [made for made in (image(layout, version, dist, processor) for processor in PROCESSORS) if made]
    if not images:
        sys.exit("image: no archive for musl was built, and its command is what the image contains")
    everything = layout.add_json("index.v1+json", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": images,
    })
    named = {**everything, "annotations": {"org.opencontainers.image.ref.name": version}}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [named]}, sort_keys=True) + "\n")


main()
