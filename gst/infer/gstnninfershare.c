/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks: the table's, then a share's; none is held while anything is read or compiled but the
 * share's reading, which only those wait for who need what is read. */
#include "infer/gstnninfershare.h"

#include "elements/gstnnelement.h"

enum { MODEL, DEVICE, EXTENSIONS, CONFIG, LIMIT, TIMEOUT, DESCRIPTION, N_SETTINGS };

static const gchar *const names[N_SETTINGS] = { "model",      "device",     "extensions",
                                                "config",     "max-memory", "inference-timeout",
                                                "description" };

struct _GstNnInferShare {
  gchar *id;
  guint n_users; /* table lock */
  GstNnInferTurns *turns;
  GMutex reading;
  AxonModel *model; /* reading, as all below; NULL: not read yet */
  GstNnDescription *description;
  gchar *settings[N_SETTINGS];
  GMutex lock;
  GCond changed;
  GHashTable *variants; /* lock: what it was compiled for -> Variant */
};

typedef struct {
  gboolean is_compiling;
  GWeakRef compiled;
} Variant;

static GMutex table_lock;
static GHashTable *table; /* table lock: id -> GstNnInferShare */

static void
variant_free (gpointer data)
{
  Variant *v = data;
  g_weak_ref_clear (&v->compiled);
  g_free (v);
}

static GstNnInferShare *
share_new (const gchar *id)
{
  GstNnInferShare *s = g_new0 (GstNnInferShare, 1);
  s->id = g_strdup (id);
  s->turns = gst_nn_infer_turns_new ();
  g_mutex_init (&s->reading);
  g_mutex_init (&s->lock);
  g_cond_init (&s->changed);
  s->variants = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, variant_free);
  return s;
}

static void
share_free (GstNnInferShare *s)
{
  g_free (s->id);
  gst_nn_infer_turns_unref (s->turns);
  g_mutex_clear (&s->reading);
  g_clear_object (&s->model);
  g_clear_pointer (&s->description, gst_nn_description_unref);
  for (guint i = 0; i < N_SETTINGS; i++)
    g_free (s->settings[i]);
  g_mutex_clear (&s->lock);
  g_cond_clear (&s->changed);
  g_hash_table_unref (s->variants);
  g_free (s);
}

static GstNnInferShare *
find_share (const gchar *id)
{
  GstNnInferShare *s;
  g_mutex_lock (&table_lock);
  if (table == NULL)
    table = g_hash_table_new (g_str_hash, g_str_equal);
  s = g_hash_table_lookup (table, id);
  if (s == NULL) {
    s = share_new (id);
    g_hash_table_insert (table, s->id, s);
  }
  s->n_users++;
  g_mutex_unlock (&table_lock);
  return s;
}

GstNnInferShare *
gst_nn_infer_share_ref (GstNnInferShare *s)
{
  g_mutex_lock (&table_lock);
  s->n_users++;
  g_mutex_unlock (&table_lock);
  return s;
}

void
gst_nn_infer_share_unref (GstNnInferShare *s)
{
  gboolean is_last;
  g_mutex_lock (&table_lock);
  is_last = --s->n_users == 0;
  if (is_last)
    g_hash_table_remove (table, s->id);
  g_mutex_unlock (&table_lock);
  if (is_last)
    share_free (s);
}

static gint
compare_keys (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (a, b);
}

/* Properties that describe the model, in one order. */
static gchar *
describe_props (const GstNnModelProps *props)
{
  GString *text = g_string_new (NULL);
  GList *keys = props->values ? g_hash_table_get_keys (props->values) : NULL;
  keys = g_list_sort (keys, compare_keys);
  for (GList *l = keys; l != NULL; l = l->next)
    g_string_append_printf (text, "%s%s=%s", text->len ? " " : "", (const gchar *)l->data,
                            (const gchar *)g_hash_table_lookup (props->values, l->data));
  g_list_free (keys);
  return g_string_free (text, FALSE);
}

static void
get_settings (const GstNnInferModel *m, gchar **settings)
{
  settings[MODEL] = g_strdup (m->path ? m->path : "");
  settings[DEVICE] = g_strdup (m->device);
  settings[EXTENSIONS] = g_strdup (m->extensions ? m->extensions : "");
  settings[CONFIG] = m->config ? gst_structure_to_string (m->config) : g_strdup ("");
  settings[LIMIT] = g_strdup_printf ("%u", m->max_memory);
  settings[TIMEOUT] = g_strdup_printf ("%u", m->inference_timeout);
  settings[DESCRIPTION] = describe_props (&m->props);
}

/* FALSE: somebody has the instance with other settings. */
static gboolean
compare_settings (const GstNnInferShare *s, gchar *const *settings, GError **error)
{
  for (guint i = 0; i < N_SETTINGS; i++)
    if (!g_str_equal (s->settings[i], settings[i])) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                   _ ("model-instance-id \"%s\" is shared with %s \"%s\", and here it is \"%s\": "
                      "set the same, or another model-instance-id"),
                   s->id, names[i], s->settings[i], settings[i]);
      return FALSE;
    }
  return TRUE;
}

