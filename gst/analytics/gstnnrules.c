/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnrules.h"

#include "config.h"
#include <gio/gio.h>
#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>
#include <math.h>

#define MOST_RULES 256
#define MOST_POINTS 256
#define MOST_CELLS 1024 /* of a heat map, each way */

static const gchar *const members[] = { "anchor", "forget", "heat_map", "lines",
                                        "margin", "zones",  NULL };
static const gchar *const zone_members[] = { "crowd", "dwell", "labels", "name", "polygon", NULL };
static const gchar *const line_members[] = { "from", "labels", "name", "to", NULL };
static const gchar *const heat_members[] = { "columns", "half_life", "rows", NULL };

static void
rule_free (gpointer data)
{
  GstNnRule *rule = data;
  g_free (rule->name);
  g_free (rule->coordinates);
  g_strfreev (rule->labels);
  g_free (rule);
}

GstNnRules *
gst_nn_rules_ref (GstNnRules *rules)
{
  g_atomic_ref_count_inc (&rules->ref_count);
  return rules;
}

void
gst_nn_rules_unref (GstNnRules *rules)
{
  if (!g_atomic_ref_count_dec (&rules->ref_count))
    return;
  g_ptr_array_unref (rules->rules);
  g_free (rules);
}

static gboolean G_GNUC_PRINTF (3, 4)
    fail (GError **error, const gchar *where, const gchar *format, ...)
{
  g_autofree gchar *what = NULL;
  va_list args;
  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "%s: %s", where, what);
  return FALSE;
}

static gboolean
check_members (JsonObject *object, const gchar *const *known, const gchar *where, GError **error)
{
  g_autoptr (GList) names = json_object_get_members (object);
  for (GList *i = names; i != NULL; i = i->next)
    if (!g_strv_contains (known, i->data)) {
      g_autofree gchar *list = g_strjoinv (", ", (gchar **)known);
      return fail (error, where, _ ("there is no \"%s\" here; expected %s"), (gchar *)i->data,
                   list);
    }
  return TRUE;
}

/* Stays as it is where the member is not there. */
static gboolean
read_number (JsonObject *object, const gchar *name, gdouble least, gdouble most, gdouble *value,
             const gchar *where, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  GType type = node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;
  if (node == NULL)
    return TRUE;
  if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE) {
    *value = json_node_get_double (node);
    if (*value >= least && *value <= most) /* false for what is no number */
      return TRUE;
  }
  return fail (error, where, _ ("\"%s\" is no number from %g to %g"), name, least, most);
}

/* NULL: it is no text. */
static const gchar *
text_of (JsonNode *node)
{
  return node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
}

static gboolean
read_point (JsonNode *node, gdouble *point, const gchar *where, GError **error)
{
  JsonArray *pair = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  gboolean ok = pair != NULL && json_array_get_length (pair) == 2;
  for (guint i = 0; i < 2 && ok; i++) {
    JsonNode *number = json_array_get_element (pair, i);
    GType type = JSON_NODE_HOLDS_VALUE (number) ? json_node_get_value_type (number) : G_TYPE_NONE;
    ok = type == G_TYPE_INT64 || type == G_TYPE_DOUBLE;
    point[i] = ok ? json_node_get_double (number) : 0;
    ok = ok && point[i] >= 0 && point[i] <= 1;
  }
  return ok || fail (error, where, _ ("a point is [x, y], both from 0 to 1, parts of the frame"));
}

static gboolean
read_labels (GstNnRule *rule, JsonObject *object, GError **error)
{
  JsonNode *node = json_object_get_member (object, "labels");
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  g_autoptr (GStrvBuilder) labels = g_strv_builder_new ();
  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++) {
    const gchar *label = text_of (json_array_get_element (array, i));
    if (label == NULL)
      return fail (error, rule->name, _ ("\"labels\" is an array of texts"));
    g_strv_builder_add (labels, label);
  }
  if (node != NULL && array == NULL)
    return fail (error, rule->name, _ ("\"labels\" is an array of texts"));
  if (array != NULL)
    rule->labels = g_strv_builder_end (labels);
  return TRUE;
}

static gboolean
read_polygon (GstNnRule *rule, JsonObject *object, GError **error)
{
  JsonNode *node = json_object_get_member (object, "polygon");
  JsonArray *points = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  rule->n_points = points ? json_array_get_length (points) : 0;
  if (rule->n_points < 3 || rule->n_points > MOST_POINTS)
    return fail (error, rule->name, _ ("\"polygon\" is an array of 3 to %d points, here are %u"),
                 MOST_POINTS, rule->n_points);
  rule->coordinates = g_new (gdouble, 2 * rule->n_points);
  for (guint i = 0; i < rule->n_points; i++)
    if (!read_point (json_array_get_element (points, i), rule->coordinates + 2 * i, rule->name,
                     error))
      return FALSE;
  return TRUE;
}

