"""The command line, `clir`. Only the commands that need heavy libraries import them."""

import io
import os
import sys
import threading
from typing import Final, NoReturn

import click

from pipeline.machine import check_process
from schemas.errors import ConfigError
from smooth_clir.cli.compare import compare
from smooth_clir.cli.compile_spec import compile_command
from smooth_clir.cli.convert import convert_command
from smooth_clir.cli.doctor import doctor
from smooth_clir.cli.evaluate import evaluate
from smooth_clir.cli.experiment import experiment
from smooth_clir.cli.export import export_command
from smooth_clir.cli.index_documents import index_command
from smooth_clir.cli.init import init
from smooth_clir.cli.label import label
from smooth_clir.cli.lexicon import lexicon
from smooth_clir.cli.neighbours import neighbours
from smooth_clir.cli.rank import rank
from smooth_clir.cli.replay import replay
from smooth_clir.cli.report import report
from smooth_clir.cli.run import run
from smooth_clir.cli.search import search
from smooth_clir.cli.serve import serve
from smooth_clir.cli.terminal import say
from smooth_clir.cli.users_error import is_interruption, users_error
from smooth_clir.cli.wikipedia import wikipedia

COMMANDS: Final = {
    "Begin": (init, doctor),
    "Data": (convert_command, wikipedia),
    "Train and measure": (run, experiment, report, evaluate, compare, compile_command),
    "Rank and search": (rank, index_command, search, serve, export_command, replay),
    "Words and labels": (lexicon, neighbours, label),
}
"""The commands by groups, in the order of the help."""
_WITH_STAGES: Final = (run, experiment)


class _Commands(click.Group):
    """The commands; their help has a section for each group.

    Attributes:
      called: the command that was called; None before.
    """

    called: click.Command | None = None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes a section for each group."""
        width = max(map(len, self.commands))
        for group, commands in COMMANDS.items():
            with formatter.section(group):
                limit = formatter.width - width - 6
                formatter.write_dl(
                    [(f"{command.name:{width}}", command.get_short_help_str(limit)) for command in commands]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Remembers the command."""
        name, self.called, remaining = super().resolve_command(ctx, args)
        return name, self.called, remaining


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    commands={command.name or "": command for commands in COMMANDS.values() for command in commands},
)
@click.version_option(package_name="smooth-clir")
@click.pass_context
def clir(context: click.Context) -> None:
    """Cross-lingual document ranking: train, evaluate and use a model for your own language pair."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _exit_interrupted() -> NoReturn:
    """Ends the process with Ctrl-C's code, whatever its threads do.

    A thread of Beam may wait forever for the main thread, which was interrupted within a step.
    """
    if all(thread.daemon or thread is threading.main_thread() for thread in threading.enumerate()):
        sys.exit(130)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(130)


def _open_closed_streams() -> None:
    """Replaces a closed stdin, stdout or stderr by /dev/null; otherwise the next file we open gets its descriptor."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))


def main() -> None:
    """Runs `clir`. Exits 0 on success, 1 on failure, 2 on wrong use; only our own bugs print a traceback."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for characters of a title that its encoding lacks
    try:
        check_process()
        clir.main(standalone_mode=False, prog_name="clir")
    except click.ClickException as error:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            say(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n")
        say(f"Error: {error.format_message()}")
        sys.exit(2)
    except BrokenPipeError:  # the reader of stdout has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (Exception, KeyboardInterrupt) as error:
        if is_interruption(error):
            say("interrupted")
            _exit_interrupted()
        cause = users_error(error, has_stages=clir.called in _WITH_STAGES)
        if cause is None:
            raise
        for line in str(cause).splitlines():
            say(f"clir: {line}")
        sys.exit(2 if isinstance(cause, ConfigError) else 1)
