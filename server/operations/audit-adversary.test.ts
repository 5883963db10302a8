// An adversary with the rights of the database's owner, who takes the guards away: whatever is altered after it was
// sealed is found, and the first row is named. docs/audit.md shows this table.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import type { Pool } from 'pg'
import { startSealedAudit } from '../../test/support/sealed-audit.ts'
import { AuditChecker, type Finding, type FindingCode } from '../core/audit-check.ts'
import {
  digestRow,
  digestSegment,
  type ListedSegment,
  SEAL_TYPE,
  type SealedRow,
  toClaims,
} from '../core/audit-seal.ts'
import type { SealKeys } from '../core/seal-signature.ts'
import { readSealedAudit } from './parts/sealed-audit.ts'
import { checkDatabaseAudit, readDatabaseSealKeys, verifyAudit } from './verify-audit.ts'

interface World {
  pool: Pool
  /** The rows of the second of three segments, in order. */
  rows: readonly SealedRow[]
  segments: readonly ListedSegment[]
}

interface Attack {
  /** As docs/audit.md has it. */
  name: string
  act(world: World): Promise<unknown>
  finding: FindingCode
  segment: number
  /** Which row of the second segment is named. */
  row: number | null
  /** Found only with what was kept elsewhere: a head, or the keys. */
  needs?: 'head' | 'keys'
}

const ROWS = 4
const NEW_ID = randomUUID()

