// The console_sessions table and those of one-time links: digests only. What a session may do is read together
// with the credential that it stands for, so a revoked key or a disabled client ends it.

import type { Role } from '../../core/plain/operator.ts'
import type { Db } from '../connection/db.ts'
import type { KeyDigest } from './operator-keys.ts'

/** The credential that a session stands for. */
export type SessionHolder =
  | { kind: 'first-key'; key: KeyDigest }
  | { kind: 'operator-key'; keyId: string }
  /** Without a secret, a link has opened it. */
  | { kind: 'client'; clientKey: number; secretId: string | null }
  | ({ kind: 'person' } & Person)

/** Who has signed in with the company. */
export interface Person {
  issuer: string
  subject: string
  /** The provider's session, where it has a name. */
  sid: string | null
  /** The one that gave the role. */
  group: string
  email: string | null
  /** Sealed. */
  idToken: Buffer | null
}

/** A session whose credential is still good; of the first key, only its owner can tell. */
export type LiveSession = { id: string; expiresAt: Date } & (
  | { kind: 'first-key'; key: KeyDigest }
  | { kind: 'operator-key'; name: string; role: Role }
  | { kind: 'client'; clientKey: number; clientId: string; clientName: string }
  | ({ kind: 'person' } & Person)
)

/** So many can be signed in with one credential; one more signs the earliest one out. */
const SESSIONS_PER_HOLDER_MAX = 50

