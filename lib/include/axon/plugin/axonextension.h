/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Extensions: libraries that bring operators and kernels. For their authors, who include
 * <axon/axon-plugin.h>; applications call axon_core_add_extension(). */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

typedef struct _AxonExtension AxonExtension;
typedef struct _AxonLayerImpl AxonLayerImpl;

/* What a kernel's function returns; its text goes into an AxonResponse. */
typedef enum {
  AXON_STATUS_OK = 0,
  AXON_STATUS_GENERAL_ERROR = -1,
} AxonStatus;

typedef struct {
  gchar message[256]; /* NUL-terminated */
} AxonResponse;

#define AXON_ANY_OFFSET G_MAXSIZE
#define AXON_MAX_BLOCKED_RANK (AXON_MAX_RANK + 4)
#define AXON_LAYER_MAX_PORTS 16

/* How a tensor lies in memory: @blocked dimensions, outermost first, @order[i] the dimension that
 * block i belongs to. Planar: blocked = shape, order 0 1 2 3. nChw8c: N, ceil(C/8), H, W, 8 and
 * order 0 1 2 3 1. */
typedef struct {
  AxonDType dtype;
  AxonShape shape;
  guint n_blocked;
  gint64 blocked[AXON_MAX_BLOCKED_RANK];
  guint order[AXON_MAX_BLOCKED_RANK];
  gsize offset; /* elements before the first; AXON_ANY_OFFSET in a configuration: any will do */
} AxonTensorDesc;

typedef struct {
  AxonTensorDesc desc;
} AxonDataConfig;

/* One way that a kernel can work. In those that it offers, with @dynamic_batch, dimension 0 (and
 * block 0) may be -1: any batch; offsets may be AXON_ANY_OFFSET. The one that `init` is given is
 * final: every number is that of the tensors that `execute` will see, and @dynamic_batch is FALSE.
 * Types and shapes are those of the node. Descriptors of inputs that are left out are not looked
 * at. */
typedef struct {
  gboolean dynamic_batch;
  guint n_in, n_out;
  AxonDataConfig in[AXON_LAYER_MAX_PORTS], out[AXON_LAYER_MAX_PORTS];
} AxonLayerConfig;

/* A tensor at run time: elements begin at data + desc->offset elements. @data is NULL for an
 * optional input that is left out; every output has memory, also one that the model does not name.
 * What is left in the padding of blocks is cleared afterwards. */
typedef struct {
  const AxonTensorDesc *desc;
  gpointer data;
} AxonLayerBuffer;

/* A kernel for one node. No function may abort; none knows the device's library. Configurations are
 * asked for and chosen when a model is compiled; execute runs in one thread at a time. */
typedef struct {
  /* appends AxonLayerConfig, best first; those that do not fit the node are passed over */
  AxonStatus (*get_supported_configurations) (AxonLayerImpl *impl, GArray *configs,
                                              AxonResponse *response);
  /* may be called again, with another configuration, after it refused one */
  AxonStatus (*init) (AxonLayerImpl *impl, const AxonLayerConfig *config, AxonResponse *response);
  AxonStatus (*execute) (AxonLayerImpl *impl, const AxonLayerBuffer *in, guint n_in,
                         const AxonLayerBuffer *out, guint n_out, AxonResponse *response);
  void (*free) (AxonLayerImpl *impl);
  gpointer padding[4];
} AxonLayerImplClass;

struct _AxonLayerImpl {
  const AxonLayerImplClass *klass;
};

#define AXON_EXTENSION_ABI 1u

/* What the exported symbol `axon_extension_entry` returns. */
typedef struct {
  guint abi;
  gsize struct_size;
  const gchar *name;
  const gchar *version;
  const AxonOp *ops; /* rows to add; static. eval may be NULL: then no reference kernel exists */
  guint n_ops;
  /* Devices that a kernel for @node exists for, such as "CPU"; NULL: none */
  const gchar *const *(*get_impl_types) (const AxonNode *node);
  /* A new kernel; NULL where there is none. It never fails: it keeps its error text, which its
   * first later call reports. */
  AxonLayerImpl *(*get_implementation) (const AxonNode *node, const gchar *type);
  gpointer padding[8];
} AxonExtensionInfo;

