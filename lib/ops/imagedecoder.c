/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ImageDecoder (20): gdk-pixbuf knows the formats. */
#include "ops-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#ifdef HAVE_PIXBUF
#include <gdk-pixbuf/gdk-pixbuf.h>
#endif

#define MOST_PIXELS (G_GINT64_CONSTANT (1) << 28)

static const gchar *const formats[] = { "RGB", "BGR", "Grayscale", NULL };
enum { RGB, BGR, GRAYSCALE };

/* The index of attribute pixel_format, -1: none of them. */
static gint
pixel_format (const AxonNode *node, GError **error)
{
  const gchar *name = axon_node_get_string (node, "pixel_format");
  for (gint i = 0; formats[i] != NULL; i++)
    if (g_str_equal (name, formats[i]))
      return i;
  g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
               _ ("pixel_format \"%s\": expected RGB, BGR or Grayscale"), name);
  return -1;
}

static gboolean
infer_image_decoder (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                     GError **error)
{
  gint format = pixel_format (node, error);
  if (format < 0 || !axon_check_rank (in, 0, 1, 1, error))
    return FALSE;
  out[0].dtype = AXON_DTYPE_U8;
  out[0].shape = AXON_SHAPE (-1, -1, format == GRAYSCALE ? 1 : 3);
  return TRUE;
}

#ifdef HAVE_PIXBUF
/* A few bytes may announce more pixels than there is memory. */
static void
limit_size (GdkPixbufLoader *loader, gint width, gint height, gpointer too_large)
{
  if ((gint64)width * height > MOST_PIXELS) {
    *(gboolean *)too_large = TRUE;
    gdk_pixbuf_loader_set_size (loader, 1, 1);
  }
}

/* NULL without @error: no picture. */
static GdkPixbuf *
decode (AxonTensor *stream, GError **error)
{
  g_autoptr (GdkPixbufLoader) loader = gdk_pixbuf_loader_new ();
  g_autoptr (GError) why = NULL;
  gboolean too_large = FALSE, closed;
  GdkPixbuf *pixbuf = NULL;
  g_signal_connect (loader, "size-prepared", G_CALLBACK (limit_size), &too_large);
  gdk_pixbuf_loader_write (loader, axon_tensor_get_data (stream), axon_tensor_get_n_bytes (stream),
                           &why);
  closed = gdk_pixbuf_loader_close (loader, why ? NULL : &why);
  if (why == NULL && closed)
    pixbuf = gdk_pixbuf_loader_get_pixbuf (loader);
  if (too_large)
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, _ ("the picture has more than %lld pixels"),
                 (long long)MOST_PIXELS);
  else if (pixbuf == NULL)
    g_info ("ImageDecoder: %s", why ? why->message : "no picture");
  return too_large || pixbuf == NULL ? NULL : g_object_ref (pixbuf);
}

static void
copy_row (const guint8 *from, gint step, guint8 *to, gint width, gint format)
{
  for (gint x = 0; x < width; x++, from += step)
    if (format == GRAYSCALE) { /* ITU-R BT.601 luma in 16 bits of fraction */
      *to++ = (guint8)((from[0] * 19595 + from[1] * 38470 + from[2] * 7471 + 0x8000) >> 16);
    } else {
      *to++ = from[format == RGB ? 0 : 2];
      *to++ = from[1];
      *to++ = from[format == RGB ? 2 : 0];
    }
}

static gboolean
run_image_decoder (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (GdkPixbuf) pixbuf = decode (in[0], &failure);
  gint format = pixel_format (node, error), channels = format == GRAYSCALE ? 1 : 3;
  gint width = pixbuf ? gdk_pixbuf_get_width (pixbuf) : 0;
  gint height = pixbuf ? gdk_pixbuf_get_height (pixbuf) : 0;
  AxonShape shape = AXON_SHAPE (height, width, channels);
  if (failure != NULL) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return FALSE;
  }
  out[0] = format < 0 ? NULL : axon_tensor_new (AXON_DTYPE_U8, &shape, error);
  for (gint y = 0; out[0] != NULL && y < height; y++)
    copy_row (gdk_pixbuf_read_pixels (pixbuf) + (gsize)y * gdk_pixbuf_get_rowstride (pixbuf),
              gdk_pixbuf_get_n_channels (pixbuf),
              (guint8 *)axon_tensor_get_data (out[0]) + (gsize)y * width * channels, width, format);
  return out[0] != NULL;
}
#else
static gboolean
run_image_decoder (G_GNUC_UNUSED const AxonNode *node, G_GNUC_UNUSED AxonTensor *const *in,
                   G_GNUC_UNUSED AxonTensor **out, GError **error)
{
  FAIL (UNSUPPORTED, "built without gdk-pixbuf; build with -Dpictures=enabled");
}
#endif

static const AxonOp rows[] = {
  {
      .name = "ImageDecoder",
      .since = 20,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPE_BIT (AXON_DTYPE_U8),
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_S ("pixel_format", "RGB")),
      .infer = infer_image_decoder,
      .run = run_image_decoder,
  },
};

DEFINE_FAMILY (imagedecoder, rows)
