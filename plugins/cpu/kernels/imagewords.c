/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "imagewords.h"

#define TABLES 3   /* of a group */
#define MAX_STEP 4 /* bytes from a pixel to the next; two fit into a word */

gsize
cpu_image_words_count (gint width)
{
  return (gsize)width * TABLES * G_N_ELEMENTS (((CpuImageWords *)NULL)->group);
}

/* Bytes of a row of @plane up to its last sample. */
static gint
measure_row (const AxonImageInfo *info, guint plane)
{
  AxonImageInfo row = *info;
  row.height = 1;
  return (gint)axon_image_info_get_plane_size (&row, plane);
}

static gboolean
lie_together (const AxonImageComponent *a, const AxonImageComponent *b)
{
  return a->plane == b->plane && a->step == b->step && a->shift_x == b->shift_x;
}

/* Components from @first on that lie together; returns the byte of the first one's pixel 0. */
static gint
gather_components (CpuWords *words, const AxonImageFormatInfo *f, gint first)
{
  gint n = f->kind == AXON_IMAGE_GRAY ? 1 : (gint)G_N_ELEMENTS (f->component), least = G_MAXINT;
  gint bytes = (gint)f->sample_bytes;
  for (words->n = 0; first + words->n < n; words->n++) {
    if (!lie_together (&f->component[first], &f->component[first + words->n]))
      break;
    least = MIN (least, f->component[first + words->n].offset);
  }
  for (gint i = 0; i < words->n; i++)
    words->bits[i] = 8 * bytes * (f->component[first + i].offset - least);
  return least * bytes;
}

/* Words that would end beyond the row's @end begin earlier. */
static void
place_words (CpuWords *w, const AxonImageComponent *c, gint begin, gint end,
             const CpuTurnedTaps *columns, gint n)
{
  w->tail = n;
  for (gint i = n - 1; i >= 0; i--) {
    gint x0 = columns->x0[i] >> c->shift_x, x1 = columns->x1[i] >> c->shift_x;
    gint at = x0 * w->next / 8 + begin;
    w->at[i] = MIN (at, end - w->size);
    w->shift[i] = 8 * (at - w->at[i]);
    w->f[i] = x0 == x1 ? 0 : columns->fx[i];
    if (w->shift[i] > 0)
      w->tail = i;
  }
}

gboolean
cpu_image_words_init (CpuImageWords *w, const AxonImageInfo *info,
                      const AxonImageSampling *sampling, const guint8 *const *planes, gfloat unit,
                      const CpuTurnedTaps *columns, gint32 *memory)
{
  const AxonImageFormatInfo *f = sampling->format;
  gint n = sampling->geometry.dst_width, n_components = f->kind == AXON_IMAGE_GRAY ? 1 : 3;
  gint bytes = (gint)f->sample_bytes;
  w->n_groups = 0;
  for (gint i = 0; i < n_components; i += w->group[w->n_groups++].words.n) {
    const AxonImageComponent *c = &f->component[i];
    CpuImageGroup *g = &w->group[w->n_groups];
    gint step = c->step * bytes, end = measure_row (info, c->plane);
    *g = (CpuImageGroup){ .data = planes[c->plane],
                          .stride = info->stride[c->plane],
                          .shift_y = c->shift_y,
                          .component = i,
                          .words = { .at = memory,
                                     .shift = memory + n,
                                     .f = (gfloat *)(gpointer)(memory + 2 * n),
                                     .size = step <= 2 ? 4 : 8,
                                     .next = 8 * step,
                                     .mask = bytes == 1 ? G_MAXUINT8 : G_MAXUINT16,
                                     .unit = bytes == 1 ? 1 : unit } };
    memory += TABLES * n;
    if (end < g->words.size || step > MAX_STEP || f->big_endian)
      return FALSE;
    place_words (&g->words, c, gather_components (&g->words, f, i), end, columns, n);
  }
  return TRUE;
}

static const guint8 *
row_of (const CpuImageGroup *g, gint y)
{
  return g->data + (y >> g->shift_y) * g->stride;
}

void
cpu_image_words_fetch (const CpuImageWords *w, const CpuImage *loops, const CpuImageRows *rows,
                       const CpuImageRows *later, gboolean between_columns, gint first, gint n,
                       gfloat *const *out)
{
  for (gint i = 0; i < w->n_groups; i++) {
    const CpuImageGroup *g = &w->group[i];
    const CpuWordRows r = { { row_of (g, rows->y[0]), row_of (g, rows->y[1]) },
                            { row_of (g, later->y[0]), row_of (g, later->y[1]) },
                            rows->f };
    loops->blend_words (out + g->component, &g->words, &r, between_columns, first, n);
  }
}
