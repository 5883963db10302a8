// How secrets are written: under keys that are derived from the master key, and bound to the addresses that they are sent
// to. Each is begun once, by `paybell reseal` or (binding) when the version before is gone for good, and in a database
// that began with it.

import type { Binding, LoneVersion } from '../../core/proofs/sealing-mark.ts'
import type { Db } from '../connection/db.ts'
import { SEALED_ENDPOINT_COLUMNS } from './endpoint-secrets.ts'
import { BOUND_FORM } from './sealing.ts'

export interface StoredForm {
  isDerived: boolean
  binding: Binding
  authentication: Buffer | null
}

interface FormRow {
  is_derived: boolean
  binding: Binding
  binding_authentication: Buffer | null
}

const FORM = 'is_derived, binding, binding_authentication'

export async function readSealingForm(db: Db): Promise<StoredForm> {
  const { rows } = await db.query<FormRow>({
    name: 'read-sealing-form',
    text: `select ${FORM} from sealing`,
  })
  return toForm(rows[0])
}

/** The same, and whether an endpoint is bound to its address: of one moment. */
export async function readFormAndBound(db: Db): Promise<StoredForm & { hasBound: boolean }> {
  const { rows } = await db.query<FormRow & { has_bound: boolean }>({
    name: 'read-form-and-bound',
    text: `select ${FORM}, exists (select from endpoints where ${IS_BOUND}) as has_bound
           from sealing`,
  })
  return { ...toForm(rows[0]), hasBound: rows[0]?.has_bound ?? false }
}

/** By the first byte of its key (store/secrets/sealing). */
const IS_BOUND = `substring(shared_key from 1 for 1) = '\\x0${BOUND_FORM}'`

function toForm(row: FormRow | undefined): StoredForm {
  return {
    isDerived: row?.is_derived ?? false,
    binding: row?.binding ?? 'none',
    authentication: row?.binding_authentication ?? null,
  }
}

/** Until the transaction ends it is not begun. */
export async function holdBinding(db: Db): Promise<Binding> {
  const { rows } = await db.query<{ binding: Binding }>({
    name: 'hold-binding',
    text: 'select binding from sealing for share',
  })
  return rows[0]?.binding ?? 'none'
}

const OTHERS = `select distinct version from processes
  where version <> $1 and seen_at > clock_timestamp() - $2 * interval '1 millisecond'`

/** The versions of processes that live, but for one. A process is alive for so long after it was last seen. */
export async function readOtherVersions(
  db: Db,
  version: string,
  processGoneAfterMs: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ version: string }>({
    name: 'read-other-versions',
    text: OTHERS,
    values: [version, processGoneAfterMs],
  })
  return rows.map((row) => row.version)
}

/**
 * From now on. Not while a process of another version lives, which may be one that cannot read what is
 * written then: returns the versions of those.
 */
export async function beginDerivedKeys(
  db: Db,
  version: string,
  processGoneAfterMs: number,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ version: string }>({
    text: `with others as (${OTHERS}), begun as (
             update sealing set is_derived = true
             where not is_derived and not exists (select from others)
           )
           select version from others order by version`,
    values: [version, processGoneAfterMs],
  })
  return rows.map((row) => row.version)
}

/** The same for binding to addresses; `authentication` is that of its beginning. */
export async function beginBinding(
  db: Db,
  version: string,
  processGoneAfterMs: number,
  authentication: Buffer,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ version: string }>({
    text: `with others as (${OTHERS}), begun as (
             update sealing set is_derived = true, binding = 'begun', binding_authentication = $3
             where binding = 'none' and not exists (select from others)
             returning binding
           )
           select version from others order by version`,
    values: [version, processGoneAfterMs, authentication],
  })
  return rows.map((row) => row.version)
}

/** Of a new database, whose beginning nobody has authenticated yet: nothing is bound in it. False where another was first. */
export async function authenticateBeginning(db: Db, authentication: Buffer): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `update sealing set binding_authentication = $1
           where binding = 'begun' and binding_authentication is null
             and not exists (select from endpoints where ${IS_BOUND})`,
    values: [authentication],
  })
  return rowCount === 1
}

/** A column of an endpoint that is there and not bound. */
const isUnbound = (column: string) =>
  `(${column} is not null and substring(${column} from 1 for 1) <> '\\x0${BOUND_FORM}')`

/** False while an endpoint is left that is not bound. Deleted ones need not be: nothing is sent for them. */
export async function completeBinding(db: Db, authentication: Buffer): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `update sealing set binding = 'done', binding_authentication = $1
           where binding = 'begun' and not exists (
             select from endpoints where deleted_at is null
               and (${SEALED_ENDPOINT_COLUMNS.map(isUnbound).join(' or ')}
                 or (oauth2 is not null and oauth2_secret is null)))`,
    values: [authentication],
  })
  return rowCount === 1
}

/** Whatever stands there: it was changed by another hand, or is under an older master key. */
export async function replaceBinding(
  db: Db,
  binding: Binding,
  authentication: Buffer | null,
): Promise<void> {
  await db.query({
    text: 'update sealing set binding = $1, binding_authentication = $2',
    values: [binding, authentication],
  })
}

export async function readLoneVersion(db: Db): Promise<LoneVersion | null> {
  const { rows } = await db.query<{
    lone_version: string | null
    lone_since: Date | null
    lone_seen_at: Date | null
  }>('select lone_version, lone_since, lone_seen_at from sealing')
  const { lone_version: version, lone_since: since, lone_seen_at: seenAt } = rows[0] ?? {}
  return version && since && seenAt ? { version, since, seenAt } : null
}

export async function saveLoneVersion(db: Db, lone: LoneVersion | null): Promise<void> {
  await db.query({
    text: 'update sealing set lone_version = $1, lone_since = $2, lone_seen_at = $3',
    values: [lone?.version, lone?.since, lone?.seenAt],
  })
}
