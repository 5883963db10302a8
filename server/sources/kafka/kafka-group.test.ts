// A member of a group without a broker: what it does by itself.

import { test } from 'node:test'
import { KafkaGroup } from './kafka-group.ts'

test('regression: a member may be closed by its session and by the stop', async () => {
  const group = new KafkaGroup({
    settings: { brokers: ['127.0.0.1:1'], topic: 't', group: 'g', tls: null, sasl: null },
    timing: { sessionMs: 6_000, beatEveryMs: 500, lookEveryMs: 1_000 },
    cautiousMs: () => 0,
    onRefused() {},
    onChange() {},
  })
  await Promise.all([group.close(), group.close()])
  await group.close()
})
