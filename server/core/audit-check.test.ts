// What a check finds in an altered export, kind by kind, and that it finds nothing in one as it was made.

import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { AuditChecker, type Finding } from './audit-check.ts'
import {
  digestRow,
  digestSegment,
  type ListedSegment,
  NO_DIGEST,
  SEAL_TYPE,
  type SealedRow,
  toClaims,
} from './audit-seal.ts'
import { readSealKeys } from './seal-signature.ts'

type Line = SealedRow | ListedSegment

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const KEYS = readSealKeys({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1' }] })

function signJws(claims: object, key: KeyObject, kid = 'k1', typ = SEAL_TYPE): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ alg: 'EdDSA', typ, kid })}.${encode(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

function makeRow(position: number): SealedRow {
  return {
    id: `01a1dd3c-58b4-7000-83de-${String(position).padStart(12, '0')}`,
    at: '2026-11-15T03:24:42.036Z',
    actor: 'operator',
    action: 'client.create',
    object: `client:${position}`,
    requestId: '5b9d1f0a-2f5e-4f6c-9a43-6a0f2c7d8e11',
    position: String(position),
  }
}

function makeSegment(
  number: number,
  previous: string,
  rows: readonly SealedRow[],
  key = privateKey,
): ListedSegment {
  const digests = Buffer.concat(rows.map(digestRow))
  const header = {
    segment: number,
    from: String(number * 100),
    to: String(number * 100 + 100),
    count: rows.length,
    previous,
    sealedAt: '2026-11-15T03:25:00.000Z',
  }
  const claims = { ...header, digest: digestSegment(digests, header) }
  return { ...claims, jws: signJws(claims, key), rows: digests.toString('base64url') }
}

/** Segments of so many rows each, as an export has them. */
function makeExport(...counts: number[]): Line[] {
  let previous = NO_DIGEST
  return counts.flatMap((count, index) => {
    const number = index + 1
    const rows = Array.from({ length: count }, (_, at) => makeRow(number * 100 + at))
    const segment = makeSegment(number, previous, rows)
    previous = segment.digest
    return [...rows, segment]
  })
}

function check(lines: readonly Line[], checker = new AuditChecker(KEYS)): Finding | null {
  for (const line of lines) {
    if (!('segment' in line)) {
      checker.row(line)
      continue
    }
    const finding = checker.segment(line)
    if (finding !== null) return finding
  }
  return checker.end()
}

function found(lines: readonly Line[]) {
  const finding = check(lines)
  return finding && [finding.code, finding.segment, finding.row?.slice(-3) ?? null]
}

test('an export as it was made has no finding', () => {
  const checker = new AuditChecker(KEYS)
  assert.equal(check(makeExport(3, 1, 4), checker), null)
  assert.deepEqual(checker.checked, {
    ...{ rows: 8, segments: 3, first: 1, last: 3 },
    ...{ head: (makeExport(3, 1, 4).at(-1) as ListedSegment).digest },
    ...{ droppedThrough: 0, declaredThrough: 0 },
  })
  // An export may begin anywhere.
  assert.equal(check(makeExport(3, 1, 4).slice(4)), null)
})

test('each kind of change to the rows is found, and the first row is named', () => {
  const whole = makeExport(3, 4, 2)
  const rows = (at: number) => whole[at] as SealedRow
  const edit = (at: number, removed: number, ...added: Line[]) =>
    whole.toSpliced(at, removed, ...added)
  assert.deepEqual(found(edit(5, 1, { ...rows(5), actor: 'x' })), ['row-changed', 2, '201'])
  assert.deepEqual(found(edit(5, 1, { ...rows(5), changes: [] })), ['row-changed', 2, '201'])
  assert.deepEqual(found(edit(5, 0, makeRow(250))), ['row-added', 2, '250'])
  assert.deepEqual(found(edit(8, 0, makeRow(299))), ['row-added', 2, '299'])
  assert.deepEqual(found(edit(5, 1)), ['row-removed', 2, '200'])
  assert.deepEqual(found(edit(4, 1)), ['row-removed', 2, null])
  assert.deepEqual(found(edit(6, 2)), ['rows-cut-off', 2, '201'])
  assert.deepEqual(found(edit(5, 2, rows(6), rows(5))), ['row-moved', 2, '202'])
  assert.deepEqual(found(edit(5, 1, rows(5), rows(5))), ['row-added', 2, '201'])
})

test('each kind of change to the segments is found, and the segment is named', () => {
  const whole = makeExport(3, 4, 2)
  const segment = whole[8] as ListedSegment
  const edit = (...added: Line[]) => whole.toSpliced(8, 1, ...added)
  assert.deepEqual(found(whole.toSpliced(4, 5)), ['segment-removed', 2, null])
  assert.deepEqual(found(edit({ ...segment, count: 5 })), ['segment-changed', 2, null])
  assert.deepEqual(found(edit({ ...segment, sealedAt: 'x' })), ['segment-changed', 2, null])
  assert.deepEqual(found(edit({ ...segment, jws: `${segment.jws}A` }))?.[0], 'signature-invalid')
  const [header, , signature] = segment.jws.split('.')
  const payload = Buffer.from(JSON.stringify({ ...toClaims(segment), count: 9 }))
  const forged = [header, payload.toString('base64url'), signature].join('.')
  assert.deepEqual(found(edit({ ...segment, jws: forged }))?.[0], 'signature-invalid')
  // The list of rows altered together with a row.
  const altered = { ...(whole[5] as SealedRow), actor: 'x' }
  const rows = [whole[4] as SealedRow, altered, ...(whole.slice(6, 8) as SealedRow[])]
  const list = Buffer.concat(rows.map(digestRow)).toString('base64url')
  const both = [...whole.slice(0, 4), ...rows, { ...segment, rows: list }]
  assert.deepEqual(found(both), ['segment-changed', 2, '200'])
})

test('a segment made again without the signing key is found', () => {
  const whole = makeExport(3, 4, 2)
  const rows = (whole.slice(4, 8) as SealedRow[]).map((row) => ({ ...row, actor: 'x' }))
  const { digest } = whole[3] as ListedSegment
  const foreign = generateKeyPairSync('ed25519').privateKey
  const replaced = makeSegment(2, digest, rows, foreign)
  assert.deepEqual(found([...whole.slice(0, 4), ...rows, replaced])?.[0], 'signature-invalid')
  const named = { ...replaced, jws: signJws(toClaims(replaced), foreign, 'k2') }
  assert.deepEqual(found([...whole.slice(0, 4), ...rows, named])?.[0], 'key-unknown')
  const receipt = { ...replaced, jws: signJws(toClaims(replaced), privateKey, 'k1', 'receipt') }
  assert.deepEqual(found([...whole.slice(0, 4), ...rows, receipt])?.[0], 'signature-invalid')
})

test('a chain that ends early, or was made again, is found by a head that was kept', () => {
  const whole = makeExport(3, 4, 2)
  const head = whole.at(-1) as ListedSegment
  const cut = whole.slice(0, 9)
  assert.equal(check(cut), null, 'nothing in the rest says that there was more')
  assert.equal(check(cut, new AuditChecker(KEYS, [head]))?.code, 'head-missing')
  const again = [
    ...cut,
    makeRow(300),
    makeSegment(3, (whole[8] as ListedSegment).digest, [makeRow(300)]),
  ]
  assert.equal(check(again), null)
  assert.equal(check(again, new AuditChecker(KEYS, [head]))?.code, 'segment-changed')
  assert.equal(check(whole, new AuditChecker(KEYS, [head])), null)
})

test('rows that retention has dropped are no finding where a sealed row says so', () => {
  const [first, second] = [makeExport(3, 4, 2), makeExport(3, 4, 2)]
  const dropped = first.flatMap((line): Line[] => {
    if (!('segment' in line)) return Number(line.position) < 200 ? [] : [line]
    const { rows: _, ...head } = line
    return [line.segment === 1 ? head : line]
  })
  const checker = new AuditChecker(KEYS)
  assert.equal(check(dropped, checker), null)
  assert.equal(checker.checkDropped()?.code, 'rows-cut-off')
  const row: SealedRow = { ...makeRow(400), action: 'audit.drop', object: 'segments:1-1' }
  const last = makeSegment(4, (second.at(-1) as ListedSegment).digest, [row])
  const declared = new AuditChecker(KEYS)
  assert.equal(check([...dropped, row, last], declared), null)
  assert.equal(declared.checkDropped(), null)
  // In the middle of the chain nothing is ever dropped.
  const { rows: _, ...head } = first[8] as ListedSegment
  assert.equal(found([...first.slice(0, 4), head])?.[0], 'rows-cut-off')
})

test('no change of one character to any row goes unseen', () => {
  const whole = makeExport(2, 3)
  const members = ['id', 'at', 'actor', 'action', 'object', 'requestId', 'position'] as const
  fc.assert(
    fc.property(
      fc.constantFrom(0, 1, 3, 4, 5),
      fc.constantFrom(...members),
      fc.nat(),
      fc.string({ minLength: 1, maxLength: 1 }),
      (at, member, index, character) => {
        const row = whole[at] as SealedRow
        const text = row[member]
        const place = index % text.length
        const altered = text.slice(0, place) + character + text.slice(place + 1)
        fc.pre(altered !== text)
        const finding = check(whole.toSpliced(at, 1, { ...row, [member]: altered }))
        assert.equal(finding?.code, 'row-changed')
        assert.equal(finding?.segment, at < 3 ? 1 : 2)
      },
    ),
  )
})
