/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plugin whose author made a mistake, another under each name that it is registered by. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

#define MISTAKES(DO)                                                                               \
  DO (NOQUERY, noquery)                                                                            \
  DO (NOCOMPILE, nocompile)                                                                        \
  DO (NOMETRIC, nometric)                                                                          \
  DO (NOTABLE, notable)                                                                            \
  DO (NOLIST, nolist)                                                                              \
  DO (OWNKEY, ownkey)                                                                              \
  DO (BADDEFAULT, baddefault)                                                                      \
  DO (NOKEY, nokey)                                                                                \
  DO (NOBLURB, noblurb)                                                                            \
  DO (NOCHOICES, nochoices)                                                                        \
  DO (NOSETTER, nosetter)

static const AxonPropertySpec listed[] = { { .key = "AVAILABLE_DEVICES", .flags = AXON_RO } };
static const AxonPropertySpec unlisted[] = { { .key = "FULL_DEVICE_NAME", .flags = AXON_RO } };
static const AxonPropertySpec own_key[] = { { .key = "MY_KEY", .flags = AXON_RW } };
static const AxonPropertySpec bad_default[] = {
  { .key = "PERF_COUNT", .flags = AXON_RW, .default_text = "maybe" }
};
/* The mistake is in the second row of two. */
static const AxonPropertySpec no_key[] = { { .key = "AVAILABLE_DEVICES", .flags = AXON_RO },
                                           { .key = NULL } };
static const AxonPropertySpec no_blurb[] = {
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO },
  { .key = "MY_KEY", .type = AXON_PROPERTY_BOOL, .flags = AXON_RW }
};
static const AxonPropertySpec no_choices[] = {
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO },
  { .key = "MY_KEY", .type = AXON_PROPERTY_CHOICE, .flags = AXON_RW, .blurb = "Mine" }
};
static const AxonPropertySpec no_setter[] = {
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO },
  { .key = "PERF_COUNT", .flags = AXON_RW | AXON_PROPERTY_PROCESS, .default_text = "NO" }
};

typedef struct {
  const gchar *name;
  const AxonPropertySpec *table; /* NULL: none */
  gboolean compile, query, metric;
  guint n_rows;
} Mistake;

static const Mistake mistakes[] = {
  { "NOQUERY", listed, TRUE, FALSE, TRUE },        { "NOCOMPILE", listed, FALSE, TRUE, TRUE },
  { "NOMETRIC", listed, TRUE, TRUE, FALSE },       { "NOTABLE", NULL, TRUE, TRUE, TRUE },
  { "NOLIST", unlisted, TRUE, TRUE, TRUE },        { "OWNKEY", own_key, TRUE, TRUE, TRUE },
  { "BADDEFAULT", bad_default, TRUE, TRUE, TRUE }, { "NOKEY", no_key, TRUE, TRUE, TRUE, 2 },
  { "NOBLURB", no_blurb, TRUE, TRUE, TRUE, 2 },    { "NOCHOICES", no_choices, TRUE, TRUE, TRUE, 2 },
  { "NOSETTER", no_setter, TRUE, TRUE, TRUE, 2 },
};

static const Mistake *
find (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    if (g_str_equal (mistakes[i].name, name))
      return &mistakes[i];
  return NULL;
}

static AxonCompiledModel *
compile_model (G_GNUC_UNUSED AxonPlugin *plugin, G_GNUC_UNUSED AxonModel *model,
               G_GNUC_UNUSED AxonRemoteContext *context, G_GNUC_UNUSED const AxonConfig *config,
               G_GNUC_UNUSED GCancellable *cancellable, G_GNUC_UNUSED AxonProgressFunc progress,
               G_GNUC_UNUSED gpointer user_data, G_GNUC_UNUSED GError **error)
{
  g_assert_not_reached ();
}

static gboolean
query_model (G_GNUC_UNUSED AxonPlugin *plugin, G_GNUC_UNUSED AxonModel *model,
             G_GNUC_UNUSED const AxonConfig *config, G_GNUC_UNUSED AxonSupportedOps *result,
             G_GNUC_UNUSED GCancellable *cancellable, G_GNUC_UNUSED GError **error)
{
  g_assert_not_reached ();
}

static GVariant *
get_metric (G_GNUC_UNUSED AxonPlugin *plugin, G_GNUC_UNUSED const gchar *key,
            G_GNUC_UNUSED GError **error)
{
  g_assert_not_reached ();
}

static void
set_class (AxonPluginClass *klass, const Mistake *mistake)
{
  klass->compile_model = mistake->compile ? compile_model : NULL;
  klass->query_model = mistake->query ? query_model : NULL;
  klass->get_metric = mistake->metric ? get_metric : NULL;
}

static void
set_table (AxonPlugin *plugin, const Mistake *mistake)
{
  if (mistake->table != NULL)
    axon_plugin_set_properties_table (plugin, mistake->table, MAX (mistake->n_rows, 1));
}

#define TYPE(Name, name)                                                                           \
  typedef AxonPlugin Mistaken##Name;                                                               \
  typedef AxonPluginClass Mistaken##Name##Class;                                                   \
  static GType mistaken_##name##_get_type (void);                                                  \
  G_DEFINE_TYPE (Mistaken##Name, mistaken_##name, AXON_TYPE_PLUGIN)                                \
  static void mistaken_##name##_class_init (Mistaken##Name##Class *klass)                          \
  {                                                                                                \
    set_class (klass, find (#Name));                                                               \
  }                                                                                                \
  static void mistaken_##name##_init (Mistaken##Name *self)                                        \
  {                                                                                                \
    set_table (self, find (#Name));                                                                \
  }
MISTAKES (TYPE)

/* Any other name: neither a device nor an error. */
static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
#define MAKE(Name, lower)                                                                          \
  if (g_str_equal (name, #Name))                                                                   \
    return g_object_new (mistaken_##lower##_get_type (), "name", name, NULL);
  MISTAKES (MAKE)
  return NULL;
}

AXON_DEFINE_PLUGIN ("MISTAKEN", "For tests", create)
