/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* POSIX shared memory that nobody but this user opens: a server of another user cannot have it, and
 * requests go over the connection then. */
#include "remoteregion.h"

#include "config.h"
#include <axon/axon.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT 64u
#define MOST_ANSWER 65536u

gboolean
remote_is_local (const gchar *url)
{
  g_autoptr (GUri) uri = g_uri_parse (url, G_URI_FLAGS_NONE, NULL);
  const gchar *host = uri ? g_uri_get_host (uri) : NULL;
  g_autoptr (GInetAddress) address = host ? g_inet_address_new_from_string (host) : NULL;
  return g_strcmp0 (host, "localhost") == 0 ||
         (address != NULL && g_inet_address_get_is_loopback (address));
}

/* Offsets of the ports, one behind another from *@at on. NULL: a size is not known. */
static gsize *
lay_out (const GPtrArray *ports, gsize *sizes, gsize *at)
{
  gsize *offsets = g_new0 (gsize, ports->len + 1);
  for (guint i = 0; i < ports->len; i++) {
    const RemotePort *port = ports->pdata[i];
    gsize n;
    if (!axon_shape_is_static (&port->shape) || port->dtype == AXON_DTYPE_STRING) {
      g_free (offsets);
      return NULL;
    }
    n = (gsize)axon_shape_get_numel (&port->shape) * axon_dtype_get_size (port->dtype);
    offsets[i] = *at;
    if (sizes != NULL)
      sizes[i] = n;
    *at += (n + ALIGNMENT - 1) & ~(gsize)(ALIGNMENT - 1);
  }
  return offsets;
}

static gboolean
map (RemoteShared *shared, GError **error)
{
  gint fd = shm_open (shared->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  void *data = MAP_FAILED;
  if (fd >= 0 && posix_fallocate (fd, 0, (off_t)shared->size) == 0)
    data = mmap (NULL, shared->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED)
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, _ ("%zu bytes of shared memory: %s"),
                 shared->size, g_strerror (errno));
  else
    shared->region.data = data;
  if (fd >= 0)
    close (fd);
  return data != MAP_FAILED;
}

static RemoteQuestion
question (const RemoteShared *shared, const gchar *verb, GString *json)
{
  RemoteQuestion q = { .json_length = -1, .most = MOST_ANSWER };
  q.path = g_strdup_printf ("/v2/systemsharedmemory/region/%s/%s", shared->region.name, verb);
  q.body = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  g_ptr_array_add (q.body, g_string_free_to_bytes (json));
  return q;
}

static gboolean
register_region (RemoteShared *shared, GError **error)
{
  GString *json = g_string_new (NULL);
  RemoteQuestion q;
  g_autoptr (GBytes) body = NULL;
  g_string_printf (json, "{\"key\":\"%s\",\"offset\":0,\"byte_size\":%" G_GSIZE_FORMAT "}",
                   shared->name, shared->size);
  q = question (shared, "register", json);
  body = remote_client_fetch (shared->client, &q, NULL, error);
  return body != NULL;
}

RemoteShared *
remote_shared_new (RemoteClient *client, const GPtrArray *inputs, const GPtrArray *outputs,
                   GError **error)
{
  g_autofree gchar *id = g_uuid_string_random ();
  g_autoptr (RemoteShared) shared = g_new0 (RemoteShared, 1);
  shared->output_sizes = g_new0 (gsize, outputs->len + 1);
  shared->inputs = lay_out (inputs, NULL, &shared->size);
  shared->outputs = lay_out (outputs, shared->output_sizes, &shared->size);
  if (shared->inputs == NULL || shared->outputs == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("the size of a tensor is not known before the run"));
    return NULL;
  }
  shared->name = g_strconcat ("/axon-", id, NULL);
  if (!map (shared, error))
    return NULL;
  shared->region.name = shared->name + 1;
  shared->region.inputs = shared->inputs;
  shared->region.outputs = shared->outputs;
  shared->region.output_sizes = shared->output_sizes;
  shared->client = client;
  return register_region (shared, error) ? g_steal_pointer (&shared) : NULL;
}

static void
on_unregistered (G_GNUC_UNUSED const RemoteAnswer *answer, G_GNUC_UNUSED const GError *error,
                 G_GNUC_UNUSED gpointer data)
{
}

void
remote_shared_free (RemoteShared *shared)
{
  if (shared->client != NULL) {
    RemoteQuestion q = question (shared, "unregister", g_string_new ("{}"));
    remote_call_unref (remote_client_ask (shared->client, &q, on_unregistered, NULL));
  }
  if (shared->region.data != NULL) {
    munmap (shared->region.data, shared->size);
    shm_unlink (shared->name);
  }
  g_free (shared->name);
  g_free (shared->inputs);
  g_free (shared->outputs);
  g_free (shared->output_sizes);
  g_free (shared);
}
