/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnncamera.h"

#include <math.h>
#include <string.h>

#define SMALL 320         /* most pixels of the small picture's longer side */
#define PATCH 8           /* a patch's side in the coarse picture, half as large as the small one */
#define REACH 12          /* how far a patch is looked for in it */
#define MOST_PATCHES 96   /* of a frame */
#define LEAST_PATCHES 8   /* that must agree, and be half of all */
#define LEAST_TEXTURE 6   /* mean difference of neighbours in a patch that can be found again */
#define STANDS_STILL 0.25 /* pixels of the small picture: less is noise */
#define MOST_ZOOM 0.5     /* logarithm, from frame to frame: more is a mistake */
#define FARTHEST 10       /* logarithm of how large the world may be in the frame */
#define N_POSES 64        /* frames that are remembered, for results that come late */

/* From the world to a frame: x' = a x - b y + x0, y' = b x + a y + y0. */
typedef struct {
  gdouble a, b, x0, y0;
} Pose;

typedef struct {
  guint8 *pixels;
  gint width, height;
} Picture;

typedef struct {
  gdouble x, y, dx, dy; /* middle, how far it went; from the middle of the picture */
  gboolean agrees;
} Patch;

struct _GstNnCamera {
  gint factor;                 /* pixels of the frame a pixel of the small picture */
  Picture small[2], coarse[2]; /* of the last frame and of this one */
  guint now;                   /* index */
  gboolean has_last;
  Patch patches[MOST_PATCHES];
  guint n_patches;
  Pose poses[N_POSES]; /* ring */
  GstClockTime times[N_POSES];
  guint n_poses; /* ever */
};

GstNnCamera *
gst_nn_camera_new (void)
{
  return g_new0 (GstNnCamera, 1);
}

static void
free_pictures (GstNnCamera *c)
{
  for (guint i = 0; i < 2; i++) {
    g_clear_pointer (&c->small[i].pixels, g_free);
    g_clear_pointer (&c->coarse[i].pixels, g_free);
  }
}

void
gst_nn_camera_free (GstNnCamera *c)
{
  free_pictures (c);
  g_free (c);
}

void
gst_nn_camera_reset (GstNnCamera *c)
{
  c->has_last = FALSE;
  c->n_poses = 0;
}

static guint
brightness_of (const GstVideoFormatInfo *info)
{
  return GST_VIDEO_FORMAT_INFO_IS_RGB (info) ? GST_VIDEO_COMP_G : GST_VIDEO_COMP_Y;
}

gboolean
gst_nn_camera_reads (const GstVideoInfo *info)
{
  const GstVideoFormatInfo *f = info->finfo;
  guint comp = brightness_of (f);
  return f != NULL && !GST_VIDEO_FORMAT_INFO_IS_COMPLEX (f) &&
         !GST_VIDEO_FORMAT_INFO_HAS_PALETTE (f) && GST_VIDEO_FORMAT_INFO_IS_TILED (f) == FALSE &&
         comp < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (f) &&
         GST_VIDEO_FORMAT_INFO_DEPTH (f, comp) == 8 && GST_VIDEO_FORMAT_INFO_SHIFT (f, comp) == 0;
}

static void
make_room (GstNnCamera *c, const GstVideoFrame *frame)
{
  gint width = GST_VIDEO_FRAME_WIDTH (frame), height = GST_VIDEO_FRAME_HEIGHT (frame);
  gint factor = MAX ((MAX (width, height) + SMALL - 1) / SMALL, 1);
  if (c->small[0].pixels != NULL && factor == c->factor && c->small[0].width == width / factor &&
      c->small[0].height == height / factor)
    return;
  free_pictures (c);
  gst_nn_camera_reset (c);
  c->factor = factor;
  for (guint i = 0; i < 2; i++) {
    c->small[i] = (Picture){ NULL, width / factor, height / factor };
    c->coarse[i] = (Picture){ NULL, width / factor / 2, height / factor / 2 };
    c->small[i].pixels = g_malloc0 ((gsize)(c->small[i].width * c->small[i].height + 1));
    c->coarse[i].pixels = g_malloc0 ((gsize)(c->coarse[i].width * c->coarse[i].height + 1));
  }
}

