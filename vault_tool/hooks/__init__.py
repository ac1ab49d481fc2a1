"""The hooks that an agent's client calls by itself: at a session's start, each prompt, a compaction and the end."""
