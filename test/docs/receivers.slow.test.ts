// The receivers of docs/receivers.md, run as they stand in every language that is on this machine: each passes
// `paybell check`, handles each event once and in sequence, also after a restart, and keeps every digit. What takes long
// is left to the full size.

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { signForTest, type TestCallback } from '../../sdk/src/receiving/sign-for-test.ts'
import type { CheckReport } from '../../server/core/checking/receiver-check.ts'
import { limitOf } from '../support/busy-machine.ts'
import { callCommand } from '../support/called-command.ts'
import { freePort } from '../support/free-port.ts'
import { environmentIn, languagesOfThisSize } from '../support/recipes.ts'

const PAGE = readFileSync(new URL('../../docs/receivers.md', import.meta.url), 'utf8')
const KEY = 'only-we-two-know-this, "quoted" and é'
const CHECK_STEPS = 11
const CHECK_RUNS_MAX = 3
/** With what it has to fetch. */
const COMPILED_MS_MAX = 100_000
const run = promisify(execFile)

interface Language {
  /** The mark of the block in the page. */
  mark: string
  /** What has to be on the search path. */
  needs: string
  file: string
  others?: Record<string, string>
  prepare?: readonly [string, ...string[]]
  /** Null where the test is the web server that runs the script. */
  command: ((port: number) => readonly [string, ...string[]]) | null
}

/** Whatever .NET is there, in the spelling of its age. */
const PROJECT = `<Project Sdk="Microsoft.NET.Sdk.Web"><PropertyGroup>
<TargetFramework>net$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework>
<TargetFramework Condition="$(BundledNETCoreAppTargetFrameworkVersion.StartsWith('3.'))">netcoreapp3.1</TargetFramework>
</PropertyGroup></Project>`

const LANGUAGES: Record<string, Language> = {
  TypeScript: {
    mark: 'ts',
    needs: process.execPath,
    file: 'receiver.ts',
    command: () => [process.execPath, 'receiver.ts'],
  },
  Python: {
    mark: 'python',
    needs: 'python3',
    file: 'receiver.py',
    command: () => ['python3', 'receiver.py'],
  },
  Go: {
    mark: 'go',
    needs: 'go',
    file: 'receiver.go',
    prepare: ['go', 'build', '-o', 'receiver', 'receiver.go'],
    command: () => ['./receiver'],
  },
  Java: {
    mark: 'java',
    needs: 'java',
    file: 'Receiver.java',
    command: () => ['java', 'Receiver.java'],
  },
  PHP: {
    mark: 'php',
    needs: 'php',
    file: 'receiver.php',
    command: (port) => [
      'php',
      '-d',
      'post_max_size=20M',
      '-S',
      `127.0.0.1:${port}`,
      'receiver.php',
    ],
  },
  Ruby: {
    mark: 'ruby',
    needs: 'ruby',
    file: 'receiver.rb',
    command: () => ['ruby', 'receiver.rb'],
  },
  'C#': {
    mark: 'csharp',
    needs: 'dotnet',
    file: 'Program.cs',
    others: { 'receiver.csproj': PROJECT },
    prepare: ['dotnet', 'build', '-o', 'out'],
    command: () => ['dotnet', 'out/receiver.dll'],
  },
  Shell: { mark: 'sh', needs: 'openssl', file: 'receiver.sh', command: null },
}

/** A receiver that runs, and what it has printed. */
interface Running {
  url: string
  printed(): string
  stop(): Promise<void>
}

