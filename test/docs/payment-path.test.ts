// ARCHITECTURE.md follows one payment change through twenty files: a PUT and its callback call something of each.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Session } from 'node:inspector/promises'
import { test } from 'node:test'
import { readText } from '../house/source-files.ts'
import { startPaybell, untilAllAre } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

test('one PUT passes through every file that ARCHITECTURE.md follows it through', async (t) => {
  const [, path = ''] = readText('ARCHITECTURE.md').split('## One payment change, followed through')
  const [main = ''] = path.split('\n### ')
  const followed = [...main.matchAll(/`(server\/[\w./-]+\.ts)`/g)].map(([, file]) => file as string)
  assert.ok(followed.length > 10, 'the reader of names finds hardly any')

  const receiver = await startReceiver(t)
  const paybell = await startPaybell(t)
  await paybell.caller.register(receiver.url(), 'key')
  const id = randomUUID()
  const called = await filesCalledBy(async () => {
    const { status } = await paybell.caller.putSample(id)
    assert.equal(status, 201)
    await untilAllAre(paybell.pool, ['DELIVERED'])
  })
  assert.deepEqual(
    followed.filter((file) => !called.some((url) => url.endsWith(`/${file}`))),
    [],
    'these are on the way in the document, and not in the code',
  )
})

/** The addresses of those of which a function was called meanwhile. */
async function filesCalledBy(work: () => Promise<void>): Promise<readonly string[]> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    // What was called before it began counts once.
    await session.post('Profiler.takePreciseCoverage')
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    return result
      .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
      .map(({ url }) => url)
  } finally {
    session.disconnect()
  }
}
