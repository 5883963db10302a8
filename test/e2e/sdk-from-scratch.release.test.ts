// What an integrator does: a fresh folder with the SDK, the lines of its README, and a payment. Then the
// examples, and the types. npm packs and installs the SDK, and every Node of this machine from 20 on runs it.

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { limitOf } from '../support/busy-machine.ts'
import { COMPILED } from '../support/compile-cache.ts'
import { cloneDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { type FoundNode, otherNodes, THIS_NODE } from '../support/nodes.ts'
import { collectCleanUps } from '../support/owner.ts'
import { installPacked } from '../support/packed-sdk.ts'
import { makeSandboxFile, type Paybell, startPaybell } from '../support/paybell.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const README = readFileSync(join(ROOT, 'sdk/README.md'), 'utf8')
const run = promisify(execFile)

let folder: string
let paybell: Paybell
/** Where the README finds the sandbox. */
let dataDir: string

// Called inside a hook, node:test's own `after` would not wait for the tests.
const owner = collectCleanUps()
after(() => owner.cleanUp())

before(async () => {
  folder = await installPacked(owner)
  cpSync(join(ROOT, 'sdk/examples'), folder, { recursive: true })
  for (const name of ['fastify', 'pg']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  paybell = await startPaybell(owner)
  dataDir = await makeSandboxFile(owner, paybell)
})

test('the package holds the built files, the examples and the licence, and nothing else', () => {
  const dir = join(folder, 'node_modules/@paybell/sdk')
  assert.deepEqual(readdirSync(dir).sort(), [
    'LICENSE',
    'README.md',
    'dist',
    'examples',
    'package.json',
  ])
  assert.deepEqual(readdirSync(join(dir, 'dist')).sort(), ['cjs', 'esm'])
  for (const [kind, extra] of Object.entries({ esm: [], cjs: ['package.json'] })) {
    const files = globSync('**/*.*', { cwd: join(dir, 'dist', kind) })
    for (const name of ['index', 'adapters', 'operator']) {
      assert.ok(files.includes(`${name}.js`) && files.includes(`${name}.d.ts`), `${kind} ${name}`)
    }
    const others = files.filter((name) => !/\.js$|\.d\.ts$/.test(name))
    assert.deepEqual(others, extra)
  }
  const { dependencies } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  assert.equal(dependencies, undefined)
  assert.equal(
    readFileSync(join(dir, 'LICENSE'), 'utf8'),
    readFileSync(join(ROOT, 'LICENSE'), 'utf8'),
  )
})

test('what the README links to is in the package', () => {
  const dir = join(folder, 'node_modules/@paybell/sdk')
  const targets = [...README.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target as string)
  assert.ok(targets.length > 4)
  const missing = targets
    .filter((target) => !/^(https:|#)/.test(target))
    .filter((target) => !existsSync(join(dir, target.split('#')[0] as string)))
  assert.deepEqual(missing, [])
})

/** Starts a program in the fresh folder and waits for what it prints. */
function start(t: TestContext, node: FoundNode, file: string, env: Record<string, string>) {
  const child: ChildProcess = spawn(node.path, [file], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      child.emit('printed')
    })
  }
  const closed = once(child, 'close')
  t.after(async () => {
    child.kill('SIGKILL')
    await closed
  })
  return {
    async hasPrinted(pattern: RegExp): Promise<RegExpExecArray> {
      const signal = AbortSignal.timeout(limitOf(60_000))
      for (;;) {
        const match = pattern.exec(output)
        if (match) return match
        await once(child, 'printed', { signal }).catch(() => {
          throw new Error(`it has not printed ${pattern}; so far:\n${output}`)
        })
      }
    },
  }
}

/** `paybell trigger`, as the README says. */
async function trigger(...args: string[]): Promise<string> {
  const main = join(ROOT, 'cli/main.ts')
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: COMPILED,
    PAYBELL_DATA_DIR: dataDir,
  }
  const { stdout } = await run(process.execPath, [main, 'trigger', ...args], { env })
  return stdout
}

test('both READMEs have the same 15 lines to paste', () => {
  const main = readFileSync(join(ROOT, 'README.md'), 'utf8')
  assert.ok(main.includes(`\`\`\`js quickstart\n${quickstart()}\`\`\``))
  const lines = quickstart().trimEnd().split('\n')
  assert.ok(lines.length <= 15, `${lines.length} lines`)
})

function quickstart(): string {
  return /^```js quickstart\n(.*?)^```$/ms.exec(README)?.[1] as string
}

const others = otherNodes()
for (const node of [THIS_NODE, ...others]) {
  test(`fresh folder, 15 lines, paybell trigger: a verified callback, on Node ${node.version}`, async (t) => {
    writeFileSync(join(folder, 'receiver.mjs'), quickstart())
    // 0 is any free port; the address that it became is not known to the program, so one is chosen.
    const port = String(await freePort())
    const program = start(t, node, 'receiver.mjs', {
      SANDBOX: join(dataDir, 'sandbox.json'),
      PORT: port,
    })
    await program.hasPrinted(/hmacHeaderName: 'X-Paybell-Hmac'/)
    const made = await trigger(
      '--override',
      'amount.amount=1250.00',
      '--override',
      'amount.currency=EUR',
    )
    const id = /Payment (\S+) of/.exec(made)?.[1]
    const printed = await program.hasPrinted(/^payment\.created (\S+) (\S+) EUR$/m)
    assert.equal(printed[1], id)
    assert.equal(printed[2], '1250.00')
    await program.hasPrinted(new RegExp(`^payment\\.paid ${id} 1250\\.00 EUR$`, 'm'))
  })
}

if (others.length === 0) {
  test('on another Node', {
    skip: 'this machine has no Node from 20 on besides the pinned one',
  }, () => {})
}

test('example: a receiver on Fastify, which passes the test of receivers', async (t) => {
  const env = { SHARED_KEY: 'a key of this test', PORT: '0' }
  const program = start(t, THIS_NODE, 'receive-fastify.mjs', env)
  const [url] = await program.hasPrinted(/http:\S+/)
  const { stdout } = await run(THIS_NODE.path, ['test-my-receiver.mjs', `${url}/hook`], {
    cwd: folder,
    env,
  })
  assert.equal(stdout.match(/^pass /gm)?.length, 5, stdout)
})

const WITH_FETCH = `
import example from './receive-fetch.mjs'
import { signForTest } from '@paybell/sdk'

const signed = await signForTest({ sharedKey: 'a-long-random-text-that-only-we-two-know' })
console.log((await example.fetch(signed.toRequest())).status)`

/** The runtimes that have no adapter, because they need none. */
const RUNTIMES = { node: [], bun: [], deno: ['run', '--allow-env'] }
for (const [name, args] of Object.entries(RUNTIMES)) {
  const command = name === 'node' ? process.execPath : onPath(name)
  const skip = command ? false : `${name} is not on this machine`
  test(`example: a receiver for runtimes with fetch, on ${name}`, { skip }, async () => {
    writeFileSync(join(folder, 'with-fetch.mjs'), WITH_FETCH)
    const env = { PATH: process.env.PATH, HOME: process.env.HOME }
    const { stdout } = await run(command as string, [...args, 'with-fetch.mjs'], {
      cwd: folder,
      env,
    })
    assert.match(stdout, /^payment\.created \S+\n200\n$/)
  })
}

function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((each) => join(each, name)).find((each) => existsSync(each))
}

