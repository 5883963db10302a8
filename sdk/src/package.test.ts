// What the package promises as a whole: how small it is, and where it runs.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { VERSION } from './plain/version.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const OWN = /\/sdk\/src\/(?:[\w-]+\/)?[\w-]+\.ts$/
const ENTRIES = ['index.ts', 'adapters.ts', 'operator.ts']
const GZIPPED_BYTES_MAX = 15 * 1024

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, entry)],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    minify: true,
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

test('what an integrator loads is under 15 KB, minified and gzipped; so is what a producer loads', async (t) => {
  const sizes = await Promise.all(
    ENTRIES.map(async (entry) => gzipSync(await bundle(entry), { level: 9 }).length),
  )
  t.diagnostic(ENTRIES.map((entry, at) => `${entry} ${sizes[at]} bytes`).join(', '))
  const [index = 0, adapters = 0, operator = 0] = sizes
  assert.ok(index + adapters < GZIPPED_BYTES_MAX && operator < GZIPPED_BYTES_MAX, String(sizes))
})

test('nothing of Node is in it: the bundler finds no import, and no global of Node is named', async () => {
  for (const entry of ENTRIES) {
    const text = await bundle(entry)
    assert.doesNotMatch(text, /\bfrom\s*"|\bimport\s*\(|\brequire\s*\(/)
    assert.doesNotMatch(text, /\b(Buffer|process|setImmediate|__dirname)\b/)
  }
})

/** What edge runtimes have. */
const WEB = {
  AbortController,
  atob,
  btoa,
  clearTimeout,
  console,
  crypto,
  fetch,
  Headers,
  ReadableStream,
  Request,
  Response,
  setTimeout,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
}

test('it runs where there is nothing but the web, and takes bytes of another realm', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, 'index.ts')],
    bundle: true,
    format: 'iife',
    globalName: 'paybell',
    platform: 'neutral',
    target: 'es2022',
    write: false,
  })
  const context = createContext({ ...WEB })
  runInContext(outputFiles[0]?.text ?? '', context)
  const { createClient, createReceiver, createTestKey, signForTest, verify } = context.paybell
  const signed = await signForTest({ sharedKey: 'k' })
  for (const body of [Buffer.from(signed.body), Uint8Array.from(signed.body).buffer]) {
    assert.equal((await verify(body, signed.headers, 'k')).payment.amount.amount, '1250.50')
  }
  const key = await createTestKey()
  const asymmetric = await signForTest({ sharedKey: 'k', signingKeys: key })
  await verify(asymmetric.body, asymmetric.headers, null, { publicKeys: key.whpk })
  const handled: unknown[] = []
  const receiver = createReceiver({
    sharedKey: 'k',
    onPayment: (one: unknown) => handled.push(one),
  })
  assert.equal((await receiver(signed.toRequest())).status, 200)
  assert.equal(handled.length, 1)
  const client = createClient({
    baseUrl: 'https://paybell.example',
    clientId: 'c',
    clientSecret: 's',
    fetch: async (url: string) =>
      Response.json(
        url.endsWith('/auth/token') ? { access_token: 't', expires_in: 1 } : { id: 'p' },
      ),
  })
  assert.equal((await client.payments.get('p')).id, 'p')
})

test('it shares no code with the server: every import is of a file of its own', () => {
  const files = globSync('**/*.ts', { cwd: HERE, exclude: ['**/*.test.ts'] })
  assert.ok(files.length > 40, String(files.length))
  for (const name of files) {
    // Examples in comments import the package itself.
    const text = readFileSync(join(HERE, name), 'utf8').replaceAll(/\/\*.*?\*\//gs, '')
    for (const [, from] of text.matchAll(/ from '([^']+)'/g)) {
      assert.match(join(HERE, name, '..', from as string), OWN, name)
    }
  }
})

test('the version is that of package.json, which has no dependencies', () => {
  const manifest = JSON.parse(readFileSync(join(HERE, '../package.json'), 'utf8'))
  assert.equal(manifest.version, VERSION)
  assert.equal(manifest.dependencies, undefined)
})
