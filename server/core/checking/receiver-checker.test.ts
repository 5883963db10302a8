import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import type { Outcome } from '../delivery/delivery.ts'
import { toSigningKey } from '../signatures/signature.ts'
import { CHECK_ITEMS } from './receiver-check-items.ts'
import { runReceiverCheck } from './receiver-checker.ts'

const ALL_POSTS = 13

/** Runs a check of a receiver that answers the n-th POST like this; time stands still. */
async function check(answer: (post: number) => Outcome) {
  let posts = 0
  const report = await runReceiverCheck(
    {
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      newId: randomUUID,
      strangeKey: toSigningKey('a-key-of-somebody-else'),
      send: async () => ({ outcome: answer(++posts), durationMs: 1 }),
    },
    {
      url: 'https://example.com/hook',
      keys: { current: toSigningKey('only-we-two-know-this'), previous: null },
      extraHeader: null,
    },
  )
  return { report, posts }
}

const answered = (status: number): Outcome => ({ kind: 'answered', status })
/** 200 to what is valid, 401 to what is not. */
const rightly = (post: number) => answered(post >= 2 && post <= 5 ? 401 : 200)

test('a receiver that is right is sent the whole list', async () => {
  const { report, posts } = await check(rightly)
  assert.equal(posts, ALL_POSTS)
  assert.equal(report.counts.pass, CHECK_ITEMS.length)
})

for (const outcome of [
  answered(404),
  answered(204),
  { kind: 'unreachable', reason: 'connect-error' },
] as const) {
  test(`regression: one POST, and no more, where ${JSON.stringify(outcome)} comes back`, async () => {
    const { report, posts } = await check(() => outcome)
    assert.equal(posts, 1)
    const [first, ...others] = report.steps
    assert.equal(first?.result, 'fail')
    assert.equal(report.steps.length, CHECK_ITEMS.length)
    for (const step of others) {
      assert.equal(step.result, 'warning')
      assert.match(step.reason, /^Not run, because .* not answered with 200/)
    }
  })
}

test('a later callback that must be taken and is not ends the check, within its step too', async () => {
  // The sixth POST is the first of two of `same-event-twice`.
  const { report, posts } = await check((post) => (post === 6 ? answered(500) : rightly(post)))
  assert.equal(posts, 6)
  assert.deepEqual(
    report.steps.map(({ result }) => result),
    ['pass', 'pass', 'pass', 'pass', 'pass', 'fail', ...Array(5).fill('warning')],
  )
  assert.match(report.steps[5]?.reason ?? '', /^The first time it answered 500/)
})

test('what is wrongly taken does not end the check: the next step may fail too', async () => {
  const { report, posts } = await check(() => answered(200))
  assert.equal(posts, ALL_POSTS)
  assert.equal(report.counts.fail, 4)
})
