// File contents, stored once per client and hash as the base64 characters that callbacks carry.

import type { Db } from './db.ts'

export interface DocumentToSave {
  clientKey: number
  hash: Uint8Array
  /** Base64 characters. */
  content: Uint8Array
}

/** One statement each: a file can be 13 MiB, and a buffer as a single parameter travels as it is. */
export async function saveDocuments(
  db: Db,
  documents: readonly DocumentToSave[],
  now: Date,
): Promise<void> {
  for (const document of documents) {
    await db.query({
      name: 'save-document',
      text: `insert into documents (client_key, hash, content, created_at)
             values ($1, $2, $3, $4)
             -- Used again: renewed, so that retention does not take it away meanwhile.
             on conflict (client_key, hash) do update set created_at = excluded.created_at`,
      values: [document.clientKey, document.hash, document.content, now],
    })
  }
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
