// Everything that was tried on an export of the audit with a text editor, a key of one's own and other signed words of the
// service, and what a check has to say of it. One table for our own command and for the Python of docs/audit.md.
// biome-ignore-all lint/style/noExcessiveLinesPerFile: it is one list.

import { createHash, generateKeyPairSync } from 'node:crypto'
import { toCanonicalJson } from '../../server/core/plain/canonical-json.ts'
import type { FindingCode, Verdict } from '../../server/core/proofs/audit-finding.ts'
import {
  digestRows,
  digestSegment,
  type ListedSegment,
  type SealedRow,
  toClaims,
} from '../../server/core/proofs/audit-seal.ts'
import { signJws } from '../../server/operations/access/sign-jws.ts'

/** An export of five segments with three rows each, whose objects end in !, and what the service has signed besides. */
export interface ExportedAudit {
  lines: readonly string[]
  /** Under the service's own key. */
  sign(typ: string, claims: object): Promise<string>
  kid: string
}

type Head = Pick<ListedSegment, 'segment' | 'digest'>

export interface Forgery {
  name: string
  verdict: Verdict
  code?: FindingCode
  /** Of the file. */
  forge(audit: ExportedAudit): string | Promise<string>
  /** The head that was kept; the last segment's, unless it says otherwise. */
  head?(audit: ExportedAudit): Head | null
  /** Only signatures tell, which the Python of the guide leaves to a library. */
  needsSignature?: true
}

type Item = Record<string, unknown>

const SEGMENTS = 5
const ROWS = 3
const PER_SEGMENT = ROWS + 1

const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
const rowAt = (segment: number, row = 1) => (segment - 1) * PER_SEGMENT + row
const segmentAt = (segment: number) => segment * PER_SEGMENT - 1
const parse = (line: string | undefined) => JSON.parse(line ?? '') as Item
const segmentOf = ({ lines }: ExportedAudit, number: number) =>
  parse(lines[segmentAt(number)]) as unknown as ListedSegment
const isSegment = (line: string) => 'segment' in parse(line)
/** The lines of the first segments, with their rows. */
const through = ({ lines }: ExportedAudit, segment: number) =>
  lines.slice(0, segmentAt(segment) + 1)

/** One line, as an object. */
const edit = (at: number, change: (item: Item) => Item) => (audit: ExportedAudit) =>
  text(audit.lines.with(at, toCanonicalJson(change(parse(audit.lines[at])))))
/** One line, as text. */
const respell = (at: number, change: (line: string) => string) => (audit: ExportedAudit) =>
  text(audit.lines.with(at, change(audit.lines[at] ?? '')))
const splice =
  (at: number, count: number, ...added: (string | ((lines: readonly string[]) => string))[]) =>
  ({ lines }: ExportedAudit) =>
    text(
      lines.toSpliced(
        at,
        count,
        ...added.map((add) => (typeof add === 'string' ? add : add(lines))),
      ),
    )
const without = (name: string) => (item: Item) => {
  const { [name]: _, ...rest } = item
  return rest
}
/** Each line of a kind. */
const editAll = (
  { lines }: ExportedAudit,
  rows: (row: Item) => Item | null,
  segments: (segment: Item) => Item,
) =>
  lines.flatMap((line) => {
    const item = isSegment(line) ? segments(parse(line)) : rows(parse(line))
    return item === null ? [] : [toCanonicalJson(item)]
  })
const asMallory = (row: Item) => ({ ...row, actor: 'mallory' })
const same = (item: Item) => item

const own = generateKeyPairSync('ed25519')
const ownJwk = own.publicKey.export({ format: 'jwk' })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The second segment with another signature. */
const resign =
  (jws: (segment: ListedSegment, audit: ExportedAudit) => string | Promise<string>) =>
  async (audit: ExportedAudit) => {
    const segment = segmentOf(audit, 2)
    return edit(segmentAt(2), (item) => ({ ...item, jws: '' }))({
      ...audit,
      lines: audit.lines,
    }).replace('"jws":""', `"jws":${JSON.stringify(await jws(segment, audit))}`)
  }

