import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createProgram, withCommands } from './program.ts'

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
  })
  command.outputHelp()
  return text
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

const all = withCommands(createProgram())
const leaves = all.filter(({ commands }) => commands.length === 0)

test('the commands that are promised are there', () => {
  const names = leaves.map(pathOf).map((path) => path.replace(/^paybell /, ''))
  for (const family of [
    ['clients', 'create', 'list', 'show', 'disable', 'enable', 'rotate'],
    ['accounts', 'create', 'list'],
    ['keys', 'create', 'list', 'revoke'],
    ['payments', 'put', 'show', 'list', 'import'],
    ['endpoints', 'list', 'show', 'pause', 'resume'],
    ['deliveries', 'list', 'show', 'replay', 'cancel', 'tail'],
    ['webhooks', 'register', 'list', 'test', 'delete'],
    ['signature', 'sign', 'verify'],
  ]) {
    const [name, ...verbs] = family
    for (const verb of verbs) assert.ok(names.includes(`${name} ${verb}`), `${name} ${verb}`)
  }
  for (const name of [
    'sandbox',
    'serve',
    'migrate',
    'doctor',
    'demo',
    'recover',
    'listen',
    'receive',
    'trigger',
  ]) {
    assert.ok(names.includes(name), name)
  }
})

for (const command of leaves) {
  const path = pathOf(command)

  test(`${path} --help says what it does and shows how`, () => {
    assert.match(command.description(), /^[A-Z`].*\.$/)
    const help = helpOf(command)
    assert.match(help, /\nExamples?:\n {2}\$ /)
    for (const [, used] of help.matchAll(/^ {2}\$ .*?\b(?:paybell) ([a-z-]+)/gm)) {
      assert.ok(
        all.some((known) => known.name() === used),
        `its examples use ${used}`,
      )
    }
  })

  if (!['paybell sandbox', 'paybell serve'].includes(path)) {
    test(`${path} has --json`, () => {
      assert.ok(command.options.some(({ long }) => long === '--json'))
    })
  }
}
