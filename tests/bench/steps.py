# SPDX-License-Identifier: LGPL-2.1-or-later
"""Steps that take more than 1 % of a model's time and run below an eighth of what the machine could do, in every round."""

import models
import tables


class Steps:
    title = "Steps below the roofline"

    def __init__(self, isa):
        self.name = "steps" + (f"-{isa}" if isa else "")

    def rounds(self, a, path, n):
        """Of each round what it measured, and the steps that are slow in all so far: others that take the machine meanwhile
        slow down any. No more rounds than it takes to find none."""
        slow = None
        for _ in range(a.rounds):
            r = a.engines.axon(path, models.name_of(path), n, a.seconds, extra=["--profile"])
            found = {s["name"]: s for s in r["steps"] if s["slow"]} if r else {}
            slow = found if slow is None else {name: max(s, slow[name], key=lambda s: s["fraction"])
                                               for name, s in found.items() if name in slow}
            yield r, list(slow.values())
            if not slow:
                return

    def measure(self, a):
        for path in a.choose(models.floats(a.data, a.work) + models.quantised(a.data)):
            for n in a.threads:
                a.results.forget(self.name, f"{models.name_of(path)}|{n}")
                for r, slow in self.rounds(a, path, n):
                    a.results.add(self.name, f"{models.name_of(path)}|{n}", "axon", r and {
                        "slow": len(slow), "share": sum(s["share"] for s in slow), "steps": slow,
                        "peaks": [r["peak_f32"], r["peak_int8"], r["peak_memory"]]})
                print(f"{self.name}: {models.name_of(path)}, threads {n}: {len(slow)} steps, "
                      f"{100 * sum(s['share'] for s in slow):.0f} %", flush=True)

    def report(self, a):
        lines = ["| model | threads | slow steps | share of the time | the slowest |", "|---|---|---|---|---|"]
        rows = a.results.all.get(self.name, {})
        for row, found in rows.items():
            r = found["axon"][-1]
            worst = max(r["steps"], key=lambda s: s["share"], default=None)
            if worst:
                lines.append(f"| {row.replace('|', ' | ')} | {r['slow']} | {100 * r['share']:.0f} % | {worst['type']} "
                             f"`{worst['implementation']}`: {100 * worst['share']:.0f} % of the time, "
                             f"{100 * worst['fraction']:.1f} % of the roofline |")
        peaks = [found["axon"][-1]["peaks"] for row, found in rows.items() if row.endswith("|1")]
        best = [tables.cell(max(p[i] for p in peaks)) if peaks else "-" for i in range(3)]
        return [f"Peaks of one thread: {best[0]} GFLOP/s, {best[1]} GOP/s of bytes, {best[2]} GB/s. Of {len(rows)} runs, "
                f"{len(lines) - 2} have steps that take more than 1 % of the time at less than an eighth of the roofline "
                "in each round.",
                "", *lines]
