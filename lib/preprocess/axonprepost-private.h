/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps and the value that they work on. axonprepost.c records and builds, axonprepoststeps.c and
 * axonprepostcolor.c add the nodes of one step. */
#pragma once

#include "axonlayout.h"
#include <axon/axonprepost.h>
#include <axon/plugin/axongraph.h>

typedef enum {
  STEP_TYPE,
  STEP_COLOR,
  STEP_RESIZE,
  STEP_CROP,
  STEP_PAD,
  STEP_MEAN,
  STEP_SCALE,
  STEP_CLAMP,
  STEP_LAYOUT,
  STEP_PERMUTE,
  STEP_REVERSE,
  STEP_CUSTOM,
} StepKind;

typedef struct {
  AxonPrePostStepFunc func;
  gpointer user_data;
  GDestroyNotify destroy;
} CustomStep;

typedef struct {
  StepKind kind;
  AxonDType dtype;
  AxonColorFormat color;
  AxonResizeAlgorithm algorithm;
  AxonPadMode mode;
  gint64 height, width; /* RESIZE; -1: the model's */
  AxonShape begin, end; /* CROP, PAD; begin: PERMUTE */
  gdouble min, max;     /* CLAMP; min: value of PAD */
  gfloat *values;       /* MEAN, SCALE */
  guint n_values;
  gchar *layout;      /* LAYOUT */
  CustomStep *custom; /* CUSTOM */
} Step;

/* What was said of an input or output. */
typedef struct {
  AxonDType dtype; /* UNDEFINED: the model's */
  gchar *tensor_layout, *model_layout;
  AxonShape shape; /* rank -1: follows from the rest */
  gint64 height, width;
  gboolean has_size;
  AxonColorFormat color;
  GArray *steps; /* Step */
} PortInfo;

struct _AxonPrePostProcessor {
  GObject parent_instance;
  AxonModel *model;
  PortInfo *inputs, *outputs;
  GString *plan; /* of the last build */
};

/* A picture on its way through the steps. */
typedef struct {
  AxonModel *model;
  AxonValue *value;     /* of multi-plane formats: Y */
  AxonValue *planes[2]; /* the others, or NULL */
  gchar *layout;        /* NULL: not said */
  AxonColorFormat color;
  gint64 model_height, model_width; /* -1: not known */
  GString *plan;                    /* what is done, for people */
} Work;

/* Recording */
Step *port_add_step (PortInfo *port, StepKind kind);
void port_add_custom (PortInfo *port, AxonPrePostStepFunc func, gpointer user_data,
                      GDestroyNotify destroy);
void port_set_string (gchar **where, const gchar *text);

/* Appends a node; its output becomes work->value where @in_place. NULL with @error. */
AxonValue *work_add (Work *work, const gchar *op, AxonValue *const *in, guint n_in,
                     void (*setup) (AxonNode *node, const gint64 *ints), const gint64 *ints,
                     GError **error);
AxonValue *work_ints (Work *work, const gint64 *values, guint n);
AxonValue *work_floats (Work *work, const AxonShape *shape, const gfloat *values);
AxonValue *work_cast (Work *work, AxonValue *value, AxonDType dtype, GError **error);
AxonValue *work_slice (Work *work, AxonValue *value, gint axis, gint64 begin, gint64 end,
                       gint64 step, GError **error);
gboolean work_gather (Work *work, gint axis, const gint64 *indices, guint n, GError **error);
gboolean work_finish_as (Work *work, AxonValue *result, AxonDType dtype, GError **error);
gboolean work_check_single (const Work *work, const gchar *step, GError **error);
gint work_find (const Work *work, gchar letter);
gboolean work_fail (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

gboolean step_apply (Work *work, const Step *step, GError **error);
gboolean step_resize (Work *work, const Step *step, GError **error);
gboolean step_crop (Work *work, const Step *step, GError **error);
gboolean step_pad (Work *work, const Step *step, GError **error);
gboolean step_convert_color (Work *work, AxonColorFormat to, GError **error);
gboolean step_convert_layout (Work *work, const gchar *layout, gint rank, GError **error);
const gchar *color_name (AxonColorFormat format);
guint color_n_planes (AxonColorFormat format);
gboolean color_is_yuv (AxonColorFormat format);
