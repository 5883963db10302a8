// An adversary with the rights of the database's owner and without the master key, who takes the guards away: whatever is
// altered after it was sealed is found, and the first row is named. docs/audit.md shows the most telling of this table.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import type { Pool } from 'pg'
import { AuditChecker } from '../../server/core/proofs/audit-check.ts'
import type { Finding, FindingCode } from '../../server/core/proofs/audit-finding.ts'
import {
  DROP_TYPE,
  digestRows,
  digestSegment,
  type ListedSegment,
  SEAL_TYPE,
  type SealedRow,
  toClaims,
} from '../../server/core/proofs/audit-seal.ts'
import { signJws } from '../../server/operations/access/sign-jws.ts'
import {
  readSealedAudit,
  type SegmentWithRows,
} from '../../server/operations/proofs/sealed-audit.ts'
import {
  checkDatabaseAudit,
  readDatabaseSealKeys,
  verifyAudit,
} from '../../server/operations/proofs/verify-audit.ts'
import { asOwner, type SealedAudit, signDrop, startSealedAudit } from '../support/sealed-audit.ts'

interface World {
  sealed: SealedAudit
  pool: Pool
  /** The rows of the second of three segments, in order. */
  rows: readonly SealedRow[]
  segments: readonly ListedSegment[]
}

interface Attack {
  name: string
  /** docs/audit.md has it. */
  isShown?: true
  act(world: World): Promise<unknown>
  finding: FindingCode
  segment: number
  /** Which row of the second segment is named. */
  row: number | null
  /** The id that is named, where it is none of those. */
  named?: string
  /** Found only with a head that was kept elsewhere. */
  needs?: 'head'
}

const ROWS = 4
const NEW_ID = randomUUID()

const rowOf = ({ rows }: World, at: number) => rows[at] as SealedRow
const segmentOf = ({ segments }: World, number: number) => segments[number - 1] as ListedSegment
const insertLike = (row: SealedRow, place: string) =>
  `insert into audit (id, at, actor, action, object, request_id, place)
   select '${NEW_ID}', at, actor, action, object, request_id, ${place} from audit
   where id = '${row.id}'`

/** By a key of the adversary's own. */
function signAlone(claims: object, typ: string, kid: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const jws = signJws({ kid, key: privateKey }, typ, claims)
  return { jws, jwk: { ...publicKey.export({ format: 'jwk' }), kid } }
}

/** Puts it among those of the service. */
function addKey({ pool }: World, jwk: object): Promise<unknown> {
  return asOwner(
    pool,
    `insert into webhook_keys (kid, public_jwk, private_key, created_at)
     select 'forged', '${JSON.stringify(jwk)}', private_key, created_at from webhook_keys limit 1`,
  )
}

/** Deletes the rows of the first segments, so that it looks like retention. */
function cutRows(world: World, through: number, drop?: string): Promise<void> {
  return asOwner(
    world.pool,
    `delete from audit where place < ${segmentOf(world, through).to}`,
    `update audit_segments set row_digests = null where segment <= ${through}`,
    ...(drop ? [`insert into audit_drops values (${through}, '${drop}')`] : []),
  )
}

