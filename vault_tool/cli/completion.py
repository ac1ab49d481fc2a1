"""`completion`: the script by which a shell completes `vt`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from vault_tool.cli import output
from vault_tool.cli.options import Call, command
from vault_tool.errors import Exit

SHELLS = ("bash", "zsh", "fish")


@command("completion", "vt completion bash > ~/.local/share/bash-completion/completions/vt")
@click.argument("shell", type=click.Choice(SHELLS), help="The shell that is to complete.")
def completion(call: Call, shell: str) -> Exit:
    """Print the script by which a shell completes.

    Commands, options, ids and subjects are completed. For bash, write it to
    ~/.local/share/bash-completion/completions/vt; for zsh, as `_vt` into a folder of $fpath; for fish, to
    ~/.config/fish/completions/vt.fish.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    output.write(kind(click.Group("vt"), {}, "vt", "_VT_COMPLETE").source())
    return Exit.DONE
