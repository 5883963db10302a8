// The package in programs of every kind: modules and CommonJS, in JavaScript and in TypeScript with each way of
// finding modules, and a class with decorators, as NestJS has them. Each is compiled where it needs to be, and
// run. At full size npm packs and installs the SDK first.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installBuilt, installPacked } from '../support/packed-sdk.ts'
import { sized } from '../support/size.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
/** TypeScript 7 has no node10 any more; where this names the tsc of an older one, that is tried as well. */
const OLDER_TSC = process.env.PAYBELL_OLDER_TSC
const EXAMPLES = join(ROOT, 'sdk/examples')
const run = promisify(execFile)

let folder: string
const leftovers: (() => unknown)[] = []
after(async () => {
  for (const clean of leftovers.reverse()) await clean()
})
before(async () => {
  folder = await sized(
    installBuilt,
    installPacked,
  )({
    after: (clean) => void leftovers.push(clean),
  })
})

const NAMES = {
  '@paybell/sdk': 'createReceiver, PaybellError, signForTest',
  '@paybell/sdk/adapters': 'toNodeHandler',
  '@paybell/sdk/operator': 'createProducer, PaybellError: SameError',
}
const requires = Object.entries(NAMES).map(
  ([from, names]) => `const { ${names} } = require('${from}')`,
)
const imports = Object.entries(NAMES).map(
  ([from, names]) => `import { ${names.replaceAll(':', ' as')} } from '${from}'`,
)
const check = `
async function main() {
  const sharedKey = 'only-we-two-know-this'
  const receiver = createReceiver({ sharedKey, onPayment: (payment) => console.log(payment.amount.amount) })
  const signed = await signForTest({ sharedKey })
  console.log((await receiver(signed.toRequest())).status, typeof toNodeHandler(receiver))
  const producer = createProducer({ baseUrl: 'https://x.example', operatorKey: 'k', fetch: async () => new Response('', { status: 404 }) })
  const error = await producer.put({ id: 'p', accountId: 'a', amount: { amount: '1', currency: 'EUR' }, externalId: 'e', quoteId: 'q', reference: 'r', purposeOfPayment: 'OTHER', beneficiaryId: 'b' }).catch((error) => error)
  console.log(error instanceof PaybellError, PaybellError === SameError)
}
main()
`
const typed = `
import type { Payment, ReceiverOptions } from '@paybell/sdk'
import type { Operator, PutResult } from '@paybell/sdk/operator'
export const onPayment: ReceiverOptions['onPayment'] = (payment: Payment) => payment.amount.amount.length
export const list = (operator: Operator) => operator.deliveries.list({ state: ['EXHAUSTED'], from: new Date() })
export async function last(results: AsyncIterable<PutResult>): Promise<number> {
  let index = -1
  for await (const result of results) index = result.index
  return index
}
// @ts-expect-error money is text
export const wrong = (payment: Payment) => payment.amount.amount * 2
`
const EXPECTED = '1250.50\n200 function\ntrue true\n'

/** The controller of the examples, called as NestJS calls it; and a provider that gets its clients. */
const nest = `
import { type Client, createClient, signForTest } from '@paybell/sdk'
import { createProducer, type Producer } from '@paybell/sdk/operator'
import { Controller } from '@nestjs/common'
import { PaybellController } from './receive-nestjs.js'

@Controller('payments')
export class Payments {
  constructor(private readonly paybell: Client, private readonly producer: Producer) {}
  names() { return [typeof this.paybell.webhooks.register, typeof this.producer.putAll].join(' ') }
}
const base = { baseUrl: 'https://x.example' }
const payments = new Payments(
  createClient({ ...base, clientId: 'c', clientSecret: 's' }),
  createProducer({ ...base, operatorKey: 'k' }),
)
console.log(payments.names())

async function main() {
  const { headers, body } = await signForTest({ sharedKey: process.env.SHARED_KEY! })
  const request = { method: 'POST', headers, rawBody: body, readableEnded: true, async *[Symbol.asyncIterator]() {} }
  const response = { statusCode: 0, setHeader() {}, end() { console.log(this.statusCode) } }
  await new PaybellController().receive(request, response)
}
main()
`
const NEST_STUB = {
  'index.d.ts': `export declare function Controller(path: string): ClassDecorator
export declare function Post(): MethodDecorator
export declare function Req(): ParameterDecorator
export declare function Res(): ParameterDecorator
`,
  'index.js': 'exports.Controller = exports.Post = exports.Req = exports.Res = () => () => {}\n',
  'package.json': '{ "name": "@nestjs/common", "main": "index.js", "types": "index.d.ts" }',
}

