"""One run that is kept in a folder: what it goes on from, how what leaves goes with its checkpoints, how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from progress.errors import PointstampError, brief
from progress.runtime.control import Control
from progress.runtime.dataflow import Dataflow
from progress.runtime.durable.checkpoint import State
from progress.runtime.durable.codec import NotKept
from progress.runtime.durable.delivery import (
    AT_LEAST_ONCE,
    BARRIER,
    DETERMINISTIC,
    check_turns,
    has_one_order,
    is_in_order,
    is_logged,
    why_not,
)
from progress.runtime.durable.folder import StateFolder, boot, fingerprint
from progress.runtime.durable.keeper import Keeper, Known
from progress.runtime.durable.order_log import OrderLog
from progress.runtime.durable.outlets import Going, Outlet
from progress.runtime.durable.rests import Keeping
from progress.runtime.engines.host import HERE, Host
from progress.runtime.run.running import Running
from progress.runtime.source import begun

OTHERWISE = "what leaves is something else than what has left"
NOTHING: Mapping[str, Any] = {}


class KeptRun:
    """A run that is kept, or goes on.

    Parameters
    ----------
    path : of its folder
    dataflow : what is run
    command : what has to be the same when it goes on, by name
    host : what it is on
    synced : whether the order outlives a power cut, too, before anything of it leaves

    `known` is what the checkpoint knows from which it goes on, empty where there is none. `outlets` are what it writes
    outside of its folder, by name, added by whoever opens them.
    """

    def __init__(
        self, path: str, dataflow: Dataflow, command: dict[str, Any], host: Host = HERE, *, synced: bool = False
    ) -> None:
        self.folder = StateFolder(path)
        self.dataflow = dataflow
        self.outlets: dict[str, Outlet] = {}
        self.delivery = AT_LEAST_ONCE
        self._is_alone = host.is_alone
        self._is_synced = synced
        self._command = command
        self._fingerprint = fingerprint(dataflow)
        self._begun: State | None = None
        self._running: Running | None = None
        self._log: OrderLog | None = None
        self._keeper: Keeper | None = None
        self._border = 0  # the number of the log that the last checkpoint knows
        self._has_ended = False
        try:
            self.known: Mapping[str, Any]
            self.known, self._begun = self.folder.load() or (NOTHING, None)
            if self._begun is not None:
                self._check()
        except BaseException:
            self.folder.close()
            raise

    @property
    def is_finished(self) -> bool:
        """Whether it has come to its end before."""
        return bool(self.known.get("is_finished"))

    @property
    def is_same_machine(self) -> bool:
        """Whether what was written and not synced is there: the machine goes on since the checkpoint was taken."""
        return bool(self.known["boot"] == boot())

    @property
    def _has_repeated(self) -> bool:
        """Whether what has left since the checkpoint may leave again: nobody wrote down in which order it did."""
        return self.known.get("delivery") == AT_LEAST_ONCE  # not there in what was written before

    def _check(self) -> None:
        """Refuse (PS737) what was kept of another command, or of another graph."""
        before, now = self.known["command"], self._command
        for part in dict.fromkeys((*before, *now)):
            if before.get(part) != now.get(part):
                pair = (before.get(part), now.get(part))
                words = ["not there" if value is None else brief(value) for value in pair]
                what = f"the state in {self.folder.path} is of another command: {part} was {words[0]} and is {words[1]}"
                raise PointstampError("PS737", what, "the same command, or another DIR")
        if self.known["graph"] != self._fingerprint:
            what = f"the state in {self.folder.path} is of another graph"
            raise PointstampError("PS737", what, "the same graph and nodes, or another DIR")

    def check_ended(self, sources: Mapping[str, Any], control: Control) -> None:
        """Refuse (PS736) sources that have more since the run has read their end: nobody would read what is new."""
        network, known = self.dataflow.network, self.known
        for name in known.get("ended", ()):
            source = sources.get(name)
            look = getattr(source, "has_more", None)
            if look is None:
                continue
            position = {**known["inputs"], **known["parts"]}[name]
            ask = partial(look, name, network.domain(network.numbers[name]), position)
            if begun(name, partial(control.beside, ask)):
                what = getattr(source, "path", f"the source of {brief(name)}")
                says = f"the run in {self.folder.path} has read {what} to its end, and it has grown since"
                right = "the input as it was; or another DIR, and other outputs, to begin anew"
                raise PointstampError("PS736", f"{says}: nobody would read what is new", right)

    # --- the beginning -----------------------------------------------------------------------------------------------

    def keeping(self, seconds: float, with_pickle: bool) -> Keeping:
        """How the run is kept. From now on nobody else may keep it."""
        from progress.runtime.on_spark.tables.kept_frames import KeptFrames

        number = self.known.get("order", 0)
        is_read = self._begun is not None and (self.is_same_machine or self.known["synced"])
        is_torn = is_read and not self.is_same_machine
        self._log = OrderLog(self.folder.path, number, is_read=is_read, is_torn=is_torn, synced=self._is_synced)
        self._keeper = Keeper(self.folder.store, self)
        return Keeping(
            self._keeper.keep,
            seconds,
            self._begun,
            KeptFrames(self.folder.path),
            with_pickle,
            (lambda: None) if self.is_finished else self._begin_outlets,
            positions={**self.known.get("inputs", {}), **self.known.get("parts", {})},
            ended=self.end,
            stopped=self.stop,
            states=self._keeper.states if self._is_alone else None,
            rests_first=self._begun is not None and not self.is_same_machine,
        )

    def choose(self, running: Running, chosen: str | None, *, is_chosen_elsewhere: bool = False) -> str | None:
        """How what leaves goes with checkpoints: as was chosen, or else as can be; why not `deterministic` then.

        Refused (PS715) is what was chosen and cannot be. `is_chosen_elsewhere` says that what happens next is chosen by
        somebody who does not say the same again. Where it is refused, the run has let all go that it had.
        """
        try:
            return self._choose(running, chosen, is_chosen_elsewhere)
        except BaseException:
            running.give_up()
            raise

    def _choose(self, running: Running, chosen: str | None, is_chosen_elsewhere: bool) -> str | None:
        assert running.keeping is not None
        assert self._log is not None
        check_turns(running.feeds)
        self._running = running
        there = [*self.outlets.values()]
        self.outlets.update(
            (f"sink {name}", each) for name, each in running.sinks.outlets().items() if each not in there
        )
        why = why_not(running) if self._is_alone else "Spark computes in an order of its own"
        if chosen == DETERMINISTIC and why is not None:
            raise PointstampError("PS715", f"delivery {DETERMINISTIC}: {why}", BARRIER)
        self.delivery = chosen or (DETERMINISTIC if why is None else BARRIER)
        if self.delivery == DETERMINISTIC or (self.delivery == BARRIER and any(self._log.contents)):
            for feed in running.feeds:
                feed.is_logged = is_logged(running.sources.get(feed.edge), feed)
            is_one = has_one_order(running) and not is_chosen_elsewhere
            is_loose = not is_one and is_in_order(running)
            for outlet in self.outlets.values():
                outlet.is_loose = is_loose
            running.keeping = running.keeping._replace(log=self._log, logs_all=not (is_one or is_loose))
            running.sinks.before = self._log.sync if self._is_synced else None
        if self._begun is not None and self._has_repeated != (self.delivery == AT_LEAST_ONCE):
            running.keeping = running.keeping._replace(rests_first=True)
        running.waits_for_cover = self.delivery == BARRIER and bool(self.outlets)
        for name, outlet in self.outlets.items():
            self.add_outlet(name, outlet)
        running.sinks.were_closed(self.known.get("closed", ()))
        if self._begun is None:
            self._begin_outlets()
        return why

    def add_outlet(self, name: str, outlet: Outlet) -> None:
        """Something more that the run writes outside of its folder."""
        self.outlets[name] = outlet
        outlet.holds = self.delivery == BARRIER
        outlet.why = lambda: (self._running and self._running.replay and self._running.replay.why) or OTHERWISE

    def _begin_outlets(self) -> None:
        """The run begins, or is as it was at the checkpoint."""
        known = self.known.get("outlets", {})
        if self._begun is None:
            going = Going.ANEW
        elif self._has_repeated or self.delivery == AT_LEAST_ONCE:
            going = Going.ONWARD if self.is_same_machine else Going.BACK_ONWARD
        else:
            going = Going.AGAIN if self.is_same_machine else Going.BACK
        for name, outlet in self.outlets.items():
            outlet.check(known.get(name))
        for name, outlet in self.outlets.items():
            outlet.begin(known.get(name), going)

    # --- checkpoints -------------------------------------------------------------------------------------------------

    def border(self) -> Callable[[], Known]:
        """A checkpoint is taken here: what is known of all that is outside of the folder."""
        assert self._running is not None
        log = self._log
        assert log is not None
        feeds, sinks = [feed for feed in self._running.feeds if feed.begins_there], self._running.sinks
        number = self._border = log.number + 1
        outlets = {name: outlet.border() for name, outlet in self.outlets.items()}
        places = {f"--input {feed.edge}": getattr(feed.items, "named", None) for feed in feeds}
        places |= {name: getattr(outlet, "named", None) for name, outlet in self.outlets.items()}
        known = {
            "graph": self._fingerprint,
            "command": self._command,
            "inputs": {feed.edge: feed.place for feed in feeds if not feed.takes_turns},
            "parts": {feed.edge: dict(feed.place) for feed in feeds if feed.takes_turns},
            "ended": [feed.edge for feed in feeds if feed.is_over],
            "closed": sinks.closed(),
            "is_finished": self._has_ended,
            "boot": boot(),
            "synced": self._is_synced,
            "delivery": self.delivery,
            "order": number,
            "files": {use: file for use, file in places.items() if file is not None},
        }

        def settled() -> Known:
            log.prepare(number + 1)
            return {**known, "outlets": {name: settle() for name, settle in outlets.items()}}

        return settled

    def covered(self) -> None:
        """The checkpoint is on the disk: what waited for it leaves."""
        assert self._log is not None
        assert self._keeper is not None
        self._keeper.beside(partial(self._log.forget, self._border))
        for outlet in self.outlets.values():
            outlet.covered()
        if self._running is not None and self._running.keeping is not None and self._running.keeping.beside is not None:
            self._running.keeping.beside.settle()

    # --- the end -----------------------------------------------------------------------------------------------------

    def end(self) -> None:
        """The run has come to its end: a last checkpoint, from which nobody goes on."""
        assert self._running is not None
        assert self._keeper is not None
        for outlet in self.outlets.values():
            outlet.finish()
        self._has_ended = True
        self._keeper.keep(self._running.capture()).finish()

    def stop(self) -> None:
        """The run was stopped: a last checkpoint, unless it is half-way somewhere, or something was not written.

        A checkpoint would have that as if it had left. Where it would need a job of Spark, the one before stays.
        """
        running = self._running
        if running is None or self._keeper is None or not running.may_be_last:
            return
        if any(outlet.has_given_up for outlet in self.outlets.values()):
            return
        beside = None if running.keeping is None else running.keeping.beside
        if beside is not None:
            beside.stop()
        self._keeper.finish()
        try:
            last = self._keeper.keep(running.capture())
            running.turn()
            last.finish()
        except NotKept as error:
            if beside is None or not beside.is_stopped(error.__cause__):
                raise

    def close(self) -> None:
        """Let the folder go."""
        try:
            if self._keeper is not None:
                self._keeper.close()
            if self._log is not None:
                self._log.close()
        finally:
            self.folder.close()