const ATTACKS: readonly Attack[] = [
  {
    name: 'alters a row',
    isShown: true,
    act: (world) =>
      asOwner(world.pool, `update audit set actor = 'another' where id = '${rowOf(world, 1).id}'`),
    ...{ finding: 'row-changed', segment: 2, row: 1 },
  },
  {
    name: 'alters what a row says was changed',
    isShown: true,
    act: (world) =>
      asOwner(world.pool, `update audit set changes = '[]' where id = '${rowOf(world, 2).id}'`),
    ...{ finding: 'row-changed', segment: 2, row: 2 },
  },
  {
    name: 'deletes a row',
    isShown: true,
    act: (world) => asOwner(world.pool, `delete from audit where id = '${rowOf(world, 1).id}'`),
    ...{ finding: 'row-removed', segment: 2, row: 0 },
  },
  {
    name: 'deletes the last row of a segment',
    isShown: true,
    act: (world) =>
      asOwner(world.pool, `delete from audit where id = '${rowOf(world, ROWS - 1).id}'`),
    ...{ finding: 'rows-cut-off', segment: 2, row: ROWS - 2 },
  },
  {
    name: 'inserts a row among others',
    isShown: true,
    act: (world) => asOwner(world.pool, insertLike(rowOf(world, 1), 'place')),
    ...{ finding: 'row-added', segment: 2, row: null },
  },
  {
    name: 'inserts a row before all others',
    isShown: true,
    act: (world) => asOwner(world.pool, insertLike(rowOf(world, 1), '0')),
    ...{ finding: 'row-added', segment: 1, row: null },
  },
  {
    name: 'inserts a row where it will never be sealed',
    isShown: true,
    act: (world) => asOwner(world.pool, insertLike(rowOf(world, 1), 'place + 1000000000')),
    ...{ finding: 'row-added', segment: 3, row: null },
  },
  {
    name: 'swaps two rows',
    isShown: true,
    act: (world) => {
      const [one, other] = [rowOf(world, 1), rowOf(world, 2)]
      return asOwner(
        world.pool,
        `update audit set place = case id when '${one.id}' then ${other.position}
           else ${one.position} end where id in ('${one.id}', '${other.id}')`,
      )
    },
    ...{ finding: 'row-changed', segment: 2, row: 2 },
  },
  {
    name: 'cuts the tail: the rows of the last segment',
    isShown: true,
    act: (world) =>
      asOwner(world.pool, `delete from audit where place >= ${segmentOf(world, 3).from}`),
    ...{ finding: 'rows-cut-off', segment: 3, row: null },
  },
  {
    name: 'cuts the tail: rows and segment',
    isShown: true,
    act: (world) =>
      asOwner(
        world.pool,
        `delete from audit where place >= ${segmentOf(world, 3).from}`,
        'delete from audit_segments where segment = 3',
      ),
    ...{ finding: 'head-missing', segment: 3, row: null, needs: 'head' },
  },
  {
    name: 'removes a segment from the middle, with its rows',
    isShown: true,
    act: (world) =>
      asOwner(
        world.pool,
        `delete from audit where place >= ${segmentOf(world, 2).from} and place < ${segmentOf(world, 2).to}`,
        'delete from audit_segments where segment = 2',
      ),
    ...{ finding: 'segment-removed', segment: 2, row: null },
  },
  {
    name: 'removes the first segment, with its rows',
    isShown: true,
    act: (world) =>
      asOwner(
        world.pool,
        `delete from audit where place < ${segmentOf(world, 1).to}`,
        'delete from audit_segments where segment = 1',
      ),
    ...{ finding: 'segment-removed', segment: 1, row: null },
  },
  {
    name: 'deletes old rows and makes it look like retention',
    isShown: true,
    act: (world) =>
      asOwner(
        world.pool,
        `delete from audit where place < ${segmentOf(world, 1).to}`,
        'update audit_segments set row_digests = null where segment = 1',
      ),
    ...{ finding: 'rows-cut-off', segment: 1, row: null },
  },
  {
    name: 'alters a row and the segment’s list of rows',
    isShown: true,
    act: (world) => {
      const rows = world.rows.with(1, { ...rowOf(world, 1), actor: 'another' })
      const digests = digestRows(rows).toString('hex')
      return asOwner(
        world.pool,
        `update audit set actor = 'another' where id = '${rowOf(world, 1).id}'`,
        `update audit_segments set row_digests = '\\x${digests}' where segment = 2`,
      )
    },
    ...{ finding: 'segment-changed', segment: 2, row: 0 },
  },
  {
    name: 'replaces a segment with one of other rows, unsigned',
    isShown: true,
    act: (world) => replaceSegment(world, false),
    ...{ finding: 'signature-invalid', segment: 2, row: null },
  },
  {
    name: 'replaces a segment, and adds a key of its own to the database',
    isShown: true,
    act: (world) => replaceSegment(world, true),
    ...{ finding: 'key-unknown', segment: 2, row: null },
  },
  {
    name: 'inserts a row at a negative position',
    isShown: true,
    act: (world) => asOwner(world.pool, insertLike(rowOf(world, 1), '-1')),
    ...{ finding: 'row-added', segment: 1, row: null },
  },
  {
    name: 'deletes rows, and adds a row that says that retention dropped them',
    isShown: true,
    act: async (world) => {
      await world.pool.query(
        `insert into audit (id, at, actor, action, object, request_id)
         values (gen_random_uuid(), now(), 'paybell', 'audit.drop', 'segments:1-2', gen_random_uuid())`,
      )
      await world.sealed.seal()
      await cutRows(world, 2)
    },
    ...{ finding: 'rows-cut-off', segment: 1, row: null },
  },
  {
    name: 'deletes rows, and adds such a row that is not sealed yet',
    act: async (world) => {
      await world.pool.query(
        `insert into audit (id, at, actor, action, object, request_id)
         values (gen_random_uuid(), now(), 'paybell', 'audit.drop', 'segments:1-2', gen_random_uuid())`,
      )
      await cutRows(world, 2)
    },
    ...{ finding: 'rows-cut-off', segment: 1, row: null },
  },
  {
    name: 'deletes rows, and adds a drop of its own, signed by a key of its own',
    isShown: true,
    act: async (world) => {
      const { segment: through, digest, sealedAt } = segmentOf(world, 2)
      const droppedAt = new Date(Date.parse(sealedAt) + 40 * 86_400_000).toISOString()
      const claims = { through, digest, sealedAt, head: 3, retentionDays: 30, droppedAt }
      const { jws, jwk } = signAlone(claims, DROP_TYPE, 'forged')
      await cutRows(world, 2, jws)
      await addKey(world, jwk)
    },
    ...{ finding: 'drop-invalid', segment: 1, row: null },
  },
  {
    name: 'deletes rows, and passes a seal off as a drop',
    act: (world) => cutRows(world, 2, segmentOf(world, 2).jws),
    ...{ finding: 'drop-invalid', segment: 1, row: null },
  },
  {
    name: 'deletes younger rows under a drop of older ones',
    isShown: true,
    act: async (world) => cutRows(world, 2, await signDrop(world.sealed, segmentOf(world, 1))),
    ...{ finding: 'rows-cut-off', segment: 2, row: null },
  },
  {
    name: 'deletes rows under a drop of another chain',
    act: async (world) => {
      const other = { ...segmentOf(world, 2), digest: 'ab'.repeat(32) }
      await cutRows(world, 2, await signDrop(world.sealed, other))
    },
    ...{ finding: 'drop-invalid', segment: 2, row: null },
  },
  {
    name: 'removes the drop of rows that retention has dropped',
    act: async (world) => {
      await cutRows(world, 2, await signDrop(world.sealed, segmentOf(world, 2)))
      await world.pool.query('delete from audit_drops')
    },
    ...{ finding: 'rows-cut-off', segment: 1, row: null },
  },
  {
    name: 'puts a row where retention has dropped all',
    act: async (world) => {
      await cutRows(world, 2, await signDrop(world.sealed, segmentOf(world, 2)))
      const { from } = segmentOf(world, 1)
      await asOwner(
        world.pool,
        `insert into audit (id, at, actor, action, object, request_id, place)
         select '${NEW_ID}', at, actor, action, object, request_id, ${from} from audit limit 1`,
      )
    },
    ...{ finding: 'row-added', segment: 1, row: null },
  },
  {
    name: 'alters a row and removes the segment’s list of rows',
    isShown: true,
    act: (world) =>
      asOwner(
        world.pool,
        `update audit set actor = 'another' where id = '${rowOf(world, 1).id}'`,
        'update audit_segments set row_digests = null',
      ),
    ...{ finding: 'segment-changed', segment: 2, row: 0 },
  },
  {
    name: 'moves a row into the next segment',
    act: (world) =>
      asOwner(
        world.pool,
        `update audit set place = ${segmentOf(world, 3).from} where id = '${rowOf(world, 1).id}'`,
      ),
    ...{ finding: 'row-removed', segment: 2, row: 0 },
  },
  {
    name: 'removes the first segment and numbers the others again',
    act: (world) =>
      asOwner(
        world.pool,
        `delete from audit where place < ${segmentOf(world, 1).to}`,
        'delete from audit_segments where segment = 1',
        'update audit_segments set segment = segment - 1 where segment = 2',
        'update audit_segments set segment = segment - 1 where segment = 3',
      ),
    ...{ finding: 'segment-changed', segment: 1, row: null },
  },
  {
    name: 'removes everything',
    act: (world) => asOwner(world.pool, 'truncate audit, audit_segments'),
    ...{ finding: 'head-missing', segment: 3, row: null, needs: 'head' },
  },
  {
    name: 'swaps the signatures of two segments',
    act: (world) =>
      asOwner(
        world.pool,
        `update audit_segments set jws = '${segmentOf(world, 2).jws}' where segment = 1`,
      ),
    ...{ finding: 'segment-changed', segment: 1, row: null },
  },
  ...Object.entries({
    id: `'${NEW_ID}'`,
    at: `at + interval '1 millisecond'`,
    'at by a microsecond': `at + interval '1 microsecond'`,
    action: `'client.delete'`,
    object: `object || ' '`,
    request_id: 'gen_random_uuid()',
    'changes, with a member twice': `replace(changes, '"field":', '"field":"x","field":')`,
    'changes, in another spelling': `replace(changes, ',', ', ')`,
    'changes, to what is no JSON': `changes || '!'`,
  }).map(
    ([what, value]): Attack => ({
      name: `alters of a row: ${what}`,
      act: (world) => {
        const column = what.split(/[ ,]/)[0]
        const sql = `update audit set ${column} = ${value} where id = '${rowOf(world, ROWS - 1).id}'`
        return asOwner(world.pool, sql)
      },
      ...{ finding: 'row-changed', segment: 2, row: what === 'id' ? null : ROWS - 1 },
      ...(what === 'id' ? { named: NEW_ID } : {}),
    }),
  ),
  ...Object.entries({
    sealed_at: `sealed_at + interval '1 second'`,
    count: 'count + 1',
    digest: `'\\x${'ab'.repeat(32)}'`,
    previous: `'\\x${'ab'.repeat(32)}'`,
    from_place: 'from_place - 1',
    to_place: 'to_place + 1',
  }).map(
    ([column, value]): Attack => ({
      name: `alters of a segment: ${column}`,
      act: (world) =>
        asOwner(
          world.pool,
          'alter table audit_segments drop constraint each_row_has_a_digest',
          `update audit_segments set ${column} = ${value} where segment = 2`,
        ),
      ...{ finding: 'segment-changed', segment: 2, row: null },
    }),
  ),
]