#define AXON_DEFINE_EXTENSION(...)                                                                 \
  G_MODULE_EXPORT const AxonExtensionInfo *axon_extension_entry (void);                            \
  const AxonExtensionInfo *axon_extension_entry (void)                                             \
  {                                                                                                \
    static const AxonExtensionInfo info = { .abi = AXON_EXTENSION_ABI,                             \
                                            .struct_size = sizeof (AxonExtensionInfo),             \
                                            __VA_ARGS__ };                                         \
    return &info;                                                                                  \
  }

/**
 * axon_response_set:
 * @response: where the text goes
 * @format: printf's format
 * @...: its arguments
 *
 * Writes the text of an error, cut to the response's size.
 *
 * Since: 1.0
 */
AXON_API void axon_response_set (AxonResponse *response, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/**
 * axon_div_up:
 * @a: a number that is not negative
 * @b: a number that is not negative
 *
 * Divides and rounds up.
 *
 * Returns: the ceiling of @a / @b; 0 for @b 0
 *
 * Since: 1.0
 */
AXON_API gint64 axon_div_up (gint64 a, gint64 b);

/**
 * axon_tensor_desc_init_planar:
 * @desc: what is filled
 * @dtype: element type
 * @shape: shape
 *
 * Describes a row-major tensor at any offset.
 *
 * Since: 1.0
 */
AXON_API void axon_tensor_desc_init_planar (AxonTensorDesc *desc, AxonDType dtype,
                                            const AxonShape *shape);

/**
 * axon_tensor_desc_init_channel_blocks:
 * @desc: what is filled
 * @dtype: element type
 * @shape: shape, of rank 2 or more
 * @block: elements in a block
 *
 * Describes a tensor whose dimension 1 is cut into blocks that lie innermost: nChw8c for rank 4 and
 * @block 8.
 *
 * Since: 1.0
 */
AXON_API void axon_tensor_desc_init_channel_blocks (AxonTensorDesc *desc, AxonDType dtype,
                                                    const AxonShape *shape, gint64 block);

/**
 * axon_tensor_desc_get_n_elements:
 * @desc: a description with known dimensions
 *
 * Counts the elements in memory, those that fill the last block included.
 *
 * Returns: the number of elements after the offset
 *
 * Since: 1.0
 */
AXON_API gsize axon_tensor_desc_get_n_elements (const AxonTensorDesc *desc);

/**
 * axon_tensor_desc_is_planar:
 * @desc: a description
 *
 * Tells whether a tensor lies in row-major order, whatever its offset.
 *
 * Returns: %TRUE if it does
 *
 * Since: 1.0
 */
AXON_API gboolean axon_tensor_desc_is_planar (const AxonTensorDesc *desc);

/* For devices */

/**
 * axon_extension_open:
 * @path: absolute or relative to the current folder
 * @error: return location
 *
 * Loads an extension; the library stays resident. Fails with %AXON_ERROR_ARGUMENT where there is no
 * file, no entry or another ABI.
 *
 * Returns: (transfer full): the extension; %NULL with @error
 *
 * Since: 1.0
 */
AXON_API AxonExtension *axon_extension_open (const gchar *path, GError **error);

/**
 * axon_extension_ref:
 * @extension: an extension
 *
 * Takes a reference. Any thread.
 *
 * Returns: (transfer full): @extension
 *
 * Since: 1.0
 */
AXON_API AxonExtension *axon_extension_ref (AxonExtension *extension);

/**
 * axon_extension_unref:
 * @extension: (transfer full): an extension
 *
 * Drops a reference. Any thread.
 *
 * Since: 1.0
 */
AXON_API void axon_extension_unref (AxonExtension *extension);

/**
 * axon_extension_get_info:
 * @extension: an extension
 *
 * Gives what the library's entry returned.
 *
 * Returns: (transfer none): static
 *
 * Since: 1.0
 */
AXON_API const AxonExtensionInfo *axon_extension_get_info (AxonExtension *extension);

/**
 * axon_extensions_find_impl:
 * @extensions: (nullable) (element-type AxonExtension): what the device was given, in order
 * @node: the node
 * @type: name of the device, such as `CPU`
 *
 * Asks for a kernel, first the extension that was added last.
 *
 * Returns: (transfer full) (nullable): a kernel, which its class's `free` frees; %NULL where no
 *   extension has one
 *
 * Since: 1.0
 */
AXON_API AxonLayerImpl *axon_extensions_find_impl (GPtrArray *extensions, const AxonNode *node,
                                                   const gchar *type);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonExtension, axon_extension_unref)

G_END_DECLS
