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

AXON_API void axon_response_set (AxonResponse *response, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
AXON_API gint64 axon_div_up (gint64 a, gint64 b);
AXON_API void axon_tensor_desc_init_planar (AxonTensorDesc *desc, AxonDType dtype,
                                            const AxonShape *shape);
AXON_API void axon_tensor_desc_init_channel_blocks (AxonTensorDesc *desc, AxonDType dtype,
                                                    const AxonShape *shape, gint64 block);
AXON_API gsize axon_tensor_desc_get_n_elements (const AxonTensorDesc *desc);
AXON_API gboolean axon_tensor_desc_is_planar (const AxonTensorDesc *desc);

/* For devices */
AXON_API AxonExtension *axon_extension_open (const gchar *path, GError **error);
AXON_API AxonExtension *axon_extension_ref (AxonExtension *extension);
AXON_API void axon_extension_unref (AxonExtension *extension);
AXON_API const AxonExtensionInfo *axon_extension_get_info (AxonExtension *extension);
AXON_API AxonLayerImpl *axon_extensions_find_impl (GPtrArray *extensions, const AxonNode *node,
                                                   const gchar *type);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonExtension, axon_extension_unref)

G_END_DECLS
