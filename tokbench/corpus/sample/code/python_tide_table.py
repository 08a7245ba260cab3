#!/usr/bin/env python3
"""Predict the height of the tide from a handful of harmonic constituents.

The height above chart datum is the mean level plus a sum of cosines::

    h(t) = z0 + sum(amplitude * cos(speed * t - phase))
"""

import argparse
import math
import sys
from datetime import datetime, timedelta, timezone
from typing import NamedTuple


class Constituent(NamedTuple):
    name: str
    amplitude_m: float
    speed_deg_per_hour: float
    phase_deg: float

    def height(self, hours):
        angle = self.speed_deg_per_hour * hours - self.phase_deg
        return self.amplitude_m * math.cos(math.radians(angle))


class Turn(NamedTuple):
    when: datetime
    height_m: float
    kind: str


EPOCH = datetime(2020, 1, 1, tzinfo=timezone.utc)
MEAN_LEVEL_M = 3.15
HARBOUR = (
    Constituent("M2", 1.842, 28.984104, 141.0),
    Constituent("S2", 0.611, 30.0, 187.5),
    Constituent("N2", 0.358, 28.439730, 119.2),
    Constituent("K1", 0.097, 15.041069, 48.7),
    Constituent("O1", 0.064, 13.943036, 332.1),
)


def tide_height(when, constituents=HARBOUR, mean_level=MEAN_LEVEL_M):
    hours = (when - EPOCH) / timedelta(hours=1)
    return mean_level + sum(c.height(hours) for c in constituents)


def refine(low, high, sign, tolerance=timedelta(seconds=30)):
    """Narrow the bracket (low, high) down to a single extreme by thirds."""
    while high - low > tolerance:
        third = (high - low) / 3
        left, right = low + third, high - third
        if sign * tide_height(left) < sign * tide_height(right):
            low = left
        else:
            high = right
    return low + (high - low) / 2


def find_turns(start, days, step=timedelta(minutes=20)):
    """Yield each high and low water in order of time."""
    end = start + timedelta(days=days)
    before, here = start - step, start
    while here < end:
        after = here + step
        h0, h1, h2 = map(tide_height, (before, here, after))
        if h0 < h1 >= h2:
            moment = refine(before, after, +1)
            yield Turn(moment, tide_height(moment), "high")
        elif h0 > h1 <= h2:
            moment = refine(before, after, -1)
            yield Turn(moment, tide_height(moment), "low")
        before, here = here, after


def sparkline(start, hours=24):
    blocks = "▁▂▃▄▅▆▇█"
    heights = [tide_height(start + timedelta(hours=h)) for h in range(hours)]
    lowest, spread = min(heights), max(heights) - min(heights)
    top = len(blocks) - 1
    return "".join(blocks[round((h - lowest) / spread * top)] for h in heights)


def parse_args(argv):
    parser = argparse.ArgumentParser(description="Print a simple tide table.")
    parser.add_argument("date", nargs="?", default="2024-06-21", help="first day, YYYY-MM-DD")
    parser.add_argument("-n", "--days", type=int, default=2)
    parser.add_argument("--no-chart", dest="chart", action="store_false")
    return parser.parse_args(argv)


def main(argv=None):
    args = parse_args(argv)
    try:
        start = datetime.strptime(args.date, "%Y-%m-%d").replace(tzinfo=timezone.utc)
    except ValueError as exc:
        print(f"error: {exc}", file=sys.stderr)
        return 2

    current_day = None
    for turn in find_turns(start, args.days):
        if turn.when.date() != current_day:
            current_day = turn.when.date()
            print(f"\n{current_day:%A %d %B %Y}")
            if args.chart:
                midnight = turn.when.replace(hour=0, minute=0, second=0, microsecond=0)
                print(f"  {sparkline(midnight)}")
        arrow = "↑" if turn.kind == "high" else "↓"
        print(f"  {turn.when:%H:%M}  {arrow} {turn.height_m:5.2f} m")
    return 0


if __name__ == "__main__":
    sys.exit(main())
