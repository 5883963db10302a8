import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { withCommands } from './manners.ts'
import { createProgram } from './program.ts'

const FILE = 'body.json'

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
    ['deliveries', 'list', 'show', 'retry', 'replay', 'cancel', 'tail'],
    [
      'webhooks',
      'register',
      'import',
      'list',
      'show',
      'change',
      'test',
      'retry',
      'replay-missing',
      'pause',
      'resume',
      'delete',
    ],
    [
      'subscriptions',
      'create',
      'list',
      'show',
      'change',
      'test',
      'retry',
      'replay-missing',
      'pause',
      'resume',
      'delete',
    ],
    ['notices', 'list', 'set', 'delete'],
    ['events', 'list', 'follow', 'body'],
    ['profiles', 'list', 'use'],
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
    'open',
    'login',
    'logout',
    'completion',
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

  if (!['sandbox', 'serve', 'route', 'completion'].some((one) => path === `paybell ${one}`)) {
    test(`${path} has --json`, () => {
      assert.ok(command.options.some(({ long }) => long === '--json'))
    })
  }
}

test('regression: --json may stand before the command, and between its words', async () => {
  for (const words of [
    ['--json', 'signature', 'sign', FILE],
    ['signature', '--json', 'sign', FILE],
    ['signature', 'sign', FILE, '--json'],
  ]) {
    const program = createProgram()
    const sign = withCommands(program).find((command) => command.name() === 'sign') as Command
    let options: unknown
    sign.action((_file, _options, command: Command) => {
      options = command.optsWithGlobals()
    })
    await program.parseAsync(words, { from: 'user' })
    assert.deepEqual(options, { json: true }, words.join(' '))
  }
})

test('regression: a duration is shown as it is written', () => {
  for (const [path, shown] of [
    ['paybell payments import', '(default: 10m)'],
    ['paybell receive', '(default: 0s)'],
  ] as const) {
    const command = leaves.find((leaf) => pathOf(leaf) === path) as Command
    assert.ok(helpOf(command).includes(shown), path)
  }
})
