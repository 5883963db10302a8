// What a check finds in an altered export, kind by kind, and that it finds nothing in one as it was made.

import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { AuditChecker } from './audit-check.ts'
import { type Finding, verdictOf } from './audit-finding.ts'
import {
  DROP_TYPE,
  type DropClaims,
  digestRow,
  digestSegment,
  type ListedSegment,
  NO_DIGEST,
  SEAL_TYPE,
  type SealedRow,
  toClaims,
} from './audit-seal.ts'
import { readSealKeys } from './seal-signature.ts'

type Line = SealedRow | ListedSegment | { drop: string }

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const KEYS = readSealKeys({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1' }] })

function signJws(claims: object, key: KeyObject, kid = 'k1', typ = SEAL_TYPE): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ alg: 'EdDSA', typ, kid })}.${encode(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

const SEALED_AT = '2026-11-15T03:25:00.000Z'

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
  header: Partial<ListedSegment> = {},
): ListedSegment {
  const digests = Buffer.concat(rows.map(digestRow))
  const whole = {
    segment: number,
    from: String(number * 100),
    to: String(number * 100 + 100),
    count: rows.length,
    previous,
    sealedAt: SEALED_AT,
    ...header,
  }
  const claims = toClaims({ ...whole, digest: digestSegment(digests, whole) })
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
    let finding: Finding | null
    if ('drop' in line) finding = checker.drop(line.drop)
    else finding = 'segment' in line ? checker.segment(line) : checker.row(line)
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
    ...{ dropped: [], remarks: [] },
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

/** A drop of the service through this segment, a year after it was sealed. */
function makeDrop(segment: ListedSegment, claims: Partial<DropClaims> = {}, typ = DROP_TYPE) {
  const { segment: through, digest, sealedAt } = segment
  const dropped = { retentionDays: 365, droppedAt: '2027-11-15T03:25:00.000Z' }
  const all = { through, digest, sealedAt, head: 3, ...dropped, ...claims }
  return { drop: signJws(all, privateKey, 'k1', typ) }
}

function segmentOf(lines: readonly Line[], number: number): ListedSegment {
  return lines.find((line) => 'segment' in line && line.segment === number) as ListedSegment
}

/** Without the rows of the first segments, and without the lists of them. */
function dropRows(lines: readonly Line[], through: number): Line[] {
  return lines.flatMap((line): Line[] => {
    if ('drop' in line) return [line]
    if (!('segment' in line)) return Number(line.position) < (through + 1) * 100 ? [] : [line]
    const { rows: _, ...head } = line
    return [line.segment <= through ? head : line]
  })
}

test('rows that are gone are dropped only under a signed drop of this chain, and then the verdict is partial', () => {
  const whole = makeExport(3, 4, 2)
  const rest = dropRows(whole, 2)
  const drop = makeDrop(segmentOf(whole, 2))
  assert.deepEqual(found(rest), ['rows-cut-off', 1, null])
  const checker = new AuditChecker(KEYS)
  assert.equal(check([drop, ...rest], checker), null)
  const { checked } = checker
  assert.deepEqual([checked.rows, checked.segments], [2, 3])
  assert.deepEqual(checked.dropped, [{ from: 1, to: 2 }])
  assert.equal(verdictOf({ finding: null, checked }), 'partial')
  // What is there is held against its digest all the same: nothing was dropped yet.
  const early = new AuditChecker(KEYS)
  assert.equal(check([drop, ...whole], early), null)
  assert.equal(verdictOf({ finding: null, checked: early.checked }), 'valid')
  assert.deepEqual(found([drop, ...dropRows(whole, 3)]), ['rows-cut-off', 3, null])
  const altered = whole.with(1, { ...(whole[1] as SealedRow), actor: 'x' })
  assert.deepEqual(found([drop, ...altered]), ['row-changed', 1, '101'])
})

test('a drop that is not the service’s, of another chain, too young or out of place is a finding', () => {
  const whole = makeExport(3, 4, 2)
  const rest = dropRows(whole, 2)
  const second = segmentOf(whole, 2)
  const foreign = segmentOf(makeExport(3, 5, 2), 2)
  const day = (days: number) => ({
    droppedAt: new Date(Date.parse(SEALED_AT) + days).toISOString(),
  })
  const DAY = 86_400_000
  const dropsOf: Record<string, { drop: string }> = {
    'another kind of signature': makeDrop(second, {}, SEAL_TYPE as never),
    'another chain': makeDrop(foreign),
    'a segment that is not there': makeDrop(second, { through: 7 }),
    'less than the least retention': makeDrop(second, { retentionDays: 29 }),
    'younger than its own retention': makeDrop(second, { retentionDays: 40, ...day(40 * DAY - 1) }),
    'no signature': { drop: makeDrop(second).drop.replace(/[^.]+$/, 'AAAA') },
    'no JWS': { drop: '' },
  }
  for (const [name, drop] of Object.entries(dropsOf)) {
    assert.equal(found([drop, ...rest])?.[0], 'drop-invalid', name)
  }
  const exact = makeDrop(second, { retentionDays: 40, ...day(40 * DAY) })
  assert.equal(found([exact, ...rest]), null)
  assert.equal(found([...whole, makeDrop(second)])?.[0], 'drop-invalid', 'after its segment')
  assert.equal(found([makeDrop(second), ...whole.slice(0, 4)])?.[0], 'drop-invalid', 'cut off')
})

test('what is left of a segment that was dropped in part is proven by its list, and by nothing else', () => {
  const whole = makeExport(3, 4, 2)
  const second = segmentOf(whole, 2)
  const drop = makeDrop(second)
  const left = dropRows(whole, 1).filter((line) => !('position' in line && line.position === '200'))
  assert.equal(found([drop, ...left]), null)
  const forged = left.map((line) => ('position' in line ? { ...line, actor: 'x' } : line))
  assert.deepEqual(found([drop, ...forged]), ['row-changed', 2, '201'])
  const { rows: _, ...head } = second
  const listless = left.map((line) => (line === second ? head : line))
  assert.deepEqual(found([drop, ...listless]), ['row-added', 2, '201'])
})

test('regression: rows are held against the signed digest although their list is left out', () => {
  const whole = makeExport(3, 4, 2)
  const listless = whole.map((line) => {
    if (!('segment' in line)) return line
    const { rows: _, ...head } = line
    return head
  })
  assert.equal(found(listless), null)
  const forged = listless.map((line) => ('segment' in line ? line : { ...line, actor: 'mallory' }))
  assert.equal(found(forged)?.[0], 'segment-changed')
  assert.deepEqual(found(listless.filter((line) => 'segment' in line)), ['rows-cut-off', 1, null])
})

test('regression: a gap between the positions of two segments is found', () => {
  const whole = makeExport(3, 4)
  const rows = [makeRow(350)]
  const { digest } = segmentOf(whole, 2)
  const next = (from: string) => makeSegment(3, digest, rows, privateKey, { from })
  assert.equal(found([...whole, ...rows, next('300')]), null)
  assert.deepEqual(found([...whole, ...rows, next('310')]), ['segment-changed', 3, null])
  assert.deepEqual(found([...whole, ...rows, next('290')]), ['segment-changed', 3, null])
})

test('regression: rows behind the last segment are found', () => {
  assert.deepEqual(found([...makeExport(3, 4), makeRow(299)]), ['row-added', 2, '299'])
  assert.deepEqual(found([makeRow(299)]), ['row-added', 0, '299'])
})

test('regression: a head from before the first segment is held against it, or cannot be', () => {
  const whole = makeExport(1, 1, 1, 1)
  const part = whole.slice(4)
  const headed = (segment: number, digest: string) =>
    check(part, new AuditChecker(KEYS, [{ segment, digest }]))?.code ?? null
  const wrong = 'f'.repeat(64)
  assert.equal(headed(2, segmentOf(whole, 2).digest), null)
  assert.equal(headed(2, wrong), 'segment-changed')
  assert.equal(headed(1, segmentOf(whole, 1).digest), 'head-missing')
  assert.equal(headed(4, segmentOf(whole, 4).digest), null)
  assert.equal(headed(5, wrong), 'head-missing')
})

test('a list of rows in another spelling is found', () => {
  const whole = makeExport(3, 4)
  const at = whole.indexOf(segmentOf(whole, 2))
  const { rows } = segmentOf(whole, 2)
  for (const list of [`${rows}=`, `${rows}A`, '', `${rows}\n`]) {
    const altered = whole.with(at, { ...segmentOf(whole, 2), rows: list })
    assert.equal(found(altered)?.[0], 'segment-changed', list)
  }
})

test('times that no right clock gives are told, and are no finding', () => {
  const backdated = { ...makeRow(200), at: '2020-01-01T00:00:00.000Z' }
  const first = makeExport(1)
  const { digest } = segmentOf(first, 1)
  const lines = [...first, backdated, makeSegment(2, digest, [backdated])]
  const checker = new AuditChecker(KEYS)
  assert.equal(check(lines, checker), null)
  assert.match(checker.checked.remarks.join(), /says 2020-01-01.* in segment 2/)
  // A drop by a clock that was a year ahead, which was then set right.
  const whole = makeExport(3, 4, 2)
  const ahead = new AuditChecker(KEYS)
  const drop = makeDrop(segmentOf(whole, 2), { head: 2 })
  assert.equal(check([drop, ...dropRows(whole, 2)], ahead), null)
  assert.match(ahead.checked.remarks.join(), /2027-11-15.*segment 3.*dropped too early/)
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

const REVOKED_AT = '2026-11-16T00:00:00.000Z'
const newer = generateKeyPairSync('ed25519')
/** k1 was revoked; another key signs since. */
const AFTER_REVOCATION = readSealKeys({
  keys: [{ ...newer.publicKey.export({ format: 'jwk' }), kid: 'k2' }],
  revoked: [{ kid: 'k1', revokedAt: REVOKED_AT }],
})

/** As in an export, and one more segment that the newer key has signed. */
function withNewer(lines: readonly Line[], change: Partial<ListedSegment> = {}): Line[] {
  const last = lines.findLast((line) => 'segment' in line) as ListedSegment
  const rows = [makeRow((last.segment + 1) * 100)]
  const { jws: _, ...made } = makeSegment(last.segment + 1, last.digest, rows)
  const segment = { ...made, ...change }
  return [
    ...lines,
    ...rows,
    { ...segment, jws: signJws(toClaims(segment), newer.privateKey, 'k2') },
  ]
}

const foundAfter = (lines: readonly Line[]) => {
  const checker = new AuditChecker(AFTER_REVOCATION)
  const finding = check(lines, checker)
  return { finding, remarks: checker.checked.remarks }
}

test('regression: after a revocation the next segment of another key proves the chain, and that is said', () => {
  const { finding, remarks } = foundAfter(withNewer(makeExport(3, 1, 4)))
  assert.equal(finding, null)
  assert.equal(remarks.length, 1)
  assert.match(
    remarks[0] ?? '',
    /^Segments 1 to 3 are signed by a key that was revoked: k1, at 2026-11-16.* proven by segment 4/,
  )
})

test('segments of a revoked key that nothing follows are a finding, unless a head was kept', () => {
  const whole = makeExport(3, 1)
  const { finding } = foundAfter(whole)
  assert.deepEqual([finding?.code, finding?.segment], ['key-revoked', 1])
  assert.match(finding?.detail ?? '', /k1, which was revoked at 2026-11-16/)
  const last = whole.at(-1) as ListedSegment
  assert.equal(check(whole, new AuditChecker(AFTER_REVOCATION, [last])), null)
  const [first] = whole.filter((line) => 'segment' in line) as ListedSegment[]
  const half = check(whole, new AuditChecker(AFTER_REVOCATION, [first as ListedSegment]))
  assert.deepEqual([half?.code, half?.segment], ['key-revoked', 2])
})

test('who holds a revoked key changes nothing that another key has continued', () => {
  const whole = makeExport(3, 2)
  // Row 201 is altered, and its segment made again with the key that leaked.
  const [kept, rows] = [whole.slice(0, 4), whole.slice(4, 6) as SealedRow[]]
  const altered = rows.map((row, at) => (at === 1 ? { ...row, object: 'client:other' } : row))
  const first = kept[3] as ListedSegment
  const forged = makeSegment(2, first.digest, altered)
  const honest = withNewer(whole).slice(-2)
  const { finding } = foundAfter([...kept, ...altered, forged, ...honest])
  assert.deepEqual([finding?.code, finding?.segment], ['segment-changed', 3])
  // Nor by a signature that is none: the chain decides.
  const unsigned = whole.map((line) =>
    'segment' in line ? { ...line, jws: line.jws.replace(/.{20}$/, 'A'.repeat(20)) } : line,
  )
  assert.equal(foundAfter(withNewer(unsigned)).finding, null)
  // A key that was never there is no revoked one.
  const stranger = whole.map((line) =>
    'segment' in line ? { ...line, jws: signJws(toClaims(line), privateKey, 'k9') } : line,
  )
  assert.equal(foundAfter(withNewer(stranger)).finding?.code, 'key-unknown')
})

test('the chain proves no rows before a segment of a revoked key whose own are all gone', () => {
  const whole = makeExport(2, 2)
  const [first, second] = whole.filter((line) => 'segment' in line) as ListedSegment[]
  const claims = {
    through: 2,
    digest: second?.digest,
    sealedAt: SEALED_AT,
    head: 2,
    retentionDays: 30,
  }
  const drop = { ...claims, droppedAt: '2027-01-15T03:25:00.000Z' }
  const signed = signJws(drop, newer.privateKey, 'k2', DROP_TYPE)
  const { rows: _, ...gone } = second as ListedSegment
  const { rows: __, ...alsoGone } = first as ListedSegment
  const after = withNewer(whole).slice(-2)
  const { finding } = foundAfter([{ drop: signed }, ...whole.slice(0, 3), gone, ...after])
  assert.deepEqual([finding?.code, finding?.segment], ['key-revoked', 1])
  // Where those before it are gone, too, nothing is claimed of them.
  assert.equal(foundAfter([{ drop: signed }, alsoGone, gone, ...after]).finding, null)
  const late = foundAfter([{ drop: signJws(drop, privateKey, 'k1', DROP_TYPE) }, alsoGone])
  assert.match(late.finding?.detail ?? '', /A drop is signed by the key k1, which was revoked/)
})
