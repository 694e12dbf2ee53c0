/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon.ImageToTensor, fast: pixels of two rows are blended into floats, colours are converted and
 * normalised, all within one row of the tensor. The frame is read once. Formats differ only in
 * their rows of AxonImageFormatInfo. Only the pixels that are shown are read (imagewords.h); where
 * that cannot be, as of frames of hardly a pixel, whole rows are blended, of which columns are
 * gathered; a turned region takes the four pixels of each element from wherever they lie. */
#include "imagestore.h"
#include "imagewords.h"
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"

#include <axon/axon.h>
#include <math.h>
#include <string.h>

#define PARALLEL 16384 /* values that are worth a thread */

static void
free_scratch (gpointer scratch)
{
  g_byte_array_unref (scratch);
}

/* Row buffers, grown to the widest frame a thread has met; freed with it. */
static GPrivate thread_scratch = G_PRIVATE_INIT (free_scratch);

static guint8 *
get_scratch (gsize n_bytes)
{
  GByteArray *scratch = g_private_get (&thread_scratch);
  if (scratch == NULL)
    g_private_set (&thread_scratch, scratch = g_byte_array_new ());
  if (scratch->len < n_bytes)
    g_byte_array_set_size (scratch, (guint)n_bytes);
  return scratch->data;
}

typedef struct {
  AxonImageTarget target;
  const CpuImage *loops;
  const CpuResize *resize;
} ImagePlan;

/* The part of a plane that the tensor shows: samples begin to end of each row. */
typedef struct {
  const guint8 *data;
  gint64 stride;
  gint begin, end, shift_y;
  gfloat *row; /* blended */
} Plane;

typedef struct {
  ImagePlan plan;
  AxonImageSampling sampling;
  CpuColors colors;
  CpuSamples samples;
  Plane plane[AXON_IMAGE_MAX_PLANES];
  gint n_components; /* 1: gray */
  gboolean between;  /* some column lies between two pixels */
  CpuTurnedTaps taps;
  gint32 *at[2][2]; /* where of a blended row: luma or packed, chroma; first and second tap */
  gint32 *tables;   /* of the words */
  gboolean by_words;
  CpuImageWords words;
  gfloat *rgb[3], *bar;
  CpuImageStore store;
} Job;

static void
set_colors (Job *j, const AxonImageInfo *info)
{
  const AxonImageFormatInfo *f = j->sampling.format;
  AxonImageColors c;
  axon_image_colors_init (&c, info);
  j->colors =
      (CpuColors){ (gfloat)c.luma_scale, (gfloat)c.luma_offset, (gfloat)c.center, (gfloat)c.v_to_r,
                   (gfloat)c.u_to_g,     (gfloat)c.v_to_g,      (gfloat)c.u_to_b };
  j->samples.unit = (gfloat)c.unit;
  j->samples.swapped = f->big_endian != (G_BYTE_ORDER == G_BIG_ENDIAN);
  j->n_components = f->kind == AXON_IMAGE_GRAY ? 1 : 3;
}

/* The two pixels beside position @p and the weight of the second one; without weight it is the
 * first one: nothing else is read. */
static gfloat
find_taps (gdouble p, gint first, gint last, gint32 *lo, gint32 *hi)
{
  gdouble base = floor (p);
  *lo = (gint32)CLAMP (base, first, last);
  *hi = p > base ? (gint32)CLAMP (base + 1, first, last) : *lo;
  return (gfloat)(p - base);
}

/* Once for an upright region, for each row of a turned one. */
static void
set_columns (Job *j, gint row)
{
  const AxonImageSampling *s = &j->sampling;
  const CpuTurnedTaps *t = &j->taps;
  gdouble x = s->origin[0] + row * s->row_step[0], y = s->origin[1] + row * s->row_step[1];
  for (gint i = 0; i < s->geometry.dst_width; i++)
    t->fx[i] = find_taps (x + i * s->column_step[0], s->first[0], s->last[0], &t->x0[i], &t->x1[i]);
  j->between = FALSE;
  for (gint i = 0; i < s->geometry.dst_width && !j->between; i++)
    j->between = t->x0[i] != t->x1[i];
  for (gint i = 0; s->is_turned && i < s->geometry.dst_width; i++)
    t->fy[i] = find_taps (y + i * s->column_step[1], s->first[1], s->last[1], &t->y0[i], &t->y1[i]);
}

/* Which samples of each plane's rows are used, of an upright region. */
static void
set_planes (Job *j)
{
  const AxonImageSampling *s = &j->sampling;
  gdouble right = s->origin[0] + (s->geometry.dst_width - 1) * s->column_step[0];
  gint lo, hi, other;
  find_taps (s->origin[0], s->first[0], s->last[0], &lo, &other);
  find_taps (right, s->first[0], s->last[0], &other, &hi);
  for (gint i = 0; i < j->n_components; i++) {
    const AxonImageComponent *c = &s->format->component[i];
    Plane *p = &j->plane[c->plane];
    gint begin = (lo >> c->shift_x) * c->step, end = (hi >> c->shift_x) * c->step + c->offset + 1;
    p->begin = p->end == 0 ? begin : MIN (p->begin, begin);
    p->end = MAX (p->end, end);
    p->shift_y = c->shift_y;
  }
}

