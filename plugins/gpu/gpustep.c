/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps of a plan: a kernel and its arguments; drafts, whose kernels are written last. */
#include "gpuplan.h"

static void
draft_free (GpuDraft *draft)
{
  g_ptr_array_unref (draft->words);
  g_free (draft->put);
  g_string_free (draft->fused, TRUE);
  g_string_free (draft->more, TRUE);
  g_string_free (draft->names, TRUE);
  g_free (draft);
}

void
gpu_step_free (gpointer data)
{
  GpuStep *step = data;
  g_clear_pointer (&step->draft, draft_free);
  g_free (step->kernel);
  g_array_unref (step->args);
  g_free (step);
}

/* Groups are whole: kernels compare with n. */
GpuStep *
gpu_plan_step (GpuPlan *plan, const gchar *kernel, gint32 p, gint64 x, gint64 y, gint64 z)
{
  GpuStep *step = g_new0 (GpuStep, 1);
  step->kernel = g_strdup (kernel);
  step->args = g_array_new (FALSE, FALSE, sizeof (GpuArg));
  step->global[0] = (gsize)(x + GPU_GROUP - 1) / GPU_GROUP * GPU_GROUP;
  step->global[1] = (gsize)y;
  step->global[2] = (gsize)z;
  step->local[0] = GPU_GROUP;
  step->local[1] = step->local[2] = 1;
  step->info = (AxonProfilingInfo){ .node_name = plan->node->name,
                                    .node_type = plan->node->op->name,
                                    .exec_type = step->kernel };
  step->params = (guint)p;
  step->n_params = plan->params->len - (guint)p; /* they were written last */
  g_ptr_array_add (plan->steps, step);
  gpu_step_read (plan, step, NULL);
  gpu_step_number (step, p);
  gpu_step_number (step, x);
  return step;
}

GpuStep *
gpu_plan_draft (GpuPlan *plan, const gchar *base, const gchar *family, GPtrArray *words,
                const gchar *put, gint32 p, const gint64 *items)
{
  GpuStep *step = gpu_plan_step (plan, base, p, items[0], items[1], items[2]);
  step->draft = g_new0 (GpuDraft, 1);
  step->draft->family = family;
  step->draft->words = words;
  step->draft->put = g_strdup (put);
  step->draft->fused = g_string_new (NULL);
  step->draft->more = g_string_new (NULL);
  step->draft->names = g_string_new (NULL);
  return step;
}

GpuStep *
gpu_plan_find_draft (GpuPlan *plan, const GpuTensor *tensor)
{
  for (guint i = plan->steps->len; i > 0; i--) {
    GpuStep *step = g_ptr_array_index (plan->steps, i - 1);
    if (step->draft != NULL && step->draft->result == tensor)
      return step->draft->put == NULL && step->draft->fused->len == 0 ? step : NULL;
  }
  return NULL;
}

void
gpu_plan_redirect (GpuPlan *plan, GpuStep *step, const GpuTensor *to)
{
  guint at;
  for (guint i = 0; i < step->args->len; i++) {
    GpuArg *arg = &g_array_index (step->args, GpuArg, i);
    if (arg->buffer == step->draft->result->buffer)
      arg->buffer = to->buffer;
  }
  step->draft->result = to;
  if (g_ptr_array_find (plan->steps, step, &at))
    g_ptr_array_add (plan->steps, g_ptr_array_steal_index (plan->steps, at));
}

static void
add_buffer (GpuStep *step, const GpuTensor *tensor)
{
  GpuArg arg = { tensor->buffer, 0 };
  g_array_append_val (step->args, arg);
}

void
gpu_step_read (GpuPlan *plan, GpuStep *step, const GpuTensor *tensor)
{
  add_buffer (step, tensor ? tensor : plan->params_tensor);
}

void
gpu_step_write (GpuPlan *plan, GpuStep *step, const GpuTensor *tensor)
{
  if (tensor->buffer->place == GPU_PREPARED) {
    step->once = TRUE;
    step->makes = tensor->buffer;
  }
  if (step->draft != NULL)
    step->draft->result = tensor;
  add_buffer (step, tensor);
}

/* A buffer but the first is two arguments of the kernel. */
cl_int
gpu_step_set_arg (const GpuStep *step, cl_kernel kernel, guint index, cl_mem mem)
{
  const GpuArg *arg = &g_array_index (step->args, GpuArg, index);
  cl_ulong offset = arg->buffer && arg->buffer->place == GPU_ARENA ? arg->buffer->offset : 0;
  guint at = index;
  cl_int status;
  for (guint i = 1; i < index; i++)
    at += g_array_index (step->args, GpuArg, i).buffer != NULL;
  if (arg->buffer == NULL)
    return gpu_cl.SetKernelArg (kernel, at, sizeof arg->number, &arg->number);
  status = gpu_cl.SetKernelArg (kernel, at, sizeof mem, &mem);
  return status != CL_SUCCESS || index == 0
             ? status
             : gpu_cl.SetKernelArg (kernel, at + 1, sizeof offset, &offset);
}

void
gpu_step_number (GpuStep *step, gint64 number)
{
  GpuArg arg = { NULL, (gint32)number };
  g_array_append_val (step->args, arg);
}

void
gpu_step_complaint (GpuPlan *plan, GpuStep *step, const gchar *text)
{
  g_autofree gchar *what = axon_node_describe (plan->node);
  g_ptr_array_add (plan->complaints, g_strdup_printf ("%s: %s", what, text));
  add_buffer (step, plan->status_tensor);
  gpu_step_number (step, plan->complaints->len);
}

static void
add_word (GpuDraft *draft, const gchar *word, const gchar *text)
{
  g_ptr_array_add (draft->words, g_strdup (word));
  g_ptr_array_add (draft->words, g_strdup (text));
}

static void
add_draft_words (GpuDraft *draft, const gchar *name)
{
  AxonDType dtype = draft->result->dtype;
  GString *call = g_string_new (draft->put);
  if (draft->put == NULL && draft->fused->len == 0)
    g_string_printf (call, "ST_%s(y, i, v)", gpu_type_name (dtype));
  else if (draft->put == NULL)
    g_string_printf (call, "ST_%s(y, i, %s_fused(v, i%s))", gpu_type_name (dtype), name,
                     draft->names->str);
  add_word (draft, "PUT", call->str);
  add_word (draft, "TY", gpu_type_stored (dtype));
  add_word (draft, "FUSED", draft->fused->str);
  add_word (draft, "MORE", draft->more->str);
  g_ptr_array_add (draft->words, NULL);
  g_string_free (call, TRUE);
}

/* The texts of drafts, now that nothing more is fused to them. */
void
gpu_plan_write_drafts (GpuPlan *plan)
{
  for (guint i = 0; i < plan->steps->len; i++) {
    GpuStep *step = g_ptr_array_index (plan->steps, i);
    GpuDraft *draft = step->draft;
    g_autofree gchar *id = NULL;
    gchar *base;
    if (draft == NULL)
      continue;
    base = step->kernel;
    id = gpu_text_id (draft->fused->str);
    step->kernel =
        draft->fused->len > 0 ? g_strdup_printf ("%s_and_%s", base, id) : g_strdup (base);
    step->info.exec_type = step->kernel;
    g_free (base);
    add_draft_words (draft, step->kernel);
    gpu_plan_template (plan, step->kernel, draft->family,
                       (const gchar *const *)draft->words->pdata);
    g_clear_pointer (&step->draft, draft_free);
  }
}
