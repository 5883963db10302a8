// Who is signed in at the console. A session stands for the credential that opened it and is read again
// every 2 seconds, so it ends with its key, secret or client well within the promised 5, in every
// process. Failed sign-ins are counted like failed logins, so that guessing is slow.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { ServiceError } from '../../core/plain/errors.ts'
import { FIRST_OPERATOR, type Operator } from '../../core/plain/operator.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import { type Db, inTransaction } from '../../store/connection/db.ts'
import {
  deleteOldClientLinks,
  deleteOldLinks,
  deleteSession,
  deleteSessionsOfPerson,
  deleteSessionsOfSid,
  type EndedSession,
  findSession,
  insertClientLink,
  insertLink,
  insertSession,
  type LiveSession,
  type Person,
  type SessionHolder,
  takeClientLink,
  takeLink,
  useOnce,
} from '../../store/secrets/console-sessions.ts'
import type { KeyDigest } from '../../store/secrets/operator-keys.ts'
import { toAudit } from '../shared/audit-trail.ts'
import type { Deps } from '../shared/deps.ts'
import type { OperatorKeys } from './live-operator-keys.ts'
import type { LoginAttempts } from './login-attempts.ts'
import type { Logins } from './logins.ts'
import type { Caller } from './verify-token.ts'

export const SESSION_SECONDS = 12 * 3_600
/** Of people who signed in with their company. */
export const PERSON_SESSION_SECONDS = 8 * 3_600
/** Of the command line: the whole token is digested, so it is no cookie, and a cookie is no such token. */
const COMMAND_LINE_PREFIX = 'pbp_'
const COMMAND_LINE_TOKEN = /^pbp_[\w-]{43}$/
const LINK_MS = 10 * 60_000
const KEPT_MS = 2_000
const SESSIONS_MAX = 5_000

export type SignIn =
  | { operatorKey: string }
  | { clientId: string; clientSecret: string }
  /** A link of the operator's own, a client's, or either, depending on where it was followed. */
  | { link: string; kinds: readonly ConsoleSession['kind'][] }

export type ConsoleSession = { id: string; expiresAt: Date } & (
  | { kind: 'operator'; operator: Operator; person?: Person }
  | { kind: 'client'; caller: Caller; clientName: string }
)

interface Found {
  holder: SessionHolder
  /** Whose call it is, in the audit; clients have no rows there. */
  operator: Operator | null
}

type SessionDeps = Pick<Deps, 'pool' | 'clock' | 'config' | 'sealer' | 'newId'>

export class ConsoleSessions {
  readonly #deps: SessionDeps
  readonly #keys: OperatorKeys
  readonly #attempts: LoginAttempts
  readonly #logins: Logins
  /** By the token's digest, in base64. */
  readonly #sessions: Remembered<string, ConsoleSession | null>

