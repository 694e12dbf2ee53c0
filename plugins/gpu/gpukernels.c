/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which builder takes which operator: the tables of all families, which Meson lists in
 * gpufamilies.h. Elementwise operators are in gpuelementops.c. */
#include "kernels/kernels.h"

#include "gpufamilies.h"

FAMILIES (GPU_DECLARE_FAMILY)

static const GpuFamily *const families[] = {
#define ENTRY(name) &gpu_family_##name,
  FAMILIES (ENTRY)
#undef ENTRY
};

const GpuKernel *
gpu_find_kernel (const AxonNode *node)
{
  for (guint f = 0; f < G_N_ELEMENTS (families); f++)
    for (guint i = 0; i < families[f]->n_kernels; i++) {
      const GpuKernel *kernel = &families[f]->kernels[i];
      if (g_strcmp0 (kernel->domain, node->op->domain) == 0 &&
          g_str_equal (kernel->name, node->op->name))
        return kernel;
    }
  return NULL;
}

GPtrArray *
gpu_kernel_names (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  for (guint f = 0; f < G_N_ELEMENTS (families); f++)
    for (guint i = 0; i < families[f]->n_kernels; i++) {
      const GpuKernel *kernel = &families[f]->kernels[i];
      g_ptr_array_add (names,
                       g_strdup_printf ("%s:%s=%s", kernel->domain ? kernel->domain : "ai.onnx",
                                        kernel->name, kernel->impl));
    }
  gpu_element_add_names (names);
  return names;
}
