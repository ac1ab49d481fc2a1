"""A script for the second document's derived files: it knows that document, and nothing of this tool."""

import json
import sys
from pathlib import Path

root = Path(sys.argv[1])
index, state, vectors = (json.loads((root / f"_{name}.json").read_text()) for name in ("index", "state", "embeddings"))
for identity, entry in sorted(index["entries"].items(), key=lambda item: item[1]["title"]):
    use = state["entries"].get(identity, {"access_count": 0, "last_accessed": None, "decay_score": 0})
    print(
        entry["title"], entry["type"], entry["tags"], entry["importance"], entry["created"][:4], entry["updated"][:4], sep=" | "
    )
    print("  sure" if min(entry["importance"], entry["confidence"]) >= 0.5 else "  unsure")
    for relation in entry["relations"]:
        other = index["entries"][relation["target"]]["title"]
        print(" ", relation["direction"], relation["type"], other, relation["strength"], relation["context"], sep=" | ")
    print(" ", use["access_count"], use["last_accessed"], use["decay_score"] > 0, sep=" | ")
    if identity in vectors["entries"]:
        print("  length", round(sum(number**2 for number in vectors["entries"][identity]), 2))