/* Means of squares of @factor pixels that are @step bytes apart. */
static void
shrink (Picture *to, const guint8 *from, gint stride, gint step, gint factor)
{
  guint area = (guint)(factor * factor);
  for (gint y = 0; y < to->height; y++)
    for (gint x = 0; x < to->width; x++) {
      const guint8 *p = from + (gssize)y * factor * stride + (gssize)x * factor * step;
      guint sum = area / 2;
      for (gint v = 0; v < factor; v++, p += stride)
        for (gint u = 0; u < factor; u++)
          sum += p[u * step];
      to->pixels[y * to->width + x] = (guint8)(sum / area);
    }
}

static guint
difference (const Picture *a, gint ax, gint ay, const Picture *b, gint bx, gint by, gint side)
{
  guint sum = 0;
  for (gint y = 0; y < side; y++) {
    const guint8 *p = a->pixels + (ay + y) * a->width + ax;
    const guint8 *q = b->pixels + (by + y) * b->width + bx;
    for (gint x = 0; x < side; x++)
      sum += (guint)ABS (p[x] - q[x]);
  }
  return sum;
}

/* The place of least difference within @reach of (@x + *@dx, @y + *@dy). FALSE: it is outside. */
static gboolean
look_for (const Picture *a, const Picture *b, gint x, gint y, gint side, gint reach, gint *dx,
          gint *dy)
{
  gint x0 = MAX (x + *dx - reach, 0), x1 = MIN (x + *dx + reach, b->width - side);
  gint y0 = MAX (y + *dy - reach, 0), y1 = MIN (y + *dy + reach, b->height - side);
  guint least = G_MAXUINT;
  if (x + *dx < x0 || x + *dx > x1 || y + *dy < y0 || y + *dy > y1)
    return FALSE;
  for (gint v = y0; v <= y1; v++)
    for (gint u = x0; u <= x1; u++) {
      /* Where all are alike, the nearest. */
      guint d = difference (a, x, y, b, u, v, side) * 64 + (guint)(ABS (u - x) + ABS (v - y));
      if (d >= least)
        continue;
      least = d;
      *dx = u - x;
      *dy = v - y;
    }
  return TRUE;
}

/* Where between three differences the least lies, -0.5 to 0.5. */
static gdouble
between (gdouble before, gdouble at, gdouble after)
{
  gdouble bend = before - 2 * at + after;
  return bend > 0 ? CLAMP ((before - after) / (2 * bend), -0.5, 0.5) : 0;
}

static gdouble
refine (const Picture *a, const Picture *b, gint x, gint y, gint u, gint v, gint side,
        gboolean down)
{
  gint limit = down ? b->height - side : b->width - side, place = down ? v : u;
  if (place < 1 || place >= limit)
    return 0;
  return between (difference (a, x, y, b, u - !down, v - down, side),
                  difference (a, x, y, b, u, v, side),
                  difference (a, x, y, b, u + !down, v + down, side));
}

static gboolean
has_texture (const Picture *p, gint x, gint y)
{
  guint across = 0, down = 0;
  for (gint v = y; v < y + PATCH - 1; v++)
    for (gint u = x; u < x + PATCH - 1; u++) {
      const guint8 *at = p->pixels + v * p->width + u;
      across += (guint)ABS (at[0] - at[1]);
      down += (guint)ABS (at[0] - at[p->width]);
    }
  return MIN (across, down) >= LEAST_TEXTURE * (PATCH - 1) * (PATCH - 1);
}

/* (@x, @y) of the coarse picture. */
static gboolean
is_covered (const GstNnCamera *c, GstNnResultMeta *result, gint x, gint y)
{
  gdouble sx, sy, left, top, width, height;
  const GstNnObject *o;
  if (result == NULL)
    return FALSE;
  sx = 2.0 * result->width / c->small[0].width;
  sy = 2.0 * result->height / c->small[0].height;
  for (guint i = 0; (o = gst_nn_result_meta_get_object (result, i)) != NULL; i++) {
    gst_nn_object_get_box (o, &left, &top, &width, &height);
    if ((x + PATCH) * sx > left && x * sx < left + width && (y + PATCH) * sy > top &&
        y * sy < top + height)
      return TRUE;
  }
  return FALSE;
}

