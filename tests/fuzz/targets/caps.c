/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps, and properties of every element: the first byte is 0 for caps of tensors, or the element
 * and its property; the rest is text. */
#include "caps/gstnncaps.h"
#include "elements/gstnnelement.h"
#include "fuzz.h"

GST_ELEMENT_REGISTER_DECLARE (nninfer)
GST_ELEMENT_REGISTER_DECLARE (nnpreproc)
GST_ELEMENT_REGISTER_DECLARE (nndecode)
GST_ELEMENT_REGISTER_DECLARE (nnoverlay)
GST_ELEMENT_REGISTER_DECLARE (nnpublish)

static void
parse_caps (const gchar *text)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (AxonDType));
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (AxonShape));
  g_autoptr (GError) error = NULL;
  gboolean ok;
  if (caps == NULL || gst_caps_is_any (caps) || gst_caps_is_empty (caps))
    return;
  ok = gst_nn_tensor_caps_parse (caps, types, shapes, &error);
  fuzz_check (ok, error);
  if (ok)
    g_assert_true (gst_nn_tensor_caps_match (caps, types->len, (AxonDType *)(gpointer)types->data,
                                             (AxonShape *)(gpointer)shapes->data, NULL));
}

static void
set_property (const gchar *factory, guint index, const gchar *text)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_element_factory_make (factory, NULL));
  guint n;
  g_autofree GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  GParamSpec *spec = specs[index % n];
  GValue value = G_VALUE_INIT;
  if ((spec->flags & G_PARAM_WRITABLE) == 0)
    return;
  /* gst_util_set_object_arg() of GStreamer 1.22 leaks the array that it cannot read. */
  g_value_init (&value, spec->value_type);
  if (gst_value_deserialize_with_pspec (&value, text, spec))
    g_object_set_property (G_OBJECT (element), spec->name, &value);
  g_value_unset (&value);
}

/* Those linked in, not the plugin's. */
static void
register_elements (void)
{
  gst_init (NULL, NULL);
  GST_ELEMENT_REGISTER (nninfer, NULL);
  GST_ELEMENT_REGISTER (nnpreproc, NULL);
  GST_ELEMENT_REGISTER (nndecode, NULL);
  GST_ELEMENT_REGISTER (nnoverlay, NULL);
  GST_ELEMENT_REGISTER (nnpublish, NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize n)
{
  static const gchar *const elements[] = { "nninfer", "nnpreproc", "nndecode", "nnoverlay",
                                           "nnpublish" };
  FuzzBytes bytes = { data, n };
  guint which = fuzz_byte (&bytes) % (G_N_ELEMENTS (elements) + 1);
  guint index = which ? fuzz_byte (&bytes) : 0;
  g_autofree gchar *text = g_strndup ((const gchar *)bytes.data, bytes.n);
  static gsize once;
  if (g_once_init_enter (&once)) {
    register_elements ();
    g_once_init_leave (&once, 1);
  }
  if (!g_utf8_validate (text, -1, NULL))
    return 0;
  if (which == 0)
    parse_caps (text);
  else
    set_property (elements[which - 1], index, text);
  return 0;
}
