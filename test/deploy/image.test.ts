// The Dockerfile, held to what an image of a service is asked for. It is not built here: that needs the network and
// minutes. docs/install.md says how it was tried.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

interface Instruction {
  name: string
  rest: string
}

/** A line each, without comments and with what a backslash continues. */
const instructions: readonly Instruction[] = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter(Boolean)
  .map((line) => ({ name: line.split(' ', 1)[0] as string, rest: line.replace(/^\S+ /, '') }))

const lastFrom = instructions.findLastIndex(({ name }) => name === 'FROM')
const image = instructions.slice(lastFrom)
const only = (name: string) => {
  const found = image.filter((one) => one.name === name)
  assert.equal(found.length, 1, name)
  return (found[0] as Instruction).rest
}

test('every base is the one that is pinned to a whole version, the Node of the tests', () => {
  const { devDependencies } = JSON.parse(read('package.json'))
  const argument = instructions[0] as Instruction
  assert.equal(argument.name, 'ARG')
  assert.equal(argument.rest, `NODE_IMAGE=node:${devDependencies.node}-bookworm-slim`)
  const bases = instructions.filter(({ name }) => name === 'FROM').map(({ rest }) => rest)
  assert.deepEqual(bases, [`\${NODE_IMAGE} AS build`, `\${NODE_IMAGE} AS base`, 'scratch'])
})

test('what runs has no rights, no tools and no shell around it', () => {
  assert.match(only('USER'), /^[1-9]\d*:[1-9]\d*$/)
  assert.equal(only('STOPSIGNAL'), 'SIGTERM')
  assert.equal(JSON.parse(only('ENTRYPOINT'))[0], 'node')
  assert.deepEqual(JSON.parse(only('CMD')), ['serve'])
  // Nothing is run in the image, so nothing is installed in it; what the base brings is removed before.
  assert.ok(!image.some(({ name }) => name === 'RUN' || name === 'ADD'))
  const removed = instructions.find(({ name, rest }) => name === 'RUN' && rest.startsWith('rm -rf'))
  for (const tool of ['npm', 'npx', 'corepack', 'yarn']) assert.ok(removed?.rest.includes(tool))
})

test('the health check asks whether it lives, not whether its database does', () => {
  const [options, command] = only('HEALTHCHECK').split(' CMD ') as [string, string]
  assert.match(options, /--interval=\d+s .*--start-period=\d+s .*--retries=\d+/)
  const [program, flag, script] = JSON.parse(command)
  assert.deepEqual([program, flag], ['node', '-e'])
  assert.match(script, /\/livez/)
})

test('the labels say which version it is', () => {
  const { version } = JSON.parse(read('package.json'))
  const label = only('LABEL')
  for (const name of ['title', 'description', 'revision', 'base.name', 'licenses']) {
    assert.ok(label.includes(`org.opencontainers.image.${name}=`), name)
  }
  assert.ok(label.includes(`org.opencontainers.image.version="${version}"`))
})

test('regression: the build is given all that goes into the package, and no secret', () => {
  const ignored = read('.dockerignore').split('\n').filter(Boolean)
  for (const needed of ['docs', 'docs/console', 'migrations', 'packages', 'sdk', 'console']) {
    assert.ok(!ignored.includes(needed), needed)
  }
  for (const kept of ['**/.env', 'deploy', '.git', '.paybell']) assert.ok(ignored.includes(kept))
})