/** Alters a row and everything that follows from it, up to the chain of the next segment. */
async function replaceSegment(world: World, hasKey: boolean): Promise<void> {
  const rows = world.rows.with(1, { ...rowOf(world, 1), actor: 'another' })
  const [{ kid }] = (await world.pool.query('select kid from webhook_keys limit 1')).rows
  const digests = digestRows(rows)
  const header = segmentOf(world, 2)
  const claims = toClaims({ ...header, digest: digestSegment(digests, header) })
  const { jws, jwk } = signAlone(claims, SEAL_TYPE, hasKey ? 'forged' : kid)
  await asOwner(
    world.pool,
    `update audit set actor = 'another' where id = '${rowOf(world, 1).id}'`,
    `update audit_segments set digest = '\\x${claims.digest}', jws = '${jws}',
       row_digests = '\\x${digests.toString('hex')}' where segment = 2`,
  )
  if (hasKey) await addKey(world, jwk)
}

for (const attack of ATTACKS) {
  test(`an owner who ${attack.name} is found`, async (t) => {
    const sealed = await startSealedAudit(t, { drop: true })
    const { deps, pool } = sealed
    for (let number = 1; number <= 3; number++) {
      for (let at = 0; at < ROWS; at++) await sealed.audit(`client:${number}-${at}!`)
      await sealed.seal()
    }
    const read = (await Array.fromAsync(readSealedAudit(deps, 0))) as SegmentWithRows[]
    const segments = read.map(({ segment }) => segment)
    const rows = read[1]?.rows ?? []
    const head = segments.at(-1) as ListedSegment
    const check = async (heads: ListedSegment[]): Promise<Finding | null> => {
      const checker = new AuditChecker(await readDatabaseSealKeys(deps), heads)
      return (await checkDatabaseAudit(deps, checker, 0)).finding
    }
    assert.equal(await check([head]), null)

    await attack.act({ sealed, pool, rows, segments })
    const finding = await check(attack.needs === 'head' ? [head] : [])
    const added = attack.finding === 'row-added' ? NEW_ID : null
    const named = attack.named ?? added ?? rows[attack.row ?? -1]?.id ?? null
    assert.deepEqual(
      [finding?.code, finding?.segment, finding?.row],
      [attack.finding, attack.segment, named],
      finding?.detail,
    )
    if (attack.needs) return
    // The console's check finds the same, and keeps it.
    const shown = await verifyAudit(deps, 0, async () => {})
    assert.deepEqual(shown.finding, finding)
  })
}

