/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A vendor library that goes wrong where BROKEN says, and else copies the first input to the first
 * output. It is not safe for threads, and aborts where a backend is called from another than that
 * of its onnxInitBackend. BROKEN: "call=status", such as onnxInitGraph=0x404, or a word. */
#include <axon/onnxifi.h>
#include <glib.h>
#include <string.h>

/* Graphs and events of a backend are the backend. */
typedef struct {
  GThread *thread;
  onnxTensorDescriptorV1 from, to;
} Backend;

static gboolean
is (const gchar *word)
{
  return g_strcmp0 (g_getenv ("BROKEN"), word) == 0;
}

/* What BROKEN says that @call answers. */
static onnxStatus
answer (const gchar *call)
{
  const gchar *broken = g_getenv ("BROKEN");
  gsize n = strlen (call);
  return broken && strncmp (broken, call, n) == 0 && broken[n] == '='
             ? (onnxStatus)g_ascii_strtoull (broken + n + 1, NULL, 0)
             : ONNXIFI_STATUS_SUCCESS;
}

static onnxStatus
in_thread (gconstpointer backend, const gchar *call)
{
  g_assert_true (((const Backend *)backend)->thread == g_thread_self ());
  return answer (call);
}

onnxStatus
onnxGetBackendIDs (onnxBackendID *ids, size_t *n)
{
  onnxStatus status = answer (G_STRFUNC);
  size_t room = *n;
  *n = is ("no backend") ? 0 : is ("huge") ? G_MAXSIZE : 1;
  if (status != ONNXIFI_STATUS_SUCCESS || ids == NULL || room < *n)
    return status != ONNXIFI_STATUS_SUCCESS ? status : ONNXIFI_STATUS_FALLBACK;
  ids[0] = (onnxBackendID)onnxGetBackendIDs;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus
onnxReleaseBackendID (G_GNUC_UNUSED onnxBackendID id)
{
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus
onnxGetBackendInfo (G_GNUC_UNUSED onnxBackendID id, onnxBackendInfo type, void *value, size_t *size)
{
  static const gchar name[] = "Copier", wrong[] = "\xff\xfe";
  const gchar *text = is ("no text") ? wrong : name;
  size_t n = is ("huge text") ? G_MAXSIZE : strlen (text);
  if (type != ONNXIFI_BACKEND_NAME && type != ONNXIFI_BACKEND_VENDOR)
    return ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE;
  if (value != NULL && *size >= n)
    memcpy (value, text, n);
  else
    value = NULL;
  *size = n;
  return value ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_FALLBACK;
}

onnxStatus
onnxGetBackendCompatibility (G_GNUC_UNUSED onnxBackendID id, G_GNUC_UNUSED size_t n,
                             G_GNUC_UNUSED const void *model)
{
  return answer (G_STRFUNC);
}

onnxStatus
onnxInitBackend (G_GNUC_UNUSED onnxBackendID id, G_GNUC_UNUSED const uint64_t *properties,
                 onnxBackend *backend)
{
  onnxStatus status = answer (G_STRFUNC);
  Backend *b = status == ONNXIFI_STATUS_SUCCESS ? g_new0 (Backend, 1) : NULL;
  if (b != NULL)
    b->thread = g_thread_self ();
  *backend = b;
  return status;
}

onnxStatus
onnxReleaseBackend (onnxBackend backend)
{
  onnxStatus status = in_thread (backend, G_STRFUNC);
  g_free (backend);
  return status;
}

onnxStatus
onnxInitEvent (onnxBackend backend, onnxEvent *event)
{
  *event = backend;
  return in_thread (backend, G_STRFUNC);
}

onnxStatus
onnxSignalEvent (onnxEvent event)
{
  return in_thread (event, G_STRFUNC);
}

onnxStatus
onnxGetEventState (onnxEvent event, onnxEventState *state)
{
  *state = ONNXIFI_EVENT_STATE_SIGNALLED;
  return in_thread (event, G_STRFUNC);
}

onnxStatus
onnxWaitEvent (onnxEvent event)
{
  return in_thread (event, G_STRFUNC);
}

onnxStatus
onnxReleaseEvent (onnxEvent event)
{
  return in_thread (event, G_STRFUNC);
}

onnxStatus
onnxInitGraph (onnxBackend backend, G_GNUC_UNUSED const uint64_t *properties,
               G_GNUC_UNUSED size_t n, G_GNUC_UNUSED const void *model,
               G_GNUC_UNUSED uint32_t n_weights,
               G_GNUC_UNUSED const onnxTensorDescriptorV1 *weights, onnxGraph *graph)
{
  *graph = is ("onnxInitGraph=0x404") ? NULL : backend;
  return in_thread (backend, G_STRFUNC);
}

onnxStatus
onnxSetGraphIO (onnxGraph graph, G_GNUC_UNUSED uint32_t n_inputs,
                const onnxTensorDescriptorV1 *inputs, G_GNUC_UNUSED uint32_t n_outputs,
                const onnxTensorDescriptorV1 *outputs)
{
  Backend *b = graph;
  b->from = inputs[0];
  b->to = outputs[0];
  return in_thread (graph, G_STRFUNC);
}

onnxStatus
onnxRunGraph (onnxGraph graph, G_GNUC_UNUSED const onnxMemoryFenceV1 *before,
              onnxMemoryFenceV1 *after)
{
  const Backend *b = graph;
  gsize n = sizeof (gfloat);
  for (guint i = 0; i < b->from.dimensions; i++)
    n *= b->from.shape[i];
  memcpy (GSIZE_TO_POINTER ((gsize)b->to.buffer), GSIZE_TO_POINTER ((gsize)b->from.buffer), n);
  after->event = graph;
  return in_thread (graph, G_STRFUNC);
}

onnxStatus
onnxReleaseGraph (onnxGraph graph)
{
  return in_thread (graph, G_STRFUNC);
}
