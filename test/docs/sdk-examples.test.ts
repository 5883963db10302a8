// The examples in the comments of what the package exports: every value has one, and each is compiled and run as
// it stands, against a service whose lists are empty.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import * as adapters from '../../sdk/src/adapters.ts'
import * as sdk from '../../sdk/src/index.ts'
import * as operator from '../../sdk/src/operator.ts'
import { signJws } from '../../server/operations/access/sign-jws.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SOURCES = join(ROOT, 'sdk/src')
const run = promisify(execFile)

const ENTRIES = { '.': 'index', './adapters': 'adapters', './operator': 'operator' }

/** The comment, the name that it describes, and the example in it. */
const DESCRIBED = /^\/\*\*\n((?: \*.*\n)+) \*\/\nexport (?:async )?(?:function|class) (\w+)/gm

const examples = globSync('**/*.ts', { cwd: SOURCES }).flatMap((file) => {
  const text = readFileSync(join(SOURCES, file), 'utf8')
  return [...text.matchAll(DESCRIBED)].flatMap(([, comment = '', name = '']) => {
    const block = /^ \* ```js\n(.*?)^ \* ```$/ms.exec(comment)?.[1]
    return block === undefined ? [] : [{ file, name, code: block.replaceAll(/^ \* ?/gm, '') }]
  })
})

/** The same of a call of the client. What all of them begin with is not repeated in each. */
const DESCRIBED_CALL = /^ {4}\/\*\*\n((?: {5}\*.*\n)+) {5}\*\/\n {4}(\w+): /gm

const WEBHOOK = '019cade2-1350-7af3-913d-2f16aae956b4'
const BEGINNING = `import { createClient } from '@paybell/sdk'
const paybell = createClient({ baseUrl: 'https://paybell.example.com', clientId: 'c', clientSecret: 's' })
const webhookId = '${WEBHOOK}'
`

const calls = globSync('**/*-calls.ts', { cwd: SOURCES }).flatMap((file) => {
  const text = readFileSync(join(SOURCES, file), 'utf8')
  return [...text.matchAll(DESCRIBED_CALL)].flatMap(([, comment = '', name = '']) => {
    const block = /^ {5}\* ```js\n(.*?)^ {5}\* ```$/ms.exec(comment)?.[1]
    const code = `${BEGINNING}${block?.replaceAll(/^ {5}\* ?/gm, '')}export { webhookId }\n`
    return block === undefined ? [] : [{ file, name: `${name}-call`, code }]
  })
})

const NEW_CLIENT = { clientId: 'c', clientSecret: 's', name: 'Northwind Traders' }
const { publicKey, privateKey } = generateKeyPairSync('ed25519')

/** Of the day that the example asks for, in which nothing happened. */
function emptyStatement(): string {
  const fates = { owed: 0, delivered: 0, superseded: 0, exhausted: 0, cancelled: 0, pending: 0 }
  const none = { ...fates, isFinal: true, idsDigest: '0'.repeat(64) }
  const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour)).toISOString()
  const hours = Array.from({ length: 24 }, (_, hour) => ({ from: at(hour), ...none }))
  const claims = { endpointId: WEBHOOK, from: at(0), to: at(24), ...none, hours }
  return signJws({ kid: 'k', key: privateKey }, 'paybell-statement+jws', claims)
}

const EVENT = { id: 'e', type: 'payment.created', sequence: 1 }
const NOT_FOUND = { code: 'not-found', status: 404, detail: 'There is none.' }

const ANSWERS: Readonly<Record<string, (body: string) => Response>> = {
  'POST /auth/token': () => Response.json({ access_token: 't', expires_in: 3_600 }),
  [`PATCH /v1/webhooks/${WEBHOOK}`]: () => Response.json({ id: WEBHOOK }),
  [`POST /v1/webhooks/${WEBHOOK}/replay-missing`]: () =>
    Response.json({ wouldQueue: 1, queued: 1 }),
  'GET /v1/webhooks': () => Response.json({ content: [{ endpointUrl: 'https://example.com' }] }),
  'PUT /v1/notices': () => Response.json({ recent: [] }),
  'GET /v1/notices': () => Response.json({ recent: [] }),
  [`GET /v1/webhooks/${WEBHOOK}/statement`]: () => Response.json({ jws: emptyStatement() }),
  'GET /.well-known/webhook-keys.json': () =>
    Response.json({ keys: [{ kid: 'k', x: publicKey.export({ format: 'jwk' }).x }] }),
  'GET /v1/deliveries': () => Response.json({ items: [], next: null }),
  'POST /operator/v1/clients': () => Response.json(NEW_CLIENT),
  'POST /operator/v1/clients/c/accounts': () => Response.json({ id: 'a', name: 'Main' }),
  'POST /operator/v1/payments/batch': () =>
    new Response(`${JSON.stringify({ line: 1, id: 'p', event: EVENT })}\n`),
  'POST /operator/v1/deliveries/replay': (body) =>
    body.includes('dryRun')
      ? Response.json({ wouldReplay: 1 })
      : Response.json({ replayed: 1 }, { headers: { location: '/operator/v1/jobs/j' } }),
  'GET /operator/v1/jobs/j': () => Response.json({ id: 'j', state: 'DONE' }),
}