static gboolean
read_ends (GstNnRule *rule, JsonObject *object, GError **error)
{
  gdouble *c = rule->coordinates = g_new0 (gdouble, 4);
  rule->n_points = 2;
  if (!read_point (json_object_get_member (object, "from"), c, rule->name, error) ||
      !read_point (json_object_get_member (object, "to"), c + 2, rule->name, error))
    return FALSE;
  return hypot (c[2] - c[0], c[3] - c[1]) > 1e-6 ||
         fail (error, rule->name, _ ("\"from\" and \"to\" are the same point"));
}

static gboolean
read_zone (GstNnRule *rule, JsonObject *object, GError **error)
{
  gdouble dwell = 0, crowd = 0;
  if (!check_members (object, zone_members, rule->name, error) ||
      !read_polygon (rule, object, error) ||
      !read_number (object, "dwell", 0, 1e6, &dwell, rule->name, error) ||
      !read_number (object, "crowd", 0, 1e6, &crowd, rule->name, error))
    return FALSE;
  rule->is_zone = TRUE;
  rule->dwell = (GstClockTime)(dwell * GST_SECOND);
  rule->crowd = (guint)crowd;
  return TRUE;
}

static gboolean
read_rule (GstNnRules *rules, JsonNode *node, gboolean is_zone, GError **error)
{
  const gchar *where = is_zone ? "zones" : "lines";
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  const gchar *name = object ? text_of (json_object_get_member (object, "name")) : NULL;
  GstNnRule *rule;
  if (name == NULL || *name == 0)
    return fail (error, where, _ ("each is an object with a \"name\""));
  if (rules->rules->len >= MOST_RULES)
    return fail (error, where, _ ("more than %d"), MOST_RULES);
  for (guint i = 0; i < rules->rules->len; i++)
    if (g_str_equal (((GstNnRule *)g_ptr_array_index (rules->rules, i))->name, name))
      return fail (error, where, _ ("two are called \"%s\""), name);
  rule = g_new0 (GstNnRule, 1);
  rule->name = g_strdup (name);
  g_ptr_array_add (rules->rules, rule);
  if (!read_labels (rule, object, error))
    return FALSE;
  if (is_zone)
    return read_zone (rule, object, error);
  return check_members (object, line_members, rule->name, error) && read_ends (rule, object, error);
}

static gboolean
read_rules (GstNnRules *rules, JsonObject *root, const gchar *name, gboolean is_zone,
            GError **error)
{
  JsonNode *node = json_object_get_member (root, name);
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  if (node != NULL && array == NULL)
    return fail (error, name, _ ("expected an array"));
  for (guint i = 0; array != NULL && i < json_array_get_length (array); i++)
    if (!read_rule (rules, json_array_get_element (array, i), is_zone, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_heat_map (GstNnRules *rules, JsonObject *root, GError **error)
{
  JsonNode *node = json_object_get_member (root, "heat_map");
  JsonObject *object = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  gdouble columns = 64, rows = 36;
  if (node == NULL)
    return TRUE;
  if (object == NULL)
    return fail (error, "heat_map", _ ("expected an object"));
  if (!check_members (object, heat_members, "heat_map", error) ||
      !read_number (object, "columns", 1, MOST_CELLS, &columns, "heat_map", error) ||
      !read_number (object, "rows", 1, MOST_CELLS, &rows, "heat_map", error) ||
      !read_number (object, "half_life", 0, 1e9, &rules->half_life, "heat_map", error))
    return FALSE;
  rules->heat_columns = (guint)columns;
  rules->heat_rows = (guint)rows;
  return TRUE;
}

static gboolean
read_all (GstNnRules *rules, JsonObject *root, GError **error)
{
  JsonNode *node = json_object_get_member (root, "anchor");
  const gchar *anchor = node ? text_of (node) : "foot";
  gdouble forget = 1;
  rules->margin = 0.01;
  rules->by_center = g_strcmp0 (anchor, "center") == 0;
  if (!rules->by_center && g_strcmp0 (anchor, "foot") != 0)
    return fail (error, "anchor", _ ("expected \"foot\" or \"center\""));
  if (!check_members (root, members, _ ("settings"), error) ||
      !read_number (root, "margin", 0, 0.5, &rules->margin, _ ("settings"), error) ||
      !read_number (root, "forget", 0, 1e6, &forget, _ ("settings"), error))
    return FALSE;
  rules->forget = (GstClockTime)(forget * GST_SECOND);
  return read_rules (rules, root, "zones", TRUE, error) &&
         read_rules (rules, root, "lines", FALSE, error) && read_heat_map (rules, root, error);
}

GstNnRules *
gst_nn_rules_parse (const gchar *json, GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  GstNnRules *rules;
  JsonNode *root;
  if (!json_parser_load_from_data (parser, json, -1, error))
    return NULL;
  root = json_parser_get_root (parser);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root)) {
    fail (error, _ ("settings"), _ ("expected an object with zones, lines, heat_map"));
    return NULL;
  }
  rules = g_new0 (GstNnRules, 1);
  g_atomic_ref_count_init (&rules->ref_count);
  rules->rules = g_ptr_array_new_with_free_func (rule_free);
  if (read_all (rules, json_node_get_object (root), error))
    return rules;
  gst_nn_rules_unref (rules);
  return NULL;
}
