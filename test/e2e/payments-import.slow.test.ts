// `paybell payments import`: many lines in flat memory, killed in the middle and started again, and
// not an event too many. The lines send payments back and forth (A, B, A), because that is where a
// repeated chunk would show.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { callCommand } from '../support/called-command.ts'
import { type Started, startCommand } from '../support/command-line.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { sized } from '../support/size.ts'

const LINES = sized(10_000, 100_000)
const MEGABYTE = 1024 * 1024

const dir = await mkdtemp(join(tmpdir(), 'paybell-import-'))
after(() => rm(dir, { recursive: true, force: true }))
const paybell = await startPaybell({ after })

function env(): Record<string, string> {
  return { PAYBELL_URL: paybell.baseUrl, PAYBELL_OPERATOR_KEY: paybell.operatorKey }
}

function line(id: string, reference: string, more: object = {}): string {
  return JSON.stringify({
    accountId: paybell.accountId,
    id,
    externalId: `EXT-${id.slice(0, 8)}`,
    quoteId: '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a02',
    amount: { amount: 12.5, currency: 'EUR' },
    reference,
    purposeOfPayment: 'OTHER',
    beneficiaryId: '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a03',
    ...more,
  })
}

function inWords(count: number): string {
  return count.toLocaleString('en-US')
}

async function countEvents(): Promise<number> {
  const { rows } = await paybell.pool.query<{ count: number }>(
    'select count(*)::int as count from events',
  )
  return rows[0]?.count ?? 0
}

/** Blocks of payments that go A, B, A: one third next to each other, the rest a block apart. */
async function writeLines(path: string, count: number): Promise<void> {
  const stream = createWriteStream(path)
  for (let written = 0; written < count; ) {
    const ids = Array.from({ length: 10 }, () => randomUUID())
    const lines: string[] = []
    for (const id of ids.slice(0, 3)) lines.push(line(id, 'A'), line(id, 'B'), line(id, 'A'))
    for (const reference of ['A', 'B', 'A']) {
      for (const id of ids.slice(3)) lines.push(line(id, reference))
    }
    const some = lines.slice(0, count - written)
    written += some.length
    if (!stream.write(`${some.join('\n')}\n`)) {
      await new Promise<void>((resolve) => stream.once('drain', () => resolve()))
    }
  }
  stream.end()
  await finished(stream)
}

/** Resident memory of a process, where the machine tells it. */
function residentBytes(pid: number): number | null {
  const path = `/proc/${pid}/status`
  if (!existsSync(path)) return null
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(path, 'utf8'))
  return match ? Number(match[1]) * 1024 : null
}

async function readState(path: string): Promise<{ counts: { lines: number } } | null> {
  const text = await readFile(path, 'utf8').catch(() => null)
  return text === null ? null : JSON.parse(text)
}

test(`${inWords(LINES)} lines, killed and resumed: flat memory, and exactly as many events`, async (t) => {
  const file = join(dir, 'many.ndjson')
  await writeLines(file, LINES)
  const eventsBefore = await countEvents()

  // A heap that holds a few batches and not the file: an import that keeps lines runs out of it.
  const small = { ...env(), NODE_OPTIONS: '--max-old-space-size=48' }
  let started: Started = startCommand(t, ['payments', 'import', file, '--json'], { env: small })
  for (const killAt of [0.15 * LINES, 0.4 * LINES]) {
    await until(
      'it gets that far',
      async () => {
        if (started.process.exitCode !== null) throw new Error(started.stderr())
        return ((await readState(`${file}.import`))?.counts.lines ?? 0) >= killAt
      },
      60_000,
    )
    started.process.kill('SIGKILL')
    assert.equal((await started.ended).code, 'SIGKILL')
    started = startCommand(t, ['payments', 'import', file, '--json'], { env: small })
  }

  const samples: number[] = []
  const sampling = (async () => {
    while (started.process.exitCode === null && started.process.signalCode === null) {
      const bytes = residentBytes(started.process.pid as number)
      const lines = (await readState(`${file}.import`))?.counts.lines ?? 0
      // The first batches warm Node's heap up; from then on it must not grow with the file.
      if (bytes !== null && lines > 0.55 * LINES) samples.push(bytes)
      await delay(50)
    }
  })()
  const { code, stdout, stderr } = await started.ended
  await sampling
  assert.equal(code, 0, stderr)
  const result = JSON.parse(stdout)
  assert.equal(result.finished, true)
  assert.equal(result.bad, 0)
  assert.equal(result.line, LINES)
  assert.ok(result.resumedBehindLine >= 0.4 * LINES)
  assert.equal((await countEvents()) - eventsBefore, LINES, 'not one event too many, none missing')

  if (samples.length > 0) {
    const growth = Math.max(...samples) - (samples[0] as number)
    assert.ok(growth < 64 * MEGABYTE, `memory grew by ${Math.round(growth / MEGABYTE)} MB`)
    assert.ok(Math.max(...samples) < 400 * MEGABYTE, 'memory is bounded')
  }

  const again = await callCommand(['payments', 'import', file], { env: env() })
  assert.equal(again.code, 0)
  const nothing = `^Nothing new: all ${inWords(LINES)} lines were imported before\\.$`
  assert.match(again.stdout, new RegExp(nothing, 'm'))
  assert.equal((await countEvents()) - eventsBefore, LINES)
})

