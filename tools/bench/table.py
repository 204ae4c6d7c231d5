#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Copyright the ib_srpt authors
"""Print the figures of two modules side by side, and whether the goal is reached.

    table.py BASE OURS [--strict]

The files have lines "@ WORKLOAD VALUE", several for one workload; the median counts. The spread
is the widest distance of any figure from its median. Status 1 with --strict when the goal is
missed.
"""
import statistics
import sys

# Workloads whose figure is memory: lower is better, and a quarter is the goal.
MEMORY_GOAL = {"memory": 0.25, "memory-srq": 0.25}
UNITS = {"memory": "kB a channel", "login": "1/s", "logout": "1/s"}
WIDTHS = "{:<18} {:>12} {:>14} {:>14} {:>7}  {}"


def read_figures(name):
    figures = {}
    with open(name, encoding="ascii") as lines:
        for line in lines:
            _, workload, value = line.split()
            figures.setdefault(workload, []).append(float(value))
    return figures


def spread(values):
    middle = statistics.median(values)
    return max(abs(value - middle) for value in values) / middle if middle else 0.0


def unit(workload):
    return UNITS.get(workload) or UNITS.get(workload.split("-")[0]) or "I/O per s"


def row(workload, base, ours):
    """The row's text, and whether the goal is missed. A ratio is judged as it is printed."""
    theirs, mine = statistics.median(base), statistics.median(ours)
    ratio = round(mine / theirs, 2) if theirs else 0.0
    if workload.startswith("memory"):
        missed = ratio > MEMORY_GOAL.get(workload, ratio)
    else:
        missed = ratio < 1.0
    note = "{}spread {:.1%}, {:.1%}".format("MISSED; " if missed else "", spread(base), spread(ours))
    numbers = ["{:.1f}".format(theirs), "{:.1f}".format(mine), "{:.2f}".format(ratio)]
    return WIDTHS.format(workload, unit(workload), *numbers, note), missed


def main():
    names = [arg for arg in sys.argv[1:] if not arg.startswith("--")]
    base, ours = (read_figures(name) for name in names)
    missed = []
    print(WIDTHS.format("workload", "unit", "kernel's", "ours", "ratio", ""))
    for workload in ours:
        if workload not in base:
            continue
        text, below = row(workload, base[workload], ours[workload])
        print(text)
        if below:
            missed.append(workload)
    print("(virtual seconds: 500 million instructions each; memory: lower is better)")
    if missed:
        print("goal missed: " + ", ".join(missed))
    else:
        print("goal reached: no workload below 1.00, memory at most a quarter, of those measured")
    return 1 if missed and "--strict" in sys.argv else 0


sys.exit(main())
