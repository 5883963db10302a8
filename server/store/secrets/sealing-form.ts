// Whether secrets are written under keys that are derived from the master key. Set once, by `paybell
// reseal`, and in a database that began with it.

import type { Db } from '../connection/db.ts'

export async function readSealingForm(db: Db): Promise<{ isDerived: boolean }> {
  const { rows } = await db.query<{ is_derived: boolean }>({
    name: 'read-sealing-form',
    text: 'select is_derived from sealing',
  })
  return { isDerived: rows[0]?.is_derived ?? false }
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
