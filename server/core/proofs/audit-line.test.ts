// Lines of an export that the service writes, and others that only look like them.

import assert from 'node:assert/strict'
import test from 'node:test'
import { toCanonicalJson } from '../plain/canonical-json.ts'
import { parseAuditLine } from './audit-line.ts'

const ROW = {
  ...{ id: 'i', at: 't', actor: 'operator', action: 'a', object: 'o\u2028', position: '1' },
  requestId: 'r',
}
const SEGMENT = {
  ...{ segment: 1, from: '0', to: '2', count: 1, digest: 'd', previous: 'p', sealedAt: 's' },
  jws: 'j',
}

test('lines as they are written are read', () => {
  const kindOf = (item: object) => parseAuditLine(toCanonicalJson(item))?.kind
  assert.equal(kindOf(ROW), 'row')
  assert.equal(kindOf({ ...ROW, changes: [{ field: 'f', before: null, after: 'x' }] }), 'row')
  assert.equal(kindOf(SEGMENT), 'segment')
  assert.equal(kindOf({ ...SEGMENT, rows: 'AA' }), 'segment')
  assert.equal(kindOf({ drop: 'a.b.c' }), 'drop')
})

test('regression: members twice, others, missing, of another type or in another spelling are refused', () => {
  const row = toCanonicalJson(ROW)
  const segment = toCanonicalJson(SEGMENT)
  const refused = [
    row.replace('"actor":', '"actor":"mallory","actor":'),
    row.replace('"actor":"operator"', '"actor":null'),
    row.replace('"id":"i",', ''),
    row.replace('}', ',"segment":1}'),
    row.replace('operator', '\\u006fperator'),
    ` ${row}`,
    `${row}\r`,
    toCanonicalJson({ ...ROW, note: 'x' }),
    toCanonicalJson({ ...SEGMENT, note: 'x' }),
    toCanonicalJson({ ...SEGMENT, rows: null }),
    toCanonicalJson({ ...SEGMENT, segment: '1' }),
    segment.replace('"count":1', '"count":1.0'),
    segment.replace('"jws"', '"__proto__":{},"jws"'),
    '{"drop":1}',
    '{"drop":"x","drop":"x"}',
    ...['', '{}', '[]', 'null', '1', '{'],
  ]
  for (const text of refused) assert.equal(parseAuditLine(text), null, text)
  const changes = toCanonicalJson({ ...ROW, changes: { a: 1 } })
  assert.equal(parseAuditLine(changes.replace('"a":1', '"a":2,"a":1')), null)
})