export async function insertSession(
  db: Db,
  session: { id: string; digest: Buffer; holder: SessionHolder; expiresAt: Date },
  now: Date,
): Promise<void> {
  const { id, digest, holder, expiresAt } = session
  const person = holder.kind === 'person' ? holder : null
  await db.query({
    text: `insert into console_sessions (digest, id, first_key_digest, first_key_master_key_id,
             operator_key_id, client_key, client_secret_id, created_at, expires_at,
             oidc_issuer, oidc_subject, oidc_sid, oidc_group, oidc_email, oidc_id_token)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    values: [
      digest,
      id,
      holder.kind === 'first-key' ? holder.key.digest : null,
      holder.kind === 'first-key' ? holder.key.masterKeyId : null,
      holder.kind === 'operator-key' ? holder.keyId : null,
      holder.kind === 'client' ? holder.clientKey : null,
      holder.kind === 'client' ? holder.secretId : null,
      now,
      expiresAt,
      person?.issuer,
      person?.subject,
      person?.sid,
      person?.group,
      person?.email,
      person?.idToken,
    ],
  })
  await db.query('delete from console_sessions where expires_at <= $1', [now])
  await deleteSurplus(db, holder)
}

async function deleteSurplus(db: Db, holder: SessionHolder): Promise<void> {
  const [condition, values] =
    holder.kind === 'first-key'
      ? ['first_key_digest is not null', []]
      : holder.kind === 'operator-key'
        ? ['operator_key_id = $1', [holder.keyId]]
        : holder.kind === 'client'
          ? ['client_key = $1', [holder.clientKey]]
          : ['oidc_subject = $1 and oidc_issuer = $2', [holder.subject, holder.issuer]]
  await db.query({
    text: `delete from console_sessions where digest in (
             select digest from console_sessions where ${condition}
             order by created_at desc offset ${SESSIONS_PER_HOLDER_MAX})`,
    values,
  })
}

interface SessionRow {
  id: string
  expires_at: Date
  first_key_digest: Buffer | null
  first_key_master_key_id: string | null
  key_name: string | null
  key_role: Role | null
  client_key: number | null
  client_id: string | null
  client_name: string | null
  oidc_issuer: string | null
  oidc_subject: string | null
  oidc_sid: string | null
  oidc_group: string | null
  oidc_email: string | null
  oidc_id_token: Buffer | null
}

/** Null when there is none, it is over, or its key, secret or client is no longer good. */
export async function findSession(db: Db, digest: Buffer, now: Date): Promise<LiveSession | null> {
  const { rows } = await db.query<SessionRow>({
    name: 'find-console-session',
    text: `select s.id, s.expires_at, s.first_key_digest, s.first_key_master_key_id,
             k.name as key_name, k.role as key_role,
             c.client_key, c.id as client_id, c.name as client_name,
             s.oidc_issuer, s.oidc_subject, s.oidc_sid, s.oidc_group, s.oidc_email, s.oidc_id_token
           from console_sessions s
           left join operator_keys k on k.id = s.operator_key_id and k.revoked_at is null
           left join client_secrets cs
             on cs.client_key = s.client_key and cs.id = s.client_secret_id
           left join clients c on c.client_key = s.client_key and c.status = 'ACTIVE'
             and (s.client_secret_id is null or (cs.id is not null and c.credentials = 'any'))
           where s.digest = $1 and s.expires_at > $2`,
    values: [digest, now],
  })
  const [row] = rows
  return row === undefined ? null : toSession(row)
}

function toSession(row: SessionRow): LiveSession | null {
  const session = { id: row.id, expiresAt: row.expires_at }
  if (row.first_key_digest !== null && row.first_key_master_key_id !== null) {
    const key = { digest: row.first_key_digest, masterKeyId: row.first_key_master_key_id }
    return { ...session, kind: 'first-key', key }
  }
  if (row.key_name !== null && row.key_role !== null) {
    return { ...session, kind: 'operator-key', name: row.key_name, role: row.key_role }
  }
  if (row.client_key !== null && row.client_id !== null && row.client_name !== null) {
    return {
      ...session,
      kind: 'client',
      clientKey: row.client_key,
      clientId: row.client_id,
      clientName: row.client_name,
    }
  }
  if (row.oidc_issuer !== null && row.oidc_subject !== null && row.oidc_group !== null) {
    return {
      ...session,
      kind: 'person',
      issuer: row.oidc_issuer,
      subject: row.oidc_subject,
      sid: row.oidc_sid,
      group: row.oidc_group,
      email: row.oidc_email,
      idToken: row.oidc_id_token,
    }
  }
  return null
}

/** A session that was ended from outside. */
export interface EndedSession {
  id: string
  digest: Buffer
  subject: string
  email: string | null
}

const ENDED = 'id, digest, oidc_subject as subject, oidc_email as email'

/** Ends a person's sessions, except those of groups that still count, and those of other sessions of the provider than `sid`. */
export async function deleteSessionsOfPerson(
  db: Db,
  person: { issuer: string; subject: string; groupsKept: readonly string[]; sid: string | null },
): Promise<readonly EndedSession[]> {
  const { rows } = await db.query<EndedSession>({
    text: `delete from console_sessions
           where oidc_subject = $1 and oidc_issuer = $2 and oidc_group <> all ($3::text[])
             and ($4::text is null or oidc_sid is null or oidc_sid = $4)
           returning ${ENDED}`,
    values: [person.subject, person.issuer, person.groupsKept, person.sid],
  })
  return rows
}

/** Ends what was opened with one session of the provider. */
export async function deleteSessionsOfSid(
  db: Db,
  issuer: string,
  sid: string,
): Promise<readonly EndedSession[]> {
  const { rows } = await db.query<EndedSession>({
    text: `delete from console_sessions where oidc_sid = $1 and oidc_issuer = $2 returning ${ENDED}`,
    values: [sid, issuer],
  })
  return rows
}

/**
 * Of a logout token, or of a question or a code of the command line's sign-in: false when it was used before, in any process.
 * Those that can no longer be sent again go. The table has the name of what it was made for, logouts, and keeps a digest of all
 * three: processes of the version before know it by that name.
 */
export async function useOnce(
  db: Db,
  used: { digest: Buffer; expiresAt: Date },
  now: Date,
): Promise<boolean> {
  await db.query('delete from used_logouts where expires_at <= $1', [now])
  const { rowCount } = await db.query({
    text: 'insert into used_logouts (digest, expires_at) values ($1, $2) on conflict do nothing',
    values: [used.digest, used.expiresAt],
  })
  return rowCount === 1
}

export async function deleteSession(db: Db, digest: Buffer): Promise<void> {
  await db.query('delete from console_sessions where digest = $1', [digest])
}

export async function insertLink(db: Db, digest: Buffer, expiresAt: Date): Promise<void> {
  await db.query('insert into console_links (digest, expires_at) values ($1, $2)', [
    digest,
    expiresAt,
  ])
}

/** True for the first caller, in time. Others find nothing. */
export async function takeLink(db: Db, digest: Buffer, now: Date): Promise<boolean> {
  const { rows } = await db.query<{ expires_at: Date }>({
    text: 'delete from console_links where digest = $1 returning expires_at',
    values: [digest],
  })
  return rows[0] !== undefined && rows[0].expires_at > now
}

export async function insertClientLink(
  db: Db,
  link: { digest: Buffer; clientKey: number; expiresAt: Date },
): Promise<void> {
  await db.query({
    text: `insert into client_console_links (digest, client_key, expires_at) values ($1, $2, $3)`,
    values: [link.digest, link.clientKey, link.expiresAt],
  })
}

/** Whose link it is, for the first caller, in time. Others find nothing. */
export async function takeClientLink(db: Db, digest: Buffer, now: Date): Promise<number | null> {
  const { rows } = await db.query<{ client_key: number; expires_at: Date }>({
    text: `delete from client_console_links where digest = $1 returning client_key, expires_at`,
    values: [digest],
  })
  const [link] = rows
  return link !== undefined && link.expires_at > now ? link.client_key : null
}

export async function deleteOldClientLinks(db: Db, now: Date): Promise<void> {
  await db.query('delete from client_console_links where expires_at <= $1', [now])
}

/** Links that were not followed in time. */
export async function deleteOldLinks(db: Db, now: Date): Promise<void> {
  // A handful at most: a sandbox makes one at each start.
  await db.query('delete from console_links where expires_at <= $1', [now])
}
