#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Do the tests notice? Mutants of lib/ and gst/, each with one operator or constant changed, drawn by a seed. All tests run once
without a mutant, with a mark in each function that is to be changed; then each mutant is built, and the tests that entered its
function run, the shortest first, until one fails (twice, lest it failed by chance). Works in a checkout of its own (_build/mutants),
of what is committed. What compiles to the same instructions is no mutant (Papadakis et al. 2015, "Trivial compiler equivalence").
What is not noticed is printed with its line, to be looked at: some mean the same, and the others lack a test.
With --build, in this tree and that build of it: then nobody else may work in either meanwhile.
usage: mutants.py [--seed N] [--number N] [--only PREFIX] [--suite NAME]... [--jobs N] [--longest SECONDS] [--build FOLDER]
       [--list]"""
import argparse, concurrent.futures, itertools, json, os, random, re, resource, shlex, signal, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, "_build/mutants")
TREE = os.path.join(WORK, "source")
BUILD = os.path.join(WORK, "build")
TIMES, PATIENCE = 3, 10  # how much longer than without a mutant a test may take before it counts as failed, and seconds more
MEMORY = 8 << 30  # bytes that a test may take: mutants of loops and limits take all there are
ASIDE = {"style", "installed", "levels", "gpu"}  # suites of other things than code, or of what others run, too

# Writes what is reached into the file that the environment names, once for each process.
MARK = """
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static void
mutants_reached (char *seen, const char *what, int n)
{
  const char *path = *seen ? NULL : getenv ("MUTANTS_REACHED");
  int before = errno, fd = path ? open (path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
  *seen = 1;
  if (fd >= 0) {
    (void)!write (fd, what, (size_t)n);
    close (fd);
  }
  errno = before;
}
"""

CHANGES = [(r"==", "!="), (r"!=", "=="), (r"<=", "<"), (r">=", ">"), (r"(?<![<\-])<(?![<=])", "<="), (r"(?<![>\-])>(?![>=])", ">="),
           (r"&&", "||"), (r"\|\|", "&&"), (r"(?<=[\w)\]] )\+(?= [\w(])", "-"), (r"(?<=[\w)\]] )-(?= [\w(])", "+"),
           (r"(?<=[\w)\]] )\*(?= [\w(])", "+"), (r"\bTRUE\b", "FALSE"), (r"\bFALSE\b", "TRUE"), (r"(?<![\w.])[01](?![\w.])", None),
           (r"\+\+", "--"), (r"\bMIN\b", "MAX"), (r"\bMAX\b", "MIN")]

def code_of(text):
    """The text with comments, strings, preprocessor lines blanked, so that places stay."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", blank, text, flags=re.M)


def function_of(code, at):
    """Where the body of the function around that place begins."""
    start = code.rfind("\n{\n", 0, at)
    return None if start < 0 or "\n}" in code[start:at] else start + 3


def sites(path):
    """(start, end, replacement) in the file."""
    code = code_of(open(path, encoding="utf-8").read())
    found = []
    for pattern, to in CHANGES:
        for m in re.finditer(pattern, code):
            line = code[code.rfind("\n", 0, m.start()) + 1:code.find("\n", m.start())]
            if line[:1] in " \t" and function_of(code, m.start()) is not None and "g_assert" not in line and "g_return" not in line:
                found.append((m.start(), m.end(), to or str(int(m.group()) + 1)))
    return found


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **options)


def prepare():
    """Checkout and build, of what is committed."""
    head = run("git", "rev-parse", "HEAD", cwd=ROOT).stdout.strip()
    if not os.path.isdir(TREE):
        os.makedirs(WORK, exist_ok=True)
        run("git", "worktree", "prune", cwd=ROOT)
        run("git", "worktree", "add", "--detach", TREE, head, cwd=ROOT, check=True)
    run("git", "checkout", "--force", "--detach", head, cwd=TREE, check=True)
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        run("meson", "setup", BUILD, TREE, "-Dintrospection=disabled", check=True)


class Test:
    """One of Meson's, and which functions it enters."""

    def __init__(self, entry):
        self.name, self.command, self.folder = entry["name"], entry["cmd"], entry["workdir"] or BUILD
        self.suites = {s.split(":")[-1] for s in entry["suite"]}
        self.environment = {**os.environ, "MALLOC_PERTURB_": "165", **entry["env"]}
        self.seconds, self.reached = entry["timeout"], set()

    def passes(self, seconds, unwanted=None, reached=""):
        """False too where it takes longer; None where it was ended because nobody wants to know any more."""
        with tempfile.TemporaryFile() as said:
            limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            child = subprocess.Popen(self.command, cwd=self.folder, env={**self.environment, "MUTANTS_REACHED": reached},
                                     stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True, preexec_fn=limit)
            end = time.monotonic() + seconds
            while child.poll() is None and time.monotonic() < end and not (unwanted and unwanted.is_set()):
                time.sleep(0.01)
            ended = child.poll() is not None
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            status = child.wait()
            said.seek(0)
            if not ended:
                return None if unwanted and unwanted.is_set() else False
            return status in (0, 77) and not re.search(rb"^not ok(?!.*# TODO)", said.read(), flags=re.M)

    def run_once(self):
        """Without a mutant: how long it takes, and what it enters."""
        with tempfile.NamedTemporaryFile("r") as reached:
            begin = time.monotonic()
            passed = self.passes(TIMES * self.seconds, reached=reached.name)
            self.seconds = time.monotonic() - begin
            self.reached |= set(reached.read().split())
            return passed

    def notices(self, done):
        """That it fails, and not by chance."""
        allowed = TIMES * self.seconds + PATIENCE
        return not done.is_set() and self.passes(allowed, done) is False and self.passes(allowed, done) is False


