// docs/problems.md has a section for each code, in the order of the table that answers come from.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { ErrorCode } from '../../server/core/plain/errors.ts'
import { PROBLEMS } from '../../server/http/basics/problems.ts'

const DOC = readFileSync(new URL('../../docs/problems.md', import.meta.url), 'utf8')
const sections = new Map(
  DOC.split(/^## /m)
    .slice(1)
    .map((section) => [/^`(.*)`$/m.exec(section)?.[1], section]),
)

test('docs/problems.md has a section for each code, and no other', () => {
  assert.deepEqual([...sections.keys()], Object.keys(PROBLEMS))
})

for (const code of Object.keys(PROBLEMS) as ErrorCode[]) {
  test(`${code}: the section tells status, title and what to do`, () => {
    const section = sections.get(code) ?? ''
    const { status, title } = PROBLEMS[code]
    assert.ok(section.includes(`\n\n**${status}** · ${title}\n\n`))
    assert.match(section, /\n\nWhat to do: [^\n]/)
  })
}
