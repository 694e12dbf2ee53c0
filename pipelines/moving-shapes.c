/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the quickstart looks at: shapes of five kinds that move and turn over a textured ground.
 * `moving-shapes [--frames N] [--truth FILE]` writes RGB frames of 640x480 to its standard output;
 * FILE gets a line of JSON for each, with the boxes that should be found. The same in every run. */
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 480, CORNERS = 12 };

typedef struct {
  gdouble x, y;
} Point;

#define ARM 0.33 /* half of a cross's arm, of its radius */
static const Point cross[CORNERS] = {
  { 1, ARM },   { ARM, ARM },   { ARM, 1 },   { -ARM, 1 }, { -ARM, ARM }, { -1, ARM },
  { -1, -ARM }, { -ARM, -ARM }, { -ARM, -1 }, { ARM, -1 }, { ARM, -ARM }, { 1, -ARM },
};

/* A ring of corners, every other one at the inner radius; without corners a disc. */
typedef struct {
  const gchar *label;
  guint n_corners;
  gdouble outer, inner;
  const Point *corners;
} Kind;

static const Kind disc = { "disc", 0, 1, 1, NULL }, square = { "square", 4, 1, 1, NULL },
                  triangle = { "triangle", 3, 1.1, 1.1, NULL },
                  star = { "star", 10, 1.1, 0.45, NULL }, plus = { "cross", CORNERS, 0, 0, cross };

/* Pixels and pixels a frame; at the edges it turns back. The sway is up and down, turning is in
 * radians a frame. */
typedef struct {
  const Kind *kind;
  gdouble x, y, speed, sway, radius, turning;
  guint8 colour[3];
} Shape;

static const Shape shapes[] = {
  { &star, 90, 56, 3.1, 5, 44, 0.03, { 214, 178, 60 } },
  { &disc, 500, 148, -2.6, 8, 42, 0, { 60, 96, 190 } },
  { &triangle, 250, 244, 3.7, 8, 45, -0.025, { 196, 66, 62 } },
  { &plus, 560, 338, -3.3, 8, 48, 0.02, { 232, 232, 224 } },
  { &square, 60, 430, 2.4, 4, 44, 0.035, { 214, 178, 60 } },
};

/* A wave over the ground: pixels from crest to crest along x and y, how high. */
static const gdouble waves[][3] = {
  { 331, 243, 0.05 }, { 97, 61, 0.03 }, { -53, 83, 0.025 }, { 31, -47, 0.02 }, { 19, 1e9, 0.01 },
};
static const gdouble sand[3] = { 0.50, 0.58, 0.44 };

static gint frames = 120;
static gchar *truth;
static const GOptionEntry entries[] = {
  { "frames", 0, 0, G_OPTION_ARG_INT, &frames, "How many (default: 120)", "N" },
  { "truth", 0, 0, G_OPTION_ARG_FILENAME, &truth, "Where to write what is in them", "FILE" },
  { NULL },
};

static void
draw_ground (guint8 *rgb)
{
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++, rgb += 3) {
      gdouble height = 0;
      for (guint i = 0; i < G_N_ELEMENTS (waves); i++)
        height += waves[i][2] * sin (2 * G_PI * (x / waves[i][0] + y / waves[i][1]));
      for (guint c = 0; c < 3; c++)
        rgb[c] = (guint8)(255 * (sand[c] + height * (1 + 0.3 * c)));
    }
}

/* Goes from @low to @high and back. */
static gdouble
to_and_fro (gdouble at, gdouble low, gdouble high)
{
  gdouble span = high - low, gone = fmod (fabs (at - low), 2 * span);
  return low + (gone < span ? gone : 2 * span - gone);
}

static Point
place (const Shape *shape, gint frame)
{
  gdouble x = shape->x + shape->speed * frame;
  return (Point){ to_and_fro (x, shape->radius, WIDTH - shape->radius),
                  shape->y + shape->sway * sin (frame * 0.07 + shape->x) };
}

static guint
find_corners (const Shape *shape, gint frame, Point *corners)
{
  const Kind *kind = shape->kind;
  gdouble turn = frame * shape->turning, c = cos (turn), s = sin (turn);
  Point middle = place (shape, frame);
  for (guint i = 0; i < kind->n_corners; i++) {
    gdouble angle = 2 * G_PI * i / kind->n_corners, r = i % 2 ? kind->inner : kind->outer;
    Point p = { r * cos (angle), r * sin (angle) };
    if (kind->corners)
      p = kind->corners[i];
    corners[i] = (Point){ middle.x + (p.x * c - p.y * s) * shape->radius,
                          middle.y + (p.x * s + p.y * c) * shape->radius };
  }
  return kind->n_corners;
}