  constructor(
    deps: SessionDeps,
    parts: { keys: OperatorKeys; attempts: LoginAttempts; logins: Logins },
  ) {
    this.#deps = deps
    this.#keys = parts.keys
    this.#attempts = parts.attempts
    this.#logins = parts.logins
    const monotonicMs = () => deps.clock.monotonicMs()
    this.#sessions = new Remembered({
      keysMax: SESSIONS_MAX,
      expiry: { monotonicMs, ageMsMax: KEPT_MS },
    })
  }

  /** Returns the token of a new session. Only its digest is stored, so it cannot be shown again. */
  async open(signIn: SignIn, from: { address: string; requestId: string }): Promise<string> {
    const found = await this.#holderOf(signIn, from.address)
    const token = randomBytes(32).toString('base64url')
    await this.#insert(token, found, SESSION_SECONDS, from.requestId)
    return token
  }

  /** The same for a person, whom the company's provider has vouched for; `isCommandLine`: it is no cookie. */
  async openForPerson(
    person: Person,
    from: { requestId: string; isCommandLine: boolean },
  ): Promise<{ token: string; expiresAt: Date } & Operator> {
    const prefix = from.isCommandLine ? COMMAND_LINE_PREFIX : ''
    const token = prefix + randomBytes(32).toString('base64url')
    const operator = toOperator(this.#deps, person)
    if (operator === null) throw new Error('a person without a role gets no session')
    const found: Found = { holder: { kind: 'person', ...person }, operator }
    const expiresAt = await this.#insert(token, found, PERSON_SESSION_SECONDS, from.requestId)
    return { token, expiresAt, ...operator }
  }

  async #insert(token: string, { holder, operator }: Found, seconds: number, requestId: string) {
    const { pool, clock, newId } = this.#deps
    const now = new Date(clock.nowMs())
    const id = newId()
    const expiresAt = new Date(now.getTime() + seconds * 1_000)
    await inTransaction(pool, async (db) => {
      await insertSession(db, { id, digest: digestOf(token), holder, expiresAt }, now)
      if (operator === null) return
      await toAudit(this.#deps, { operator, requestId }, 'session.create')(db, `session:${id}`)
    })
    return expiresAt
  }

  /** The operator with a session of the command line; undefined for a token that is none. */
  async verifyBearer(token: string): Promise<Operator | null | undefined> {
    if (!COMMAND_LINE_TOKEN.test(token)) return undefined
    const session = await this.verify(token)
    return session?.kind === 'operator' ? session.operator : null
  }

  /** Signs the command line out; what is no token of it changes nothing. */
  async endBearer(token: string, requestId: string): Promise<void> {
    if (COMMAND_LINE_TOKEN.test(token)) await this.end(token, requestId)
  }

  /** Ends a person's sessions of groups that the person is no longer in; of all where none is named. */
  endOfPerson(
    person: { issuer: string; subject: string; groupsKept: readonly string[] },
    requestId: string,
  ): Promise<void> {
    return this.#endAll((db) => deleteSessionsOfPerson(db, { ...person, sid: null }), requestId)
  }

  /**
   * The provider has signed a person out: everywhere, or of one of its sessions (Back-Channel Logout 1.0 §2.7). Where it
   * names both, sessions of the person end, too, of which it is not known to which of the provider's they belong. False
   * when the same logout came before, in any process: then nothing ends.
   */
  async endByLogout(
    { issuer, subject, sid }: { issuer: string; subject: string | null; sid: string | null },
    use: { digest: Buffer; expiresAt: Date },
    requestId: string,
  ): Promise<boolean> {
    const now = new Date(this.#deps.clock.nowMs())
    let isNew = true
    await this.#endAll(async (db) => {
      isNew = await useOnce(db, use, now)
      if (!isNew) return []
      if (subject !== null) {
        return deleteSessionsOfPerson(db, { issuer, subject, sid, groupsKept: [] })
      }
      return sid === null ? [] : deleteSessionsOfSid(db, issuer, sid)
    }, requestId)
    return isNew
  }

  async #endAll(
    remove: (db: Db) => Promise<readonly EndedSession[]>,
    requestId: string,
  ): Promise<void> {
    const ended = await inTransaction(this.#deps.pool, async (db) => {
      const sessions = await remove(db)
      for (const { id, ...person } of sessions) {
        const operator = { actor: actorOf(person), role: 'viewer' as const }
        await toAudit(this.#deps, { operator, requestId }, 'session.end')(db, `session:${id}`)
      }
      return sessions
    })
    for (const { digest } of ended) this.#sessions.forget(digest.toString('base64'))
  }

  /** Whose session this is; null when there is none, or it has ended. */
  verify(token: string): Promise<ConsoleSession | null> {
    const digest = digestOf(token)
    return this.#sessions.get(digest.toString('base64'), () => this.#find(digest))
  }

  /** Signs out: in this process at once, in the others within 2 seconds. */
  async end(token: string, requestId: string): Promise<void> {
    const session = await this.verify(token)
    const digest = digestOf(token)
    await inTransaction(this.#deps.pool, async (db) => {
      await deleteSession(db, digest)
      if (session?.kind !== 'operator') return
      const trail = { operator: session.operator, requestId }
      await toAudit(this.#deps, trail, 'session.end')(db, `session:${session.id}`)
    })
    // Not before the commit: a request that comes until then would find the session and remember it again.
    this.#sessions.forget(digest.toString('base64'))
  }

  async #find(digest: Buffer): Promise<ConsoleSession | null> {
    const { pool, clock } = this.#deps
    const session = await findSession(pool, digest, new Date(clock.nowMs()))
    return session && this.#toSession(session)
  }

  #toSession(session: LiveSession): ConsoleSession | null {
    const { id, expiresAt } = session
    if (session.kind === 'client') {
      const { clientKey, clientId, clientName } = session
      return { id, expiresAt, kind: 'client', caller: { clientKey, clientId }, clientName }
    }
    if (session.kind === 'operator-key') {
      const operator = { actor: session.name, role: session.role }
      return { id, expiresAt, kind: 'operator', operator }
    }
    if (session.kind === 'person') {
      const operator = toOperator(this.#deps, session)
      return operator && { id, expiresAt, kind: 'operator', operator, person: session }
    }
    const isSame = isFirstKey(this.#deps, session.key)
    return isSame ? { id, expiresAt, kind: 'operator', operator: FIRST_OPERATOR } : null
  }

  async #holderOf(signIn: SignIn, address: string): Promise<Found> {
    if ('clientId' in signIn) {
      const login = { ...signIn, address }
      const { clientKey, secretId } = await this.#logins.check(login)
      return { holder: { kind: 'client', clientKey, secretId }, operator: null }
    }
    // Links apart: a person who follows an old one must not keep operators of the same address out.
    const name = 'link' in signIn ? 'link' : 'operator'
    const found = await this.#attempts.judge({ name, address }, () =>
      'link' in signIn ? this.#followLink(signIn) : this.#findKey(signIn),
    )
    if (found === null) {
      throw new ServiceError(
        'invalid-credentials',
        'link' in signIn
          ? 'The link was used already, or is too old: it works once, for 15 minutes, that of a sandbox for 10. Ask the operator for a new one, start the sandbox again, or sign in with your own credentials.'
          : 'No operator has this key, or it was revoked.',
      )
    }
    return found
  }

  async #findKey({ operatorKey }: { operatorKey: string }): Promise<Found | null> {
    const found = await this.#keys.identify(operatorKey)
    if (found === null) return null
    const holder: SessionHolder =
      found.keyId === null
        ? { kind: 'first-key', key: digestFirstKey(this.#deps) }
        : { kind: 'operator-key', keyId: found.keyId }
    return { holder, operator: found.operator }
  }

  async #followLink({ link, kinds }: Extract<SignIn, { link: string }>): Promise<Found | null> {
    const { pool, clock } = this.#deps
    const now = new Date(clock.nowMs())
    const digest = digestOf(link)
    const clientKey = kinds.includes('client') ? await takeClientLink(pool, digest, now) : null
    if (clientKey !== null) {
      return { holder: { kind: 'client', clientKey, secretId: null }, operator: null }
    }
    const isGood = kinds.includes('operator') && (await takeLink(pool, digest, now))
    if (!isGood) return null
    const holder: SessionHolder = { kind: 'first-key', key: digestFirstKey(this.#deps) }
    return { holder, operator: FIRST_OPERATOR }
  }
}

/** A token that signs the operator in once, within 10 minutes; for the sandbox, which prints it. */
export async function createSignInLink(deps: Pick<Deps, 'pool' | 'clock'>): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const now = new Date(deps.clock.nowMs())
  await deleteOldLinks(deps.pool, now)
  await insertLink(deps.pool, digestOf(token), new Date(now.getTime() + LINK_MS))
  return token
}

