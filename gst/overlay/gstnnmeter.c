/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnmeter.h"

static void
begin (GstNnMeter *m, gint64 now)
{
  m->begin = now;
  m->frames = m->timed = 0;
  m->latency = 0;
}

void
gst_nn_meter_add (GstNnMeter *m, gint64 now, gint64 latency)
{
  gdouble seconds = (gdouble)(now - m->begin) / G_USEC_PER_SEC;
  if (m->begin == 0 || now < m->begin) {
    begin (m, now);
    return;
  }
  m->frames++;
  if (latency >= 0) {
    m->latency += latency;
    m->timed++;
  }
  if (seconds < 1)
    return;
  if (m->timed > 0)
    g_snprintf (m->text, sizeof m->text, "%.1f fps  %.0f ms", m->frames / seconds,
                (gdouble)m->latency / m->timed / 1000);
  else
    g_snprintf (m->text, sizeof m->text, "%.1f fps", m->frames / seconds);
  begin (m, now);
}
