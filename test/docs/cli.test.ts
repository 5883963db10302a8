// docs/cli.md names every command and every setting that the command line has.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
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
