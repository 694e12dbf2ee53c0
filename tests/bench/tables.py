# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures that were measured, as Markdown: ratios to the better of the peers, best, worst, geometric mean; and where they
stand in a document."""
import json
import math
import os
import re
import statistics
import sys

from engines import TITLES


class Results:
    """What was measured, in a file that every turn is added to, so that nothing is lost when a run ends early."""

    def __init__(self, path):
        self.path, self.all = path, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.all = json.load(f)

    def add(self, table, row, engine, values):
        if values is not None:
            self.all.setdefault(table, {}).setdefault(row, {}).setdefault(engine, []).append(values)
            with open(self.path + ".new", "w", encoding="utf-8") as f:
                json.dump(self.all, f, indent=1)
            os.replace(self.path + ".new", self.path)

    def values(self, table, row, engine, field):
        return [v[field] for v in self.all.get(table, {}).get(row, {}).get(engine, []) if v.get(field) is not None]

    def median(self, table, row, engine, field):
        values = self.values(table, row, engine, field)
        return statistics.median(values) if values else None

    def least(self, table, row, engine, field):
        return min(self.values(table, row, engine, field), default=None)

    def rounds(self, table):
        return max((len(v) for row in self.all.get(table, {}).values() for v in row.values()), default=0)

    def rows(self, table):
        return list(self.all.get(table, {}))

    def forget(self, table, row):
        self.all.get(table, {}).pop(row, None)


def processor():
    """With its family: virtual machines call several generations by one name."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        text = f.read()
    found, family = (re.search(rf"{what}\s*: (.*)", text) for what in ("model name", "cpu family"))
    name = found.group(1) if found else "unknown processor"
    return f"{name} (family {family.group(1)})" if family else name


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def cell(value):
    return "-" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def ratio(ours, theirs):
    """@theirs: of several peers; the better one counts, and those who do not take the model do not."""
    theirs = [t for t in theirs if t]
    return ours / min(theirs) if ours and theirs else None


def ratios(name, pick, peers, what, rows):
    """@pick: what counts of all rounds: Results.median or Results.least. {row: ours to the better of theirs}"""
    found = {row: ratio(pick(name, row, "axon", what), [pick(name, row, p, what) for p in peers]) for row in rows}
    return {row: value for row, value in found.items() if value is not None}


def table(results, name, engines, field, yardsticks):
    """@yardsticks: (title, engines, field): a column of ratios each. Rows are (model, threads) as "model|threads"."""
    columns = ["model", "threads", *[TITLES[e] for e in engines], *[title for title, _, _ in yardsticks]]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    found = {title: ratios(name, results.median, peers, what, results.rows(name)) for title, peers, what in yardsticks}
    for row in results.rows(name):
        cells = [cell(results.median(name, row, e, field)) for e in engines]
        cells += [f"{values[row]:.2f}" if row in values else "-" for values in found.values()]
        lines.append("| " + " | ".join([*row.split("|"), *cells]) + " |")
    return lines, found


def summary(found, limit):
    """Lines that say how the ratios of a column are spread. By threads, since rows are."""
    lines = []
    for threads in sorted({row.split("|")[1] for row in found}):
        values = {row.split("|")[0]: v for row, v in found.items() if row.split("|")[1] == threads}
        best, worst = min(values, key=values.get), max(values, key=values.get)
        above = sum(v > limit for v in values.values())
        lines.append(f"{threads} thread{'s' if threads != '1' else ''}: geometric mean "
                     f"**{geometric_mean(list(values.values())):.2f}** of {len(values)}, best {values[best]:.2f} ({best}), "
                     f"worst {values[worst]:.2f} ({worst}), above {limit}: {above}.")
    return lines


def put(document, name, lines):
    """Between <!-- bench:NAME --> and <!-- /bench:NAME --> of @document."""
    with open(document, encoding="utf-8") as f:
        text = f.read()
    begin, end = f"<!-- bench:{name} -->\n", f"<!-- /bench:{name} -->\n"
    if begin not in text or end not in text:
        print(f"{document} has no place for {name}: {begin.strip()} and {end.strip()}, each a line", file=sys.stderr)
        return
    head, rest = text.split(begin, 1)
    with open(document, "w", encoding="utf-8") as f:
        f.write(head + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.split(end, 1)[1])