test('what an honest service has dropped is partial, and a row that was backdated before it was sealed is told', async (t) => {
  const sealed = await startSealedAudit(t, { drop: true })
  const { deps, pool } = sealed
  await sealed.audit('a')
  await sealed.seal()
  await pool.query(
    `insert into audit (id, at, actor, action, object, request_id)
     values (gen_random_uuid(), '2020-01-01', 'operator', 'client.create', 'b', gen_random_uuid())`,
  )
  await sealed.seal()
  const [first] = (await Array.fromAsync(readSealedAudit(deps, 0))) as SegmentWithRows[]
  const segments = [(first as SegmentWithRows).segment]
  const drop = await signDrop(sealed, segments[0] as ListedSegment)
  await cutRows({ sealed, pool, rows: [], segments }, 1, drop)
  const { finding, checked } = await verifyAudit(deps, 0, async () => {})
  assert.deepEqual([finding, checked.dropped], [null, [{ from: 1, to: 1 }]])
  assert.match(checked.remarks.join(), /2020-01-01/)
})

test('the guide’s table is this one', async () => {
  const guide = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8')
  const rows = [...guide.matchAll(/^\| (.+?) \| `([a-z-]+)` \|/gm)].map(([, name, code]) => [
    name,
    code,
  ])
  assert.deepEqual(
    rows.filter(([, code]) => ATTACKS.some(({ finding }) => finding === code)),
    ATTACKS.filter(({ isShown }) => isShown).map(({ name, finding }) => [name, finding]),
  )
})
