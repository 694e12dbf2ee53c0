/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon.ImageToTensor, fast: two source rows are blended into floats, columns are gathered from
 * them, colours are converted and normalised, all within one row of the tensor. The frame is read
 * once. */
#include "kernels.h"
#include "../cpuisa.h"

#include <axon/axon.h>
#include <math.h>
#include <string.h>

/* Row buffers, grown to the widest frame a stream has met; freed with its thread. */
typedef struct {
  gsize n_bytes;
  guint8 *data;
} Scratch;

static void
scratch_free (gpointer data)
{
  g_free (((Scratch *)data)->data);
  g_free (data);
}

static GPrivate thread_scratch = G_PRIVATE_INIT (scratch_free);

static guint8 *
get_scratch (gsize n_bytes)
{
  Scratch *s = g_private_get (&thread_scratch);
  if (s == NULL) {
    s = g_new0 (Scratch, 1);
    g_private_set (&thread_scratch, s);
  }
  if (s->n_bytes < n_bytes) {
    s->data = g_realloc (s->data, n_bytes);
    s->n_bytes = n_bytes;
  }
  /* cppcheck-suppress memleak */ /* the thread owns it */
  return s->data;
}

typedef struct {
  AxonImageTarget target;
  const CpuImage *loops;
  const CpuResize *resize;
} ImagePlan;

typedef struct {
  AxonImageTarget target;
  const CpuImage *loops;
  const CpuResize *resize;
  const AxonImageInfo *info;
  AxonImageGeometry g;
  const guint8 *plane[AXON_IMAGE_MAX_PLANES];
  gint32 *x0, *x1, *c0, *c1; /* element offsets of taps: luma or packed, chroma */
  gfloat *fx, *row, *chroma[2], *rgb[3], *line, *words;
  gfloat matrix[6];
  gboolean yuv;
} Job;

static void
set_matrix (Job *j)
{
  gdouble kr = (gdouble)j->info->kr_1e6 / 1e6, kb = (gdouble)j->info->kb_1e6 / 1e6;
  gdouble kg = 1 - kr - kb, c = j->info->full_range ? 1 : 255. / 224;
  gdouble s = j->info->full_range ? 1 : 255. / 219;
  gdouble m[6] = { s,
                   j->info->full_range ? 0 : -16 * s,
                   2 * (1 - kr) * c,
                   2 * kb * (1 - kb) / kg * c,
                   2 * kr * (1 - kr) / kg * c,
                   2 * (1 - kb) * c };
  for (gint i = 0; i < 6; i++)
    j->matrix[i] = (gfloat)m[i];
}

static void
set_taps (Job *j, gint pixel_stride, gint chroma_stride)
{
  for (gint i = 0; i < j->g.dst_width; i++) {
    gdouble x = j->g.x + (i + 0.5) * j->g.scale_x - 0.5, base = floor (x);
    gint lo = (gint)CLAMP (base, 0, (gdouble)j->info->width - 1);
    gint hi = (gint)CLAMP (base + 1, 0, (gdouble)j->info->width - 1);
    j->fx[i] = (gfloat)(x - base);
    j->x0[i] = lo * pixel_stride;
    j->x1[i] = hi * pixel_stride;
    j->c0[i] = lo / 2 * chroma_stride;
    j->c1[i] = hi / 2 * chroma_stride;
  }
}

