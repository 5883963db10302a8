// What users read uses words that they know. The list is the table in CONTRIBUTING.md: say, do not say.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesUnder, ROOT, textsOfPage, textsOfSource, type UserText } from './user-texts.ts'

interface Word {
  word: string
  say: string
  pattern: RegExp
}

/** The rows of the table. */
function readWords(): Word[] {
  const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
  const table = text.slice(text.indexOf('| Do not say | Say |')).split('\n\n')[0] as string
  return table
    .split('\n')
    .slice(2)
    .flatMap((row) => {
      const [words, say] = row.slice(2, -2).split(' | ') as [string, string]
      return words.split(', ').map((word) => ({ word, say, pattern: toPattern(word) }))
    })
}

/** Lines are wrapped anywhere. */
function toPattern(word: string): RegExp {
  return new RegExp(`\\b${word.replaceAll(' ', '\\s+')}\\b`)
}

const words = readWords()

function offences(texts: readonly UserText[]): string[] {
  return texts.flatMap(({ file, line, text }) =>
    words
      .filter(({ pattern }) => pattern.test(text))
      .map(({ word, say }) => `${file}:${line} says "${word}": say ${say}`),
  )
}

const server = [
  ...filesUnder('server/http', /\.ts$/),
  ...filesUnder(
    'server/core',
    /(explanation|receiver-check|receiver-report|signature-|callback-url|payment-checks|payment-fields|extra-header|shared-key|errors).*\.ts$/,
  ),
  ...filesUnder('server/operations', /\.ts$/),
  ...filesUnder('server/sandbox', /\.ts$/),
  'server/config/settings.ts',
]

test('the table of words is there', () => {
  assert.ok(words.length > 20)
})

for (const [name, texts] of [
  ['the command line', () => filesUnder('cli', /\.ts$/).flatMap(textsOfSource)],
  ['problems, explanations and descriptions', () => server.flatMap(textsOfSource)],
  [
    'the guides and the decisions',
    () =>
      [
        ...filesUnder('docs', /\.md$/),
        ...['README.md', 'ARCHITECTURE.md', 'SECURITY.md', 'sdk/README.md'],
      ].flatMap(textsOfPage),
  ],
  ['the console', () => filesUnder('console/src', /\.tsx?$/).flatMap(textsOfSource)],
] as const) {
  test(`${name} use the words that users know`, () => {
    assert.deepEqual(offences(texts()), [])
  })
}
