// docs/configuration.md shows every setting of the table in server/config/settings.ts, with its default.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SETTINGS } from '../../server/config/config.ts'

const DOC = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
const rows = [...DOC.matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*) \|$/gm)].map((match) => ({
  name: match[1] as string,
  fallback: match[2] as string,
  meaning: match[3] as string,
}))

test('docs/configuration.md has a row for each setting, in order, with its default', () => {
  const expected = SETTINGS.map((setting) => ({
    name: setting.name,
    fallback: toCell({ fallback: undefined, sandboxFallback: undefined, ...setting }),
  }))
  assert.deepEqual(
    rows.map(({ name, fallback }) => ({ name, fallback })),
    expected,
  )
})

function toCell(setting: {
  fallback: string | undefined
  sandboxFallback: string | undefined
  required?: true
}): string {
  const { fallback, sandboxFallback, required } = setting
  if (fallback === undefined) return required ? 'required' : 'none'
  return sandboxFallback ? `\`${fallback}\`, sandbox \`${sandboxFallback}\`` : `\`${fallback}\``
}

test('what works only in the sandbox is marked so', () => {
  const marked = rows.filter(({ meaning }) => meaning.startsWith('sandbox only'))
  assert.deepEqual(
    marked.map(({ name }) => name),
    SETTINGS.filter((setting) => 'sandboxOnly' in setting).map(({ name }) => name),
  )
})

test('every secret is named with its file', () => {
  for (const setting of SETTINGS) {
    assert.equal(DOC.includes(`\`${setting.name}_FILE\``), 'secret' in setting, setting.name)
  }
})

test('regression: docs/operations.md says what is removed by itself, and by which setting', () => {
  const doc = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const retention = SETTINGS.find(({ name }) => name === 'PAYBELL_RETENTION_DAYS')
  assert.ok(retention && 'fallback' in retention)
  assert.ok(doc.includes(`\`PAYBELL_RETENTION_DAYS\`, ${retention.fallback} by default`))
  assert.doesNotMatch(doc, /removes nothing/)
})
