#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The site: every page of Markdown below SOURCE/docs, README.md, CHANGELOG.md, CONTRIBUTING.md and the folder ELEMENTS,
as HTML, with a menu and a search that works from files. A link that leads nowhere fails, with file and line.
usage: site.py SOURCE ELEMENTS OUT"""
import glob, html, json, os, re, shutil, sys

import markdown

MENU = [("Start", ["README.md", "docs/guides/first-pipeline.md", "docs/guides/own-model.md", "docs/guides/results.md",
                   "docs/guides/second-stage.md", "docs/guides/many-cameras.md", "docs/guides/publishing.md", "docs/guides/coming-from.md"]),
        ("Use", ["docs/models.md", "docs/families.md", "docs/decoders.md", "docs/objects.md", "docs/streams.md", "docs/overlay.md",
                 "docs/analytics.md", "docs/remote.md", "docs/appliances.md", "pipelines/README.md", "docs/performance.md", "docs/debugging.md", "docs/operators.md"]),
        ("Extend", ["docs/guides/extending.md", "docs/plugins.md", "docs/onnxifi.md", "CONTRIBUTING.md", "SECURITY.md", "po/glossary.md"])]
REFERENCES = [("axon-1.0", "../reference-axon/index.html"), ("gstreamer-nn-1.0", "../reference-gstnn/index.html")]
HERE = os.path.dirname(os.path.abspath(__file__))
problems = []


def find_pages(source, elements):
    """Path in the site, without suffix → file."""
    files = [os.path.join(source, f) for f in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "po/glossary.md", "pipelines/README.md")]
    files += glob.glob(os.path.join(source, "docs/**/*.md"), recursive=True)
    pages = {os.path.relpath(f, source): f for f in sorted(files)}
    pages.update({os.path.join("docs/elements", os.path.basename(f)): f for f in sorted(glob.glob(os.path.join(elements, "*.md")))})
    return pages


def url(page):
    return re.sub(r"README\.md$", "index.md", page)[:-3] + ".html"


def title(text, page):
    found = re.search(r"^# (.+)", text, re.M)
    return re.sub(r"[`*]", "", found.group(1)) if found else page


def follow(source, out, pages, page, text):
    """Links to pages become links to their HTML; other files are copied to where the link expects them."""
    def one(match):
        target, anchor = (match.group(1).split("#", 1) + [""])[:2]
        if re.match(r"[a-z]+:", target) or not target:
            return match.group(0)
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        if os.path.isdir(os.path.join(source, path)) and os.path.join(path, "README.md") in pages:
            path = os.path.join(path, "README.md")
        if path in pages:
            link = os.path.relpath(url(path), os.path.dirname(page) or ".")
            return f"]({link}{'#' + anchor if anchor else ''})"
        file = os.path.join(source, path)
        if not os.path.exists(file):
            line = text[:match.start()].count("\n") + 1
            problems.append(f"{page}:{line}: nothing is at {target}")
        elif os.path.isdir(file):
            shutil.copytree(file, os.path.join(out, path), dirs_exist_ok=True)
        else:
            os.makedirs(os.path.join(out, os.path.dirname(path)), exist_ok=True)
            shutil.copy(file, os.path.join(out, path))
        return match.group(0)
    return re.sub(r"^(```\w+) .*$", r"\1", re.sub(r"\]\(([^)\s]+)\)", one, text), flags=re.M)


def menu(pages, titles, page):
    root = os.path.relpath(".", os.path.dirname(page) or ".")
    groups = MENU + [("Elements", [p for p in pages if p.startswith("docs/elements/")]),
                     ("Inside", [p for p in pages if p.startswith("docs/design/")] + ["CHANGELOG.md"])]
    lines = []
    for name, entries in groups:
        lines.append(f"<h2>{name}</h2><ul>")
        for entry in entries:
            here = ' aria-current="page"' if entry == page else ""
            lines.append(f'<li><a href="{root}/{url(entry)}"{here}>{html.escape(titles[entry])}</a></li>')
        lines.append("</ul>")
    lines.append("<h2>Reference</h2><ul>")
    lines += [f'<li><a href="{root}/{target}">{name}</a></li>' for name, target in REFERENCES]
    return "\n".join(lines) + "</ul>"


def main(source, elements, out):
    pages = find_pages(source, elements)
    texts = {page: open(file, encoding="utf-8").read() for page, file in pages.items()}
    titles = {page: title(text, page) for page, text in texts.items()}
    frame = open(os.path.join(HERE, "page.html"), encoding="utf-8").read()
    index = []
    for page, text in texts.items():
        body = markdown.markdown(follow(source, out, pages, page, text), extensions=["tables", "fenced_code", "toc", "sane_lists"])
        root = os.path.relpath(".", os.path.dirname(page) or ".")
        filled = (frame.replace("@TITLE@", html.escape(titles[page])).replace("@ROOT@", root)
                  .replace("@MENU@", menu(pages, titles, page)).replace("@BODY@", body))
        target = os.path.join(out, url(page))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(filled)
        index.append([titles[page], url(page), re.sub(r"\s+", " ", re.sub(r"[`*|#\[\]]", " ", text)).lower()])
    with open(os.path.join(out, "index.js"), "w", encoding="utf-8") as file:
        file.write(f"const pages = {json.dumps(index, ensure_ascii=False)};\n")
    for name in ("site.css", "search.js"):
        shutil.copy(os.path.join(HERE, name), out)
    sys.exit("\n".join(problems) or 0)


main(*sys.argv[1:])