/* How far it is to the polygon's edge; negative inside. */
static gdouble
measure (const Point *corners, guint n, gdouble x, gdouble y)
{
  gdouble least = G_MAXDOUBLE;
  gboolean inside = FALSE;
  for (guint i = 0; i < n; i++) {
    const Point *a = &corners[i], *b = &corners[(i + 1) % n];
    gdouble ex = b->x - a->x, ey = b->y - a->y, wx = x - a->x, wy = y - a->y;
    gdouble t = CLAMP ((wx * ex + wy * ey) / (ex * ex + ey * ey), 0, 1);
    least = MIN (least, hypot (wx - ex * t, wy - ey * t));
    if ((a->y > y) != (b->y > y) && x < a->x + (y - a->y) * ex / ey)
      inside = !inside;
  }
  return inside ? -least : least;
}

static void
draw (guint8 *rgb, const Shape *shape, gint frame)
{
  Point corners[CORNERS], middle = place (shape, frame);
  guint n = find_corners (shape, frame, corners);
  gint reach = (gint)(1.2 * shape->radius) + 2;
  for (gint y = MAX (0, (gint)middle.y - reach); y < MIN (HEIGHT, (gint)middle.y + reach); y++)
    for (gint x = MAX (0, (gint)middle.x - reach); x < MIN (WIDTH, (gint)middle.x + reach); x++) {
      guint8 *pixel = rgb + 3 * (y * WIDTH + x);
      gdouble far = n ? measure (corners, n, x + 0.5, y + 0.5)
                      : hypot (x + 0.5 - middle.x, y + 0.5 - middle.y) - shape->radius;
      gdouble cover = CLAMP (0.5 - far, 0, 1);
      for (guint c = 0; c < 3; c++)
        pixel[c] = (guint8)(pixel[c] + (shape->colour[c] - pixel[c]) * cover);
    }
}

static void
print_box (FILE *file, const Shape *shape, gint frame)
{
  Point corners[CORNERS], middle = place (shape, frame);
  guint n = find_corners (shape, frame, corners);
  gdouble r = n ? 0 : shape->radius;
  Point low = { middle.x - r, middle.y - r }, high = { middle.x + r, middle.y + r };
  for (guint i = 0; i < n; i++) {
    low = (Point){ MIN (low.x, corners[i].x), MIN (low.y, corners[i].y) };
    high = (Point){ MAX (high.x, corners[i].x), MAX (high.y, corners[i].y) };
  }
  fprintf (file, "{\"label\": \"%s\", \"x\": %d, \"y\": %d, \"w\": %d, \"h\": %d}",
           shape->kind->label, (gint)low.x, (gint)low.y, (gint)(high.x - low.x),
           (gint)(high.y - low.y));
}

/* FALSE: nobody reads on. */
static gboolean
put_frame (const guint8 *ground, guint8 *rgb, FILE *boxes, gint frame)
{
  gsize size = 3 * WIDTH * HEIGHT;
  memcpy (rgb, ground, size);
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    draw (rgb, &shapes[i], frame);
    if (boxes) {
      fputs (i ? ", " : "[", boxes);
      print_box (boxes, &shapes[i], frame);
    }
  }
  if (boxes)
    fputs ("]\n", boxes);
  return fwrite (rgb, 1, size, stdout) == size;
}

int
main (int argc, char **argv)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *ground = g_malloc (3 * WIDTH * HEIGHT), *rgb = g_malloc (3 * WIDTH * HEIGHT);
  FILE *boxes = NULL;
  gboolean ok = TRUE;
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    return 2;
  }
  if (truth && (boxes = fopen (truth, "w")) == NULL) {
    g_printerr ("%s: %s\n", truth, g_strerror (errno));
    return 1;
  }
  draw_ground (ground);
  for (gint i = 0; i < frames && ok; i++)
    ok = put_frame (ground, rgb, boxes, i);
  if (boxes)
    fclose (boxes);
  return fflush (stdout) == 0 && ok ? 0 : 1;
}