static void
follow_patch (GstNnCamera *c, gint x, gint y)
{
  const Picture *a = &c->coarse[!c->now], *b = &c->coarse[c->now];
  gint dx = 0, dy = 0, side = 2 * PATCH;
  Patch *p = &c->patches[c->n_patches];
  if (!look_for (a, b, x, y, PATCH, REACH, &dx, &dy))
    return;
  x *= 2;
  y *= 2;
  dx *= 2;
  dy *= 2;
  a = &c->small[!c->now];
  b = &c->small[c->now];
  if (!look_for (a, b, x, y, side, 1, &dx, &dy))
    return;
  p->x = x + PATCH - a->width / 2.0;
  p->y = y + PATCH - a->height / 2.0;
  p->dx = dx + refine (a, b, x, y, x + dx, y + dy, side, FALSE);
  p->dy = dy + refine (a, b, x, y, x + dx, y + dy, side, TRUE);
  c->n_patches++;
}

/* Patches on a grid, so that they are from everywhere. */
static void
follow_patches (GstNnCamera *c, GstNnResultMeta *result)
{
  const Picture *last = &c->coarse[!c->now];
  gint n = last->width * last->height / MOST_PATCHES;
  gint step = MAX ((gint)ceil (sqrt (n)), PATCH);
  c->n_patches = 0;
  for (gint y = step / 2; y + PATCH < last->height; y += step)
    for (gint x = step / 2; x + PATCH < last->width; x += step)
      if (c->n_patches < MOST_PATCHES && has_texture (last, x, y) && !is_covered (c, result, x, y))
        follow_patch (c, x, y);
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *)a, y = *(const gdouble *)b;
  return (x > y) - (x < y);
}

static gdouble
median (GstNnCamera *c, gsize offset)
{
  gdouble numbers[MOST_PATCHES] = { 0 };
  for (guint i = 0; i < c->n_patches; i++)
    numbers[i] = G_STRUCT_MEMBER (gdouble, &c->patches[i], offset);
  qsort (numbers, c->n_patches, sizeof *numbers, compare_numbers);
  return numbers[c->n_patches / 2];
}

/* Who does what @m says, to within @tolerance. */
static guint
ask (GstNnCamera *c, const Pose *m, gdouble tolerance)
{
  guint n = 0;
  for (guint i = 0; i < c->n_patches; i++) {
    Patch *p = &c->patches[i];
    gdouble ex = m->a * p->x - m->b * p->y + m->x0 - p->x - p->dx;
    gdouble ey = m->b * p->x + m->a * p->y + m->y0 - p->y - p->dy;
    p->agrees = ex * ex + ey * ey <= tolerance * tolerance;
    n += p->agrees;
  }
  return n;
}

/* Least squares over those who agree: Umeyama 1991, in two dimensions. */
static void
fit (const GstNnCamera *c, Pose *m)
{
  gdouble n = 0, x = 0, y = 0, u = 0, v = 0, dot = 0, cross = 0, square = 0;
  for (guint i = 0; i < c->n_patches; i++) {
    const Patch *p = &c->patches[i];
    if (!p->agrees)
      continue;
    n++;
    x += p->x;
    y += p->y;
    u += p->x + p->dx;
    v += p->y + p->dy;
    dot += p->x * (p->x + p->dx) + p->y * (p->y + p->dy);
    cross += p->x * (p->y + p->dy) - p->y * (p->x + p->dx);
    square += p->x * p->x + p->y * p->y;
  }
  square -= (x * x + y * y) / n;
  if (!(square > 0))
    return;
  m->a = (dot - (x * u + y * v) / n) / square;
  m->b = (cross - (x * v - y * u) / n) / square;
  m->x0 = (u - m->a * x + m->b * y) / n;
  m->y0 = (v - m->b * x - m->a * y) / n;
}