def mark(names_and_places):
    """A mark into each function, by its name in the table of what is reached; what the files said before."""
    before = {}
    for name in sorted({n for n, _ in names_and_places}):
        path = os.path.join(TREE, name)
        text = before[path] = open(path, encoding="utf-8").read()
        for start in sorted({s for n, s in names_and_places if n == name}, reverse=True):
            what = f"{name}:{start}"
            text = f'{text[:start]}{{ static char seen; mutants_reached (&seen, "{what}\\n", {len(what) + 1}); }}\n{text[start:]}'
        with open(path, "w", encoding="utf-8") as file:
            file.write("static void mutants_reached (char *, const char *, int);\n" + text + MARK)
    return before


def restore(before):
    for path, text in before.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def survey(mutants, suites, jobs, longest):
    """The tests that pass in that many seconds, with what they enter."""
    before = mark({(name, place) for name, place, *_ in mutants if place is not None})
    try:
        built = run("ninja", "-C", BUILD)
        if built.returncode:
            sys.exit(f"without a mutant: {built.stdout[-2000:]}")
        listed = json.loads(subprocess.run(["meson", "introspect", BUILD, "--tests"], stdout=subprocess.PIPE, check=True).stdout)
        tests = [t for t in map(Test, listed) if (t.suites & set(suites) if suites else not t.suites & ASIDE)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            passed = list(pool.map(lambda t: t.run_once() or t.run_once(), tests))
    finally:
        restore(before)
    left_out = [t.name for t, ok in zip(tests, passed) if not ok]
    if left_out:
        print("fail without a mutant, and are left out:", *left_out, flush=True)
    return sorted((t for t, ok in zip(tests, passed) if ok and t.seconds <= longest), key=lambda t: t.seconds)


def notice(tests, jobs):
    """The test that failed, or None."""
    done, who = threading.Event(), []

    def ask(test):
        if test.notices(done):
            who.append(test.name)
            done.set()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(ask, tests))
    return who[0] if who else None


def draw(arguments, rng):
    """File, place of the function, start, end, replacement of one mutant after another, none twice."""
    names = sorted(n for n in run("git", "ls-files", "lib/*.c", "gst/*.c", cwd=TREE).stdout.split() if n.startswith(arguments.only))
    texts = {n: code_of(open(os.path.join(TREE, n), encoding="utf-8").read()) for n in names}
    found = {n: sites(os.path.join(TREE, n)) for n in names}
    weights = [len(found[n]) for n in names]
    seen = set()
    while len(seen) < sum(weights):
        name = rng.choices(names, weights)[0]
        mutant = (name, *rng.choice(found[name]))
        if mutant not in seen:
            seen.add(mutant)
            yield (name, function_of(texts[name], mutant[1]), *mutant[1:])


def instructions(path):
    """What the file compiles to, optimised; None if it does not, or if nobody compiles it here."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        commands = [c["command"] for c in json.load(file) if os.path.samefile(os.path.join(BUILD, c["file"]), path)]
    if not commands:
        return None
    with tempfile.NamedTemporaryFile(suffix=".o") as out:
        words = iter(shlex.split(commands[0]))
        kept = [w for w in words if w not in ("-o", "-MQ", "-MF") or not next(words)]
        kept = [w for w in kept if w not in ("-MD", "-g", "-O0")]
        built = run(*kept, "-O2", "-o", out.name, cwd=BUILD)
        return None if built.returncode else open(out.name, "rb").read()


def try_one(number, tests, jobs, name, place, start, end, to):
    """True if noticed, False if not, None where it does not compile, or to the same."""
    path = os.path.join(TREE, name)
    text = open(path, encoding="utf-8").read()
    line = text.count("\n", 0, start) + 1
    until = text.find("\n", end)
    shown = " ".join(f"{text[text.rfind(chr(10), 0, start) + 1:start]}[{text[start:end]} -> {to}]{text[end:until]}".split())
    fitting = [t for t in tests if place is None or f"{name}:{place}" in t.reached]
    before = instructions(path)
    try:
        restore({path: text[:start] + to + text[end:]})
        if instructions(path) in (None, before) or run("ninja", "-C", BUILD).returncode:
            return None
        who = notice(fitting, jobs)
    finally:
        restore({path: text})
    missed = f"NOT NOTICED by {len(fitting)} tests"
    print(f"{number}: {who or missed}: {name}:{line}: {shown}", flush=True)
    return who is not None


def main():
    global TREE, BUILD
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--longest", type=float, default=float("inf"))
    parser.add_argument("--build")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.build or arguments.list:
        TREE, BUILD = ROOT, arguments.build
    else:
        prepare()
    # some more, as not each compiles
    mutants = list(itertools.islice(draw(arguments, random.Random(arguments.seed)), arguments.number + arguments.number // 3 + 2))
    if arguments.list:
        for mutant in mutants[:arguments.number]:
            print(*mutant)
        return
    tests = survey(mutants, arguments.suite, arguments.jobs, arguments.longest)
    noticed = tried = 0
    for mutant in mutants:
        result = try_one(tried + 1, tests, arguments.jobs, *mutant)
        tried += result is not None
        noticed += result is True
        if tried == arguments.number:
            break
    print(f"{noticed} of {tried} noticed")


if __name__ == "__main__":
    main()
