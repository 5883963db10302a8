import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultOf } from '../cells.ts'
import { overviewPlot } from './overview.ts'
import { type RunReport, resultsMarkdown } from './results-file.ts'
import type { Row } from './summary.ts'

function row(changes: Partial<Row>): Row {
  return {
    name: 'Paybell',
    feed: 'batch',
    durability: 'fsync before 2xx',
    perSecond: {
      median: 6_000,
      min: 5_000,
      max: 7_000,
      lowQuarter: 5_500,
      highQuarter: 6_500,
      slices: 5,
    },
    cpu: { system: 0.2, service: 0.12, store: 0.08, receiver: 0.04, generator: 0.01 },
    calm: { least: 0.15, quarter: 0.18 },
    accepted: { perSecond: 6_000, cpu: 0.2 },
    toFloor: 0.3,
    stolen: 0.012,
    discarded: { missing: 0, duplicates: 0 },
    failure: null,
    walBytesEach: 2_345,
    walFsyncsEach: 0.01,
    latencyP50: 1,
    latencyP99: 9,
    ...changes,
  }
}

const PUT = row({
  feed: 'put',
  perSecond: {
    median: 3_000,
    min: 3_000,
    max: 3_000,
    lowQuarter: 3_000,
    highQuarter: 3_000,
    slices: 5,
  },
})
const PEER = row({
  name: 'other, <tuned>',
  perSecond: { median: 8_000, min: 1, max: 1, lowQuarter: 1, highQuarter: 1, slices: 4 },
  discarded: { missing: 0, duplicates: 2 },
})
const FLOOR = row({
  name: 'raw POST',
  feed: null,
  durability: 'none',
  perSecond: { median: 20_000, min: 1, max: 1, lowQuarter: 1, highQuarter: 1, slices: 5 },
  walBytesEach: Number.NaN,
})

const REPORT: RunReport = {
  date: '2026-01-01 00:00',
  mode: 'full',
  machine: { cores: 2, cpu: 'a processor', memoryGb: 8, kernel: '6', node: 'v24' },
  versions: {},
  timing: { rounds: 5, slices: 4, seconds: 3, warmUpSeconds: 3, endpoints: 20, seed: 's' },
  rows: [FLOOR, row({}), PUT, PEER],
  ratios: {
    batch: {
      ...{ toFloor: 0.3, toBestPeer: 0.75, toBestPeerCalm: 0.8 },
      ...{ bestPeer: 'other', cpuToBestPeer: 1 },
    },
    put: null,
  },
  floors: null,
  scenarios: [
    {
      ...{ target: 1, name: 'a good day', measured: '1', against: '1', ratio: 1, wanted: '≤ 1' },
      ...{ isMet: true, detail: '', latencies: [], cost: { cpuMs: 0.25, walBytes: 2_000 } },
    },
    {
      ...{ target: 2, name: 'a bad day', measured: '3', against: '1', ratio: 3, wanted: '≤ 2' },
      ...{ isMet: false, detail: '', latencies: [] },
    },
  ],
  notes: [],
}

test('a slice counts only where every payment arrived, and once', () => {
  assert.equal(faultOf({ missing: 0, duplicates: 0 }), null)
  assert.equal(faultOf({ missing: 1, duplicates: 1 }), 'missing')
  assert.equal(faultOf({ missing: 0, duplicates: 1 }), 'duplicates')
  assert.equal(faultOf({ missing: 0 }), null)
})

test('the results begin with five lines and the picture, and say what is behind and what was missed', () => {
  const [title, lines, picture] = resultsMarkdown(REPORT).split('\n\n')
  assert.equal(title, '# Results')
  const said = lines?.split('\n') ?? []
  assert.equal(said.length, 5)
  assert.match(said[0] as string, /6,000 .* 3,000 by single requests/)
  assert.match(
    said[1] as string,
    /0\.75 × other \(behind it\); by single requests nothing was compared/,
  )
  assert.match(said[2] as string, /0\.200 ms .* 2,345 bytes/)
  assert.match(said[3] as string, /1 of 2 targets are met\. Missed: a bad day\./)
  assert.match(said[4] as string, /each of the 19 slices .* came twice: 2\. .* at most 20 slices/)
  assert.match(picture as string, /^!\[.*\]\(overview\.svg\)$/)
})

test('each row has processor time and write-ahead log beside its rate, and the slices that were refused', () => {
  const text = resultsMarkdown(REPORT)
  assert.match(
    text,
    /\| Paybell +\| +batch \| +6,000 \(.*\| +0\.200 \(0\.150, 0\.180\) \|.*\| +2,345 \|.*\| +1\.2 % \| +5 \| +0 \|/,
  )
  assert.match(text, /\| other, <tuned> .*\| +4 \| +2 twice \|/)
  assert.match(text, /a good day .*\| +0\.250 \| +2,000 \|/)
})

test('where a filter leaves events out, what was accepted and what that cost stand beside the deliveries', () => {
  const filtered = row({
    name: 'Paybell, a filter passes a tenth',
    perSecond: { median: 1_500, min: 1_500, max: 1_500, lowQuarter: 1, highQuarter: 1, slices: 5 },
    accepted: { perSecond: 15_000, cpu: 0.075 },
    cpu: { system: 0.75, service: 0.5, store: 0.25, receiver: 0.04, generator: 0.01 },
  })
  const text = resultsMarkdown({ ...REPORT, rows: [filtered] })
  assert.match(
    text,
    /passes a tenth \| +batch \| +1,500 \(.*\| +15,000 \|.*\| +0\.750 \(.*\| +0\.075 \|/,
  )
})

test('the picture stands alone, on a light and on a dark page', () => {
  const picture = overviewPlot(REPORT.rows) as string
  assert.match(picture, /prefers-color-scheme: dark/)
  assert.doesNotMatch(picture, /href|url\(|@import|<script|<image/)
  assert.match(picture, /other, &lt;tuned>/)
  assert.equal(picture.match(/<rect/g)?.length, 2 + 2 * 3, 'the key, and a bar in each panel')
  assert.equal(overviewPlot([FLOOR]), null)
})
