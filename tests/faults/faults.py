#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every call of one kind fails once (interpose.c) while workload.c reads, compiles, caches and runs a
model: the right result or an error in words, never a signal, a hang, a wrong result or a cache that is
wrong afterwards. Also SIGKILL at every write, sync and rename of the cache, then at --kills random
moments, and limits of memory, files and threads.
With --opencl FOLDER, of opencl/loader.c, each call of OpenCL fails instead, alone and with all after it.
usage: faults.py WORKLOAD INTERPOSER MODEL DEVICE... [--every N] [--kills N] [--opencl FOLDER]"""
import argparse, os, random, resource, shutil, subprocess, sys, tempfile

FAULTS = ["memory", "open", "read", "write", "sync", "rename", "map", "thread"]
OPENCL_FAULTS = ["call", "lost"]
KILLS = ["write", "sync", "rename"]
PATIENCE = 120
LIMITS = [("RLIMIT_AS", [128 << 20, 256 << 20, 512 << 20, 1 << 30]), ("RLIMIT_NOFILE", [4, 5, 6, 8, 12, 16]),
          ("RLIMIT_FSIZE", [0, 1000, 100000]), ("RLIMIT_NPROC", [0])]
problems = []
counts = {}


def run(arguments, cache, kind="", at=0, action="fail", limit=None, preload=True):
    """Exit status, negative for a signal; its output; how many calls there were."""
    count = cache + ".count"
    env = dict(os.environ, FAULT_KIND=kind, FAULT_AT=str(at), FAULT_ACTION=action, FAULT_COUNT=count, G_SLICE="always-malloc")
    if arguments.opencl:
        env["LD_LIBRARY_PATH"] = arguments.opencl + ":" + env.get("LD_LIBRARY_PATH", "")
    elif preload:
        env["LD_PRELOAD"] = arguments.interposer

    def before():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limit:
            resource.setrlimit(getattr(resource, limit[0]), (limit[1], limit[1]))

    try:
        done = subprocess.run([arguments.workload, arguments.model, arguments.device, cache], env=env, preexec_fn=before, restore_signals=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None, "hangs", 0
    calls = int(open(count).read() or 0) if os.path.exists(count) else 0
    return done.returncode, done.stdout.decode(errors="replace"), calls


def judge(what, status, said, right):
    counts[status] = counts.get(status, 0) + 1
    if status == 0 and said == right or status == 2:
        return
    problems.append(f"{what}: status {status}: {said.strip()[-300:]}")


def check_cache(arguments, cache, what, right):
    """What is there now gives the right result, and nothing unfinished stays."""
    status, said, _ = run(arguments, cache, preload=False)
    if status != 0 or said != right:
        problems.append(f"{what}: afterwards status {status}: {said.strip()[-300:]}")
    left = [name for name in os.listdir(cache) if not name.endswith(".axon")] if os.path.isdir(cache) else []
    if left and status == 0:
        # the next entry that is written takes them away
        for name in os.listdir(cache):
            if name.endswith(".axon"):
                os.unlink(os.path.join(cache, name))
        run(arguments, cache, preload=False)
        left = [name for name in os.listdir(cache) if not name.endswith(".axon")]
    if left:
        problems.append(f"{what}: left in the cache: {left}")


def every_call(arguments, folder, right, kinds, action):
    for kind in kinds:
        cache = os.path.join(folder, f"{action}-{kind}")
        n = run(arguments, cache, kind)[2]
        for at in range(1, n + 2, arguments.every):
            what = f"{arguments.device}: {action} at {kind} {at} of {n}"
            shutil.rmtree(cache, ignore_errors=True)
            status, said, _ = run(arguments, cache, kind, at, action)
            if action == "fail" or status != -9:
                judge(what, status, said, right)
            check_cache(arguments, cache, what, right)
        print(f"{arguments.device}: {action} at each {arguments.every}. of {n} calls: {kind}", flush=True)


def random_kills(arguments, folder, right):
    cache = os.path.join(folder, "kills")
    for i in range(arguments.kills):
        shutil.rmtree(cache, ignore_errors=True) if i % 10 == 0 else None
        for name in os.listdir(cache) if os.path.isdir(cache) else []:
            if name.endswith(".axon"):
                os.unlink(os.path.join(cache, name))
        child = subprocess.Popen([arguments.workload, arguments.model, arguments.device, cache], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            child.wait(random.Random(i).uniform(0.005, 0.25))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if i % 10 == 9:
            check_cache(arguments, cache, f"{arguments.device}: {i + 1} random kills", right)


def limits(arguments, folder, right):
    for name, values in LIMITS:
        for value in values:
            cache = os.path.join(folder, f"limit-{name}-{value}")
            status, said, _ = run(arguments, cache, limit=(name, value), preload=False)
            if status in (127, 1) and "error while loading shared libraries" in said:
                continue  # the program itself does not start with so little
            judge(f"{arguments.device}: {name} {value}", status, said, right)


def main():
    parser = argparse.ArgumentParser()
    for name in ["workload", "interposer", "model"]:
        parser.add_argument(name)
    parser.add_argument("devices", nargs="+")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--opencl")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for arguments.device in arguments.devices:
            inner = os.path.join(folder, arguments.device)
            os.mkdir(inner, 0o700)
            status, said, _ = run(arguments, os.path.join(inner, "right"), preload=False)
            if status != 0:
                sys.exit(f"the workload fails without a fault: {status}: {said}")
            right = said
            if arguments.opencl:
                every_call(arguments, inner, right, OPENCL_FAULTS, "fail")
                continue
            every_call(arguments, inner, right, FAULTS, "fail")
            every_call(arguments, inner, right, KILLS, "kill")
            random_kills(arguments, inner, right)
            limits(arguments, inner, right)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{counts.get(0, 0)} unaffected, {counts.get(2, 0)} refused in words, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