/** Everything again from the second segment on, with other rows, under a key of one's own. */
function remake(audit: ExportedAudit, kid: string): string {
  const made = through(audit, 1)
  let previous = segmentOf(audit, 1).digest
  for (let number = 2; number <= SEGMENTS; number++) {
    const rows = audit.lines
      .slice(rowAt(number, 0), segmentAt(number))
      .map((line) => asMallory(parse(line)))
    const digests = digestRows(rows as unknown as SealedRow[])
    const header = { ...segmentOf(audit, number), previous }
    const claims = toClaims({ ...header, digest: digestSegment(digests, header) })
    const jws = signJws({ kid, key: own.privateKey }, 'paybell-audit-seal+jws', claims)
    made.push(...rows.map(toCanonicalJson))
    made.push(toCanonicalJson({ ...claims, jws, rows: digests.toString('base64url') }))
    previous = claims.digest
  }
  return text(made)
}

const DAY_MS = 86_400_000
const DROP_TYPE = 'paybell-audit-drop+jws'

/** A drop through a segment, as the service signs it, or with other claims, or of another kind. */
async function dropLine(audit: ExportedAudit, number: number, claims: Item = {}, typ = DROP_TYPE) {
  const { segment, digest, sealedAt } = segmentOf(audit, number)
  const droppedAt = new Date(Date.parse(sealedAt) + 40 * DAY_MS).toISOString()
  const drop = { through: segment, digest, sealedAt, head: SEGMENTS, retentionDays: 40, droppedAt }
  return toCanonicalJson({ drop: await audit.sign(typ, { ...drop, ...claims }) })
}

/** Without rows and lists of the first segments. */
const dropped = (audit: ExportedAudit, number: number) => [
  ...through(audit, number)
    .filter(isSegment)
    .map((line) => toCanonicalJson(without('rows')(parse(line)))),
  ...audit.lines.slice(segmentAt(number) + 1),
]
const underDrop =
  (number: number, drop: (audit: ExportedAudit) => string | Promise<string>, cut = number) =>
  async (audit: ExportedAudit) =>
    text([await drop(audit), ...dropped(audit, cut)])

const invalid = (code: FindingCode, name: string, forge: Forgery['forge']): Forgery => ({
  ...{ verdict: 'invalid', code, name, forge },
})
const good = (verdict: Verdict, name: string, forge: Forgery['forge']): Forgery => ({
  verdict,
  name,
  forge,
})
const signed = (code: FindingCode, name: string, forge: Forgery['forge']): Forgery => ({
  ...invalid(code, name, forge),
  needsSignature: true,
})
const headed = (forgery: Forgery, head: NonNullable<Forgery['head']>): Forgery => ({
  ...forgery,
  head,
})
const WRONG = createHash('sha256').update('another').digest('hex')
const fromThird = (audit: ExportedAudit) => text(audit.lines.slice(rowAt(3, 0)))

