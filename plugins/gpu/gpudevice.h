/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices that OpenCL offers, and what is known of them. Immutable once found. */
#pragma once

#include "gpucl.h"

typedef struct {
  cl_device_id id;
  cl_context context; /* all models of the device share it */
  gchar *name, *vendor, *driver, *version;
  gchar *uuid;                   /* hexadecimal, or NULL: the driver does not say */
  guint64 memory;                /* bytes */
  guint vendor_id, units, align; /* align: of values, bytes */
  guint most_items;              /* of a group */
  guint64 local_memory;          /* of a group, bytes */
  gboolean fp16, fp64, correct_division, unified;
  gboolean local; /* local memory is on the chip */
  gboolean dot;   /* products of bytes in fours are one instruction */
  gboolean dp4a;  /* the same, by NVIDIA's name */
} GpuDevice;

/* GpuDevice, GPUs first as the platforms list them; processors only where AXON_GPU_ALLOW_CPU is 1.
 * NULL with @error: none. */
GPtrArray *gpu_devices_find (GError **error);
/* Changes when a program of the one device may not run on the other. */
gchar *gpu_device_key (const GpuDevice *device);