/* Columns become samples of a row; chroma is alike in both components. */
static void
set_offsets (Job *j)
{
  for (gint i = 0; i < MIN (j->n_components, 2); i++) {
    const AxonImageComponent *c = &j->sampling.format->component[i];
    for (gint x = 0; x < j->sampling.geometry.dst_width; x++) {
      j->at[i][0][x] = (j->taps.x0[x] >> c->shift_x) * c->step;
      j->at[i][1][x] = (j->taps.x1[x] >> c->shift_x) * c->step;
    }
  }
}

static void
set_memory (Job *j)
{
  gsize n = (gsize)j->plan.target.width + 16, size = 0;
  gint32 **const tables[] = { &j->taps.x0,  &j->taps.x1,  &j->taps.y0,  &j->taps.y1,
                              &j->at[0][0], &j->at[0][1], &j->at[1][0], &j->at[1][1] };
  gfloat **const rows[] = { &j->taps.fx, &j->taps.fy, &j->rgb[0], &j->rgb[1], &j->rgb[2], &j->bar };
  gint32 *words;
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++)
    size += (gsize)(j->plane[p].end - j->plane[p].begin) + 16;
  size += (G_N_ELEMENTS (tables) + G_N_ELEMENTS (rows)) * n + cpu_image_words_count ((gint)n);
  words = (gint32 *)(gpointer)get_scratch (size * sizeof *words);
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++, words += n)
    *tables[i] = words;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++, words += n)
    *rows[i] = (gfloat *)(gpointer)words;
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++) {
    j->plane[p].row = (gfloat *)(gpointer)words;
    words += j->plane[p].end - j->plane[p].begin + 16;
  }
  j->tables = words;
}

static gboolean
job_init (Job *j, const CpuInstance *instance, const CpuStep *step)
{
  const guint8 *planes[AXON_IMAGE_MAX_PLANES];
  gsize bytes[AXON_IMAGE_MAX_PLANES];
  AxonTensor *t = axon_infer_request_peek_input (instance->request, step->in[0]->buffer->index);
  const AxonImageInfo *info = axon_tensor_get_data (t);
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++) {
    t = axon_infer_request_peek_input (instance->request, step->in[1 + p]->buffer->index);
    planes[p] = axon_tensor_get_data (t);
    j->plane[p] = (Plane){ .data = planes[p], .stride = info->stride[p] };
    bytes[p] = axon_tensor_get_n_bytes (t);
  }
  if (!axon_image_info_check (info, bytes, instance->error))
    return FALSE;
  axon_image_sampling_init (&j->sampling, info, &j->plan.target);
  set_colors (j, info);
  if (!j->sampling.is_turned)
    set_planes (j);
  set_memory (j);
  for (gint x = 0; x < j->plan.target.width; x++)
    j->bar[x] = j->plan.target.pad;
  if (!j->sampling.is_turned) {
    set_columns (j, 0);
    j->by_words = cpu_image_words_init (&j->words, info, &j->sampling, planes, j->samples.unit,
                                        &j->taps, j->tables);
    if (!j->by_words)
      set_offsets (j);
  }
  return TRUE;
}

/* Rows @y0 and @y1 of the picture, of each plane that is used. */
static void
blend_planes (Job *j, gint y0, gint y1, gfloat f)
{
  gint size = (gint)j->sampling.format->sample_bytes;
  for (guint i = 0; i < j->sampling.format->n_planes; i++) {
    const Plane *p = &j->plane[i];
    const guint8 *a = p->data + (y0 >> p->shift_y) * p->stride + p->begin * size;
    const guint8 *b = p->data + (y1 >> p->shift_y) * p->stride + p->begin * size;
    if (size == 1)
      j->plan.loops->blend_bytes (p->row, a, b, p->end - p->begin, f);
    else
      j->plan.loops->blend_shorts (p->row, a, b, p->end - p->begin, f, j->samples);
  }
}

static CpuImageRows
rows_between (const Job *j, gint row)
{
  const AxonImageSampling *s = &j->sampling;
  CpuImageRows r;
  r.f = find_taps (s->origin[1] + row * s->row_step[1], s->first[1], s->last[1], &r.y[0], &r.y[1]);
  return r;
}

static void
fetch_words (Job *j, gint row, gint first, gint n)
{
  CpuImageRows rows = rows_between (j, row);
  CpuImageRows later = rows_between (j, MIN (row + 1, j->sampling.geometry.dst_height - 1));
  cpu_image_words_fetch (&j->words, j->plan.loops, &rows, &later, j->between, first, n, j->rgb);
}

