"""The live view of `pointstamp run`: where it is served, to whom, and the inputs that take from it (`--ui`)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from graphs.files.notation import shown
from graphs.terminal import bad_usage, complain
from progress.topology import Network

if TYPE_CHECKING:
    from graphs.live import Watch
    from graphs.running.lines_from_page import Given
    from graphs.running.stepping import Stepping

UI = "ui"  # as the file of an input: what the page gives


def check_view(options: argparse.Namespace, inputs: Mapping[str, str]) -> None:
    """Refuse options that are of no use without a page, and inputs from a page that could not be read again."""
    taken = [edge for edge, file in inputs.items() if file == UI]
    if options.ui is None and options.paused:
        raise bad_usage("--paused waits for what a page says, and there is none", "--ui PORT")
    if options.ui is None and options.ui_token is not None:
        raise bad_usage("--ui-token is for a page, and there is none", "--ui PORT")
    if not taken:
        return
    use = f"--input {shown(taken[0])}=ui"
    if options.ui is None:
        raise bad_usage(f"{use} takes what a page gives, and there is none", "--ui PORT; ./ui is a file of that name")
    if options.state is not None:
        right = "a named pipe; ./ui is a file of that name"
        raise bad_usage(f"{use} with --state: nobody could give it again after a kill", right)


def serve(
    options: argparse.Namespace,
    network: Network,
    given: Mapping[str, Given],
    stepping: Stepping | None,
    opened: ExitStack,
) -> Watch | None:
    """Serve the page, if there is to be one, until `opened` is closed; who watches the run for it."""
    if options.ui is None:
        return None
    from graphs.live import LiveView, Watch
    from graphs.live.guard import chosen_token
    from graphs.live.site import serving

    host, port = options.ui
    token = chosen_token(host, options.ui_token, is_given_to=bool(given) or stepping is not None)
    watch = Watch(Path(options.pipeline).name, network, options.engine)
    with serving(host, port):
        view = LiveView(watch, port, host, token.text, given, stepping)
    opened.callback(view.close)
    complain(f"pointstamp: live view at {view.url}{f'?token={token.text}' if token.is_made_up else ''}")
    return watch
