/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the families of both rooms meet. Meson writes the list: families.h. */
#include <axon/plugin/axonbuiltins.h>

#include "../ops/ops-private.h"
#include "families.h"

#define DECLARE(name) DECLARE_FAMILY (name);
FAMILIES (DECLARE)
#undef DECLARE

AxonOpSet *
axon_op_set_new (void)
{
  AxonOpSet *set = axon_op_set_new_empty ();
#define ADD(name) axon_ops_##name (set);
  FAMILIES (ADD)
#undef ADD
  return set;
}

const AxonOp *
axon_builtin_op (const gchar *domain, const gchar *name, gint opset)
{
  static gsize once;
  if (g_once_init_enter (&once))
    g_once_init_leave (&once, (gsize)axon_op_set_new ());
  return axon_op_set_lookup ((AxonOpSet *)once, domain, name, opset);
}
