/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The Open Inference Protocol's (KServe v2) messages: tensors to a request, an answer to tensors.
 * No state, no network: any thread. */
#pragma once

#include <axon/axon.h>
#include <axon/axon-plugin.h>

typedef struct {
  gchar *name, *quoted; /* quoted: as JSON */
  AxonDType dtype;
  AxonShape shape;
} RemotePort;

RemotePort *remote_port_new (const gchar *name, AxonDType dtype, const AxonShape *shape);
void remote_port_free (gpointer port);

/* The protocol's name of a type; NULL: it has none. */
const gchar *remote_dtype_name (AxonDType dtype);
AxonDType remote_dtype_from_name (const gchar *name); /* AXON_DTYPE_UNDEFINED: none of ours */

/* Where tensors lie that are not in the message: one region, inputs first. */
typedef struct {
  const gchar *name;
  guint8 *data;
  const gsize *inputs, *outputs; /* offsets */
  const gsize *output_sizes;
} RemoteRegion;

/* Body of a request (element-type GBytes): tensors of at least some size are not copied. @region:
 * NULL, or filled with the inputs. @json_length: -1 where the body is JSON alone. */
GPtrArray *remote_encode (const GPtrArray *inputs, const GPtrArray *outputs,
                          AxonTensor *const *tensors, gboolean binary, const RemoteRegion *region,
                          gssize *json_length, GError **error);

/* Where output @index goes; NULL with an error. (transfer none) */
typedef AxonTensor *(*RemoteTakeFunc) (guint index, const AxonShape *shape, gpointer data,
                                       GError **error);

/* Reads an answer. Everything in it is checked against @outputs and its own size. */
gboolean remote_decode (const GPtrArray *outputs, GBytes *body, gssize json_length,
                        const RemoteRegion *region, RemoteTakeFunc take, gpointer data,
                        GError **error);

/* Strings as the protocol lays them: length (32 bits, little-endian) and bytes, one after another.
 */
GBytes *remote_strings_to_bytes (const AxonTensor *tensor);
gboolean remote_strings_from_bytes (AxonTensor *tensor, gconstpointer data, gsize n,
                                    GError **error);
/* The values of a JSON list, however nested, in row-major order. */
gboolean remote_values_from_json (AxonTensor *tensor, gpointer json_array, GError **error);
