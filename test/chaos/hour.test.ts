import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeHour, type Told, toPage } from './hour.ts'

const RUN: Told = {
  seed: 7,
  tookMs: 450_000,
  feeds: ['put', 'batch', 'sql', 'nats', 'kafka'],
  missing: new Map(),
  faults: new Map([
    ['broker killed', 20],
    ['process killed', 40],
    ['process frozen', 140],
  ]),
  ...{ deliveries: 60_000 },
  ...{ lost: 0, inverted: 0, doubled: 5, leftOnWaking: 1, violations: 0 },
  ...{ takenMs: [300, 400], sentMs: [350, 450] },
  repeatWith: '--suite full --seed 7 --seconds 300 --clock-jumps',
}
const HOUR = Array.from({ length: 8 }, (_, run) => ({ ...RUN, seed: 7 + run }))

test('an hour proves something only when it was whole, enough has happened, and without a violation', () => {
  assert.deepEqual(judgeHour(HOUR), [])
  assert.deepEqual(judgeHour(HOUR.slice(1)), ['fewer than 60 minutes'])
  assert.deepEqual(judgeHour([...HOUR.slice(1), { ...RUN, violations: 1 }]), [
    'there were violations',
  ])
  const few = HOUR.map((run) => ({
    ...run,
    faults: new Map([['process killed', 37]]),
    deliveries: 37_499,
  }))
  assert.deepEqual(judgeHour(few), ['fewer than 300 kills', 'fewer than 300000 deliveries'])
})

test('the page says what was done, what came of it, and how to do it again', () => {
  const page = toPage(HOUR, 7)
  assert.match(page, /\*\*It held\.\*\*/)
  assert.match(page, /npm run chaos -- --hour --seed 7/)
  assert.match(page, /^Feeds: HTTP, SQL, NATS, Kafka\.$/m)
  assert.match(page, /\| minutes, those under faults among them \| 60, 40 \|/)
  assert.match(page, /\| process frozen \| 1120 \|\n\| process killed \| 320 \|/)
  assert.match(page, /\| deliveries \| 480000 \|/)
  assert.match(page, /\| lost \| 0 \|/)
  assert.match(page, /\| left a process when it woke up, .* \| 8 \|/)
  assert.match(page, /p50 300, p99 400, max 400 ms \(16\)/)
  assert.equal(page.match(/^\| (?:7|8|9|1\d) \| 60 /gm)?.length, 8)
  assert.match(toPage(HOUR.slice(3), 7), /\*\*It proves nothing: fewer than 60 minutes\.\*\*/)
})

test('the page names only what every run had, and says why the rest is missing', () => {
  const toPageWith = (other: Told) => toPage([...HOUR.slice(1), other], 7)
  const withoutKafka = { ...RUN, feeds: RUN.feeds.filter((feed) => feed !== 'kafka') }
  const missing = new Map([['kafka', 'java is not installed, which Kafka needs']] as const)
  const page = toPageWith({ ...withoutKafka, missing })
  assert.match(page, /\*\*It held, without Kafka\.\*\*/)
  assert.match(
    page,
    /^Feeds: HTTP, SQL, NATS\. Without Kafka, because java is not installed, which Kafka needs\.$/m,
  )
  assert.match(
    toPageWith(withoutKafka),
    /^Feeds: HTTP, SQL, NATS\. Without Kafka, because a run has published nothing to it\.$/m,
  )
  const clock = new Map([['clock', 'libfaketime is not installed']] as const)
  assert.match(
    toPageWith({ ...RUN, missing: clock }),
    /without jumps of the database's clock\.\*\*\n\nFeeds: HTTP, SQL, NATS, Kafka\. Without jumps/,
  )
})