export const FORGERIES: readonly Forgery[] = [
  good('valid', 'an export as it was made', ({ lines }) => text(lines)),
  good('valid', 'an export that begins later', fromThird),
  good('valid', 'segments without their lists of rows', (audit) =>
    text(editAll(audit, same, without('rows'))),
  ),
  headed(good('valid', 'an export that begins right after the head', fromThird), (audit) =>
    segmentOf(audit, 2),
  ),
  headed(
    good('valid', 'an export that ends early, with a head of its time', (audit) =>
      text(through(audit, 3)),
    ),
    (audit) => segmentOf(audit, 2),
  ),

  // Rows.
  ...['actor', 'action', 'object', 'at', 'id', 'requestId', 'position'].map((name) =>
    invalid(
      'row-changed',
      `a row with another ${name}`,
      edit(rowAt(2), (row) => ({ ...row, [name]: `${row[name]}0` })),
    ),
  ),
  invalid(
    'row-changed',
    'a row with other changes',
    edit(rowAt(2), (row) => ({ ...row, changes: [] })),
  ),
  invalid('row-changed', 'a row without its changes', edit(rowAt(2), without('changes'))),
  invalid('row-removed', 'a row deleted', splice(rowAt(2), 1)),
  invalid('row-removed', 'the first row of a segment deleted', splice(rowAt(2, 0), 1)),
  invalid('rows-cut-off', 'the last row of a segment deleted', splice(rowAt(2, 2), 1)),
  invalid('rows-cut-off', 'all rows of a segment deleted', splice(rowAt(2, 0), ROWS)),
  invalid(
    'row-added',
    'a row twice',
    splice(rowAt(2), 0, (lines) => lines[rowAt(2)] ?? ''),
  ),
  invalid(
    'row-added',
    'a row of another segment added',
    splice(rowAt(2), 0, (lines) => lines[rowAt(4)] ?? ''),
  ),
  invalid('row-moved', 'two rows swapped', ({ lines }) =>
    text(lines.with(rowAt(2), lines[rowAt(2, 2)] ?? '').with(rowAt(2, 2), lines[rowAt(2)] ?? '')),
  ),
  invalid('rows-cut-off', 'a row moved into the next segment', ({ lines }) =>
    text(
      lines
        .toSpliced(segmentAt(2), 1, ...[lines[segmentAt(2)] ?? ''])
        .toSpliced(rowAt(2, 2), 2, lines[segmentAt(2)] ?? '', lines[rowAt(2, 2)] ?? ''),
    ),
  ),
  invalid('row-added', 'a row after the last segment', ({ lines }) =>
    text([...lines, lines[rowAt(5)] ?? '']),
  ),
  invalid('row-added', 'rows of a segment whose line is gone, at the end', ({ lines }) =>
    text(lines.slice(0, -1)),
  ),
  invalid('row-added', 'nothing but rows', ({ lines }) =>
    text(lines.filter((line) => !isSegment(line))),
  ),

  // Rows together with the list, or without it.
  invalid('segment-changed', 'a row altered, its list left out', (audit) =>
    text(editAll(audit, asMallory, without('rows'))),
  ),
  invalid('rows-cut-off', 'all rows deleted, and all lists', (audit) =>
    text(editAll(audit, () => null, without('rows'))),
  ),
  invalid('rows-cut-off', 'the rows of the first segment deleted, and its list', (audit) =>
    text(dropped(audit, 1)),
  ),
  invalid(
    'segment-changed',
    'rows altered, lists left out, and a row that declares a drop',
    (audit) => {
      const drop = { action: 'audit.drop', actor: 'paybell', object: `segments:1-${SEGMENTS}` }
      return text(editAll(audit, (row) => ({ ...row, ...drop }), without('rows')))
    },
  ),
  invalid('segment-changed', 'a row altered, and the list with it', (audit) => {
    const rows = audit.lines.slice(rowAt(2, 0), segmentAt(2)).map((line) => asMallory(parse(line)))
    const list = digestRows(rows as unknown as SealedRow[]).toString('base64url')
    const segment = toCanonicalJson({ ...segmentOf(audit, 2), rows: list })
    return text(
      audit.lines.toSpliced(rowAt(2, 0), PER_SEGMENT, ...rows.map(toCanonicalJson), segment),
    )
  }),
  invalid(
    'segment-changed',
    'a list with padding',
    edit(segmentAt(2), (item) => ({ ...item, rows: `${item.rows}=` })),
  ),
  invalid(
    'segment-changed',
    'an empty list',
    edit(segmentAt(2), (item) => ({ ...item, rows: '' })),
  ),
  invalid(
    'line-changed',
    'a list that is null',
    edit(segmentAt(2), (item) => ({ ...item, rows: null })),
  ),

  // Segments.
  ...['from', 'sealedAt', 'previous', 'digest', 'to'].map((name) =>
    invalid(
      'segment-changed',
      `a segment with another ${name}`,
      edit(segmentAt(2), (item) => ({ ...item, [name]: `${item[name]}0` })),
    ),
  ),
  invalid(
    'segment-changed',
    'a segment with another count',
    edit(segmentAt(2), (item) => ({ ...item, count: 4 })),
  ),
  invalid(
    'segment-removed',
    'a segment with another number',
    edit(segmentAt(2), (item) => ({ ...item, segment: 3 })),
  ),
  invalid('segment-removed', 'a segment’s line deleted', splice(segmentAt(2), 1)),
  invalid('segment-removed', 'a segment deleted, with its rows', splice(rowAt(2, 0), PER_SEGMENT)),
  invalid('segment-removed', 'a segment twice', ({ lines }) =>
    text(lines.toSpliced(rowAt(3, 0), 0, ...lines.slice(rowAt(2, 0), rowAt(3, 0)))),
  ),
  invalid('segment-removed', 'two segments swapped', ({ lines }) =>
    text([...lines.slice(0, 4), ...lines.slice(8, 12), ...lines.slice(4, 8), ...lines.slice(12)]),
  ),
  invalid('head-missing', 'the end cut off', (audit) => text(through(audit, 4))),
  invalid('line-changed', 'a line cut off in the middle', ({ lines }) => text(lines).slice(0, -40)),
  invalid('head-missing', 'an empty file', () => ''),
  headed(
    invalid('nothing-sealed', 'an empty file, and no head', () => ''),
    () => null,
  ),

  // Heads.
  headed(
    invalid('segment-changed', 'another head', ({ lines }) => text(lines)),
    () => ({ segment: 3, digest: WRONG }),
  ),
  headed(
    invalid('segment-changed', 'another head right before the first segment', fromThird),
    () => ({ segment: 2, digest: WRONG }),
  ),
  headed(invalid('head-missing', 'another head long before the first segment', fromThird), () => ({
    segment: 1,
    digest: WRONG,
  })),
  headed(
    invalid('head-missing', 'a head that the file cannot be held against', fromThird),
    (audit) => segmentOf(audit, 1),
  ),

  // Signatures.
  signed(
    'signature-invalid',
    'no algorithm',
    resign(
      (segment) =>
        `${encode({ alg: 'none', typ: 'paybell-audit-seal+jws', kid: 'x' })}.${encode(toClaims(segment))}.`,
    ),
  ),
  signed(
    'key-unknown',
    'a key in the header',
    resign((segment) => {
      const header = { alg: 'EdDSA', typ: 'paybell-audit-seal+jws', kid: 'mine', jwk: ownJwk }
      const whole = signJws(
        { kid: 'mine', key: own.privateKey },
        'paybell-audit-seal+jws',
        toClaims(segment),
      )
      return [encode(header), ...whole.split('.').slice(1)].join('.')
    }),
  ),
  ...['../../../etc/passwd', '__proto__', 'constructor', ''].map((kid) =>
    signed(
      'key-unknown',
      `the key ${kid || 'without a name'}`,
      resign((segment) =>
        signJws({ kid, key: own.privateKey }, 'paybell-audit-seal+jws', toClaims(segment)),
      ),
    ),
  ),
  signed(
    'signature-invalid',
    'signed by another, in the name of the key',
    resign((segment, { kid }) =>
      signJws({ kid, key: own.privateKey }, 'paybell-audit-seal+jws', toClaims(segment)),
    ),
  ),
  ...['paybell-receipt+jws', DROP_TYPE, 'at+jwt', 'PAYBELL-AUDIT-SEAL+JWS'].map((typ) =>
    signed(
      'signature-invalid',
      `signed by the service, as ${typ}`,
      resign((segment, audit) => audit.sign(typ, toClaims(segment))),
    ),
  ),
  invalid(
    'segment-changed',
    'the signature of another segment',
    resign((_, audit) => segmentOf(audit, 3).jws),
  ),
  signed(
    'signature-invalid',
    'a signature with padding',
    resign(({ jws }) => `${jws}==`),
  ),
  signed(
    'signature-invalid',
    'a signature with a fourth part',
    resign(({ jws }) => `${jws}.x`),
  ),
  signed(
    'signature-invalid',
    'a signature in another spelling',
    resign(({ jws }) => respellLast(jws)),
  ),
  signed('signature-invalid', 'everything made again in the name of the key', (audit) =>
    remake(audit, audit.kid),
  ),
  headed(
    signed('key-unknown', 'everything made again with a key of one’s own', (audit) =>
      remake(audit, 'mine'),
    ),
    () => null,
  ),

  // Spellings.
  invalid(
    'line-changed',
    'a member of a row twice',
    respell(rowAt(2), (line) => line.replace('"actor":', '"actor":"mallory","actor":')),
  ),
  invalid(
    'line-changed',
    'a member of changes twice',
    respell(rowAt(2), (line) => line.replace('"field":', '"field":"mallory","field":')),
  ),
  invalid(
    'line-changed',
    'a member of a segment twice',
    respell(segmentAt(2), (line) => line.replace('"count":3', '"count":3,"count":3')),
  ),
  invalid(
    'line-changed',
    'a segment with a member more',
    edit(segmentAt(2), (item) => ({ ...item, note: 'x' })),
  ),
  invalid(
    'line-changed',
    'a row with a member more',
    edit(rowAt(2), (item) => ({ ...item, note: 'x' })),
  ),
  invalid(
    'line-changed',
    'a row that is a segment, too',
    edit(rowAt(2), (item) => ({ ...item, segment: 1 })),
  ),
  invalid(
    'line-changed',
    'a row in another spelling',
    respell(rowAt(2), (line) => line.replace('"operator"', '"\\u006fperator"')),
  ),
  invalid(
    'line-changed',
    'a row with white space',
    respell(rowAt(2), (line) => line.replace(':', ': ')),
  ),
  invalid('line-changed', 'a line that is no object', splice(rowAt(2), 0, '[]')),
  invalid('line-changed', 'a line that is empty', splice(rowAt(2), 0, '')),
  invalid('line-changed', 'lines of another system', ({ lines }) =>
    text(lines).replaceAll('\n', '\r\n'),
  ),

  // Drops.
  good(
    'partial',
    'rows that the service has dropped',
    underDrop(2, (audit) => dropLine(audit, 2)),
  ),
  good('valid', 'a drop whose rows are still there', async (audit) =>
    text([await dropLine(audit, 2), ...audit.lines]),
  ),
  good('partial', 'rows that are left of a segment, with its list', async (audit) =>
    text([await dropLine(audit, 1), ...audit.lines.toSpliced(0, 2)]),
  ),
  invalid('row-changed', 'a row altered of what is left of a segment', async (audit) =>
    text([
      await dropLine(audit, 1),
      toCanonicalJson(asMallory(parse(audit.lines[2]))),
      ...audit.lines.slice(3),
    ]),
  ),
  invalid('row-added', 'rows where all were dropped', async (audit) =>
    text([await dropLine(audit, 2), audit.lines[0] ?? '', ...dropped(audit, 2)]),
  ),
  invalid('row-changed', 'a row altered that a drop covers', async (audit) =>
    text([
      await dropLine(audit, 2),
      ...audit.lines.with(1, toCanonicalJson(asMallory(parse(audit.lines[1])))),
    ]),
  ),
  invalid(
    'rows-cut-off',
    'younger rows deleted under a drop',
    underDrop(2, (audit) => dropLine(audit, 2), 3),
  ),
  invalid(
    'drop-invalid',
    'a drop of another chain',
    underDrop(2, (audit) => dropLine(audit, 2, { digest: WRONG })),
  ),
  invalid(
    'drop-invalid',
    'a drop through a segment that is not there',
    underDrop(2, (audit) => dropLine(audit, 2, { through: 9 })),
  ),
  invalid(
    'drop-invalid',
    'a drop before the least retention',
    underDrop(2, (audit) => dropLine(audit, 2, { retentionDays: 29 })),
  ),
  invalid(
    'drop-invalid',
    'a drop before its own retention',
    underDrop(2, (audit) => dropLine(audit, 2, { retentionDays: 41 })),
  ),
  signed(
    'drop-invalid',
    'a seal for a drop',
    underDrop(2, (audit) => dropLine(audit, 2, {}, 'paybell-audit-seal+jws')),
  ),
  signed(
    'drop-invalid',
    'a drop signed by another',
    underDrop(2, (audit) =>
      dropLine(
        {
          ...audit,
          sign: async (typ, claims) =>
            signJws({ kid: audit.kid, key: own.privateKey }, typ, claims),
        },
        2,
      ),
    ),
  ),
  invalid('drop-invalid', 'a drop after its segment', async (audit) =>
    text([...audit.lines, await dropLine(audit, 2)]),
  ),
  invalid(
    'line-changed',
    'a drop with a member more',
    underDrop(2, async (audit) => (await dropLine(audit, 2)).replace('{', '{"a":1,')),
  ),
]

/** The last character of an Ed25519 signature has two bits that no decoder reads. */
function respellLast(jws: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const at = letters.indexOf(jws.at(-1) ?? '')
  return `${jws.slice(0, -1)}${letters[at ^ 1]}`
}
