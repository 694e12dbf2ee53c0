/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What properties of nnpublish say. The owner locks. */
#pragma once

#include <gst/gst.h>

#define GST_NN_PUBLISH_LOCATION "stdout"  /* where none is set */
#define GST_NN_PUBLISH_MAX_THUMBNAIL 1024 /* pixels of the longer edge */

typedef enum { GST_NN_PUBLISH_JSON, GST_NN_PUBLISH_COCO, GST_NN_PUBLISH_ONVIF } GstNnPublishFormat;

typedef struct {
  gchar *location, *source, *labels, *zones, *spool_location;
  GstStructure *options;
  gboolean append, empty, tensor_data, on_change;
  GstNnPublishFormat format;
  guint queue_size, eos_timeout, max_reconnect_interval, thumbnail_size;
  guint64 min_interval, spool_size;
  guint n_texts; /* how often a text was set: what was made of it is stale then */
} GstNnPublishSettings;

/* The first id that is free for the element's own properties. */
#define GST_NN_PUBLISH_PROP_OTHERS 100
void gst_nn_publish_settings_install (GObjectClass *klass);
void gst_nn_publish_settings_init (GstNnPublishSettings *settings);
void gst_nn_publish_settings_clear (GstNnPublishSettings *settings);
/* FALSE: @id is none of them. */
gboolean gst_nn_publish_settings_set (GstNnPublishSettings *settings, guint id,
                                      const GValue *value);
gboolean gst_nn_publish_settings_get (const GstNnPublishSettings *settings, guint id,
                                      GValue *value);