/** Statements after the guards are gone. Whoever owns the tables can do this. */
async function asOwner(pool: Pool, ...statements: string[]): Promise<void> {
  const { rows } = await pool.query(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit'::regclass
     union all select 'audit' union all select 'audit_segments'`,
  )
  const guards = rows.map(({ name }) => `alter table ${name} disable trigger user`)
  await pool.query([...guards, ...statements].join(';'))
}

const rowOf = ({ rows }: World, at: number) => rows[at] as SealedRow
const segmentOf = ({ segments }: World, number: number) => segments[number - 1] as ListedSegment
const insertLike = (row: SealedRow, place: string) =>
  `insert into audit (id, at, actor, action, object, request_id, place)
   select '${NEW_ID}', at, actor, action, object, request_id, ${place} from audit
   where id = '${row.id}'`

/** The second segment again, as it would be with these rows, signed by a key of the adversary's own. */
function forge(world: World, rows: readonly SealedRow[], kid: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const digests = Buffer.concat(rows.map(digestRow))
  const header = { ...segmentOf(world, 2), count: rows.length }
  const claims = toClaims({ ...header, digest: digestSegment(digests, header) })
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ alg: 'EdDSA', typ: SEAL_TYPE, kid })}.${encode(claims)}`
  const signature = sign(null, Buffer.from(signed), privateKey).toString('base64url')
  return {
    claims,
    digests,
    jws: `${signed}.${signature}`,
    jwk: publicKey.export({ format: 'jwk' }),
  }
}

const ATTACKS: readonly Attack[] = [
  {
    name: 'alters a row',
    act: (world) =>
      asOwner(world.pool, `update audit set actor = 'another' where id = '${rowOf(world, 1).id}'`),
    ...{ finding: 'row-changed', segment: 2, row: 1 },
  },
  {
    name: 'alters what a row says was changed',
    act: (world) =>
      asOwner(world.pool, `update audit set changes = '[]' where id = '${rowOf(world, 2).id}'`),
    ...{ finding: 'row-changed', segment: 2, row: 2 },
  },
  {
    name: 'deletes a row',
    act: (world) => asOwner(world.pool, `delete from audit where id = '${rowOf(world, 1).id}'`),
    ...{ finding: 'row-removed', segment: 2, row: 0 },
  },
  {
    name: 'deletes the last row of a segment',
    act: (world) =>
      asOwner(world.pool, `delete from audit where id = '${rowOf(world, ROWS - 1).id}'`),
    ...{ finding: 'rows-cut-off', segment: 2, row: ROWS - 2 },
  },
  {
    name: 'inserts a row among others',
    act: (world) => asOwner(world.pool, insertLike(rowOf(world, 1), 'place')),
    ...{ finding: 'row-added', segment: 2, row: null },
  },
  {
    name: 'inserts a row before all others',
    act: (world) => asOwner(world.pool, insertLike(rowOf(world, 1), '0')),
    ...{ finding: 'row-added', segment: 1, row: null },
  },
  {
    name: 'inserts a row where it will never be sealed',
    act: (world) => asOwner(world.pool, insertLike(rowOf(world, 1), 'place + 1000000000')),
    ...{ finding: 'row-added', segment: 3, row: null },
  },
  {
    name: 'swaps two rows',
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
    act: (world) =>
      asOwner(world.pool, `delete from audit where place >= ${segmentOf(world, 3).from}`),
    ...{ finding: 'rows-cut-off', segment: 3, row: null },
  },
  {
    name: 'cuts the tail: rows and segment',
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
    act: (world) => {
      const rows = world.rows.with(1, { ...rowOf(world, 1), actor: 'another' })
      const digests = Buffer.concat(rows.map(digestRow)).toString('hex')
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
    act: (world) => replaceSegment(world, false),
    ...{ finding: 'signature-invalid', segment: 2, row: null },
  },
  {
    name: 'replaces a segment, and adds a key of its own to the database',
    act: (world) => replaceSegment(world, true),
    ...{ finding: 'key-unknown', segment: 2, row: null, needs: 'keys' },
  },
]

/** Alters a row and everything that follows from it, up to the chain of the next segment. */
async function replaceSegment(world: World, hasKey: boolean): Promise<void> {
  const rows = world.rows.with(1, { ...rowOf(world, 1), actor: 'another' })
  const [{ kid }] = (await world.pool.query('select kid from webhook_keys limit 1')).rows
  const ownKid = hasKey ? 'forged' : kid
  const { claims, digests, jws, jwk } = forge(world, rows, ownKid)
  await asOwner(
    world.pool,
    `update audit set actor = 'another' where id = '${rowOf(world, 1).id}'`,
    `update audit_segments set digest = '\\x${claims.digest}', jws = '${jws}',
       row_digests = '\\x${digests.toString('hex')}' where segment = 2`,
    ...(hasKey
      ? [
          `insert into webhook_keys (kid, public_jwk, private_key, created_at)
           select 'forged', '${JSON.stringify({ ...jwk, kid: 'forged' })}', private_key, created_at
           from webhook_keys limit 1`,
        ]
      : []),
  )
}

for (const attack of ATTACKS) {
  test(`an owner who ${attack.name} is found`, async (t) => {
    const sealed = await startSealedAudit(t, { drop: true })
    const { deps, pool } = sealed
    for (let number = 1; number <= 3; number++) {
      for (let at = 0; at < ROWS; at++) await sealed.audit(`client:${number}-${at}!`)
      await sealed.seal()
    }
    const read = await Array.fromAsync(readSealedAudit(deps, 0))
    const segments = read.map(({ segment }) => segment)
    const rows = read[1]?.rows ?? []
    const kept = { head: segments.at(-1) as ListedSegment, keys: await readDatabaseSealKeys(deps) }
    const check = async (keys: SealKeys, heads: ListedSegment[]): Promise<Finding | null> =>
      (await checkDatabaseAudit(deps, new AuditChecker(keys, heads), 0)).finding
    assert.equal(await check(kept.keys, [kept.head]), null)

    await attack.act({ pool, rows, segments })
    const finding = await check(
      attack.needs === 'keys' ? kept.keys : await readDatabaseSealKeys(deps),
      attack.needs === 'head' ? [kept.head] : [],
    )
    const named = attack.finding === 'row-added' ? NEW_ID : (rows[attack.row ?? -1]?.id ?? null)
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

test('regression: rows that only look dropped are found by a check in several portions, too', async (t) => {
  const sealed = await startSealedAudit(t, { drop: true })
  const { deps, pool } = sealed
  for (const object of ['a', 'b', 'c']) {
    await sealed.audit(object)
    await sealed.seal()
  }
  const lastPortion = async () => (await verifyAudit(deps, 2, async () => {})).finding
  assert.equal(await lastPortion(), null)
  const segments = (await Array.fromAsync(readSealedAudit(deps, 0))).map(({ segment }) => segment)
  const disguised = ATTACKS.find(({ name }) => name.endsWith('look like retention')) as Attack
  await disguised.act({ pool, rows: [], segments })
  const finding = await lastPortion()
  assert.deepEqual([finding?.code, finding?.segment], ['rows-cut-off', 1])
})

test('the guide’s table is this one', async () => {
  const guide = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8')
  const rows = [...guide.matchAll(/^\| (.+?) \| `([a-z-]+)` \|/gm)].map(([, name, code]) => [
    name,
    code,
  ])
  assert.deepEqual(
    rows.filter(([, code]) => ATTACKS.some(({ finding }) => finding === code)),
    ATTACKS.map(({ name, finding }) => [name, finding]),
  )
})
