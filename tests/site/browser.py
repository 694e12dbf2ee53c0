#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The site and a report of axon-bench in Chromium, as files: no page says anything on the console, every link leads
somewhere, the search finds, nothing is wider than a phone, letters can be read in light and in dark.
usage: browser.py FOLDER [--shots OUT]      every page of HTML below FOLDER; exit status 77: there is no Chromium
       browser.py --make SITE.PY SOURCE ELEMENTS AXON_BENCH     makes both, and looks at them"""
import base64, glob, html.parser, json, os, shutil, subprocess, sys, tempfile, urllib.parse

SIZES = {"desktop": (1280, 900, False), "phone": (390, 844, True)}
SHOWN = ("index.html", "docs/families.html", "docs/elements/nninfer.html", "docs/design/architecture.html", "report.html")
WORDS = "live source frames"  # of the search
# In the page: how wide it is, and the least contrast of what it shows to what is behind it.
MEASURE = """(() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = colour => numbers(colour).slice(0, 3).map(v => v / 255)
    .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = element => { for (; element; element = element.parentElement) {
    const colour = getComputedStyle(element).backgroundColor; if ((numbers(colour)[3] ?? 1) > 0) return colour; } return 'rgb(255,255,255)'; };
  let least = 21, worst = '';
  for (const e of document.querySelectorAll('h1,h2,h3,p,li,td,th,a,code,pre,summary,span,b')) {
    if (!e.textContent.trim() || !e.getClientRects().length) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
    const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (contrast < least) { least = contrast; worst = e.tagName + ' ' + e.textContent.slice(0, 40); }
  }
  const lines = element => { const range = document.createRange(); range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map(box => Math.round(box.top / 8))).size; };
  const broken = [...document.querySelectorAll('th')].filter(th => /^\\w+$/.test(th.textContent.trim()) && lines(th) > 1);
  return JSON.stringify({broken: broken.map(th => th.textContent), wide: document.documentElement.scrollWidth - innerWidth, least, worst, paper: light(behind(document.body))});
})()"""
failures = 0


def check(sentence, wrong):
    global failures
    print(f"{'not ok' if wrong else 'ok'} - {sentence}" + "".join(f"\n    {w}" for w in wrong[:20]))
    failures += bool(wrong)


class Browser:
    """Chromium by its debugging protocol, over a pair of pipes; needs no library."""

    def __init__(self, program, profile):
        ours, theirs = os.pipe(), os.pipe()
        move = f'exec "$0" "$@" 3<&{ours[0]} 4>&{theirs[1]}'
        self.process = subprocess.Popen(
            ["bash", "-c", move, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(ours[0], theirs[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.out, self.into, self.rest, self.number, self.said = ours[1], theirs[0], b"", 0, []
        os.close(ours[0])
        os.close(theirs[1])
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.into, 1 << 20)
            if not part:
                sys.exit("the browser has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        told = message.get("params", {})
        if message.get("method") == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.said.append(" ".join(str(a.get("value", a.get("description"))) for a in told["args"]))
        elif message.get("method") == "Runtime.exceptionThrown":
            self.said.append(told["exceptionDetails"].get("exception", {}).get("description", told["exceptionDetails"]["text"]))
        elif message.get("method") == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.said.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")
        elif message.get("method") == "Network.requestWillBeSent" and not told["request"]["url"].startswith(("file:", "data:", "about:")):
            self.said.append(f"asks the network for {told['request']['url']}")
        return message

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]

    def run(self, script):
        return self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)["result"].get("value")

    def open(self, path):
        """Returns what the page said until it was loaded."""
        self.said = []
        self.call("Page.navigate", url="file://" + urllib.parse.quote(path))
        while self.receive().get("method") != "Page.loadEventFired":
            pass
        self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        return self.said

    def look(self, size, scheme):
        width, height, mobile = SIZES[size]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shoot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait()


class Links(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("href", "src") and value:
                self.links.append(value)
            elif key in ("id", "name"):
                self.ids.add(value)


def check_links(pages, root):
    known = {path: Links(path) for path in pages}
    wrong = []
    for path, page in known.items():
        for link in page.links:
            target = urllib.parse.urlsplit(link)
            if target.scheme or link == "#":
                continue
            file = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(target.path))) if target.path else path
            # The reference of the libraries is made by ninja docs only.
            if "/reference-" in file and not os.path.exists(os.path.join(root, "..", "reference-axon")):
                continue
            if not os.path.exists(file):
                wrong.append(f"{os.path.relpath(path, root)}: nothing is at {link}")
            elif target.fragment and file in known and urllib.parse.unquote(target.fragment) not in known[file].ids:
                wrong.append(f"{os.path.relpath(path, root)}: there is no #{target.fragment} in {os.path.relpath(file, root)}")
    check(f"every link of {len(pages)} pages leads somewhere", sorted(set(wrong)))


def check_pages(browser, pages, root, shots):
    said, wide, pale, same, broken = [], [], [], [], []
    for path in pages:
        name = os.path.relpath(path, root)
        browser.look("desktop", "light")
        said += [f"{name}: {line}" for line in browser.open(path)]
        paper = {}
        for size in SIZES:
            for scheme in ("light", "dark"):
                browser.look(size, scheme)
                seen = json.loads(browser.run(MEASURE))
                paper[scheme] = seen["paper"]
                wide += [f"{name}, {size}: {seen['wide']} pixels too wide"] if seen["wide"] > 0 else []
                broken += [f"{name}, {size}: {word}" for word in seen["broken"]]
                pale += [f"{name}, {scheme}: {seen['least']:.1f} of {seen['worst']}"] if seen["least"] < 4.5 else []
                if shots and name in SHOWN:
                    browser.shoot(os.path.join(shots, f"{name.replace('/', '-')[:-5]}-{size}-{scheme}.png"))
        same += [] if paper["light"] > .8 and paper["dark"] < .1 else [f"{name}: {paper}"]
    check("no page says anything on the console, or asks the network", said)
    check("no page is wider than the screen, of a desk or of a phone", wide)
    check("no word of a table's head is broken into lines", sorted(set(broken)))
    check("letters stand out, 4.5 to 1 at least", pale)
    check("pages are light or dark, as the reader's system is", same)


def check_search(browser, root, shots):
    for name in ("index.html", "docs/elements/nninfer.html"):
        path = os.path.join(root, name)
        browser.look("phone", "light")
        browser.open(path)
        browser.run("document.getElementById('search').focus()")
        browser.call("Input.insertText", text=WORDS)
        found = json.loads(browser.run("JSON.stringify([...document.querySelectorAll('#found a')].map(a => a.href))"))
        files = [urllib.parse.unquote(urllib.parse.urlsplit(url).path) for url in found]
        check(f"the search of {name} finds pages that are there", [] if files and all(map(os.path.exists, files)) and
              any(f.endswith("docs/streams.html") for f in files) else [str(files)])
        if shots:
            browser.shoot(os.path.join(shots, f"search-{name.replace('/', '-')[:-5]}.png"))
        browser.run("document.getElementById('search').value = ''")
        browser.call("Input.insertText", text="no such words anywhere")
        check("and finds nothing where there is nothing", [] if browser.run("document.querySelectorAll('#found a').length") == 0 else ["something"])


def look_at(root, shots):
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    pages = sorted(glob.glob(os.path.join(root, "**/*.html"), recursive=True))
    if not pages:
        sys.exit(f"{root} has no pages")
    if program is None:
        print("skipped: there is no Chromium")
        sys.exit(77)
    check_links(pages, root)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            check_pages(browser, pages, root, shots)
            if os.path.exists(os.path.join(root, "search.js")):
                check_search(browser, root, shots)
        finally:
            browser.close()


def make(folder, site, source, elements, bench):
    subprocess.run([sys.executable, site, source, elements, folder], check=True)
    subprocess.run([bench, "-n", "20", "--report", os.path.join(folder, "report.html"), os.path.join(source, "pipelines/quickstart/ball.onnx")],
                   check=True, stdout=subprocess.DEVNULL)


if sys.argv[1] == "--make":
    with tempfile.TemporaryDirectory() as made:
        make(made, *sys.argv[2:])
        look_at(made, None)
else:
    look_at(os.path.abspath(sys.argv[1]), sys.argv[3] if "--shots" in sys.argv else None)
sys.exit(failures > 0)
