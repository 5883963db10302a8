// docs/cli.md names every command and every setting that the command line has, and no page names one that it has not.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Command } from 'commander'
import { CALLER_SETTINGS } from '../../cli/basics/settings.ts'
import { createProgram } from '../../cli/program.ts'

const DOC = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')

test('docs/cli.md has every command with its verbs', () => {
  const rows = [...DOC.matchAll(/^\| (`.*`) \| /gm)].flatMap((match) =>
    [...(match[1] as string).matchAll(/`([^`]+)`/g)].map((name) => name[1] as string),
  )
  for (const command of createProgram().commands) {
    const verbs = command.commands.map((verb) => verb.name()).join('\\|')
    const row = verbs === '' ? command.name() : `${command.name()} ${verbs}`
    assert.ok(rows.includes(row), `a row for ${row}`)
  }
})

test('docs/cli.md has every setting of the command line', () => {
  for (const { name } of CALLER_SETTINGS) assert.ok(DOC.includes(`\`${name}\``), name)
})

const PAGES = [
  'README.md',
  'sdk/README.md',
  ...readdirSync(new URL('../../docs/', import.meta.url))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

/** Not a command: the name of a session in pg_stat_activity. */
const SESSION = 'sign'

/** The commands inside of sentences, which no test runs. */
function commandsNamedIn(page: string): string[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
  const sentences = text.replace(/^ *```.*?^ *```$/gms, '')
  return [...sentences.matchAll(/`(?:[A-Z_]+=\S+ )*(?:npx )?paybell\s+([^`]+)`/g)].map((match) =>
    (match[1] as string).replace(/\s+/g, ' ').replaceAll('\\|', '|'),
  )
}

/** What of it there is not: a verb, or an option of the command that it leads to. */
function unknownIn(written: string): string | null {
  let command: Command = createProgram()
  for (const word of written.split(' ')) {
    if (word === '…') return null
    if (word.startsWith('--')) {
      const name = word.replace(/=.*/, '')
      if (
        name !== '--help' &&
        name !== '--version' &&
        !command.options.some(({ long }) => long === name)
      )
        return name
    } else if (command.commands.length > 0) {
      const next = command.commands.find((verb) => verb.name() === word)
      if (!next) return word
      command = next
    }
  }
  return null
}

test('every command that a sentence of a guide names is one', () => {
  let count = 0
  for (const page of PAGES) {
    for (const written of commandsNamedIn(page)) {
      if (written === SESSION) continue
      count += 1
      assert.equal(unknownIn(written), null, `${page}: paybell ${written}`)
    }
  }
  assert.ok(count > 50, `${count} commands were found`)
})
