#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page of Markdown for each element of plugin nn, as GStreamer's registry and GObject tell: pads and their caps,
properties, signals. usage: elements.py OUT"""
import os, sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst


NAMES = {"gchararray": "text", "gboolean": "true, false"}


def cell(text):
    return str(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def hierarchy(gtype):
    names = []
    for _ in range(gtype.depth):
        names.insert(0, gtype.name)
        gtype = gtype.parent
    return " → ".join(names)


def pads(factory):
    for template in factory.get_static_pad_templates():
        yield f"### {template.name_template}\n\n{template.direction.value_nick}, {template.presence.value_nick}\n"
        formats = template.get_caps().to_string().replace("; ", "\n")
        yield f"```text\n{formats}\n```\n"


def nicks(spec):
    """By value. PyGObject before 3.50 makes a type of the class, then it is the class itself."""
    known = getattr(spec.enum_class, "__enum_values__", None)
    if known is not None:
        return {int(v): v.value_nick for v in known.values()}
    found = (GObject.enum_get_value(spec.enum_class, v) for v in range(spec.enum_class.minimum, spec.enum_class.maximum + 1))
    return {v.value: v.value_nick for v in found if v}


def default(spec):
    value = getattr(spec, "default_value", None)  # boxed types have none
    if value is None:
        return ""
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        return nicks(spec)[int(value)]
    if spec.value_type == GObject.TYPE_BOOLEAN:
        return "true" if value else "false"
    return f"{value:.4g}" if isinstance(value, float) else value


def kind(spec):
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        return ", ".join(f"`{nick}`" for nick in nicks(spec).values())
    if hasattr(spec, "minimum"):
        return "{:.4g} to {:.4g}".format(spec.minimum, spec.maximum) if isinstance(spec.maximum, float) \
            else f"{spec.minimum} to {spec.maximum}"
    return NAMES.get(spec.value_type.name, spec.value_type.name)


def properties(element):
    yield "| property | what it is | values | default | |\n|---|---|---|---|---|"
    for spec in sorted(element.list_properties(), key=lambda s: s.name):
        if spec.owner_type.name in ("GstElement", "GstObject", "GObject"):
            continue
        access = "read only" if not spec.flags & GObject.ParamFlags.WRITABLE else ""
        yield f"| `{spec.name}` | {cell(spec.blurb)} | {cell(kind(spec))} | {cell(default(spec))} | {access} |"


def signals(gtype):
    for number in GObject.signal_list_ids(gtype):
        query = GObject.signal_query(number)
        arguments = ", ".join(t.name for t in query.param_types)
        yield f"- `{query.signal_name} ({arguments})`: {query.return_type.name}"


def page(factory):
    element = factory.create(None)
    gtype = element.__gtype__
    lines = [f"# {factory.get_name()}", "", factory.get_metadata("description") + ".", "",
             f"`{factory.get_metadata('klass')}`; {hierarchy(gtype)}", "", "## Properties", "", *properties(element), ""]
    found = list(signals(gtype))
    if found:
        lines += ["## Signals", "", *found, ""]
    return "\n".join(lines + ["## Pads", "", *pads(factory)])


def main(out):
    Gst.init(None)
    factories = Gst.Registry.get().get_feature_list_by_plugin("nn")
    if not factories:
        sys.exit("elements.py: GStreamer does not find plugin nn (GST_PLUGIN_PATH)")
    os.makedirs(out, exist_ok=True)
    names = sorted(f.get_name() for f in factories)
    for name in names:
        with open(os.path.join(out, name + ".md"), "w", encoding="utf-8") as file:
            file.write(page(Gst.ElementFactory.find(name)))
    with open(os.path.join(out, "README.md"), "w", encoding="utf-8") as file:
        file.write("# Elements\n\n" + "\n".join(
            f"- [{n}]({n}.md): {Gst.ElementFactory.find(n).get_metadata('description')}" for n in names) + "\n")


main(sys.argv[1])
