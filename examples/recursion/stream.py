"""A stream of calls: each input is a call of its own, at an epoch of its own, and all of them run at once.

What a call returns leaves when it is complete. An epoch is over when nothing at it can leave any more.

    python examples/recursion/stream.py
"""

from pathlib import Path

from graphs import load
from recursion.driver import Driver

NUMBERS = [9, 1, 12, 4]


class Split:
    """0 and 1 are Fibonacci numbers. Others are the sum of the two before."""

    def on_message(self, edge, time, n, out):
        if n < 2:
            out.send("split->exit", time, n)
            return
        out.send("split->left", time, n - 1)
        out.send("split->right", time, n - 2)


class Combine:
    """Adds up what arrives at a stack of an epoch, and sends the sum when all has arrived."""

    def __init__(self):
        self.sums = {}  # by time: an epoch and a stack

    def on_message(self, edge, time, number, out):
        self.sums[time] = self.sums.get(time, 0) + number
        out.request(time)

    def on_notify(self, time, out):
        out.send("combine->exit", time, self.sums.pop(time))


def main():
    driver = Driver(load(Path(__file__).with_name("stream.yaml")), {"split": Split(), "combine": Combine()}, seed=1)
    for epoch, number in enumerate(NUMBERS):
        driver.feed("numbers", (epoch, ()), number)
    driver.complete("numbers", [])
    over = 0
    while driver.step():
        while driver.results:
            _, (epoch, _), value = driver.results.pop()
            print(f"epoch {epoch}: F({NUMBERS[epoch]}) = {value}")
        while over < len(NUMBERS) and driver.tracker.complete("results", (over, ())):
            print(f"epoch {over} is over")
            over += 1


if __name__ == "__main__":
    main()
