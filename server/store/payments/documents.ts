// File contents, stored once per client and hash as the base64 characters that callbacks carry.

import { DAY_MS } from '../../core/delivery/backoff.ts'
import type { Db } from '../connection/db.ts'
import { column, writtenInstants } from '../sql/columns.ts'
import { hideLength } from '../sql/planner.ts'
import { idsWithin, readStretches } from '../sql/stretches.ts'

export interface DocumentToSave {
  clientKey: number
  hash: Uint8Array
  /** Base64 characters. */
  content: Uint8Array
}

/** A file that was used within this time is not renewed: retention keeps all for 8 days at least. */
const FRESH_MS = DAY_MS
/** Another transaction that saves the same file holds it to its end: that may take long. */
const LOCK_MS_MAX = 20
/** Each time the rest is sent again. */
const TRIES_MAX = 4

/**
 * Saves the files, or waits for transactions that are saving the same ones. One statement each: a file can
 * be 13 MiB, and a buffer as a single parameter travels as it is.
 */
export async function saveDocuments(
  db: Db,
  documents: readonly DocumentToSave[],
  now: Date,
): Promise<void> {
  for (const [document] of await findUnsaved(db, documents, now)) await save(db, document, now)
}

/**
 * The same inside a transaction, without waiting: returns what could not be saved, because another
 * transaction is saving the same files.
 */
export async function trySaveDocuments<D extends DocumentToSave>(
  db: Db,
  documents: readonly D[],
  now: Date,
): Promise<readonly D[]> {
  let left = await findUnsaved(db, documents, now)
  const unsaved: D[] = []
  for (let tries = 1; left.length > 0; tries++) {
    // One for all: a savepoint for each would be a transaction number for each.
    const [, ...saved] = await Promise.allSettled([
      db.query(`savepoint documents; set local lock_timeout = ${LOCK_MS_MAX}`),
      ...left.map(([document]) => save(db, document, now)),
    ])
    const failed = saved.findIndex(({ status }) => status === 'rejected')
    if (failed < 0) {
      await db.query('set local lock_timeout to default; release savepoint documents')
      break
    }
    const { reason } = saved[failed] as PromiseRejectedResult
    if ((reason as { code?: string }).code !== '55P03') throw reason
    await db.query('rollback to savepoint documents; release savepoint documents')
    const given = tries < TRIES_MAX ? [left[failed] ?? []] : left
    unsaved.push(...given.flat())
    left = left.filter((of) => !given.includes(of))
  }
  return unsaved
}

/**
 * Each file once, with all who need it, but for those that were used a moment ago: to renew a row is to
 * wait for others that renew it. In one order, so that two transactions that save several do not wait for
 * each other.
 */
async function findUnsaved<D extends DocumentToSave>(
  db: Db,
  documents: readonly D[],
  now: Date,
): Promise<[D, ...D[]][]> {
  if (documents.length === 0) return []
  const byKey = Map.groupBy(documents, keyOf)
  const { rows } = await db.query<{ key: string }>({
    name: 'find-fresh-documents',
    text: `select d.client_key || ' ' || encode(d.hash, 'hex') as key
           from unnest(${hideLength('$1', 'int[]')}, $2::bytea[]) as given (client_key, hash)
           join documents d on d.client_key = given.client_key and d.hash = given.hash
           where d.created_at > $3
           -- It is not deleted before our transaction ends. One that is being deleted is saved again.
           for key share of d skip locked`,
    values: [
      column('int', documents, ({ clientKey }) => clientKey),
      column('bytea', documents, ({ hash }) => hash),
      new Date(now.getTime() - FRESH_MS),
    ],
  })
  for (const { key } of rows) byKey.delete(key)
  const inOrder = [...byKey].sort(([one], [other]) => (one < other ? -1 : 1))
  return inOrder.map(([, of]) => of as [D, ...D[]])
}

function keyOf({ clientKey, hash }: DocumentToSave): string {
  return `${clientKey} ${Buffer.from(hash).toString('hex')}`
}

async function save(db: Db, document: DocumentToSave, now: Date): Promise<void> {
  await db.query({
    name: 'save-document',
    text: `insert into documents (client_key, hash, content, created_at)
           values ($1, $2, $3, $4)
           -- Used again: renewed, so that retention does not take it away.
           on conflict (client_key, hash) do update set created_at = excluded.created_at`,
    values: [document.clientKey, document.hash, document.content, now],
  })
}

