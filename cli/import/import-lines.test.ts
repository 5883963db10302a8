// An import against a model of the service, interrupted wherever it can be: before a request arrives,
// after it was recorded and its answer lost, before the progress is written.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { RawDetails } from '../../sdk/src/calling/caller.ts'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import { type Answer, Api, keyBearer, UnreachableError } from '../basics/api.ts'
import { toBatches, toLayers } from './batches.ts'
import { importLines } from './import-lines.ts'
import { openStream } from './input.ts'
import { readLines } from './lines.ts'
import { lockProgress, readProgress } from './progress-file.ts'

const dir = await mkdtemp(join(tmpdir(), 'paybell-import-model-'))
after(() => rm(dir, { recursive: true, force: true }))

const idOf = (n: number) => `5d0c63c4-9a6e-4a0e-8f0c-${String(n).padStart(12, '0')}`
const lineOf = (payment: number, value: string) => JSON.stringify({ id: idOf(payment), value })

/** What happens to a request: it is lost, its answer is lost, some of its lines are refused, or nothing. */
type Fate = 'lost' | 'answer-lost' | 'busy' | 'half' | 'fine'

class Crash extends Error {}

/** Keeps payments as the service does: a line that changes its payment makes an event. */
class Model extends Api {
  readonly events: string[] = []
  readonly #values = new Map<string, string>()
  readonly #fates: Fate[]

  constructor(fates: readonly Fate[]) {
    super({ url: 'http://model', bearer: keyBearer('key'), refusedHint: '' })
    this.#fates = [...fates]
  }

  override async call(_method: string, _path: string, details: RawDetails = {}) {
    const fate = this.#fates.shift() ?? 'fine'
    if (fate === 'lost') throw new Crash()
    if (fate === 'busy') {
      throw new PaybellError('', { code: 'overloaded', status: 503, retryAfterSeconds: 0 })
    }
    const lines = Buffer.from(details.content as Uint8Array)
      .toString()
      .trim()
      .split('\n')
    const ids = lines.map((line) => JSON.parse(line).id)
    assert.equal(new Set(ids).size, ids.length, 'a request names each payment once')
    const results = lines.map((text, index) => {
      const { id, value } = JSON.parse(text)
      if (fate === 'half' && index % 2 === 1) {
        return { line: index + 1, id, problem: { code: 'database-away' } }
      }
      const event = this.#values.get(id) === value ? null : {}
      if (event) this.events.push(text)
      this.#values.set(id, value)
      return { line: index + 1, id, event }
    })
    if (fate === 'answer-lost') throw new Crash()
    return answer(results.map((result) => JSON.stringify(result)).join('\n'), 200)
  }
}

function answer(text: string, status: number): Answer {
  // Zero, so that no test waits.
  const headers = new Headers({ 'retry-after': '0' })
  const bytes = new TextEncoder().encode(text)
  return { status, headers, bytes, text, json: () => JSON.parse(text) }
}

async function importAll(api: Api, text: string, statePath: string, linesMax: number) {
  for (let starts = 0; starts < 100; starts++) {
    const earlier = await readProgress(statePath)
    try {
      return await importLines({
        api,
        input: await openStream(chunksOf(text), earlier),
        earlier,
        statePath,
        badPath: null,
        patienceMs: 60_000,
        limits: { linesMax, bytesMax: 1_000_000 },
        signal: new AbortController().signal,
        tell: () => {},
        onProgress: () => {},
        onWait: () => {},
      })
    } catch (error) {
      // A process that was killed: the next one goes on.
      if (!(error instanceof Crash)) throw error
    }
  }
  throw new Error('it never ends')
}

async function* chunksOf(text: string): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < text.length; start += 37)
    yield Buffer.from(text.slice(start, start + 37))
}

const fate = fc.constantFrom<Fate>('lost', 'answer-lost', 'busy', 'fine', 'fine')
let files = 0

