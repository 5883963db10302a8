// The walk of docs/statements.md, as it stands there, against a real service and a receiver that loses, doubles and
// forges ids; its recipes in each language that is on this machine; the SDK's stores in a file and in PostgreSQL.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '../../sdk/src/calling/client.ts'
import { type ReceivedStore, receivedFromIds } from '../../sdk/src/plain/ids-digest.ts'
import { reconcile } from '../../sdk/src/proving/reconcile.ts'
import type { SeenStore } from '../../sdk/src/receiving/seen.ts'
import type { Statement } from '../../sdk/src/wire/types.ts'
import { digestOfIds } from '../../server/core/proofs/ids-digest.ts'
import { HOUR_MS, hourStartMs } from '../../server/core/proofs/statement.ts'
import { startPaybell, until } from '../support/paybell.ts'
import { startReceiver } from '../support/receiver.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGE = readFileSync(join(ROOT, 'docs/statements.md'), 'utf8')
const run = promisify(execFile)

const paybell = await startPaybell({ after })
const receiver = await startReceiver({ after })
const { baseUrl, clientId, clientSecret, accountId } = paybell
const client = createClient({ baseUrl, clientId, clientSecret, accountId })

let dir: string
let endpointId: string
let taken: string[]
let window: { from: string; to: string }
let env: Record<string, string>

/** The hour that is open and the one before it: an hour may end while the tests run. */
function windowOfNow(): { from: string; to: string } {
  const toMs = hourStartMs(Date.now()) + HOUR_MS
  return { from: new Date(toMs - 2 * HOUR_MS).toISOString(), to: new Date(toMs).toISOString() }
}

/** The nth block of a language. */
function block(language: string, nth = 0): string {
  const found = [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))]
  return found[nth]?.[1] ?? assert.fail(`${language} ${nth}`)
}

/** In a shell that knows `paybell`; never throws. */
async function shell(script: string): Promise<{ code: number; out: string; notes: string }> {
  const paybellCommand = `paybell() { '${process.execPath}' '${join(ROOT, 'cli/paybell.js')}' "$@"; }`
  try {
    const { stdout, stderr } = await run('bash', ['-c', `${paybellCommand}\n${script}`], {
      cwd: dir,
      env,
    })
    return { code: 0, out: stdout, notes: stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, out: stdout, notes: stderr }
  }
}

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'paybell-statements-'))
  ;({ id: endpointId } = await client.webhooks.register({
    callbackUrl: receiver.url('/hook'),
    sharedKey: 'a-long-random-text-that-only-we-two-know',
  }))
  for (let count = 0; count < 5; count++) {
    await paybell.caller.pay({ version: undefined })
  }
  window = windowOfNow()
  await until('all are delivered', async () => {
    return (await client.webhooks.statement(endpointId, window)).delivered === 5
  })
  taken = receiver.received.map(({ headers }) => String(headers['webhook-id']))
  const { items } = await client.deliveries.list()
  env = {
    PATH: process.env.PATH ?? '',
    // Where a compiler keeps what it has compiled before.
    HOME: process.env.HOME ?? dir,
    PAYBELL_URL: baseUrl,
    PAYBELL_CLIENT_ID: clientId,
    PAYBELL_CLIENT_SECRET: clientSecret,
    PAYBELL_DATA_DIR: join(dir, 'none'),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(dir, 'cache'),
    TOKEN: await paybell.caller.token(),
    WEBHOOK: endpointId,
    DELIVERY: items[0]?.id ?? assert.fail(),
    FROM: window.from,
    TO: window.to,
  }
})
after(() => rm(dir, { recursive: true, force: true }))

test('the statement is there, and its digest is that of what was received', async () => {
  const statement = JSON.parse((await shell(block('sh', 0))).out) as Statement
  assert.deepEqual([statement.owed, statement.delivered], [5, 5])
  assert.equal(statement.idsDigest, digestOfIds(taken))
})

test('the command line compares a file of ids, and names what was lost, doubled and forged', async () => {
  await writeFile(join(dir, 'received.txt'), `${taken.join('\n')}\n`)
  const same = await shell(block('sh', 1))
  assert.deepEqual([same.code, same.out], [0, 'Nothing is missing.\n'])
  assert.doesNotMatch(same.notes, /own keys/)
  const [lost, doubled, ...others] = taken as [string, string, ...string[]]
  const forged = `${lost.slice(0, 14)}7fff-8fff-0123456789ab`
  await writeFile(join(dir, 'received.txt'), [doubled, doubled, ...others, forged].join('\n'))
  const differs = await shell(block('sh', 1))
  assert.equal(differs.code, 1)
  assert.deepEqual(differs.out.trim().split('\n').toSorted(), [
    `doubled ${doubled}`,
    `missing ${lost}`,
    `unknown ${forged}`,
  ])
})