static gboolean
job_init (Job *j, const CpuInstance *instance, const CpuStep *step)
{
  gsize bytes[AXON_IMAGE_MAX_PLANES], w, n;
  guint8 *p;
  AxonTensor *info = axon_infer_request_peek_input (instance->request, step->in[0]->buffer->index);
  j->info = axon_tensor_get_data (info);
  for (guint i = 0; i < AXON_IMAGE_MAX_PLANES; i++) {
    AxonTensor *t =
        axon_infer_request_peek_input (instance->request, step->in[1 + i]->buffer->index);
    j->plane[i] = axon_tensor_get_data (t);
    bytes[i] = axon_tensor_get_n_bytes (t);
  }
  if (!axon_image_info_check (j->info, bytes, instance->error))
    return FALSE;
  axon_image_geometry_init (&j->g, j->info, j->target.fit, j->target.width, j->target.height);
  j->yuv = j->info->format == AXON_IMAGE_FORMAT_NV12 || j->info->format == AXON_IMAGE_FORMAT_I420;
  w = (gsize)j->info->width * 4 + 16;
  n = (gsize)j->target.width + 16;
  p = get_scratch ((2 * w + 4 * n) * sizeof (gfloat) + 9 * n * 4);
  j->row = (gfloat *)(gpointer)p;
  j->chroma[0] = j->row + w;
  j->chroma[1] = j->chroma[0] + w / 2;
  j->rgb[0] = j->row + 2 * w;
  j->rgb[1] = j->rgb[0] + n;
  j->rgb[2] = j->rgb[1] + n;
  j->line = j->rgb[2] + n;
  j->fx = j->line + n;
  j->x0 = (gint32 *)(gpointer)(j->fx + n);
  j->x1 = j->x0 + n;
  j->c0 = j->x1 + n;
  j->c1 = j->c0 + n;
  j->words = (gfloat *)(gpointer)(j->c1 + n);
  set_taps (j, (gint)axon_image_format_get_pixel_stride ((AxonImageFormat)j->info->format),
            j->info->format == AXON_IMAGE_FORMAT_NV12 ? 2 : 1);
  set_matrix (j);
  return TRUE;
}

static void
blend_plane (Job *j, gint plane, gint64 y0, gint64 y1, gfloat f, gint n, gfloat *out)
{
  j->loops->blend_bytes (out, j->plane[plane] + y0 * j->info->stride[plane],
                         j->plane[plane] + y1 * j->info->stride[plane], n, f);
}

static void
yuv_row (Job *j, gint64 y0, gint64 y1, gfloat f)
{
  gint width = (gint)j->info->width, half = (width + 1) / 2, n = j->g.dst_width;
  gboolean nv12 = j->info->format == AXON_IMAGE_FORMAT_NV12;
  const gfloat *u = j->chroma[0], *v = nv12 ? j->chroma[0] + 1 : j->chroma[1];
  blend_plane (j, 0, y0, y1, f, width, j->row);
  blend_plane (j, 1, y0 / 2, y1 / 2, f, nv12 ? 2 * half : half, j->chroma[0]);
  if (!nv12)
    blend_plane (j, 2, y0 / 2, y1 / 2, f, half, j->chroma[1]);
  j->resize->blend_columns (j->rgb[0], j->row, j->x0, j->x1, j->fx, n);
  j->resize->blend_columns (j->rgb[1], u, j->c0, j->c1, j->fx, n);
  j->resize->blend_columns (j->rgb[2], v, j->c0, j->c1, j->fx, n);
  j->loops->convert_yuv (j->rgb[0], j->rgb[1], j->rgb[2], n, j->matrix);
}

/* The two taps of each column as words, bytes in memory order. */
static void
fetch_row (guint32 *restrict lo, guint32 *restrict hi, const guint8 *row, const Job *j, gint step)
{
  gint last = (gint)j->info->width * step - 4; /* no read beyond the row */
  for (gint i = 0; i < j->g.dst_width; i++) {
    gint a = MIN (j->x0[i], last), b = MIN (j->x1[i], last);
    guint32 wa, wb;
    memcpy (&wa, row + a, 4);
    memcpy (&wb, row + b, 4);
    lo[i] = GUINT32_FROM_LE (wa) >> (8 * (j->x0[i] - a));
    hi[i] = GUINT32_FROM_LE (wb) >> (8 * (j->x1[i] - b));
  }
}

/* The byte of a pixel that holds red, green or blue. */
static gint
channel_at (gint c, gint step, gboolean bgr)
{
  if (step == 1)
    return 0;
  return bgr ? 2 - c : c;
}