async function start(language: Language, cwd: string): Promise<Running> {
  const env = { ...environmentIn(cwd), SHARED_KEY: KEY, INBOX: join(cwd, 'inbox') }
  if (language.command === null) return startCgi(join(cwd, language.file), env)
  const port = await freePort()
  const [command, ...args] = language.command(port)
  const child = spawn(command, args, {
    cwd,
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  await listens(port, child, () => printed)
  return {
    url: `http://127.0.0.1:${port}/`,
    printed: () => printed,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function listens(port: number, child: ChildProcess, printed: () => string): Promise<void> {
  for (const startedAt = performance.now(); ; await delay(20)) {
    const socket = connect(port, '127.0.0.1')
    const isThere = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isThere) return
    const isLate = performance.now() - startedAt > limitOf(60_000)
    if (isLate || child.exitCode !== null) throw new Error(`it does not listen:\n${printed()}`)
  }
}

/** A web server that runs the script for each request (RFC 3875). */
async function startCgi(script: string, env: NodeJS.ProcessEnv): Promise<Running> {
  let printed = ''
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = Buffer.concat(parts)
    const headers = Object.entries(request.headers).map(
      ([name, value]) =>
        [`HTTP_${name.toUpperCase().replaceAll('-', '_')}`, String(value)] as const,
    )
    const child = spawn('sh', [script], {
      env: {
        ...env,
        ...Object.fromEntries(headers),
        REQUEST_METHOD: request.method,
        CONTENT_LENGTH: String(body.length),
      },
    })
    child.stdin.on('error', () => {}).end(body)
    let answer = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      answer += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    await once(child, 'close')
    response.writeHead(Number(/^Status: (\d+)/.exec(answer)?.[1] ?? 500)).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    printed: () => printed,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function post(url: string, callback: Partial<TestCallback>, headers = {}): Promise<number> {
  const signed = await signForTest({ sharedKey: KEY, ...callback })
  const init = { method: 'POST', headers: { ...signed.headers, ...headers }, body: signed.body }
  return (await fetch(url, init)).status
}

/** A callback about one payment. */
function update(paymentId: string, sequence: number, amount: string): Partial<TestCallback> {
  return {
    id: randomUUID(),
    sequence,
    event: sequence === 1 ? 'payment.created' : 'payment.updated',
    payment: {
      id: paymentId,
      amount: { amount, currency: 'EUR' },
      reference: 'Zürich "A" \\ 1.50',
    },
  }
}

async function handlesOnceAndExactly(language: Language, folder: string, first: Running) {
  const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()] as const
  const created = update(a, 1, '100.00')
  const third = update(a, 3, '9007199254740993.10')
  assert.equal(await post(first.url, created), 200)
  assert.equal(await post(first.url, { ...created, attempt: 2 }), 200)
  assert.equal(await post(first.url, third), 200)
  assert.equal(
    await post(first.url, update(a, 2, '5.00')),
    200,
    'a late update is taken, not handled',
  )
  // After a rotation the old key, which this receiver has, signs beside the new one.
  const rotated = { sharedKey: 'the next key', previousKey: KEY }
  assert.equal(await post(first.url, { ...update(b, 1, '0.10'), ...rotated }), 200)
  // Each signature is checked, whatever the other one says.
  const forged = `v1,${'A'.repeat(43)}=`
  assert.equal(await post(first.url, update(c, 1, '1'), { 'webhook-signature': forged }), 401)
  assert.equal(await post(first.url, update(c, 1, '1'), { 'x-paybell-hmac': '0'.repeat(64) }), 401)
  assert.notEqual(await post(first.url, { ...update(c, 1, '1'), id: '../../escaped' }), 200)
  assert.notEqual((await fetch(first.url)).status, 200)
  await first.stop()

  const second = await start(language, folder)
  try {
    assert.equal(await post(second.url, third), 200)
    assert.equal(await post(second.url, update(a, 2, '5.00')), 200)
    assert.equal(await post(second.url, update(a, 4, '7')), 200)
  } finally {
    await second.stop()
  }
  const lines = `${first.printed()}${second.printed()}`.match(/^payment\..*$/gm)
  assert.deepEqual(lines, [
    `payment.created ${a} 1 100.00 EUR`,
    `payment.updated ${a} 3 9007199254740993.10 EUR`,
    `payment.created ${b} 1 0.10 EUR`,
    `payment.updated ${a} 4 7 EUR`,
  ])
}

/**
 * Nothing is wrong with any answer. How long the answers take is this machine's business, which starts a dozen programs
 * for each in Shell; what was not run because the minute was over is run once more.
 */
async function passesTheCheck({ url, printed }: Running) {
  const held = new Set<string>()
  for (let runs = 0; runs < CHECK_RUNS_MAX && held.size < CHECK_STEPS; runs++) {
    const env = { PAYBELL_SHARED_KEY: KEY }
    const { stdout, stderr } = await callCommand(['check', url, '--json'], { env })
    assert.match(stdout, /^\{/, stderr)
    const { steps }: CheckReport = JSON.parse(stdout)
    assert.equal(steps.length, CHECK_STEPS)
    const notRun = steps.filter(({ reason }) => reason.includes('the minute was over'))
    const right = steps.filter(
      ({ result, reason }) => result === 'pass' || reason.startsWith('It answered 200, after'),
    )
    const wrong = steps.filter((step) => !right.includes(step) && !notRun.includes(step))
    assert.deepEqual(wrong, [], `${JSON.stringify(wrong, null, 1)}\n${printed()}`)
    for (const { code } of right) held.add(code)
  }
  assert.equal(held.size, CHECK_STEPS, [...held].join(', '))
}

function isThere(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return existsSync(program) || folders.some((folder) => existsSync(join(folder, program)))
}

for (const [name, language] of languagesOfThisSize(LANGUAGES)) {
  const skip = isThere(language.needs) ? false : `${language.needs} is not on this machine`
  test(`the receiver in ${name} passes every check, and handles each event once, in sequence, to the digit`, {
    skip,
  }, async (t) => {
    const text = new RegExp(`^\`\`\`${language.mark} receiver\n(.*?)^\`\`\`$`, 'ms').exec(PAGE)?.[1]
    assert.ok(text, 'the page has no such block')
    const folder = await mkdtemp(join(tmpdir(), 'paybell-receiver-'))
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    for (const [file, content] of Object.entries({ ...language.others, [language.file]: text })) {
      await writeFile(join(folder, file), content)
    }
    if (language.prepare) {
      const [command, ...args] = language.prepare
      const options = { cwd: folder, env: environmentIn(folder) }
      await run(command, args, { ...options, timeout: limitOf(COMPILED_MS_MAX) }).catch((error) =>
        assert.fail(`${error.stdout}${error.stderr}`),
      )
    }
    const running = await start(language, folder)
    t.after(() => running.stop().catch(() => {}))
    await passesTheCheck(running)
    await handlesOnceAndExactly(language, folder, running)
  })
}

test('the page has a receiver in each language that signatures.md has a recipe for', () => {
  const recipes = readFileSync(new URL('../../docs/signatures.md', import.meta.url), 'utf8')
  const marksOf = (page: string, kind: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`(\\w+) ${kind}$`, 'gm'))].map((match) => match[1])
  assert.deepEqual(marksOf(PAGE, 'receiver'), marksOf(recipes, 'recipe'))
  assert.deepEqual(
    marksOf(PAGE, 'receiver'),
    Object.values(LANGUAGES).map(({ mark }) => mark),
  )
})
