/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* camera PORT FILE: a camera that sends a video as rtsp://localhost:PORT/camera, in pictures. */
#include <gst/rtsp-server/rtsp-server.h>

int
main (int argc, char **argv)
{
  GstRTSPServer *server;
  GstRTSPMountPoints *mounts;
  GstRTSPMediaFactory *factory;
  g_autofree gchar *launch = NULL;
  gst_init (&argc, &argv);
  g_assert_cmpint (argc, ==, 3);
  launch = g_strdup_printf ("( filesrc location=%s ! decodebin ! videoconvert ! jpegenc ! "
                            "rtpjpegpay name=pay0 )",
                            argv[2]);
  server = gst_rtsp_server_new ();
  mounts = gst_rtsp_server_get_mount_points (server);
  factory = gst_rtsp_media_factory_new ();
  gst_rtsp_media_factory_set_launch (factory, launch);
  gst_rtsp_mount_points_add_factory (mounts, "/camera", factory);
  g_object_unref (mounts);
  gst_rtsp_server_set_service (server, argv[1]);
  g_assert_cmpuint (gst_rtsp_server_attach (server, NULL), !=, 0);
  g_main_loop_run (g_main_loop_new (NULL, FALSE));
  return 0;
}
