"""Writes into a release's folder what it contains: hprof-rs.cdx.json (CycloneDX 1.6) and LICENSES-OF-OTHERS.txt.

Usage: contents.py TARGET CROSS FOLDER, in the root of the project. CROSS is what tools/fetch-cross.sh fetched.
"""

import datetime
import hashlib
import json
import os
import pathlib
import subprocess
import sys

LICENCE_FILES = ("licen", "copying", "copyright", "notice", "unlicense")


def metadata(target):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def linked(facts):
    """The packages whose code is in the library or the command: no build scripts, no macros, no tests."""
    packages = {package["id"]: package for package in facts["packages"]}
    nodes = {node["id"]: node for node in facts["resolve"]["nodes"]}
    ours = [id for id in facts["workspace_members"] if packages[id]["name"] in ("hprof-rs", "hprof")]
    found, waiting = {}, list(ours)
    while waiting:
        id = waiting.pop()
        if id in found or any("proc-macro" in target["kind"] for target in packages[id]["targets"]):
            continue
        uses = [dep["pkg"] for dep in nodes[id]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
        found[id] = uses
        waiting += uses
    return [(packages[id], [packages[use] for use in uses if use in found]) for id, uses in found.items()]


def beside(cross, target):
    """What the compilers add: name, version, licence, its licence's files."""
    rust = cross / "rust/usr/lib/rustlib/src/rust"
    zig = next(cross.glob("python/lib/python*/site-packages/ziglang/lib"))
    version = subprocess.run([cross / "rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[1]
    ziglang = subprocess.run([cross / "python/bin/python", "-m", "ziglang", "version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    yield "std", version, "MIT OR Apache-2.0", [rust / "LICENSE-MIT", rust / "LICENSE-APACHE", rust / "COPYRIGHT"]
    yield "libunwind (zig)", ziglang, "Apache-2.0 WITH LLVM-exception", [zig / "libunwind/LICENSE.TXT"]
    if target.endswith("musl"):
        yield "musl (zig)", ziglang, "MIT", [zig / "libc/musl/COPYRIGHT"]


def reference(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def bill(target, packages, others):
    """The bill of materials. It has no serial number: the same commit gives the same bytes."""
    components = [
        {"type": "library", "bom-ref": reference(package), "name": package["name"], "version": package["version"],
         "purl": reference(package), "licenses": [{"expression": package["license"].replace("/", " OR ")}]}
        for package, _ in packages if package["name"] not in ("hprof-rs", "hprof")
    ] + [
        {"type": "library", "bom-ref": f"{name}@{version}", "name": name, "version": version, "licenses": [{"expression": licence}]}
        for name, version, licence, _ in others
    ]
    parts = [
        {"type": "library" if package["name"] == "hprof-rs" else "application", "bom-ref": reference(package),
         "name": package["name"], "version": package["version"], "licenses": [{"expression": package["license"]}]}
        for package, _ in packages if package["name"] in ("hprof-rs", "hprof")
    ]
    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    version = next(part["version"] for part in parts)
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": f"hprof-rs-{target}", "name": f"hprof-rs-{target}", "version": version,
                          "components": parts},
        },
        "components": components,
        "dependencies": [{"ref": reference(package), "dependsOn": sorted(map(reference, uses))} for package, uses in packages],
    }


def texts_of(folder):
    """Also those of C code, which a crate keeps in a folder of its own."""
    files = list(folder.glob("*")) + list(folder.glob("*/*"))
    return sorted(path for path in files if path.is_file() and path.name.lower().startswith(LICENCE_FILES))


def licences(packages, others):
    """Each text once, after the names of all that it belongs to."""
    owners, bare = {}, []
    things = [(f"{package['name']} {package['version']}", package["license"], texts_of(pathlib.Path(package["manifest_path"]).parent))
              for package, _ in packages if package["source"]]
    things += [(f"{name} {version}", licence, files) for name, version, licence, files in others]
    for name, licence, files in things:
        for file in files:
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            owners.setdefault(hashlib.sha256(text.encode()).hexdigest(), (text, []))[1].append(f"{name} ({licence})")
        if not files:
            bare.append(f"{name} ({licence})")
    yield "What the library and the command contain beside this project's own code, and its licences.\n"
    if bare:
        yield "These packages name their licence but carry no text of it:\n\n" + "".join(f"  {name}\n" for name in bare)
    for text, names in sorted(owners.values(), key=lambda it: it[1]):
        yield "\n" + "=" * 100 + "\n" + "".join(f"{name}\n" for name in sorted(set(names))) + "-" * 100 + f"\n\n{text}\n"


def main():
    target, cross, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    packages = sorted(linked(metadata(target)), key=lambda it: (it[0]["name"], it[0]["version"]))
    others = list(beside(cross, target))
    text = json.dumps(bill(target, packages, others), indent=1) + "\n"
    (folder / "hprof-rs.cdx.json").write_text(text, encoding="utf-8")
    (folder / "LICENSES-OF-OTHERS.txt").write_text("".join(licences(packages, others)), encoding="utf-8")


main()