/* Reading held. */
static gboolean
read_or_adopt (GstNnInferShare *s, GstNnInferModel *m, GstNnInferReadFunc read, GError **error)
{
  gchar *settings[N_SETTINGS];
  gboolean ok = TRUE, is_first = s->model == NULL;
  get_settings (m, settings);
  if (!is_first)
    ok = compare_settings (s, settings, error);
  else
    ok = read (m, error);
  if (ok && is_first) {
    s->model = g_object_ref (m->model);
    s->description = gst_nn_description_ref (m->description);
  } else if (ok) {
    m->model = g_object_ref (s->model);
    m->description = gst_nn_description_ref (s->description);
  }
  for (guint i = 0; i < N_SETTINGS; i++)
    if (ok && is_first)
      s->settings[i] = settings[i];
    else
      g_free (settings[i]);
  return ok;
}

gboolean
gst_nn_infer_share_open (GstNnInferModel *m, GstNnInferReadFunc read, GError **error)
{
  gboolean ok;
  m->share = find_share (m->instance_id);
  g_mutex_lock (&m->share->reading);
  ok = read_or_adopt (m->share, m, read, error);
  g_mutex_unlock (&m->share->reading);
  if (!ok)
    g_clear_pointer (&m->share, gst_nn_infer_share_unref);
  return ok;
}

/* What differs between streams of one model. Whether it shall be soon or much is as the first one
 * wants it. */
static gchar *
describe_variant (const GstNnInferModel *m)
{
  GString *text = g_string_new (m->is_video ? "video" : "tensors");
  g_string_append_printf (text, " %dx%d", m->input_width, m->input_height);
  for (guint i = 0; !m->is_video && i < axon_model_get_n_inputs (m->graph); i++) {
    g_autofree gchar *shape = axon_shape_to_string (axon_model_get_input_shape (m->graph, i));
    g_string_append_printf (text, " %s", shape);
  }
  return g_string_free (text, FALSE);
}

/* With the lock. */
static Variant *
find_variant (GstNnInferShare *s, const gchar *key)
{
  Variant *v = g_hash_table_lookup (s->variants, key);
  if (v == NULL) {
    v = g_new0 (Variant, 1);
    g_weak_ref_init (&v->compiled, NULL);
    g_hash_table_insert (s->variants, g_strdup (key), v);
  }
  return v;
}

gboolean
gst_nn_infer_share_is_known (const GstNnInferModel *m)
{
  g_autofree gchar *key = describe_variant (m);
  gboolean is_known;
  g_mutex_lock (&m->share->lock);
  is_known = g_hash_table_contains (m->share->variants, key);
  g_mutex_unlock (&m->share->lock);
  return is_known;
}

void
gst_nn_infer_share_know (const GstNnInferModel *m)
{
  g_autofree gchar *key = describe_variant (m);
  g_mutex_lock (&m->share->lock);
  find_variant (m->share, key);
  g_mutex_unlock (&m->share->lock);
}

static void
wake (G_GNUC_UNUSED GCancellable *cancellable, gpointer share)
{
  GstNnInferShare *s = share;
  g_mutex_lock (&s->lock);
  g_cond_broadcast (&s->changed);
  g_mutex_unlock (&s->lock);
}

/* What somebody compiled, waiting for whoever does; NULL: it is our turn, or cancelled. */
static AxonCompiledModel *
wait_for_compiled (GstNnInferShare *s, const gchar *key, GCancellable *cancellable)
{
  gulong id = cancellable ? g_cancellable_connect (cancellable, G_CALLBACK (wake), s, NULL) : 0;
  AxonCompiledModel *compiled = NULL;
  Variant *v;
  g_mutex_lock (&s->lock);
  v = find_variant (s, key);
  while (v->is_compiling && !g_cancellable_is_cancelled (cancellable))
    g_cond_wait (&s->changed, &s->lock);
  if (!g_cancellable_is_cancelled (cancellable)) {
    compiled = g_weak_ref_get (&v->compiled);
    v->is_compiling = compiled == NULL;
  }
  g_mutex_unlock (&s->lock);
  if (id != 0)
    g_cancellable_disconnect (cancellable, id);
  return compiled;
}

static void
offer (GstNnInferShare *s, const gchar *key, AxonCompiledModel *compiled)
{
  Variant *v;
  g_mutex_lock (&s->lock);
  v = g_hash_table_lookup (s->variants, key);
  g_weak_ref_set (&v->compiled, compiled);
  v->is_compiling = FALSE;
  g_cond_broadcast (&s->changed);
  g_mutex_unlock (&s->lock);
}

AxonCompiledModel *
gst_nn_infer_share_compile (const GstNnInferModel *m, GCancellable *cancellable,
                            GstNnInferCompileFunc compile, gpointer user_data, GError **error)
{
  g_autofree gchar *key = NULL;
  AxonCompiledModel *compiled;
  if (m->share == NULL)
    return compile (user_data, error);
  key = describe_variant (m);
  compiled = wait_for_compiled (m->share, key, cancellable);
  if (compiled != NULL)
    return compiled;
  if (g_cancellable_is_cancelled (cancellable)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, _ ("cancelled"));
    return NULL;
  }
  compiled = compile (user_data, error);
  offer (m->share, key, compiled); /* NULL: the next one tries */
  return compiled;
}

GstNnInferTurns *
gst_nn_infer_share_get_turns (GstNnInferShare *share)
{
  return share->turns;
}
