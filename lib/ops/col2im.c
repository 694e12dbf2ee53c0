/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Col2Im (18): adds up patches where they came from. */
#include "ops-private.h"

/* The window whose patches the columns of [N, C * kernel, patches] are. */
static gboolean
col2im_window (const AxonNode *node, const AxonTypeInfo *in, AxonWindow *w, AxonShape *image,
               gboolean *known, GError **error)
{
  gint64 size[3], block[3], volume = 1, patches = 1;
  guint n, n_block;
  *known = axon_const_ints (&in[1], size, 3, &n) && axon_const_ints (&in[2], block, 3, &n_block);
  if (!*known)
    return TRUE;
  if (n != n_block || n < 1)
    FAIL (MODEL, "image_shape and block_shape have %u and %u values, expected 1 to 3 of each", n,
          n_block);
  *image = (AxonShape){ .rank = (gint)n + 2, .dims = { 1, 1 } };
  for (guint i = 0; i < n; i++) {
    image->dims[2 + i] = size[i];
    if (size[i] < 1 || size[i] > G_MAXINT32)
      FAIL (MODEL, "image_shape: %" G_GINT64_FORMAT " is out of range", size[i]);
  }
  if (!axon_window_init (w, node, image, block, FALSE, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    volume *= block[i];
    patches *= w->out[3 - n + i];
  }
  image->dims[0] = in[0].shape.dims[0];
  image->dims[1] = in[0].shape.dims[1] < 0 ? -1 : in[0].shape.dims[1] / volume;
  if ((in[0].shape.dims[1] >= 0 && in[0].shape.dims[1] % volume != 0) ||
      (in[0].shape.dims[2] >= 0 && in[0].shape.dims[2] != patches))
    FAIL (MODEL, "the input is not [N, C * %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "]", volume,
          patches);
  return TRUE;
}

static gboolean
infer_col2im (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonShape image;
  AxonWindow w;
  gboolean known;
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 3, 3, error))
    return FALSE;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!col2im_window (node, in, &w, &image, &known, error))
    return FALSE;
  if (known)
    out[0].shape = image;
  return TRUE;
}

/* Adds one kernel tap of all patches to the image. */
static void
add_tap (gdouble *y, const gdouble *columns, const AxonWindow *w, const gint64 *k)
{
  gint64 i = 0;
  for (gint64 oz = 0; oz < w->out[0]; oz++)
    for (gint64 oy = 0; oy < w->out[1] && ROW_WANTED (oy); oy++)
      for (gint64 ox = 0; ox < w->out[2]; ox++, i++) {
        const gint64 o[] = { oz, oy, ox };
        gint64 at = 0;
        for (gint d = 0; at >= 0 && d < 3; d++) {
          gint64 c = o[d] * w->stride[d] + k[d] * w->dilation[d] - w->pad[d];
          at = c < 0 || c >= w->in[d] ? -1 : at * w->in[d] + c;
        }
        if (at >= 0)
          y[at] += columns[i];
      }
}

static gboolean
eval_col2im (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 patches = axon_tensor_get_dim (in[0], 2), row = 0;
  AxonTypeInfo infos[3];
  AxonShape image;
  AxonWindow w;
  gboolean known;
  axon_infos_of (node, in, infos);
  if (!col2im_window (node, infos, &w, &image, &known, error))
    return FALSE;
  for (gint64 nc = 0; nc < image.dims[0] * image.dims[1]; nc++)
    for (gint64 kz = 0; kz < w.kernel[0]; kz++)
      for (gint64 ky = 0; ky < w.kernel[1]; ky++)
        for (gint64 kx = 0; kx < w.kernel[2]; kx++, row++)
          add_tap (y + nc * w.in[0] * w.in[1] * w.in[2], x + row * patches, &w,
                   (const gint64[]){ kz, ky, kx });
  axon_store_doubles (out[0], y);
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "Col2Im",
      .since = 18,
      .inputs = { 3, 3 },
      .operands = ".ll",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_INTS ("dilations"), ATTR_INTS ("pads"), ATTR_INTS ("strides")),
      .infer = infer_col2im,
      .eval = eval_col2im,
  },
};

DEFINE_FAMILY (col2im, rows)