test('regression: what was forged within the hour is found by the command of the page on leaked keys', async () => {
  const page = readFileSync(join(ROOT, 'docs/leaked-key.md'), 'utf8')
  const [, command = ''] = /```sh\n(paybell reconcile .*)\n```/.exec(page) ?? []
  const compare = async (...ids: string[]) => {
    await writeFile(join(dir, 'received.txt'), ids.join('\n'))
    return shell(command)
  }
  const genuine = await compare(...taken)
  assert.deepEqual([genuine.code, genuine.out], [0, 'Nothing is missing.\n'], genuine.notes)
  const [first] = taken as [string, ...string[]]
  const ofThisHour = `${first.slice(0, 14)}7fff-8fff-0123456789ab`
  const ofNoHour = '0b0f5c5e-3c1d-4e39-8d3b-7d9c8f0a1b2c'
  const ofTomorrow = `${(Date.now() + 86_400_000)
    .toString(16)
    .padStart(12, '0')
    .replace(/(.{8})/, '$1-')}-7abc-8fff-0123456789ab`
  for (const forged of [ofThisHour, ofNoHour, ofTomorrow]) {
    const { code, out, notes } = await compare(...taken, forged)
    assert.deepEqual([code, out], [1, `unknown ${forged}\n`], notes)
  }
  const older = '01900000-0000-7000-8000-000000000001'
  const { code, notes } = await compare(...taken, older)
  assert.equal(code, 0, notes)
  assert.match(notes, /1 id from before this period: not compared/)
})

test('what is missing is sent again, and then nothing is', async () => {
  const [lost, ...others] = taken as [string, ...string[]]
  const before = receiver.received.length
  const store = await receivedFromIds(others)
  const result = await reconcile(store, window, { client, endpointId, recover: true })
  assert.deepEqual(
    [result.isComplete, result.recovered, result.differences.flatMap(({ missing }) => missing)],
    [false, 1, [lost]],
  )
  await until('it came again', () => receiver.received.length > before)
  const again = receiver.received.at(-1)?.headers['webhook-id']
  assert.equal(again, lost)
  const whole = await receivedFromIds([...others, String(again)])
  assert.ok((await reconcile(whole, window, { client, endpointId })).isComplete)
})

test('a receipt is got, checked, and refused when it was altered', async () => {
  await until('all are delivered', async () => {
    return (await client.deliveries.list({ state: 'PENDING' })).items.length === 0
  })
  const { code, out } = await shell(block('sh', 2))
  assert.equal(code, 0, out)
  assert.match(out, /The receipt is genuine\./)
  assert.match(out, new RegExp(env.DELIVERY as string))
  const receipt = readFileSync(join(dir, 'receipt.jws'), 'utf8').trim()
  const code2 = `import { compactVerify, createRemoteJWKSet } from '${pathToFileURL(join(ROOT, 'node_modules/jose/dist/webapi/index.js')).href}'
    const receipt = '${receipt}'
    ${block('js', 1)}
    console.log(new TextDecoder().decode(payload))`
  await writeFile(join(dir, 'jose.mjs'), code2)
  const { stdout } = await run(process.execPath, ['jose.mjs'], { cwd: dir, env })
  assert.equal(JSON.parse(stdout).status, 200)
  const [head, body, tail] = receipt.split('.') as [string, string, string]
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const other = Buffer.from(JSON.stringify({ ...claims, sequence: 9 })).toString('base64url')
  await writeFile(join(dir, 'altered.jws'), `${head}.${other}.${tail}`)
  const altered = await shell('paybell receipt verify altered.jws')
  assert.equal(altered.code, 1)
  assert.match(altered.out, /not genuine/)
})

