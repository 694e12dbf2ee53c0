/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axondtype.h>
#include <axon/axonerror.h>
#include <axon/axonshape.h>

G_BEGIN_DECLS

/**
 * AxonTensor:
 *
 * An array: element type, shape, strides and memory. Row-major and dense unless it is a region of
 * another tensor or was made with strides. Reference counted; the description never changes, the
 * elements may be written by one thread at a time. Memory of a device is reached by
 * axon_tensor_copy_to() only.
 *
 * Since: 1.0
 */
typedef struct _AxonTensor AxonTensor;

#define AXON_TYPE_TENSOR (axon_tensor_get_type ())

AXON_API GType axon_tensor_get_type (void) G_GNUC_CONST;
AXON_API AxonTensor *axon_tensor_new (AxonDType dtype, const AxonShape *shape, GError **error);
AXON_API AxonTensor *axon_tensor_new_from_bytes (AxonDType dtype, const AxonShape *shape,
                                                 GBytes *bytes, GError **error);
AXON_API AxonTensor *axon_tensor_new_wrapped (AxonDType dtype, const AxonShape *shape,
                                              gpointer data, gsize n_bytes, GDestroyNotify notify,
                                              gpointer user_data, GError **error);
AXON_API AxonTensor *axon_tensor_new_strided (AxonDType dtype, const AxonShape *shape,
                                              const gint64 *strides, gpointer data, gsize n_bytes,
                                              GDestroyNotify notify, gpointer user_data,
                                              GError **error);
AXON_API AxonTensor *axon_tensor_new_roi (AxonTensor *tensor, const AxonShape *begin,
                                          const AxonShape *size, GError **error);
AXON_API AxonTensor *axon_tensor_new_i64 (const gint64 *values, gsize n_values);
AXON_API AxonTensor *axon_tensor_new_strings (const AxonShape *shape, const gchar *const *strings,
                                              gsize n_strings, GError **error);
AXON_API AxonTensor *axon_tensor_new_sequence (AxonTensor *const *items, gsize n_items);
AXON_API AxonTensor *axon_tensor_new_optional (AxonTensor *item);
AXON_API const gchar *axon_tensor_get_string (const AxonTensor *tensor, gsize index);
AXON_API void axon_tensor_set_string (AxonTensor *tensor, gsize index, const gchar *string);
AXON_API AxonTensor *axon_tensor_get_item (const AxonTensor *tensor, gsize index);
AXON_API AxonTensor *axon_tensor_reshape (AxonTensor *tensor, const AxonShape *shape);
AXON_API AxonTensor *axon_tensor_convert (AxonTensor *tensor, AxonDType dtype, GError **error);
AXON_API gboolean axon_tensor_convert_to (AxonTensor *tensor, AxonTensor *destination,
                                          GError **error);
AXON_API AxonTensor *axon_tensor_ref (AxonTensor *tensor);
AXON_API void axon_tensor_unref (AxonTensor *tensor);
AXON_API AxonDType axon_tensor_get_dtype (const AxonTensor *tensor);
AXON_API const AxonShape *axon_tensor_get_shape (const AxonTensor *tensor);
AXON_API gint64 axon_tensor_get_dim (const AxonTensor *tensor, guint index);
AXON_API gsize axon_tensor_get_numel (const AxonTensor *tensor);
AXON_API gsize axon_tensor_get_n_bytes (const AxonTensor *tensor);
AXON_API gint64 axon_tensor_get_stride (const AxonTensor *tensor, guint index);
AXON_API gboolean axon_tensor_is_contiguous (const AxonTensor *tensor);
AXON_API gboolean axon_tensor_is_remote (const AxonTensor *tensor);
AXON_API gboolean axon_tensor_copy_to (AxonTensor *tensor, AxonTensor *destination, GError **error);
AXON_API AxonTensor *axon_tensor_to_host (AxonTensor *tensor, GError **error);
AXON_API gpointer axon_tensor_get_data (const AxonTensor *tensor);
AXON_API GBytes *axon_tensor_get_bytes (AxonTensor *tensor);
AXON_API gboolean axon_tensor_is_shared (const AxonTensor *tensor);
AXON_API gdouble axon_tensor_get_value (const AxonTensor *tensor, gsize index);
AXON_API gchar *axon_tensor_to_string (const AxonTensor *tensor, guint max_values);
AXON_API gboolean axon_tensor_save_npy (const AxonTensor *tensor, const gchar *path,
                                        GError **error);
AXON_API AxonTensor *axon_tensor_load_npy (const gchar *path, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonTensor, axon_tensor_unref)

G_END_DECLS