test('wherever it is interrupted, each line makes the event that it makes without interruption', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(4), fc.constantFrom('A', 'B')), { minLength: 1, maxLength: 30 }),
      fc.array(fate, { maxLength: 20 }),
      fc.integer({ min: 1, max: 8 }),
      async (writes, fates, linesMax) => {
        const text = writes.map(([payment, value]) => `${lineOf(payment, value)}\n`).join('')
        const straight = new Model([])
        await importAll(straight, text, join(dir, `${++files}`), linesMax)
        const troubled = new Model(fates)
        const { progress } = await importAll(troubled, text, join(dir, `${++files}`), linesMax)
        const byPayment = (model: Model) =>
          Object.groupBy(model.events, (event) => JSON.parse(event).id as string)
        assert.deepEqual(byPayment(troubled), byPayment(straight))
        assert.equal(progress.line, writes.length)
        assert.equal(progress.isFinished, true)
      },
    ),
    { numRuns: 60 },
  )
})

test('lines that were refused for now go again before the next layer', async () => {
  const model = new Model(['half'])
  const lines = [lineOf(1, 'A'), lineOf(2, 'A'), lineOf(1, 'B'), lineOf(2, 'B')]
  await importAll(model, `${lines.join('\n')}\n`, join(dir, `${++files}`), 10)
  assert.deepEqual(model.events, [lines[0], lines[1], lines[2], lines[3]])
})

test('layers keep the order of a payment, and name it once each', () => {
  const line = (number: number, payment: number) => ({
    number,
    bytes: Buffer.from(lineOf(payment, 'A')),
    end: 0,
  })
  const bad = { number: 9, bytes: Buffer.from('{'), end: 0 }
  const lines = [line(1, 1), line(2, 1), line(3, 2), line(4, 1), line(5, 2), bad]
  assert.deepEqual(
    toLayers(lines).map((layer) => layer.map(({ number }) => number)),
    [[1, 3, 9], [2, 5], [4]],
  )
})

test('lines are found whatever way the bytes are cut; long ones are counted and not kept', async () => {
  const text = `${'a'.repeat(20)}\n\nbb\n${'c'.repeat(51)}\n${'d'.repeat(50)}`
  for (const size of [1, 7, 1_000]) {
    async function* chunks() {
      for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
    }
    const lines = await Array.fromAsync(readLines(chunks(), { line: 0, offset: 0 }, 50))
    assert.deepEqual(
      lines.map(({ number, bytes, end }) => [number, bytes?.length ?? null, end]),
      [
        [1, 20, 21],
        [2, 0, 22],
        [3, 2, 25],
        [4, null, 77],
        [5, 50, 127],
      ],
    )
  }
})

test('a batch ends where it ended before, whatever the limits are now', async () => {
  async function* chunks() {
    yield Buffer.from('1\n2\n3\n4\n5\n')
  }
  const start = { line: 0, offset: 0 }
  const limits = { linesMax: 2, bytesMax: 1_000 }
  const batches = await Array.fromAsync(toBatches(readLines(chunks(), start), start, 6, limits))
  assert.deepEqual(
    batches.map(({ start, end }) => [start.offset, end.offset]),
    [
      [0, 6],
      [6, 10],
    ],
  )
})

test('a service that stays away is given up after the patience, and its position is kept', async () => {
  const statePath = join(dir, `${++files}`)
  class Away extends Model {
    override async call(): Promise<Answer> {
      throw new UnreachableError('http://model', new Error('gone'))
    }
  }
  await assert.rejects(
    importAll(new Away([]), `${lineOf(1, 'A')}\n`, statePath, 10),
    UnreachableError,
  )
  assert.equal(await readProgress(statePath), null)
})

test('regression: an import whose number is that of one that was killed goes on, as in a container', async () => {
  const state = join(dir, 'locked')
  await writeFile(`${state}.lock`, String(process.ppid))
  await assert.rejects(
    lockProgress(state),
    /another import of this file is running \(process \d+\)/,
  )
  await writeFile(`${state}.lock`, String(process.pid))
  const unlock = await lockProgress(state)
  await unlock()
})
