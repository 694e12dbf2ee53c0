/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Element types in kernel text. Half precision is storage: it is computed in float, as OpenCL 1.2
 * can everywhere. */
#include "gpuplan.h"

static const struct {
  AxonDType dtype;
  const gchar *name, *stored, *computed;
} types[] = {
  { AXON_DTYPE_F32, "f32", "float", "float" },    { AXON_DTYPE_F16, "f16", "half", "float" },
  { AXON_DTYPE_BF16, "bf16", "ushort", "float" }, { AXON_DTYPE_F64, "f64", "double", "double" },
  { AXON_DTYPE_I8, "i8", "char", "char" },        { AXON_DTYPE_U8, "u8", "uchar", "uchar" },
  { AXON_DTYPE_I16, "i16", "short", "short" },    { AXON_DTYPE_U16, "u16", "ushort", "ushort" },
  { AXON_DTYPE_I32, "i32", "int", "int" },        { AXON_DTYPE_U32, "u32", "uint", "uint" },
  { AXON_DTYPE_I64, "i64", "long", "long" },      { AXON_DTYPE_U64, "u64", "ulong", "ulong" },
  { AXON_DTYPE_BOOL, "bool", "uchar", "uchar" },
};

static gint
find (AxonDType dtype)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].dtype == dtype)
      return (gint)i;
  return -1;
}

const gchar *
gpu_type_name (AxonDType dtype)
{
  gint i = find (dtype);
  return i < 0 ? NULL : types[i].name;
}

const gchar *
gpu_type_stored (AxonDType dtype)
{
  gint i = find (dtype);
  return i < 0 ? NULL : types[i].stored;
}

const gchar *
gpu_type_computed (AxonDType dtype)
{
  gint i = find (dtype);
  return i < 0 ? NULL : types[i].computed;
}

gboolean
gpu_plan_has_type (const GpuPlan *plan, AxonDType dtype)
{
  return find (dtype) >= 0 && (dtype != AXON_DTYPE_F64 || plan->device->fp64);
}
