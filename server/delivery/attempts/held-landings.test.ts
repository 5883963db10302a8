import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeldLandings } from './held-landings.ts'

test('regression: a stop waits for the whole of an aftermath, whose last millisecond a timer would leave out', async () => {
  const timers: { ms: number; task: () => void }[] = []
  const landings = new HeldLandings({
    setTimer: (ms, task) => {
      timers.push({ ms, task })
      return () => {}
    },
  })
  const landed: string[] = []
  landings.hold(9_000.5, () => landed.push('one'))
  const all = landings.landAll(9_000.5)
  assert.equal(timers[1]?.ms, 9_002)
  timers[1]?.task()
  await all
  assert.deepEqual(landed, ['one'])
})