static void
packed_row (Job *j, gint64 y0, gint64 y1, gfloat f)
{
  gint step = (gint)axon_image_format_get_pixel_stride ((AxonImageFormat)j->info->format);
  gboolean bgr =
      j->info->format == AXON_IMAGE_FORMAT_BGR || j->info->format == AXON_IMAGE_FORMAT_BGRX;
  gint n = j->g.dst_width;
  guint32 *words = (guint32 *)(gpointer)j->words;
  if (j->info->width * step < 4) { /* too narrow for words */
    blend_plane (j, 0, y0, y1, f, (gint)j->info->width * step, j->row);
    for (gint c = 0; c < 3; c++)
      j->resize->blend_columns (j->rgb[c], j->row + channel_at (c, step, bgr), j->x0, j->x1, j->fx,
                                n);
    return;
  }
  fetch_row (words, words + n, j->plane[0] + y0 * j->info->stride[0], j, step);
  fetch_row (words + 2 * n, words + 3 * n, j->plane[0] + y1 * j->info->stride[0], j, step);
  for (gint c = 0; c < 3; c++)
    j->loops->blend_words (j->rgb[c], words, words + n, words + 2 * n, words + 3 * n, j->fx, f,
                           8 * channel_at (c, step, bgr), n);
}

/* One channel of one row, at its place in the tensor, bars included. */
static void
store_row (Job *j, gpointer out, gint y, gint c, const gfloat *values)
{
  const AxonImageTarget *t = &j->target;
  gfloat pad = (t->pad - t->mean[c]) * t->scale[c];
  gint right = j->g.dst_x + j->g.dst_width;
  gsize at = t->nhwc ? (gsize)y * (gsize)t->width * (gsize)t->channels + (gsize)c
                     : ((gsize)c * (gsize)t->height + (gsize)y) * (gsize)t->width;
  gboolean direct = t->dtype == AXON_DTYPE_F32 && !t->nhwc;
  gfloat *line = direct ? (gfloat *)out + at : j->line;
  for (gint x = 0; x < (values ? j->g.dst_x : t->width); x++)
    line[x] = pad;
  for (gint x = right; values && x < t->width; x++)
    line[x] = pad;
  if (values != NULL)
    j->loops->normalise (line + j->g.dst_x, values, j->g.dst_width, t->mean[c], t->scale[c]);
  for (gint x = 0; !direct && x < t->width; x++) {
    gdouble v = (gdouble)line[x];
    axon_dtype_store (t->dtype, out, at + (gsize)(x * (t->nhwc ? t->channels : 1)),
                      axon_dtype_is_float (t->dtype) ? v : floor (v + 0.5));
  }
}

static void
run_image (const CpuStep *step, const CpuInstance *instance)
{
  const ImagePlan *p = step->data;
  Job j = { .target = p->target, .loops = p->loops, .resize = p->resize };
  gpointer out = cpu_tensor_data (instance, step->out[0]);
  if (!job_init (&j, instance, step))
    return;
  for (gint y = 0; y < j.target.height; y++) {
    gint row = y - j.g.dst_y;
    gboolean inside = row >= 0 && row < j.g.dst_height;
    gdouble sy = j.g.y + (row + 0.5) * j.g.scale_y - 0.5, base = floor (sy);
    gint64 y0 = (gint64)CLAMP (base, 0, (gdouble)j.info->height - 1);
    gint64 y1 = (gint64)CLAMP (base + 1, 0, (gdouble)j.info->height - 1);
    if (inside && j.yuv)
      yuv_row (&j, y0, y1, (gfloat)(sy - base));
    else if (inside)
      packed_row (&j, y0, y1, (gfloat)(sy - base));
    if (inside && j.target.channels == 1)
      j.loops->to_gray (j.rgb[0], j.rgb[1], j.rgb[2], j.g.dst_width);
    for (gint c = 0; c < j.target.channels; c++)
      store_row (&j, out, y, c, inside ? j.rgb[j.target.bgr ? 2 - c : c] : NULL);
  }
}

static gboolean
build_image (CpuPlan *plan, const AxonNode *node, GError **error)
{
  CpuTensor *in[1 + AXON_IMAGE_MAX_PLANES], *dst;
  const CpuVector *vector = cpu_isa_get ()->vector;
  ImagePlan p = { .loops = vector->image, .resize = vector->resize };
  if (!axon_image_target_init (&p.target, node, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (in); i++) {
    in[i] = cpu_plan_input (plan, node, i);
    if (in[i]->buffer->place != CPU_INPUT)
      return FALSE;
  }
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_image, g_memdup2 (&p, sizeof p), g_free, "own", in,
                     G_N_ELEMENTS (in), &dst, 1);
  return TRUE;
}

const CpuKernel cpu_image_kernels[] = {
  { .domain = AXON_DOMAIN_AXON, .name = "ImageToTensor", .impl = "own", .build = build_image },
  { 0 },
};