test('example: the feed of events, walked through and gone on with', async () => {
  const env = { SANDBOX: join(dataDir, 'sandbox.json') }
  const reconcile = async () =>
    (await run(THIS_NODE.path, ['reconcile.mjs'], { cwd: folder, env })).stdout
  await reconcile()
  const made = await trigger('--state', 'DUE', '--override', 'amount.amount=0.10')
  const id = /Payment (\S+) of/.exec(made)?.[1]
  const lines = (await reconcile()).trim().split('\n')
  assert.ok(lines.length >= 2)
  for (const [index, line] of lines.entries()) {
    assert.match(line, new RegExp(`^${id} ${index + 1} payment\\.\\w+ 0\\.10$`))
  }
  assert.equal(await reconcile(), '')
})

test('example: a file of payments fed in, and gone on with', async () => {
  const { accountId } = paybell
  const line = (id: string, state: string) =>
    `{"accountId":"${accountId}","id":"${id}","status":{"state":"${state}"},"externalId":"F-1","quoteId":"${id}",` +
    `"amount":{"amount":9007199254740993.10,"currency":"EUR"},"reference":"fed","purposeOfPayment":"OTHER","beneficiaryId":"${id}"}\n`
  const ids = [randomUUID(), randomUUID()] as const
  const lines = [line(ids[0], 'DUE'), line(ids[1], 'DUE'), line(ids[0], 'PAID'), line('x', 'DUE')]
  const env = { SANDBOX: join(dataDir, 'sandbox.json') }
  const feed = async (text: string) => {
    writeFileSync(join(folder, 'payments.ndjson'), text)
    const args = ['feed-payments.mjs', 'payments.ndjson']
    return (await run(THIS_NODE.path, args, { cwd: folder, env })).stdout
  }
  assert.equal(
    await feed(lines.slice(0, 2).join('')),
    `0 ${ids[0]} payment.created\n1 ${ids[1]} payment.created\n`,
  )
  const rest = await feed(lines.join(''))
  assert.match(rest, new RegExp(`^2 ${ids[0]} payment\\.paid\n3 null invalid-fields: .+\n$`))
})