async function makeProject(name: string, manifest: object, files: Record<string, string>) {
  const project = join(folder, name)
  await mkdir(join(project, 'node_modules'), { recursive: true })
  await symlink(join(ROOT, 'node_modules/@types'), join(project, 'node_modules/@types'))
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
  for (const [file, text] of Object.entries(files)) await writeFile(join(project, file), text)
  const nestjs = join(project, 'node_modules/@nestjs/common')
  await mkdir(nestjs, { recursive: true })
  for (const [file, text] of Object.entries(NEST_STUB)) await writeFile(join(nestjs, file), text)
  return project
}

test('JavaScript: require and import', async () => {
  const project = await makeProject(
    'plain',
    {},
    {
      'main.cjs': `${requires.join('\n')}\n${check}`,
      'main.mjs': `${imports.join('\n')}\n${check}`,
    },
  )
  for (const file of ['main.cjs', 'main.mjs']) {
    assert.equal((await run(process.execPath, [file], { cwd: project })).stdout, EXPECTED, file)
  }
})

const KINDS: Readonly<Record<string, { tsc?: string | undefined; type: string; options: object }>> =
  {
    'module: node16, CommonJS': { type: 'commonjs', options: { module: 'node16' } },
    'module: node16, modules': { type: 'module', options: { module: 'node16' } },
    'module: nodenext, CommonJS': { type: 'commonjs', options: { module: 'nodenext' } },
    'moduleResolution: bundler': {
      type: 'module',
      options: { module: 'esnext', moduleResolution: 'bundler' },
    },
    'moduleResolution: bundler, CommonJS': {
      type: 'commonjs',
      options: { module: 'commonjs', moduleResolution: 'bundler' },
    },
    'moduleResolution: node10': {
      tsc: OLDER_TSC,
      type: 'commonjs',
      options: { module: 'commonjs', moduleResolution: 'node10', esModuleInterop: true },
    },
  }

/** The kind that stock NestJS is; at full size all. */
const names = sized(['module: node16, CommonJS'], Object.keys(KINDS))
for (const [name, kind] of Object.entries(KINDS).filter(([name]) => names.includes(name))) {
  const tsc = 'tsc' in kind ? kind.tsc : TSC
  const skip =
    tsc && existsSync(tsc) ? false : 'PAYBELL_OLDER_TSC names no tsc of TypeScript 5 or 6'
  test(`TypeScript: ${name}`, { skip }, async () => {
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: ['node'],
      strict: true,
      outDir: 'out',
      rootDir: '.',
      skipLibCheck: false,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      ...kind.options,
    }
    const project = await makeProject(
      name.replaceAll(/\W+/g, '-'),
      { type: kind.type },
      {
        'main.ts': `${imports.join('\n')}\n${check}`,
        'typed.ts': typed,
        'nest.ts': nest,
        'receive-nestjs.ts': await readFile(join(EXAMPLES, 'receive-nestjs.ts'), 'utf8'),
        'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
      },
    )
    await run(process.execPath, [tsc as string, '-p', '.'], { cwd: project }).catch((error) =>
      assert.fail(error.stdout),
    )
    const ran = await run(process.execPath, ['out/main.js'], { cwd: project })
    assert.equal(ran.stdout, EXPECTED)
    const env = { SHARED_KEY: 'only-we-two-know-this' }
    assert.match(
      (await run(process.execPath, ['out/nest.js'], { cwd: project, env })).stdout,
      /^function function\npayment\.created \S+ 1250\.50\n200\n$/,
    )
  })
}

test('every entry point has types and code for import, for require, and for compilers that know no exports', async () => {
  const dir = join(folder, 'node_modules/@paybell/sdk')
  const manifest = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8'))
  const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json')
  assert.deepEqual(entries, ['.', './adapters', './operator'])
  for (const entry of entries) {
    const { import: esm, require: cjs } = manifest.exports[entry]
    const older =
      entry === '.' ? manifest.types : manifest.typesVersions['*'][entry.slice('./'.length)][0]
    assert.equal(older, cjs.types)
    for (const path of [esm.types, esm.default, cjs.types, cjs.default]) {
      assert.ok(existsSync(join(dir, path)), path)
    }
  }
  assert.equal(manifest.main, manifest.exports['.'].require.default)
})
