"""Fabricate an installed Python distribution: no network, no pip.
args: NAME VERSION and options; prints the created paths, one a line."""
import argparse, pathlib, re, sys
a = argparse.ArgumentParser()
a.add_argument("name"); a.add_argument("version")
a.add_argument("--site", required=True); a.add_argument("--bin"); a.add_argument("--group"); a.add_argument("--py", default=sys.executable)
a.add_argument("--id", help="extension id (default: normalised name)")
a.add_argument("--module"); a.add_argument("--script")
a.add_argument("--infoname", help="dist-info directory name, verbatim")
a.add_argument("--egg", action="store_true"); a.add_argument("--no-record", action="store_true")
a.add_argument("--meta", help="file with METADATA bytes"); a.add_argument("--no-meta", action="store_true")
a.add_argument("--eps", help="file with entry_points.txt bytes")
a.add_argument("--body", help="file with the module body (default: good provider)")
a.add_argument("--manifest", help="file with extension.toml (default: generated)")
a.add_argument("--no-manifest", action="store_true"); a.add_argument("--no-module", action="store_true")
o = a.parse_args()
norm = re.sub(r"[-_.]+", "-", o.name).lower()
ext = o.id or norm
mod = o.module or norm.replace("-", "_")
script = o.script or ext
site = pathlib.Path(o.site); site.mkdir(parents=True, exist_ok=True)
made = []
info = site / (o.infoname or (f"{o.name}.egg-info" if o.egg else f"{mod}-{o.version}.dist-info"))
info.mkdir(exist_ok=True); made.append(info)
if not o.no_meta:
    data = pathlib.Path(o.meta).read_bytes() if o.meta else f"Metadata-Version: 2.1\nName: {o.name}\nVersion: {o.version}\n".encode()
    (info / ("PKG-INFO" if o.egg else "METADATA")).write_bytes(data)
eps = pathlib.Path(o.eps).read_bytes() if o.eps else f"[console_scripts]\n{script} = {mod}.cli:main\n\n[{o.group}]\n{ext} = {mod}\n".encode()
(info / "entry_points.txt").write_bytes(eps)
rec = []
if not o.no_module:
    p = site / mod; p.mkdir(exist_ok=True); made.append(p)
    body = pathlib.Path(o.body).read_text() if o.body else ""
    (p / "__init__.py").write_text(body)
    (p / "cli.py").write_text("import json, sys\ndef main():\n    if '--doctor' in sys.argv: return 0\n    json.dump({'ok': True, 'echo': json.load(sys.stdin), 'dist': %r, 'version': %r}, sys.stdout)\n    return 0\nif __name__ == '__main__':\n    raise SystemExit(main())\n" % (o.name, o.version))
    rec += [f"{mod}/__init__.py,,", f"{mod}/cli.py,,"]
    if not o.no_manifest:
        m = pathlib.Path(o.manifest).read_text() if o.manifest else f'schema_version = "loopx_extension_manifest_v0"\nid = "{ext}"\nversion = "{o.version if re.fullmatch(r"[0-9.]+", o.version) else "0.1.0"}"\nrequires_loopx_api = ">=1,<2"\npermissions = []\n\n[runtime]\nprotocol = "{ext.replace("-", "_")}_extension_v0"\nentrypoint = "{script}"\ndoctor_args = ["--doctor"]\nrequired_permissions = []\ntimeout_seconds = 3\n'
        (p / "extension.toml").write_text(m); rec.append(f"{mod}/extension.toml,,")
    if o.bin:
        s = pathlib.Path(o.bin) / script
        s.write_text(f"#!{o.py}\nimport sys\nsys.path.insert(0, {str(site)!r})\nfrom {mod}.cli import main\nsys.exit(main())\n"); s.chmod(0o755); made.append(s)
if not o.no_record and not o.egg:
    rec += [f"{info.name}/METADATA,,", f"{info.name}/entry_points.txt,,", f"{info.name}/RECORD,,"]
    (info / "RECORD").write_text("\n".join(rec) + "\n")
print("\n".join(map(str, made)))
