// The examples in the comments of what the package exports: each is run as it stands, against a service
// whose lists are empty.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as sdk from '../../sdk/src/index.ts'

const SOURCES = fileURLToPath(new URL('../../sdk/src/', import.meta.url))
const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...given: unknown[]) => Promise<void>

const ANSWERS: Readonly<Record<string, object>> = {
  '/auth/token': { access_token: 't', expires_in: 3_600 },
  '/v1/deliveries': { items: [], next: null },
}

const examples = globSync('*.ts', { cwd: SOURCES }).flatMap((file) => {
  const text = readFileSync(`${SOURCES}${file}`, 'utf8')
  return [...text.matchAll(/^ \* ```js\n(.*?)^ \* ```$/gms)].map(([, block = '']) => ({
    file,
    code: block.replaceAll(/^ \* ?/gm, ''),
  }))
})

for (const { file, code } of examples) {
  const [, names = '', rest = ''] =
    /^import \{ (.*?) \} from '@paybell\/sdk'\n(.*)$/s.exec(code) ?? []
  test(`the example in ${file} runs: ${names}`, async (t) => {
    assert.notEqual(rest, '')
    t.mock.method(globalThis, 'fetch', async (url: string) =>
      Response.json(ANSWERS[new URL(url).pathname]),
    )
    const printed: unknown[][] = []
    const run = new AsyncFunction('sdk', 'console', `const { ${names} } = sdk\n${rest}`)
    await run(sdk, { log: (...args: unknown[]) => printed.push(args) })
    // What a comment promises is what is printed.
    for (const [, promised = ''] of rest.matchAll(/console\.log\(.*\) \/\/ ([^…\n]+)$/gm)) {
      const text = printed.map((args) => args.map(shown).join(' '))
      assert.ok(text.includes(promised), `${promised} is not in ${text}`)
    }
  })
}

function shown(value: unknown): string {
  return typeof value === 'bigint' ? `${value}n` : String(value)
}

test('there is an example for each function that the package exports', () => {
  const functions = Object.entries(sdk)
    .filter(([name, value]) => typeof value === 'function' && !/^[A-Z]/.test(name))
    .map(([name]) => name)
  const shownAnywhere = examples.map(({ code }) => code).join('\n')
  const missing = functions.filter((name) => !new RegExp(`\\b${name}\\(`).test(shownAnywhere))
  assert.deepEqual(missing, ['verifySignature'], 'as verify, without the body')
})
