#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results of models from Python: what the description of the interface says, and what can be read by it.
usage: bindings.py GstNn-1.0.gir (GI_TYPELIB_PATH and LD_LIBRARY_PATH say where the libraries are)"""
import sys
import xml.etree.ElementTree as xml

CORE = "{http://www.gtk.org/introspection/core/1.0}"
C = "{http://www.gtk.org/introspection/c/1.0}"


def methods_are_no_loose_functions(gir):
    namespace = xml.parse(gir).getroot().find(CORE + "namespace")
    types = {t.get("name") for kind in ("record", "class", "boxed") for t in namespace.findall(CORE + kind)}
    assert {"Object", "ResultMeta", "Attribute", "Mask", "Skeleton", "SceneMeta"} <= types, types
    for function in namespace.findall(CORE + "function"):
        first = function.find(f"{CORE}parameters/{CORE}parameter/{CORE}type")
        name = first.get("name") if first is not None else None
        assert name not in types, f"{function.get(C + 'identifier')} is no method of {name}"


def objects_can_be_read_from_python(_):
    import gi
    gi.require_version("Gst", "1.0")
    gi.require_version("GstNn", "1.0")
    from gi.repository import Gst, GstNn
    Gst.init(None)
    buffer = Gst.Buffer.new()
    results = GstNn.buffer_add_nn_result_meta(buffer, 320, 240)
    for i, label in enumerate(("cat", "dog")):
        found = results.add_object(0)
        found.set_box(10 * i, 20, 30, 40)
        found.set_class(i, label, 0.5)
        found.add_keypoint(1, 2, 0.9)
    results = GstNn.buffer_get_nn_result_meta(buffer)
    objects = results.get_objects()
    assert results.get_n_objects() == len(objects) == 2
    assert [o.get_label() for o in objects] == ["cat", "dog"]
    assert [tuple(o.get_box()) for o in objects] == [(0, 20, 30, 40), (10, 20, 30, 40)]
    assert tuple(objects[1].get_keypoint(0)) == (True, 1, 2, 0.9)
    assert objects[0].get_id() != objects[1].get_id()


def have_bindings():
    try:
        import gi
        gi.require_version("Gst", "1.0")
        return True
    except (ImportError, ValueError):
        return False


tests = (methods_are_no_loose_functions, objects_can_be_read_from_python)
print(f"1..{len(tests)}")
for number, test in enumerate(tests, 1):
    name = f"{number} /bindings/{test.__name__}"
    if test is objects_can_be_read_from_python and not have_bindings():
        print(f"ok {name} # SKIP python3-gi or GStreamer's typelib is not installed")
        continue
    try:
        test(sys.argv[1])
        print(f"ok {name}")
    except Exception as e:  # whatever fails is the test's result
        print(f"not ok {name}\n# {type(e).__name__}: {e}")
