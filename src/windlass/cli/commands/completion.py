"""`windlass completion`: what a shell needs to complete commands, options and run ids.

Must not hold logic: click knows the shells.
"""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    bash: `eval "$(windlass completion bash)"` in ~/.bashrc; zsh: the same in ~/.zshrc; fish:
    `windlass completion fish > ~/.config/fish/completions/windlass.fish`.
    """
    from click.shell_completion import get_completion_class

    from windlass.cli.group import group

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(group(), {}, "windlass", "_WINDLASS_COMPLETE").source())
