/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnfloats.h"

static GMutex lock;
static guint n_users;   /* lock */
static GPtrArray *idle; /* lock: those used last at the end; NULL: no users */

static void
tensor_free (gpointer tensor)
{
  g_clear_pointer (&tensor, axon_tensor_unref);
}

void
gst_nn_floats_open (void)
{
  g_mutex_lock (&lock);
  if (n_users++ == 0)
    idle = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);
  g_mutex_unlock (&lock);
}

void
gst_nn_floats_close (void)
{
  g_autoptr (GPtrArray) left = NULL;
  g_mutex_lock (&lock);
  if (--n_users == 0)
    left = g_steal_pointer (&idle);
  g_mutex_unlock (&lock);
}

/* TRUE if nothing there is of another shape than that output. */
static gboolean
is_for (const GstNnFloats *f, const GPtrArray *tensors)
{
  for (guint i = 0; i < f->len; i++) {
    const AxonTensor *place = g_ptr_array_index (f, i);
    if (place != NULL &&
        (i >= tensors->len || !axon_shape_equal (axon_tensor_get_shape (place),
                                                 axon_tensor_get_shape (tensors->pdata[i]))))
      return FALSE;
  }
  return TRUE;
}

GstNnFloats *
gst_nn_floats_take (const GPtrArray *tensors)
{
  GstNnFloats *found = NULL;
  g_mutex_lock (&lock);
  for (guint i = idle->len; i-- > 0 && found == NULL;)
    if (is_for (idle->pdata[i], tensors))
      found = g_ptr_array_steal_index (idle, i);
  g_mutex_unlock (&lock);
  return found ? found : g_ptr_array_new_with_free_func (tensor_free);
}

void
gst_nn_floats_give (GstNnFloats *f)
{
  GstNnFloats *oldest = NULL;
  g_mutex_lock (&lock);
  if (idle->len >= n_users)
    oldest = g_ptr_array_steal_index (idle, 0);
  g_ptr_array_add (idle, f);
  g_mutex_unlock (&lock);
  g_clear_pointer (&oldest, g_ptr_array_unref);
}

/* The tensor that output @index of this shape was converted into before, or a new one. */
static AxonTensor *
get_place (GstNnFloats *f, guint index, const AxonShape *shape)
{
  AxonTensor **place;
  if (index >= f->len)
    g_ptr_array_set_size (f, (gint)index + 1);
  place = (AxonTensor **)(gpointer)&g_ptr_array_index (f, index);
  if (*place == NULL || axon_tensor_is_shared (*place) ||
      !axon_shape_equal (axon_tensor_get_shape (*place), shape)) {
    g_clear_pointer (place, axon_tensor_unref);
    *place = axon_tensor_new (AXON_DTYPE_F32, shape, NULL);
  }
  return *place;
}

static AxonTensor *
convert (GstNnFloats *f, guint index, AxonTensor *tensor)
{
  g_autoptr (AxonTensor) host = axon_tensor_to_host (tensor, NULL);
  AxonTensor *place;
  if (host == NULL || axon_tensor_get_dtype (host) == AXON_DTYPE_F32)
    return g_steal_pointer (&host);
  place = get_place (f, index, axon_tensor_get_shape (host));
  return place != NULL && axon_tensor_convert_to (host, place, NULL) ? axon_tensor_ref (place)
                                                                     : NULL;
}

GPtrArray *
gst_nn_floats_convert (GstNnFloats *f, const GPtrArray *tensors)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (guint i = 0; i < tensors->len; i++) {
    AxonTensor *t = convert (f, i, g_ptr_array_index (tensors, i));
    if (t != NULL)
      g_ptr_array_add (list, t);
  }
  return list;
}
