// The short form of `npm run rehearse`: an upgrade from the version before, back, and forward again, under load.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../support/database.ts'
import { type Facts, judge } from './judgement.ts'
import { rehearse } from './rehearsal.ts'
import { BEFORE, whyNoVersionBefore } from './version-before.ts'

test(`from ${BEFORE.version}, back and forward again: nothing is lost, doubled or out of order`, {
  skip: whyNoVersionBefore() ?? false,
}, async (t) => {
  const { url } = await cloneDatabase({ template: 'template0' })
  const { faults, figures } = await rehearse(t, {
    databaseUrl: url,
    processes: 1,
    endpoints: 4,
    writers: 2,
    callbacksPerStep: 60,
    kills: false,
  })
  t.diagnostic(JSON.stringify(figures))
  assert.deepEqual(faults, [])
})

/** One payment with two updates at one endpoint, as it should be. */
const arrival = (sequence: number) => ({
  endpoint: '/0',
  paymentId: 'p',
  webhookId: `w${sequence}`,
  sequence,
  status: 200,
  isSigned: true,
  digest: `d${sequence}`,
  wasBesideAnother: false,
})
const GOOD: Facts = {
  acknowledged: new Map([['p', 2]]),
  recorded: new Map([['p', ['1', '2']]]),
  arrivals: [{ ...arrival(1), status: 500 }, arrival(1), arrival(2)],
  endpoints: ['/0'],
  mayRepeat: false,
}

test('what the rehearsal looks for is found when it is there', () => {
  assert.deepEqual(judge(GOOD), { faults: [], repeated: 0 })
  for (const [what, change] of Object.entries({
    'a lost write': { recorded: new Map([['p', ['1']]]) },
    'a doubled write': { recorded: new Map([['p', ['1', '1', '2']]]) },
    'a lost callback': { arrivals: [arrival(1)] },
    'a doubled callback': { arrivals: [arrival(1), arrival(1), arrival(2)] },
    'the wrong order': { arrivals: [arrival(2), arrival(1)] },
    'a wrong signature': { arrivals: [arrival(1), { ...arrival(2), isSigned: false }] },
    'two at once': { arrivals: [arrival(1), { ...arrival(2), wasBesideAnother: true }] },
    'another body': {
      arrivals: [{ ...arrival(1), status: 500, digest: 'x' }, arrival(1), arrival(2)],
    },
  } satisfies Record<string, Partial<Facts>>)) {
    assert.notDeepEqual(judge({ ...GOOD, ...change }).faults, [], what)
  }
})