const CLIENT_LINK_MS = 15 * 60_000

/** A token that signs a person in once as a client, within 15 minutes. */
export async function makeClientLink(
  deps: Pick<Deps, 'clock'>,
  db: Db,
  clientKey: number,
): Promise<{ token: string; expiresAt: Date }> {
  const token = randomBytes(32).toString('base64url')
  const now = new Date(deps.clock.nowMs())
  const expiresAt = new Date(now.getTime() + CLIENT_LINK_MS)
  await deleteOldClientLinks(db, now)
  await insertClientLink(db, { digest: digestOf(token), clientKey, expiresAt })
  return { token, expiresAt }
}

/** Null when the settings name another provider by now, or give the group no role. */
function toOperator({ config }: Pick<Deps, 'config'>, person: Person): Operator | null {
  if (config.oidc?.issuer !== person.issuer) return null
  const role = config.oidc.roles.find(({ group }) => group === person.group)?.role
  return role === undefined ? null : { actor: actorOf(person), role }
}

function actorOf({ subject, email }: Pick<Person, 'subject' | 'email'>): string {
  return email === null ? `oidc:${subject}` : `oidc:${subject} ${email}`
}

/** A plain hash suffices, because 256 random bits cannot be guessed. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

type FirstKeyDeps = Pick<Deps, 'config' | 'sealer'>

function digestFirstKey({ config, sealer }: FirstKeyDeps): KeyDigest {
  if (config.operatorKey === null) throw new Error('a key that is not set has no holder')
  const masterKeyId = sealer.digestKeyId
  return {
    digest: sealer.digest(config.operatorKey, masterKeyId, 'operator-key'),
    masterKeyId,
  }
}

/** Whether PAYBELL_OPERATOR_KEY is still what the session was opened with. */
function isFirstKey({ config, sealer }: FirstKeyDeps, { digest, masterKeyId }: KeyDigest): boolean {
  if (config.operatorKey === null || !sealer.hasKey(masterKeyId)) return false
  return timingSafeEqual(sealer.digest(config.operatorKey, masterKeyId, 'operator-key'), digest)
}
