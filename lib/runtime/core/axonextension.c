/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads extension libraries, which stay resident: their rows are used as long as models live. */
#include <axon/plugin/axonextension.h>

#include "config.h"
#include <glib/gi18n-lib.h>

#include <gmodule.h>
#include <string.h>

struct _AxonExtension {
  gatomicrefcount ref_count;
  const AxonExtensionInfo *info;
};

AxonExtension *
axon_extension_open (const gchar *path, GError **error)
{
  const AxonExtensionInfo *(*entry) (void);
  const AxonExtensionInfo *info;
  AxonExtension *extension;
  GModule *module;
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("extension %s: there is no such file"),
                 path);
    return NULL;
  }
  module = g_module_open (path, G_MODULE_BIND_LOCAL);
  if (module == NULL || !g_module_symbol (module, "axon_extension_entry", (gpointer *)&entry)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("extension %s: %s"), path,
                 g_module_error ());
    if (module != NULL)
      g_module_close (module);
    return NULL;
  }
  g_module_make_resident (module);
  info = entry ();
  if (info == NULL || info->abi != AXON_EXTENSION_ABI || info->struct_size < sizeof *info) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("extension %s: made for extension interface %u, not %u"), path,
                 info ? info->abi : 0, AXON_EXTENSION_ABI);
    return NULL;
  }
  extension = g_new0 (AxonExtension, 1);
  g_atomic_ref_count_init (&extension->ref_count);
  extension->info = info;
  return extension;
}

AxonExtension *
axon_extension_ref (AxonExtension *extension)
{
  g_atomic_ref_count_inc (&extension->ref_count);
  return extension;
}

void
axon_extension_unref (AxonExtension *extension)
{
  if (g_atomic_ref_count_dec (&extension->ref_count))
    g_free (extension);
}

const AxonExtensionInfo *
axon_extension_get_info (AxonExtension *extension)
{
  return extension->info;
}

AxonLayerImpl *
axon_extensions_find_impl (GPtrArray *extensions, const AxonNode *node, const gchar *type)
{
  for (guint i = extensions ? extensions->len : 0; i-- > 0;) {
    const AxonExtensionInfo *info = ((AxonExtension *)g_ptr_array_index (extensions, i))->info;
    const gchar *const *types = info->get_impl_types ? info->get_impl_types (node) : NULL;
    AxonLayerImpl *impl = types && info->get_implementation && g_strv_contains (types, type)
                              ? info->get_implementation (node, type)
                              : NULL;
    if (impl != NULL)
      return impl;
  }
  return NULL;
}

void
axon_response_set (AxonResponse *response, const gchar *format, ...)
{
  va_list args;
  va_start (args, format);
  g_vsnprintf (response->message, sizeof response->message, format, args);
  va_end (args);
}

gint64
axon_div_up (gint64 a, gint64 b)
{
  return b == 0 ? 0 : (a + b - 1) / b;
}

void
axon_tensor_desc_init_planar (AxonTensorDesc *desc, AxonDType dtype, const AxonShape *shape)
{
  *desc = (AxonTensorDesc){ .dtype = dtype, .shape = *shape, .offset = AXON_ANY_OFFSET };
  desc->n_blocked = (guint)MAX (shape->rank, 0);
  for (guint i = 0; i < desc->n_blocked; i++) {
    desc->blocked[i] = shape->dims[i];
    desc->order[i] = i;
  }
}

void
axon_tensor_desc_init_channel_blocks (AxonTensorDesc *desc, AxonDType dtype, const AxonShape *shape,
                                      gint64 block)
{
  axon_tensor_desc_init_planar (desc, dtype, shape);
  desc->blocked[1] = axon_div_up (shape->dims[1], block);
  desc->blocked[desc->n_blocked] = block;
  desc->order[desc->n_blocked] = 1;
  desc->n_blocked++;
}

gsize
axon_tensor_desc_get_n_elements (const AxonTensorDesc *desc)
{
  gsize n = 1;
  for (guint i = 0; i < desc->n_blocked; i++)
    n *= (gsize)desc->blocked[i];
  return n;
}

gboolean
axon_tensor_desc_is_planar (const AxonTensorDesc *desc)
{
  AxonTensorDesc planar;
  axon_tensor_desc_init_planar (&planar, desc->dtype, &desc->shape);
  return desc->n_blocked == planar.n_blocked &&
         memcmp (desc->blocked, planar.blocked, desc->n_blocked * sizeof *desc->blocked) == 0 &&
         memcmp (desc->order, planar.order, desc->n_blocked * sizeof *desc->order) == 0;
}