export async function readDocument(
  db: Db,
  clientKey: number,
  hash: Uint8Array,
): Promise<Buffer | null> {
  // A text column: the driver would bring a bytea as hex, twice the bytes and a decoding.
  const { rows } = await db.query<{ content: string }>({
    name: 'read-document',
    text: 'select content from documents where client_key = $1 and hash = $2',
    values: [clientKey, hash],
  })
  return rows[0] ? Buffer.from(rows[0].content, 'latin1') : null
}

/**
 * Characters of the content, which base64 has as bytes. `substr` of a text counts characters from its beginning,
 * because one may be four bytes: of 10 MiB the last part took 220 ms, and takes 40.
 */
const asciiPart = (from: string, length: string) =>
  `convert_from(substr(convert_to(content, 'UTF8'), ${from}, ${length}), 'UTF8')`

/** Bytes of the decoded file; null when it is no longer kept. */
export async function readDocumentSize(
  db: Db,
  clientKey: number,
  hash: Uint8Array,
): Promise<number | null> {
  const { rows } = await db.query<{ characters: number; end: string }>({
    name: 'read-document-size',
    text: `select octet_length(content) as characters,
             ${asciiPart('octet_length(content) - 1', '2')} as end
           from documents where client_key = $1 and hash = $2`,
    values: [clientKey, hash],
  })
  const [row] = rows
  if (row === undefined) return null
  const padding = row.end.length - row.end.replaceAll('=', '').length
  return (row.characters / 4) * 3 - padding
}

/** Characters of base64, a multiple of four: 768 KiB of a file. */
const PART_CHARACTERS = 1024 * 1024

/** The decoded file, a piece at a time: 10 MiB as one text would be four copies of it in memory. */
export async function* readDocumentParts(
  db: Db,
  clientKey: number,
  hash: Uint8Array,
): AsyncGenerator<Buffer> {
  for (let from = 1; ; from += PART_CHARACTERS) {
    const { rows } = await db.query<{ part: string }>({
      name: 'read-document-part',
      text: `select ${asciiPart('$3', '$4')} as part from documents
             where client_key = $1 and hash = $2`,
      values: [clientKey, hash, from, PART_CHARACTERS],
    })
    const [row] = rows
    if (row === undefined) throw new Error('the file was removed while it was read')
    if (row.part !== '') yield Buffer.from(row.part, 'base64')
    if (row.part.length < PART_CHARACTERS) return
  }
}

/** A file as it was seen; the instant as the database writes it. */
export interface DocumentKey {
  client_key: number
  hash: Buffer
  created_at: string
}

/**
 * Deletes those of the files that neither a payment nor an event names. A write that uses an old file again
 * renews it and so locks it: either it is renewed before we delete, and stays, or it is inserted again.
 * `reader` gives back what each look has locked, where the caller is in a transaction.
 */
export async function deleteIfUnused(
  db: Db,
  reader: Db,
  documents: readonly DocumentKey[],
): Promise<number> {
  const unused = await leaveOutNamedByEvents(reader, documents)
  if (unused.length === 0) return 0
  const { rowCount } = await db.query(
    `delete from documents where ctid = any(array(
       select d.ctid
       from unnest($1::int[], $2::bytea[], $3::timestamptz[]) as u (client_key, hash, created_at)
       cross join lateral (
         select d.ctid from documents d
         where d.client_key = u.client_key and d.hash = u.hash and d.created_at = u.created_at
           and (select true from payments p
             where p.client_key = d.client_key and p.document_hash = d.hash limit 1) is null
         for update of d) as d))`,
    columnsOf(unused),
  )
  return rowCount ?? 0
}

/** Some days at a time: see store/sql/stretches.ts. */
async function leaveOutNamedByEvents(
  db: Db,
  documents: readonly DocumentKey[],
): Promise<readonly DocumentKey[]> {
  let left = documents
  for (const stretch of await readStretches(db, 'events')) {
    if (left.length === 0) break
    const { rows } = await db.query<DocumentKey>(
      `select u.client_key, u.hash, u.created_at::text
       from unnest($1::int[], $2::bytea[], $3::timestamptz[]) as u (client_key, hash, created_at)
       where (select true from events e where e.client_key = u.client_key
         and e.document_hash = u.hash and ${idsWithin(stretch, 'e.id')} limit 1) is null`,
      columnsOf(left),
    )
    left = rows
  }
  return left
}

function columnsOf(documents: readonly DocumentKey[]): unknown[] {
  return [
    column('int', documents, (document) => document.client_key),
    column('bytea', documents, (document) => document.hash),
    writtenInstants(documents, (document) => document.created_at),
  ]
}
