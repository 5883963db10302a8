// Every decision record has one form, and the index names each of them, and each number that another one has taken over.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readText } from './source-files.ts'
import { ROOT } from './user-texts.ts'

const INDEX = readText('docs/decisions/README.md')

test('every decision is in the index under its title, and says when, why, what and at what cost', () => {
  const files = readdirSync(join(ROOT, 'docs/decisions')).filter((name) => /^\d{4}-/.test(name))
  const listed = [...INDEX.matchAll(/^- \[(.*)\]\((.*?)\)/gm)]
  assert.deepEqual(
    listed.map((match) => match[2]),
    files.sort(),
  )
  for (const [, title, file] of listed) {
    const text = readText(`docs/decisions/${file}`)
    assert.ok(
      text.startsWith(`# ${title}\n\nAccepted, 20`),
      `${file} begins with "# ${title}", an empty line and "Accepted, <date>.", without the heading Status`,
    )
    assert.equal(title?.slice(0, 4), file?.slice(0, 4))
    const parts = [...text.matchAll(/^## (.*)$/gm)].map((match) => match[1])
    assert.deepEqual(parts, ['Context', 'Decision', 'Consequences'], file)
  }
})

test('a number that a decision took over is in the index once, and is no record of its own', () => {
  const taken = [...INDEX.matchAll(/\.md\), with (.*)$/gm)].flatMap((match) =>
    (match[1] as string).split(', '),
  )
  assert.ok(taken.length > 20)
  assert.equal(new Set(taken).size, taken.length)
  for (const number of taken) assert.doesNotMatch(INDEX, new RegExp(`^- \\[${number} `, 'm'))
})