test('Ctrl-C ends an import between two answers, and the next one goes on', async (t) => {
  const file = join(dir, 'interrupted.ndjson')
  await writeLines(file, sized(10_000, 20_000))
  const eventsBefore = await countEvents()
  const started = startCommand(t, ['payments', 'import', file], { env: env() })
  await until(
    'it has begun',
    async () => ((await readState(`${file}.import`))?.counts.lines ?? 0) > 0,
  )
  started.process.kill('SIGINT')
  const { code, stderr } = await started.ended
  assert.equal(code, 1, stderr)
  assert.match(stderr, /Run the same command again to continue\./)
  const { code: second, stdout } = await callCommand(['payments', 'import', file], { env: env() })
  assert.equal(second, 0)
  assert.match(stdout, / 0 unchanged, 0 bad\.$/m)
  assert.equal((await countEvents()) - eventsBefore, sized(10_000, 20_000))
})

test('bad lines are reported with their numbers, and never stop the others', async () => {
  const file = join(dir, 'bad.ndjson')
  const bad = join(dir, 'refused.ndjson')
  const id = randomUUID()
  const paid = randomUUID()
  await writeFile(
    file,
    [
      line(id, 'A'),
      '',
      '{"half": ',
      line(randomUUID(), 'A', { amount: { amount: -1, currency: 'eur' } }),
      line(paid, 'A', { status: { state: 'PAID' } }),
      line(paid, 'A', { status: { state: 'DRAFT' } }),
      line(id, 'B'),
      line(id, 'B'),
    ].join('\n'),
  )
  const args = ['payments', 'import', file, '--bad', bad]
  const { code, stdout, stderr } = await callCommand(args, { env: env() })
  assert.equal(code, 1, 'a script can tell')
  assert.match(stdout, /^7 lines in .*: 3 events, 1 unchanged, 3 bad\.$/m)
  assert.match(stderr, /^line 3: malformed-json: /m)
  assert.match(stderr, /^line 4 \(payment .*\): invalid-fields: .* \/amount\/currency: /m)
  assert.match(stderr, /^line 6 \(payment .*\): forbidden-move: /m)
  const refused = (await readFile(bad, 'utf8'))
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text))
  assert.deepEqual(
    refused.map((entry) => [entry.line, entry.problem.code]),
    [
      [3, 'malformed-json'],
      [4, 'invalid-fields'],
      [6, 'forbidden-move'],
    ],
  )
})

test('a replaced file is not taken up in the middle, and a grown one is', async () => {
  const file = join(dir, 'changing.ndjson')
  await writeFile(file, `${line(randomUUID(), 'A')}\n`)
  assert.equal((await callCommand(['payments', 'import', file], { env: env() })).code, 0)
  await writeFile(file, `${line(randomUUID(), 'A')}\n${line(randomUUID(), 'A')}\n`)
  const replaced = await callCommand(['payments', 'import', file], { env: env() })
  assert.equal(replaced.code, 2)
  assert.match(replaced.stderr, /not the one that this import began with\. Give --restart/)
  const restarted = await callCommand(['payments', 'import', file, '--restart'], { env: env() })
  assert.match(restarted.stdout, /^2 lines in .*: 2 events/m)
  await writeFile(file, `${line(randomUUID(), 'A')}\n`, { flag: 'a' })
  const grown = await callCommand(['payments', 'import', file], { env: env() })
  assert.match(grown.stdout, /^1 line in .*: 1 event/m)
})

test('a stream is imported, and resumed with --state', async () => {
  const first = `${line(randomUUID(), 'A')}\n`
  const second = `${line(randomUUID(), 'A')}\n`
  const args = ['payments', 'import', '-', '--state', join(dir, 'stream.state')]
  const one = await callCommand(args, { env: env(), input: first })
  assert.match(one.stdout, /^1 line in .*: 1 event/m, one.stderr)
  const two = await callCommand(args, { env: env(), input: first + second })
  assert.match(two.stdout, /^1 line in .*: 1 event/m, two.stderr)
})

test('503 and 429 are waited out, as long as the service asks', async (t) => {
  const answers = [
    { status: 503, retryAfter: '1' },
    { status: 429, retryAfter: '1' },
  ]
  const seen: number[] = []
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    seen.push(performance.now())
    const refusal = answers.shift()
    if (refusal) {
      response.writeHead(refusal.status, {
        'retry-after': refusal.retryAfter,
        'content-type': 'application/problem+json',
      })
      response.end(JSON.stringify({ title: 'The service is busy', code: 'overloaded' }))
      return
    }
    const forwarded = await fetch(paybell.baseUrl + request.url, {
      method: 'POST',
      headers: {
        authorization: String(request.headers.authorization),
        'content-type': String(request.headers['content-type']),
      },
      body: Buffer.concat(chunks),
    })
    response.writeHead(forwarded.status, { 'content-type': 'application/x-ndjson' })
    response.end(await forwarded.text())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => proxy.close())
  const file = join(dir, 'busy.ndjson')
  await writeFile(file, `${line(randomUUID(), 'A')}\n`)
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const { code, stdout, stderr } = await callCommand(['payments', 'import', file, '--url', url], {
    env: env(),
  })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /: 1 event/)
  assert.match(stderr, /Waiting 1 s: The service is busy/)
  assert.equal(seen.length, 3)
  assert.ok((seen[2] as number) - (seen[0] as number) >= 1_900)
})

test('an address where nothing listens fails at once', async () => {
  const file = join(dir, 'unreachable.ndjson')
  await writeFile(file, `${line(randomUUID(), 'A')}\n`)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  const args = ['payments', 'import', file, '--url', `http://127.0.0.1:${port}`]
  const { code, stderr } = await callCommand(args, { env: env() })
  assert.equal(code, 1)
  assert.match(stderr, /cannot be reached: nothing listens there\./)
})
