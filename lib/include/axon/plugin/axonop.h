/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axonmodel.h>

G_BEGIN_DECLS

typedef struct _AxonNode AxonNode;
typedef struct _AxonValue AxonValue;

/* What is known about a value: its type, its shape and, where it is a constant, its tensor. */
typedef struct {
  AxonDType dtype; /* AXON_DTYPE_UNDEFINED: an optional input that is left out, or not known */
  AxonShape shape;
  AxonTensor *value;
} AxonTypeInfo;

typedef enum {
  AXON_ATTR_INT,
  AXON_ATTR_FLOAT,
  AXON_ATTR_STRING,
  AXON_ATTR_INTS,
  AXON_ATTR_FLOATS,
  AXON_ATTR_STRINGS,
  AXON_ATTR_TENSOR,
  AXON_ATTR_GRAPH,
} AxonAttrType;

/* One attribute of an operator, with its default. */
typedef struct {
  const gchar *name; /* NULL ends the list */
  AxonAttrType type;
  gboolean required;
  gint64 i;
  gdouble f;
  const gchar *s;
  gpointer padding[2];
} AxonAttrSpec;

/* Shape inference: fills out[] (all of node->n_outputs, zeroed before). May set out[].value (a new
 * reference) where the result follows from shapes alone. Data is known only where in[].value is. */
typedef gboolean (*AxonInferFunc) (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                                   GError **error);

/* Reference kernel: obvious, not fast. Missing optional inputs and unused outputs are NULL, @error
 * never is; outputs have the inferred dtype and shape. */
typedef gboolean (*AxonEvalFunc) (const AxonNode *node, AxonTensor *const *in,
                                  AxonTensor *const *out, GError **error);

/* Kernel of an operator whose outputs' shapes follow from data: makes the outputs itself. */
typedef gboolean (*AxonRunFunc) (const AxonNode *node, AxonTensor *const *in, AxonTensor **out,
                                 GError **error);

typedef enum {
  AXON_OP_NONE = 0,
  AXON_OP_ELEMENTWISE = 1 << 0,     /* output i depends on element i of (broadcast) inputs only */
  AXON_OP_VIEW = 1 << 1,            /* same bytes in row-major order, another shape */
  AXON_OP_ANY_INPUT_SIZE = 1 << 2,  /* inputs' sizes do not matter when planning (frames) */
  AXON_OP_MAKES_ELEMENTS = 1 << 3,  /* strings in its outputs are new, not moved from inputs */
  AXON_OP_CONTROL = 1 << 4,         /* never folded; inferred when planning, not when running */
  AXON_OP_OPTIONAL_INPUTS = 1 << 5, /* all inputs are, although so many are counted */
} AxonOpFlags;

/* What an operator means in the opsets of a row, where that is not what it means today. Nobody asks
 * for versions: who cares about a difference asks for its name. */
typedef enum {
  AXON_FORM_CURRENT = 0,
  AXON_FORM_ATTRIBUTES = 1 << 0,     /* axes, pads, bounds, counts ... are attributes, not inputs */
  AXON_FORM_AXIS_BROADCAST = 1 << 1, /* by attributes: input 1 is a run of input 0's dimensions */
  AXON_FORM_CHANNEL_SLOPES = 1 << 2, /* PRelu: input 1 is one number, or one per channel */
  AXON_FORM_FLATTENS = 1 << 3,       /* Softmax: over all dimensions from axis on */
  AXON_FORM_TEST_MODE = 1 << 4,      /* attribute is_test says that this is not training */
  AXON_FORM_DATA_MASK = 1 << 5,      /* Dropout: the mask has the type of the data, not bool */
  AXON_FORM_TYPE_NAMES = 1 << 6,     /* Cast: the type is named in a text */
  AXON_FORM_NO_WRAP = 1 << 7,        /* Pad: no mode "wrap" */
  AXON_FORM_PER_TENSOR = 1 << 8,     /* QuantizeLinear: one scale, none per axis */
  AXON_FORM_SATURATES = 1 << 9,      /* QuantizeLinear: always; there is no attribute */
  AXON_FORM_SCALES_ONLY = 1 << 10,   /* Resize: input 1 are the scales; no regions, no sizes */
  AXON_FORM_SIDE_SCALES = 1 << 11,   /* Upsample: by attributes height_scale and width_scale */
  AXON_FORM_TILE_AXIS = 1 << 12,     /* Tile: one axis, a number of times */
  AXON_FORM_PADDINGS = 1 << 13,      /* Pad: attribute pads has this name */
  AXON_FORM_BATCHED = 1 << 14,       /* Scan: lengths first, and a batch of sequences */
} AxonOpForm;

/* How many inputs or outputs a node has. */
typedef struct {
  guint min, max; /* max may be AXON_VARIADIC */
} AxonArity;

/* One row says all about an operator, by designated initialisers: what is left out is 0. A changed
 * meaning in a later opset is a new row; the ranges of an operator's rows touch and never overlap.
 */
typedef struct {
  const gchar *name;
  const gchar *domain; /* NULL: ai.onnx */
  gint since, until;   /* opsets; until 0: still valid */
  AxonOpForm form;
  AxonArity inputs, outputs;
  AxonDTypeMask types;    /* allowed for input 0; 0: any */
  guint same_type_inputs; /* so many leading inputs share input 0's dtype */
  const AxonAttrSpec *attrs;
  AxonInferFunc infer;
  AxonEvalFunc eval;
  AxonRunFunc run; /* instead of eval */
  AxonOpFlags flags;
  /* NULL, or a letter for each input: 'b' a byte, 'f' a float, 'i' an i32, 'l' an i64, 'm' a
   * number, 'n' an i32 or i64, 's' a scale (a float, or f8e8m0), 't' as the first of its kind, 'x'
   * as input 0, 'z' a bool, '.' anything; a capital: of one element. Those behind '+' come again
   * and again. */
  const gchar *operands;
  gpointer padding[3];
} AxonOp;

#define AXON_VARIADIC G_MAXUINT
#define AXON_DOMAIN_MICROSOFT "com.microsoft"
#define AXON_DOMAIN_AXON "axon"

G_END_DECLS