test('example: what was handled before, in PostgreSQL', async () => {
  const { pool } = await cloneDatabase()
  const { createPostgresSeen } = await import(join(folder, 'seen-in-postgres.mjs'))
  const seen = await createPostgresSeen(pool)
  const other = await createPostgresSeen(pool)
  const event = (sequence: number) => ({ id: `e${sequence}`, paymentId: 'p', sequence })

  const claims = await Promise.all([seen, other, seen, other].map((store) => store.claim(event(1))))
  assert.deepEqual(claims.sort(), ['busy', 'busy', 'busy', 'new'])
  await seen.release(event(1))
  assert.equal(await other.claim(event(1)), 'new')
  await other.settle(event(1))
  assert.equal(await seen.claim(event(1)), 'duplicate')
  assert.equal(await seen.claim(event(3)), 'new')
  await seen.settle(event(3))
  assert.equal(await seen.claim(event(2)), 'stale')
  assert.equal(await seen.claim({ ...event(2), id: 'x', sequence: undefined }), 'new')
  // A process that died in the middle of its work does not hold an event for ever.
  await pool.query(
    `update paybell_events set claimed_at = now() - interval '2 minutes' where id = 'x'`,
  )
  assert.equal(await other.claim({ ...event(2), id: 'x', sequence: undefined }), 'new')
})

const CONSUMER = `
import { createClient, createReceiver, PaybellError, type Payment, verify } from '@paybell/sdk'
import { toNodeHandler } from '@paybell/sdk/adapters'

const receiver = createReceiver({
  sharedKey: ['a', 'b'],
  onPayment: async (payment: Payment, { sequence }) => void [payment.amount.amount.padEnd(2), sequence],
})
const response: Promise<Response> = receiver(new Request('https://x'))
const client = createClient({ baseUrl: 'https://x', clientId: 'c', clientSecret: 's' })
for await (const { payment } of client.events.all({ follow: true })) payment.amount.currency
const { health } = await client.webhooks.get('w')
const callback = await verify(new Uint8Array(), new Headers(), 'k', { toleranceSeconds: 1 })
// @ts-expect-error money is text
callback.payment.amount.amount * 2
const states: Promise<unknown> = client.deliveries.list({ state: 'EXHAUSTED' })
// @ts-expect-error there is no such state
client.deliveries.list({ state: 'LOST' })
export { health, PaybellError, receiver, response, states, toNodeHandler }
`
const WITH_NODE = `
import { createServer } from 'node:http'
import { verify } from '@paybell/sdk'
import { receiver, toNodeHandler } from './consumer.ts'
createServer(toNodeHandler(receiver))
createServer((request) => verify(Buffer.alloc(0), request.headers, 'k'))
`

test('the types hold for a program with the types of Node, and for one with those of the web', async () => {
  writeFileSync(join(folder, 'consumer.ts'), CONSUMER)
  writeFileSync(join(folder, 'with-node.ts'), WITH_NODE)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const common = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext']
  common.push('--allowImportingTsExtensions', '--exactOptionalPropertyTypes')
  const check = (...args: string[]) =>
    run(THIS_NODE.path, [tsc, ...common, ...args], { cwd: folder }).catch((error) => {
      assert.fail(error.stdout)
    })
  const typeRoots = join(ROOT, 'node_modules/@types')
  await check(
    '--skipLibCheck',
    '--lib',
    'es2022',
    '--types',
    'node',
    '--typeRoots',
    typeRoots,
    'with-node.ts',
  )
  await check('--lib', 'es2022,dom,dom.iterable', '--types', '', 'consumer.ts')
})