let folder: string
after(() => rm(folder, { recursive: true, force: true }))
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paybell-examples-'))
  const files: Record<string, string> = {
    'node_modules/@paybell/sdk/package.json': JSON.stringify({
      type: 'module',
      exports: Object.fromEntries(
        Object.entries(ENTRIES).map(([path, name]) => [path, `./${name}.js`]),
      ),
    }),
    // Not installed: what the example needs of it.
    'node_modules/express/package.json': '{ "main": "index.js", "types": "index.d.ts" }',
    'node_modules/express/index.js':
      'module.exports = () => ({ post() {}, use() {}, listen() {} }); module.exports.json = () => {}',
    'node_modules/express/index.d.ts': `import type { IncomingMessage, ServerResponse } from 'node:http'
type Handler = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => unknown
declare function express(): { post(path: string, handler: Handler): void; use(handler: Handler): void; listen(port: number): void }
declare namespace express { function json(): Handler }
export = express
`,
  }
  for (const name of Object.values(ENTRIES)) {
    const source = pathToFileURL(join(SOURCES, `${name}.ts`)).href
    files[`node_modules/@paybell/sdk/${name}.js`] = `export * from '${source}'\n`
  }
  for (const { name, code } of [...examples, ...calls]) files[`${name}.mjs`] = code
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  for (const name of ['fastify', '@types']) {
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
})

for (const { file, name, code } of [...examples, ...calls]) {
  test(`the example of ${name} in ${file} runs`, async (t) => {
    t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
      const answer = ANSWERS[`${init.method} ${new URL(url).pathname}`]
      return answer ? answer(String(init.body)) : Response.json(NOT_FOUND, { status: 404 })
    })
    // What listens would not end.
    t.mock.method(Server.prototype, 'listen', () => {})
    const printed: string[] = []
    t.mock.method(console, 'log', (...args: unknown[]) => {
      printed.push(args.map(shown).join(' '))
    })
    await import(pathToFileURL(join(folder, `${name}.mjs`)).href)
    // What a comment promises is what is printed.
    for (const [, promised = ''] of code.matchAll(/console\.log\(.*\) \/\/ ([^…\n]+)$/gm)) {
      assert.ok(printed.includes(promised), `${promised} is not in ${printed}`)
    }
  })
}

function shown(value: unknown): string {
  return typeof value === 'bigint' ? `${value}n` : String(value)
}

test('every example compiles, in the strictest way', async () => {
  const paths = Object.fromEntries(
    Object.entries(ENTRIES).map(([path, name]) => [
      `@paybell/sdk${path.slice(1)}`,
      [join(SOURCES, `${name}.ts`)],
    ]),
  )
  const compilerOptions = {
    ...JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')).compilerOptions,
    allowJs: true,
    checkJs: true,
    exactOptionalPropertyTypes: true,
    paths,
  }
  const config = { compilerOptions, include: ['*.mjs'] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch((error) =>
    assert.fail(error.stdout),
  )
})

test('calls that change what an endpoint gets, or send much, have an example', () => {
  const names = calls.map(({ name }) => name)
  for (const name of ['change', 'replayMissing', 'set']) {
    assert.ok(names.includes(`${name}-call`), name)
  }
})

test('every value that the package exports has an example of its own', () => {
  const exported = new Set([sdk, adapters, operator].flatMap((entry) => Object.keys(entry)))
  assert.deepEqual(examples.map(({ name }) => name).toSorted(), [...exported].toSorted())
  for (const { name, code } of examples) assert.match(code, new RegExp(`\\b${name}\\b`))
})
