/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Remote context of device TEMPLATE: its "device memory" is host memory that only this file gives
 * an address of, so that the rules for remote tensors can be tested without hardware. */
#include "templatecontext.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

typedef struct {
  AxonMemory parent;
  AxonMemory *host;
} TemplateMemory;

static gpointer
memory_map (AxonMemory *memory)
{
  AxonMemory *host = ((TemplateMemory *)memory)->host;
  return host->klass->map (host);
}

static void
memory_free (AxonMemory *memory)
{
  axon_memory_unref (((TemplateMemory *)memory)->host);
  g_free (memory);
}

static gboolean
memory_read (AxonMemory *memory, gsize offset, gpointer to, gsize n_bytes, GError **error)
{
  if (!axon_memory_check_range (memory, offset, n_bytes, error))
    return FALSE;
  memcpy (to, (guint8 *)memory_map (memory) + offset, n_bytes);
  return TRUE;
}

static gboolean
memory_write (AxonMemory *memory, gsize offset, gconstpointer from, gsize n_bytes, GError **error)
{
  if (!axon_memory_check_range (memory, offset, n_bytes, error))
    return FALSE;
  memcpy ((guint8 *)memory_map (memory) + offset, from, n_bytes);
  return TRUE;
}

static const AxonMemoryClass memory_class = { .name = "template",
                                              .map = memory_map,
                                              .free = memory_free,
                                              .read = memory_read,
                                              .write = memory_write };

typedef struct {
  AxonRemoteContext parent_instance;
  GVariant *params;
} AxonTemplateContext;

typedef AxonRemoteContextClass AxonTemplateContextClass;
static GType axon_template_context_get_type (void);
G_DEFINE_TYPE (AxonTemplateContext, axon_template_context, AXON_TYPE_REMOTE_CONTEXT)

static AxonTensor *
axon_template_context_create_tensor (AxonRemoteContext *context, AxonDType dtype,
                                     const AxonShape *shape, G_GNUC_UNUSED GVariant *params,
                                     GError **error)
{
  gint64 numel = axon_shape_get_numel (shape);
  gsize n_bytes = (gsize)MAX (numel, 0) * axon_dtype_get_size (dtype);
  AxonMemory *host = axon_memory_new_host (n_bytes);
  TemplateMemory *memory;
  if (host == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY,
                 _ ("out of memory: a tensor needs %zu bytes"), n_bytes);
    return NULL;
  }
  memory = g_new0 (TemplateMemory, 1);
  memory->parent.klass = &memory_class;
  memory->parent.n_bytes = n_bytes;
  memory->parent.context = g_object_ref (G_OBJECT (context));
  g_atomic_ref_count_init (&memory->parent.ref_count);
  memory->host = host;
  return axon_tensor_new_with_memory (dtype, shape, &memory->parent, error);
}

static GVariant *
axon_template_context_get_params (AxonRemoteContext *context)
{
  return g_variant_ref (((AxonTemplateContext *)context)->params);
}

static void
axon_template_context_finalize (GObject *object)
{
  g_variant_unref (((AxonTemplateContext *)object)->params);
  G_OBJECT_CLASS (axon_template_context_parent_class)->finalize (object);
}

static void
axon_template_context_class_init (AxonTemplateContextClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_template_context_finalize;
  klass->create_tensor = axon_template_context_create_tensor;
  klass->get_params = axon_template_context_get_params;
}

static void
axon_template_context_init (G_GNUC_UNUSED AxonTemplateContext *self)
{
}

/* @params (nullable): echoed by get_params */
AxonRemoteContext *
axon_template_context_new (const gchar *device, GVariant *params)
{
  AxonTemplateContext *self =
      g_object_new (axon_template_context_get_type (), "device-name", device, NULL);
  self->params =
      params ? g_variant_ref (params) : g_variant_ref_sink (g_variant_new_parsed ("@a{sv} {}"));
  return &self->parent_instance;
}