for (const [language, file, command] of [
  ['python', 'digest.py', ['python3', 'digest.py']],
  ['go', 'digest.go', ['go', 'run', 'digest.go']],
] as const) {
  test(`the recipe in ${language} makes the same numbers`, async (t) => {
    await writeFile(join(dir, file), block(language))
    const [program, ...args] = command
    const child = spawn(program, args, { cwd: dir, env, stdio: ['pipe', 'pipe', 'inherit'] })
    const isThere = once(child, 'spawn').then(
      () => true,
      () => false,
    )
    if (!(await isThere)) return t.skip(`${program} is not on this machine`)
    child.stdin.end(taken.join('\n'))
    let out = ''
    for await (const chunk of child.stdout) out += chunk
    const hours = Map.groupBy(taken, (id) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
    const byHour = Map.groupBy([...hours], ([ms]) => hourStartMs(ms) / 1_000)
    const expected = [...byHour].map(([hour, entries]) => {
      const ids = entries.flatMap(([, some]) => some)
      return `${hour} ${ids.length} ${digestOfIds(ids)}`
    })
    assert.deepEqual(out.trim().split('\n').toSorted(), expected.toSorted())
  })
}

/** An example of the package, which finds the package beside it. */
async function example(name: string): Promise<Record<string, (of: unknown) => Promise<unknown>>> {
  const folder = join(dir, 'node_modules/@paybell/sdk')
  await mkdir(folder, { recursive: true })
  const entry = pathToFileURL(join(ROOT, 'sdk/src/index.ts')).href
  await writeFile(join(folder, 'package.json'), '{"type":"module","exports":"./index.js"}')
  await writeFile(join(folder, 'index.js'), `export * from '${entry}'\n`)
  await writeFile(join(dir, name), readFileSync(join(ROOT, 'sdk/examples', name)))
  return import(pathToFileURL(join(dir, name)).href)
}

test('the stores in a file and in PostgreSQL count an event once, also after a restart', async () => {
  const { createFileSeen } = await example('seen-in-file.mjs')
  const { createPostgresSeen } = await example('seen-in-postgres.mjs')
  const open = [
    () => createFileSeen?.(join(dir, 'seen.txt')),
    () => createPostgresSeen?.(paybell.pool),
  ] as (() => Promise<SeenStore & ReceivedStore>)[]
  for (const start of open) {
    for (let round = 0; round < 2; round++) {
      const seen = await start()
      for (const id of taken) {
        const event = { id, paymentId: id, sequence: 1 }
        assert.equal(await seen.claim(event), round === 0 ? 'new' : 'duplicate')
        await seen.settle(event)
      }
      const result = await reconcile(seen, window, { client, endpointId })
      assert.deepEqual([result.isComplete, result.differences], [true, []])
      assert.deepEqual((await seen.ids(window)).toSorted(), [...new Set(taken)].toSorted())
    }
  }
})

test('regression: what was cancelled is not complete, and keys that are not the service’s prove nothing', async () => {
  receiver.answer = () => 503
  const { id: refusing } = await client.webhooks.register({
    callbackUrl: receiver.url('/refusing'),
    sharedKey: 'a-long-random-text-that-only-we-two-know',
  })
  await paybell.caller.pay({ version: undefined })
  const item = await until('it was refused', async () => {
    const { items } = await client.deliveries.list({ endpointId: refusing })
    return items.find(({ attempts }) => attempts > 0) ?? null
  })
  const cancelled = await paybell.caller.operate('POST', `/deliveries/${item.id}/cancel`)
  assert.ok(cancelled.ok, await cancelled.text())
  receiver.answer = () => 200
  await writeFile(join(dir, 'nothing.txt'), '')
  const { from, to } = windowOfNow()
  const command = `paybell reconcile ${refusing} --ids nothing.txt --since ${from} --until ${to}`
  const { code, out, notes } = await shell(command)
  assert.deepEqual([code, out], [1, ''])
  assert.match(notes, /1 owed, 0 delivered/)
  assert.match(notes, /Not complete: 1 cancelled: never delivered/)
  assert.match(notes, /own keys were used/)
  const { publicKey } = generateKeyPairSync('ed25519')
  const { keys } = (await (await fetch(`${baseUrl}/.well-known/webhook-keys.json`)).json()) as {
    keys: { kid: string }[]
  }
  const forged = keys.map(({ kid }) => ({ kid, x: publicKey.export({ format: 'jwk' }).x }))
  await writeFile(join(dir, 'forged.json'), JSON.stringify({ keys: forged }))
  const distrusted = await shell(`${command} --keys forged.json`)
  assert.notEqual(distrusted.code, 0)
  assert.match(distrusted.notes, /signature does not hold/)
})
