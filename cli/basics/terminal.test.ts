import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  formatDuration,
  formatFields,
  formatTable,
  formatTime,
  paintFor,
  plural,
  safe,
} from './terminal.ts'

const plain = paintFor(false)

test('columns line up, numbers on the right, nothing after the last cell', () => {
  const text = formatTable(
    [
      { title: 'NAME', of: (row: { name: string; count: number | null }) => row.name },
      { title: 'COUNT', of: ({ count }) => count, right: true },
      { title: 'END', of: ({ name }) => name[0] },
    ],
    [
      { name: 'a', count: 5 },
      { name: 'longer', count: null },
    ],
    plain,
  )
  assert.equal(text, 'NAME    COUNT  END\na           5  a\nlonger      -  l')
})

test('colours do not shift columns', () => {
  const columns = [
    { title: 'A', of: (row: string) => row, isState: true as const },
    { title: 'B', of: () => 'x' },
  ]
  const coloured = formatTable(columns, ['FAILED'], paintFor(true))
  assert.ok(coloured.includes(paintFor(true).red('FAILED')))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), 'A       B\nFAILED  x')
})

test('fields show a dash for what is not there', () => {
  assert.equal(
    formatFields(
      [
        ['Id', 'x'],
        ['Longer', null],
      ],
      plain,
    ),
    'Id      x\nLonger  -',
  )
})

test('foreign text cannot move the cursor or turn the line around', () => {
  assert.equal(safe('a\u001b[2Jb\r\n\u202ec'), 'a\\u001b[2Jb\\u000d\\u000a\\u202ec')
})

test('times are UTC', () => {
  assert.equal(formatTime('2026-11-15T07:47:57.123+02:00'), '2026-11-15 05:47:57Z')
  assert.equal(formatTime(null), null)
})

for (const [ms, text] of [
  [0, '0 ms'],
  [412, '412 ms'],
  [4_800, '4.8 s'],
  [12_400, '12 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [86_400_000, '1 d'],
  [529_200_000, '6 d 3 h'],
] as const) {
  test(`${ms} ms is ${text}`, () => assert.equal(formatDuration(ms), text))
}

test('counts have separators, and a plural', () => {
  assert.equal(plural(1, 'line'), '1 line')
  assert.equal(plural(100_000, 'delivery', 'deliveries'), '100,000 deliveries')
})
