#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python's type stubs of a library, from its GIR, as PyGObject presents it: lengths of arrays, user data and their
destructors are no arguments, what C writes through pointers is returned. usage: stubs.py NAMESPACE.gir OUT.pyi"""
import keyword, sys
import xml.etree.ElementTree as ET

CORE = "{http://www.gtk.org/introspection/core/1.0}"
GLIB = "{http://www.gtk.org/introspection/glib/1.0}"
PLAIN = {"utf8": "str", "filename": "str", "gboolean": "bool", "gdouble": "float", "gfloat": "float", "none": "None", "GType": "type"}
INTEGERS = ("gint", "guint", "gsize", "gssize", "glong", "gulong", "gchar", "guchar", "gunichar")


def kind(node, own):
    """The Python type of what holds a <type>, an <array> or a <varargs>."""
    array, plain = node.find(CORE + "array"), node.find(CORE + "type")
    if array is not None:
        element = kind(array, own)
        return "bytes" if element == "int8" else f"Sequence[{element}]"
    name = plain.get("name", "") if plain is not None else ""
    if name in PLAIN:
        return PLAIN[name]
    if name in ("guint8", "gint8"):
        return "int8" if node.tag == CORE + "array" else "int"
    if name.startswith(INTEGERS):
        return "int"
    if name in ("GLib.List", "GLib.SList", "GLib.PtrArray"):
        return f"Sequence[{kind(plain, own)}]"
    if name == "GLib.HashTable":
        key, value = (kind_of_name(t.get("name", ""), own) for t in plain.findall(CORE + "type"))
        return f"Mapping[{key}, {value}]"
    return kind_of_name(name, own)


def kind_of_name(name, own):
    return PLAIN.get(name) or (f'"{name}"' if name in own else "Any")


def optional(text, node):
    may_be_null = node.get("nullable") == "1" or node.get("direction") != "out" and node.get("allow-none") == "1"
    return f"{text} | None" if may_be_null else text


def arguments(call, own):
    """Arguments and, of what C writes, the types."""
    found = call.findall(f"{CORE}parameters/{CORE}parameter")
    hidden = set()
    for holder in found + [call.find(CORE + "return-value")]:
        array = holder.find(CORE + "array") if holder is not None else None
        if array is not None and array.get("length"):
            hidden.add(int(array.get("length")))
        for role in ("closure", "destroy") if holder is not None and holder.tag.endswith("parameter") else ():
            if holder.get(role) and found.index(holder) != int(holder.get(role)):
                hidden.add(int(holder.get(role)))
    taken, written = [], []
    for i, parameter in enumerate(found):
        if i in hidden:
            continue
        text = optional(kind(parameter, own), parameter)
        if parameter.get("direction", "in") != "in":
            written.append(text)
        if parameter.get("direction") != "out" or parameter.get("caller-allocates") == "1" and text == "Any":
            name = parameter.get("name")
            taken.append(f"{name + '_' if keyword.iskeyword(name) else name}: {text}")
    # PyGObject lets a last argument be left out that may be NULL.
    for i in reversed(range(len(taken))):
        if not taken[i].endswith("| None"):
            break
        taken[i] += " = ..."
    if any(p.get("closure") for p in found):
        taken.append("*user_data: Any")
    return taken, written


def function(call, own, indent, first=None):
    taken, written = arguments(call, own)
    returned = call.find(CORE + "return-value")
    result = kind(returned, own)
    if call.get("throws") != "1":  # NULL goes with an exception
        result = optional(result, returned)
    results = ([] if result == "None" and written else [result]) + written
    text = results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
    return f"{indent}def {call.get('name')}({', '.join(([first] if first else []) + taken)}) -> {text}: ..."


def calls(node, tag):
    return [c for c in node.findall(CORE + tag) if c.get("introspectable") != "0" and not c.get("moved-to") and not c.get("shadowed-by")]


def class_lines(node, own):
    parent = node.get("parent", "")
    lines = [f"class {node.get('name')}({parent if parent in own else 'Any' if parent else 'object'}):"]
    for field in node.findall(CORE + "field"):
        if field.get("private") != "1" and field.get("introspectable") != "0" and field.find(CORE + "callback") is None:
            lines.append(f"    {field.get('name')}: {kind(field, own)}")
    for constructor in calls(node, "constructor"):
        lines += ["    @classmethod", function(constructor, own, "    ", "cls")]
    for static in calls(node, "function"):
        lines += ["    @staticmethod", function(static, own, "    ")]
    lines += [function(method, own, "    ", "self") for method in calls(node, "method")]
    return lines if len(lines) > 1 else [lines[0] + " ..."]


def enum_lines(node):
    lines = [f"class {node.get('name')}({'int' if node.tag.endswith('enumeration') else 'IntFlag'}):"]
    for member in node.findall(CORE + "member"):
        lines.append(f"    {member.get('name').upper()}: ClassVar[Any]")
    return lines


def main(gir, out):
    namespace = ET.parse(gir).getroot().find(CORE + "namespace")
    classes = [n for n in namespace if n.tag in (CORE + "class", CORE + "record", CORE + "interface") and n.get("introspectable") != "0"
               and not n.get(GLIB + "is-gtype-struct-for") and n.get("disguised") != "1" or n.tag == CORE + "record" and n.get(GLIB + "get-type")]
    enums = [n for n in namespace if n.tag in (CORE + "enumeration", CORE + "bitfield")]
    own = {n.get("name") for n in classes + enums}
    names = [n.get("name") for n in classes]
    classes.sort(key=lambda n: (n.get("parent") in own, names.index(n.get("name"))))  # parents first
    lines = [f"# Made of {namespace.get('name')}-{namespace.get('version')}.gir by stubs.py.", "from enum import IntFlag",
             "from typing import Any, ClassVar, Mapping, Sequence", ""]
    for node in enums:
        lines += enum_lines(node)
    for node in classes:
        lines += class_lines(node, own)
    lines += [function(call, own, "") for call in calls(namespace, "function")]
    for constant in namespace.findall(CORE + "constant"):
        lines.append(f"{constant.get('name')}: {kind(constant, own)}")
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


main(*sys.argv[1:])