static void
fetch_rows (Job *j, gint row)
{
  const AxonImageSampling *s = &j->sampling;
  CpuImageRows rows = rows_between (j, row);
  blend_planes (j, rows.y[0], rows.y[1], rows.f);
  for (gint i = 0; i < j->n_components; i++) {
    const AxonImageComponent *c = &s->format->component[i];
    const Plane *p = &j->plane[c->plane];
    gint32 *const *at = j->at[MIN (i, 1)];
    const gfloat *from = p->row + c->offset - p->begin;
    if (j->between)
      j->plan.resize->blend_columns (j->rgb[i], from, at[0], at[1], j->taps.fx,
                                     s->geometry.dst_width);
    else
      j->plan.loops->pick_columns (j->rgb[i], from, at[0], s->geometry.dst_width);
  }
}

static void
fetch_turned (Job *j, gint row)
{
  const AxonImageFormatInfo *f = j->sampling.format;
  gint n = j->sampling.geometry.dst_width;
  set_columns (j, row);
  for (gint i = 0; i < j->n_components; i++) {
    const AxonImageComponent *c = &f->component[i];
    CpuComponent from = { j->plane[c->plane].data + c->offset * f->sample_bytes,
                          j->plane[c->plane].stride, c->step, c->shift_x, c->shift_y };
    if (f->sample_bytes == 1)
      j->plan.loops->turned_bytes (j->rgb[i], &from, &j->taps, n);
    else
      j->plan.loops->turned_shorts (j->rgb[i], &from, &j->taps, n, j->samples);
  }
}

/* Columns of a row as the tensor's channels: gray, or red, green and blue. */
static void
make_columns (Job *j, gint row, gint first, gint n)
{
  const CpuImage *loops = j->plan.loops;
  if (j->sampling.is_turned)
    fetch_turned (j, row);
  else if (j->by_words)
    fetch_words (j, row, first, n);
  else
    fetch_rows (j, row);
  if (j->sampling.format->kind == AXON_IMAGE_YUV)
    loops->convert_yuv (j->rgb[0], j->rgb[1], j->rgb[2], n, &j->colors);
  else if (j->n_components == 1 || j->sampling.format->sample_bytes > 1)
    for (gint i = 0; i < j->n_components; i++) /* of RGB: bits beyond the depth are clipped */
      loops->convert_luma (j->rgb[i], n, &j->colors);
  if (j->n_components == 3 && j->plan.target.channels == 1)
    loops->to_gray (j->rgb[0], j->rgb[1], j->rgb[2], n);
}

/* Beside, above and below the picture. */
static void
store_bar (const Job *j, gint y, gint begin, gint end)
{
  const gfloat *const values[] = { j->bar, j->bar, j->bar };
  if (begin < end)
    cpu_image_store (&j->store, y, begin, values, end - begin);
}

/* By words a row is cut into parts of about the same size, whole vectors but for the last. */
static gint
columns_at_once (const Job *j)
{
  gint width = j->sampling.geometry.dst_width, n = (width - 1) / CPU_IMAGE_WORDS + 1;
  return j->by_words ? ((width - 1) / n / 16 + 1) * 16 : width;
}

static void
store_row (Job *j, gint y)
{
  const AxonImageTarget *t = &j->plan.target;
  const AxonImageGeometry *g = &j->sampling.geometry;
  gint step = columns_at_once (j), third = j->n_components == 1 ? 0 : 2;
  const gfloat *const values[] = { j->rgb[t->bgr ? third : 0], j->rgb[third / 2],
                                   j->rgb[t->bgr ? 0 : third] };
  store_bar (j, y, 0, g->dst_x);
  for (gint first = 0; first < g->dst_width; first += step) {
    gint n = MIN (step, g->dst_width - first);
    make_columns (j, y - g->dst_y, first, n);
    cpu_image_store (&j->store, y, g->dst_x + first, values, n);
  }
  store_bar (j, y, g->dst_x + g->dst_width, t->width);
}

/* By words each thread needs no more than a few columns of its own. */
static void
store_rows (gpointer data, gint64 first, gint64 end)
{
  Job j = *(const Job *)data;
  const AxonImageGeometry *g = &j.sampling.geometry;
  gfloat rgb[G_N_ELEMENTS (j.rgb)][CPU_IMAGE_WORDS];
  for (guint i = 0; i < G_N_ELEMENTS (rgb) && j.by_words; i++)
    j.rgb[i] = rgb[i];
  for (gint y = (gint)first; y < end; y++)
    if (y >= g->dst_y && y < g->dst_y + g->dst_height)
      store_row (&j, y);
    else
      store_bar (&j, y, 0, j.plan.target.width);
}

static void
run_image (const CpuStep *step, const CpuInstance *instance)
{
  const ImagePlan *plan = step->data;
  const AxonImageTarget *t = &plan->target;
  Job j = { .plan = *plan, .store = { t, plan->loops, cpu_tensor_data (instance, step->out[0]) } };
  if (!job_init (&j, instance, step))
    return;
  if (j.by_words)
    cpu_parallel_ranges (t->height, PARALLEL / (t->width * t->channels) + 1, store_rows, &j);
  else
    store_rows (&j, 0, t->height);
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
