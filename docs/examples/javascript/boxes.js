#!/usr/bin/gjs
// SPDX-License-Identifier: LGPL-2.1-or-later
// Boxes from JavaScript. usage: boxes.js PIPELINE..., as for gst-launch-1.0, that ends in nndecode
imports.gi.versions.Gst = '1.0';
imports.gi.versions.GstNn = '1.0';
const { Gst, GstNn } = imports.gi;

function show(buffer) {
  const results = GstNn.buffer_get_nn_result_meta(buffer);
  for (const object of results ? results.get_objects() : [])
    print(object.get_id(), object.get_label(), object.get_score().toFixed(2), object.get_box().map(Math.round).join(' '));
}

// JavaScript must not run in a thread of the pipeline, as a pad's probe would: results are taken from an appsink.
function play(description) {
  const pipeline = Gst.parse_launch(`${description} ! appsink name=frames sync=false`);
  const frames = pipeline.get_by_name('frames');
  pipeline.set_state(Gst.State.PLAYING);
  let sample;
  while ((sample = frames.emit('pull-sample')) !== null) // until the end of the stream, or an error
    show(sample.get_buffer());
  const message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR);
  pipeline.set_state(Gst.State.NULL);
  if (message !== null)
    throw message.parse_error()[0];
}

Gst.init(null);
play(ARGV.join(' '));
