// What users read uses words that they know. The list is the table in CONTRIBUTING.md: say, do not say.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesUnder, textsOfPage, textsOfSource } from './user-texts.ts'
import { offences, words } from './user-words.ts'

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
