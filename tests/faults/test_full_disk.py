"""On a full disk what is asked is answered, as on one that is read-only; writes fail in one line and leave nothing half done."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.faults.test_disks import namespaced
from tests.founding import found_at
from vault_tool import Vault

TEXT = "The larder is restocked on Tuesdays."

READS = (
    ("search", "larder"), ("recall", "larder"), ("core", "--print"), ("doctor",), ("status",), ("get", "Restocking"),
    ("show", "Restocking"), ("bring-to-mind", "larder"), ("orient",), ("tags",), ("get-subjects",),
)  # fmt: skip
WRITES = (("remember", "The cellar is damp."), ("mark-useful", "Restocking"), ("tag", "Restocking", "+a"))

CHILD = """
import json, os, pathlib, subprocess, sys
root, how = pathlib.Path(sys.argv[1]) / "v", sys.argv[2]
given = json.loads(sys.argv[3])
subprocess.run(["cp", "-a", sys.argv[4], str(root)], check=True)
(root / "_local" / "mark").unlink()  # as if it had been made there
vt = [sys.executable, "-m", "vault_tool", "--vault", str(root)]
subprocess.run([*vt, "search", "larder"], capture_output=True, check=True)
note = next((root / "vault" / "observations").rglob("*.md"))
if how == "changed":
    note.write_text(note.read_text().replace("Tuesdays", "Tuesdays, by zebras"))
if how == "cold":
    subprocess.run(["rm", "-rf", str(root / "_cache")], check=True)
room = 300_000 if how == "nearly full" else 0
try:
    with open(root.parent / "filling", "wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
except OSError:
    pass
if room:
    os.truncate(root.parent / "filling", os.stat(root.parent / "filling").st_size - room)
def notes():
    return {str(p.relative_to(root)): p.read_bytes() for p in (root / "vault").rglob("*") if p.is_file()}
before = notes()
for kind, lines in given.items():
    for line in lines:
        done = subprocess.run([*vt, *line], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if kind == "reads":
            ok = done.returncode == 0 and done.stdout
        else:
            ok = done.returncode == 5 and done.stderr.count("\\n") == 1 and "free some space" in done.stderr and not done.stdout
            ok = ok or (room and done.returncode in (0, 4))
        if not ok or "reindex" in done.stderr or "Traceback" in done.stderr:
            print("WRONG", line, done.returncode, done.stdout[:300], done.stderr[:600])
if not room and notes() != before:
    print("WRONG", "a write that failed left something")
os.unlink(root.parent / "filling")
done = subprocess.run([*vt, "remember", "The attic is dry."], capture_output=True)
print("WRONG" if done.returncode else "done", done.stderr.decode())
"""


@pytest.mark.parametrize("how", ["as it was", "changed", "cold", "nearly full"])
def test_what_is_asked_is_answered(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_OWNER", "off")
    found_at(tmp_path / "made", git=True)
    with Vault.open(tmp_path / "made") as vault:
        vault.remember(TEXT, ["Larder"], title="Restocking")
    (tmp_path / "disk").mkdir()
    script = 'mount -t tmpfs -o size=12m none "$3"; exec "$1" -c "$2" "$3" "$4" "$5" "$6"'
    given = json.dumps({"reads": READS, "writes": WRITES})
    command = [*namespaced(script), CHILD, str(tmp_path / "disk"), how, given, str(tmp_path / "made")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("done", "")
