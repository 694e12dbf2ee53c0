/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "../base/axondtype.h"
#include "../base/axonerror.h"
#include "../base/axonshape.h"

G_BEGIN_DECLS

/**
 * AxonTensor:
 *
 * A dense, row-major array: element type, shape and memory. Reference counted; the description
 * never changes, the elements may be written by one thread at a time.
 *
 * Since: 1.0
 */
typedef struct _AxonTensor AxonTensor;

#define AXON_TYPE_TENSOR (axon_tensor_get_type ())

GType axon_tensor_get_type (void) G_GNUC_CONST;
AxonTensor *axon_tensor_new (AxonDType dtype, const AxonShape *shape, GError **error);
AxonTensor *axon_tensor_new_from_bytes (AxonDType dtype, const AxonShape *shape, GBytes *bytes,
                                        GError **error);
AxonTensor *axon_tensor_new_wrapped (AxonDType dtype, const AxonShape *shape, gpointer data,
                                     gsize n_bytes, GDestroyNotify notify, gpointer user_data,
                                     GError **error);
AxonTensor *axon_tensor_new_i64 (const gint64 *values, gsize n_values);
AxonTensor *axon_tensor_reshape (AxonTensor *tensor, const AxonShape *shape);
AxonTensor *axon_tensor_convert (AxonTensor *tensor, AxonDType dtype, GError **error);
AxonTensor *axon_tensor_ref (AxonTensor *tensor);
void axon_tensor_unref (AxonTensor *tensor);
AxonDType axon_tensor_get_dtype (const AxonTensor *tensor);
const AxonShape *axon_tensor_get_shape (const AxonTensor *tensor);
gint64 axon_tensor_get_dim (const AxonTensor *tensor, guint index);
gsize axon_tensor_get_numel (const AxonTensor *tensor);
gsize axon_tensor_get_n_bytes (const AxonTensor *tensor);
gpointer axon_tensor_get_data (const AxonTensor *tensor);
GBytes *axon_tensor_get_bytes (AxonTensor *tensor);
gboolean axon_tensor_is_shared (const AxonTensor *tensor);
gdouble axon_tensor_get_value (const AxonTensor *tensor, gsize index);
gchar *axon_tensor_to_string (const AxonTensor *tensor, guint max_values);
gboolean axon_tensor_save_npy (const AxonTensor *tensor, const gchar *path, GError **error);
AxonTensor *axon_tensor_load_npy (const gchar *path, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonTensor, axon_tensor_unref)

G_END_DECLS
