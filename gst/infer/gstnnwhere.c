/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnwhere.h"

#include "elements/gstnnelement.h"

#include <string.h>

enum { SCORE, CLASS, AGE, X, Y, WIDTH, HEIGHT, AREA, N_FIELDS };

static const gchar *const fields[N_FIELDS] = {
  [SCORE] = "score", [CLASS] = "class", [AGE] = "age",       [X] = "x",
  [Y] = "y",         [WIDTH] = "width", [HEIGHT] = "height", [AREA] = "area"
};

enum { LESS = 1 << 0, EQUAL = 1 << 1, GREATER = 1 << 2 };

/* Longer ones first: each is looked for where the name ends. */
static const struct {
  const gchar *text;
  guint accepts;
} operators[] = {
  { "<=", LESS | EQUAL }, { ">=", GREATER | EQUAL }, { "==", EQUAL }, { "!=", LESS | GREATER },
  { "<", LESS },          { ">", GREATER },          { "=", EQUAL },
};

typedef struct {
  guint field, accepts;
  gdouble value;
} Condition;

struct _GstNnWhere {
  guint n;
  Condition conditions[];
};

static gboolean
parse_condition (const gchar *text, Condition *c)
{
  gsize name = strspn (text, "abcdefghijklmnopqrstuvwxyz");
  const gchar *rest = text + name;
  gchar *end;
  rest += strspn (rest, " ");
  for (c->field = 0; c->field < N_FIELDS; c->field++)
    if (strlen (fields[c->field]) == name && strncmp (fields[c->field], text, name) == 0)
      break;
  for (guint i = 0; i < G_N_ELEMENTS (operators) && c->field < N_FIELDS; i++) {
    if (!g_str_has_prefix (rest, operators[i].text))
      continue;
    rest += strlen (operators[i].text);
    c->accepts = operators[i].accepts;
    c->value = g_ascii_strtod (rest, &end);
    return end != rest && *end == '\0';
  }
  return FALSE;
}

GstNnWhere *
gst_nn_where_parse (const gchar *text, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  guint n = g_strv_length (parts);
  g_autoptr (GstNnWhere) where = g_malloc0 (sizeof *where + n * sizeof (Condition));
  where->n = n;
  for (guint i = 0; i < n; i++) {
    if (parse_condition (g_strstrip (parts[i]), &where->conditions[i]))
      continue;
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("where is \"%s\"; expected conditions by commas, each score, class, age, x, y, "
                    "width, height or area, then <, <=, >, >=, = or !=, then a number, such as "
                    "\"score>0.5,width>=64\"; got \"%s\""),
                 text, parts[i]);
    return NULL;
  }
  return g_steal_pointer (&where);
}

void
gst_nn_where_free (GstNnWhere *where)
{
  g_free (where);
}

static void
measure (const GstNnObject *o, gdouble sx, gdouble sy, gdouble *values)
{
  gst_nn_object_get_box (o, &values[X], &values[Y], &values[WIDTH], &values[HEIGHT]);
  values[X] *= sx;
  values[Y] *= sy;
  values[WIDTH] *= sx;
  values[HEIGHT] *= sy;
  values[AREA] = values[WIDTH] * values[HEIGHT];
  values[SCORE] = gst_nn_object_get_score (o);
  values[CLASS] = gst_nn_object_get_class_id (o);
  values[AGE] = gst_nn_object_get_track_age (o);
}

gboolean
gst_nn_where_holds (const GstNnWhere *where, const GstNnObject *object, gdouble sx, gdouble sy)
{
  gdouble values[N_FIELDS];
  measure (object, sx, sy, values);
  for (guint i = 0; i < where->n; i++) {
    const Condition *c = &where->conditions[i];
    gdouble value = values[c->field];
    guint is = value < c->value ? LESS : value > c->value ? GREATER : EQUAL;
    if (!(c->accepts & is))
      return FALSE;
  }
  return TRUE;
}