/* What the patches do, about the middle of the small picture. FALSE: nothing in common. */
static gboolean
find_motion (GstNnCamera *c, Pose *m)
{
  static const gdouble tolerances[] = { 8, 3, 1.5 };
  guint n = 0;
  *m = (Pose){ .a = 1 };
  if (c->n_patches < LEAST_PATCHES)
    return FALSE;
  m->x0 = median (c, G_STRUCT_OFFSET (Patch, dx));
  m->y0 = median (c, G_STRUCT_OFFSET (Patch, dy));
  for (guint i = 0; i < G_N_ELEMENTS (tolerances); i++) {
    n = ask (c, m, tolerances[i]);
    if (n < LEAST_PATCHES || 2 * n < c->n_patches)
      return FALSE;
    fit (c, m);
  }
  return fabs (log (hypot (m->a, m->b))) < MOST_ZOOM;
}

static gboolean
stands_still (const GstNnCamera *c, const Pose *m)
{
  gdouble reach = hypot (m->a - 1, m->b) * MAX (c->small[0].width, c->small[0].height) / 2;
  return hypot (m->x0, m->y0) + reach < STANDS_STILL;
}

/* From about the middle of the small picture to pixels of the frame. */
static void
to_pixels (const GstNnCamera *c, Pose *m)
{
  gdouble x = c->small[0].width / 2.0, y = c->small[0].height / 2.0;
  m->x0 = (m->x0 + x - m->a * x + m->b * y) * c->factor;
  m->y0 = (m->y0 + y - m->b * x - m->a * y) * c->factor;
}

static Pose
compose (const Pose *first, const Pose *then)
{
  return (Pose){ then->a * first->a - then->b * first->b, then->a * first->b + then->b * first->a,
                 then->a * first->x0 - then->b * first->y0 + then->x0,
                 then->b * first->x0 + then->a * first->y0 + then->y0 };
}

static const Pose *
find_pose (const GstNnCamera *c, GstClockTime time)
{
  static const Pose none = { .a = 1 };
  guint n = c ? MIN (c->n_poses, N_POSES) : 0;
  for (guint i = 1; i <= n; i++) {
    guint at = (c->n_poses - i) % N_POSES;
    if (c->times[at] <= time || i == n)
      return &c->poses[at];
  }
  return &none;
}

void
gst_nn_camera_look (GstNnCamera *c, const GstVideoFrame *frame, GstNnResultMeta *result,
                    GstClockTime time)
{
  guint comp = brightness_of (frame->info.finfo);
  Pose motion = { .a = 1 }, pose;
  make_room (c, frame);
  c->now = !c->now;
  shrink (&c->small[c->now], GST_VIDEO_FRAME_COMP_DATA (frame, comp),
          GST_VIDEO_FRAME_COMP_STRIDE (frame, comp), GST_VIDEO_FRAME_COMP_PSTRIDE (frame, comp),
          c->factor);
  shrink (&c->coarse[c->now], c->small[c->now].pixels, c->small[c->now].width, 1, 2);
  if (c->has_last)
    follow_patches (c, result);
  if (!c->has_last || !find_motion (c, &motion) || stands_still (c, &motion))
    motion = (Pose){ .a = 1 };
  else
    to_pixels (c, &motion);
  pose = compose (find_pose (c, GST_CLOCK_TIME_NONE), &motion);
  if (fabs (log (hypot (pose.a, pose.b))) > FARTHEST) /* small mistakes of very many frames */
    pose = (Pose){ .a = 1 };
  c->poses[c->n_poses % N_POSES] = pose;
  c->times[c->n_poses++ % N_POSES] = time;
  c->has_last = TRUE;
}

static void
move (const Pose *m, GstNnBox *box)
{
  gdouble x = box->x + box->width / 2, y = box->y + box->height / 2, scale = hypot (m->a, m->b);
  box->width *= scale;
  box->height *= scale;
  box->x = m->a * x - m->b * y + m->x0 - box->width / 2;
  box->y = m->b * x + m->a * y + m->y0 - box->height / 2;
}

void
gst_nn_camera_to_frame (const GstNnCamera *c, GstClockTime time, GstNnBox *box)
{
  move (find_pose (c, time), box);
}

void
gst_nn_camera_to_world (const GstNnCamera *c, GstClockTime time, GstNnBox *box)
{
  const Pose *m = find_pose (c, time);
  gdouble square = m->a * m->a + m->b * m->b;
  Pose back = { m->a / square, -m->b / square, -(m->a * m->x0 + m->b * m->y0) / square,
                (m->b * m->x0 - m->a * m->y0) / square };
  move (&back, box);
}
