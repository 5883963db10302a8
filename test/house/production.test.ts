// What `paybell serve` loads: the service, and nothing that only a sandbox needs. Demo receivers, seed data
// and a clock that a caller can change must not even be in the memory of a production process.

import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { reachableFrom, sourceFiles } from './source-files.ts'

const SANDBOX_ONLY = ['server/sandbox/', 'server/embedded/']
const isSandboxOnly = (file: string) => SANDBOX_ONLY.some((folder) => file.startsWith(folder))

function ofCli(name: string): string {
  const [file, ...others] = sourceFiles('cli').filter((one) => basename(one) === name)
  assert.ok(file !== undefined && others.length === 0, `one file of the command line is ${name}`)
  return file
}

test('the command `serve` leads to neither the sandbox nor the embedded database', () => {
  const files = reachableFrom([ofCli('serve.ts'), 'server/app.ts'])
  assert.ok(files.includes('server/http/server.ts') && files.length > 200)
  assert.deepEqual(files.filter(isSandboxOnly), [])
})

test('nor does the program that it is a command of, until another command is asked for', () => {
  const entries = [ofCli('main.ts'), ofCli('program.ts')]
  const files = reachableFrom(entries, ({ isDynamic }) => !isDynamic)
  assert.ok(files.length > 20)
  assert.deepEqual(files.filter(isSandboxOnly), [])
})

test('the command `sandbox` leads to both', () => {
  const files = reachableFrom([ofCli('sandbox.ts')])
  for (const folder of SANDBOX_ONLY) assert.ok(files.some((file) => file.startsWith(folder)))
})

test('the command `route` loads neither the service nor its database, and no other command loads it', () => {
  const files = reachableFrom([ofCli('route.ts')], ({ isTypeOnly }) => !isTypeOnly)
  const rooms = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')))
  for (const room of ['store', 'operations', 'delivery', 'telemetry', 'upkeep', 'app.ts']) {
    assert.ok(!rooms.has(`server/${room}`), room)
  }
  const served = reachableFrom([ofCli('serve.ts'), ofCli('sandbox.ts')])
  assert.deepEqual(
    served.filter((file) => file.startsWith('server/route/')),
    [],
  )
})
