/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCL as an application has it: CL (clCreateBuffer) is the loader's function. */
#pragma once

#include <glib.h>
#include <gmodule.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

static inline gpointer
cl_function (const gchar *name)
{
  static GModule *loader;
  gpointer function = NULL;
  if (loader == NULL)
    loader = g_module_open ("libOpenCL.so.1", G_MODULE_BIND_LAZY);
  g_assert_true (loader != NULL && g_module_symbol (loader, name, &function));
  return function;
}

#define CL(name) ((__typeof__ (&name))cl_function (#name))
