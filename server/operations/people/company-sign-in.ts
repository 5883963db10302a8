// People sign in with their company: to the provider and back, and out again. What has to be remembered on the way is
// sealed into a cookie, so any process may finish what another has begun. The command line gets its session by a code
// that is worth nothing without the verifier that only it has (RFC 7636).

import { createHash, timingSafeEqual } from 'node:crypto'
import type { OidcSettings } from '../../config/config.ts'
import type { ConsoleSession, ConsoleSessions } from '../access/console-session.ts'
import type { Deps } from '../shared/deps.ts'
import {
  type Begun,
  IdentityProvider,
  ProviderFailure,
  type ProviderFault,
} from './identity-provider.ts'
import { toVouchedPerson } from './vouched-person.ts'

export const BEGUN_SECONDS = 10 * 60
const CODE_MS = 2 * 60_000
const CODE_FIELD = { column: 'oidc.code', row: 'command-line' }

/** A command line that waits on this machine's loopback address. */
export interface CommandLine {
  port: number
  state: string
  challenge: string
}

interface Kept extends Begun {
  redirectUri: string
  commandLine: CommandLine | null
  untilMs: number
}

export type SignedIn =
  | { kind: 'signed-in'; token: string }
  /** The browser takes the code to the command line. */
  | { kind: 'to-command-line'; commandLine: CommandLine; code: string }
  | { kind: 'no-role'; who: string }
  | { kind: 'failed'; fault: ProviderFault | 'not-begun'; reason: string }

type CompanyDeps = Pick<Deps, 'clock' | 'sealer'>

export class CompanySignIn {
  readonly settings: OidcSettings
  readonly #deps: CompanyDeps
  readonly #sessions: ConsoleSessions
  readonly #provider: IdentityProvider

  constructor(deps: CompanyDeps, settings: OidcSettings, sessions: ConsoleSessions) {
    this.settings = settings
    this.#deps = deps
    this.#sessions = sessions
    this.#provider = new IdentityProvider(settings, () => deps.clock.monotonicMs())
  }

  /** What people know the provider by. */
  get name(): string {
    return new URL(this.settings.issuer).host
  }

  /** Where the browser goes, and the cookie that it comes back with. Rejects with a ProviderFailure. */
  async begin(redirectUri: string, commandLine: CommandLine | null) {
    const { url, begun } = await this.#provider.begin(redirectUri)
    const untilMs = this.#deps.clock.nowMs() + BEGUN_SECONDS * 1_000
    const kept: Kept = { ...begun, redirectUri, commandLine, untilMs }
    return { url, cookie: this.#seal(kept, stateField(begun.state)) }
  }

  async finish(
    came: { query: string; cookie: string | undefined },
    requestId: string,
  ): Promise<SignedIn> {
    const kept = this.#openBegun(came)
    if (kept === null) {
      return { kind: 'failed', fault: 'not-begun', reason: 'no cookie for this state' }
    }
    try {
      const cameTo = new URL(`${kept.redirectUri}?${came.query}`)
      return await this.#admit(kept, cameTo, requestId)
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error
      return { kind: 'failed', fault: error.fault, reason: describe(error) }
    }
  }

  async #admit(kept: Kept, cameTo: URL, requestId: string): Promise<SignedIn> {
    const { claims, idToken } = await this.#provider.finish(cameTo, kept)
    const person = toVouchedPerson(claims, this.settings)
    if (person === null) throw new ProviderFailure('unverified', 'the ID token names no one')
    const { subject, sid, email, groups, granted } = person
    const { issuer } = this.settings
    // A role that was taken away is gone from the sessions that were opened with it, too.
    await this.#sessions.endOfPerson({ issuer, subject, groupsKept: groups }, requestId)
    if (granted === null) return { kind: 'no-role', who: email ?? subject }
    const { commandLine } = kept
    const { token, expiresAt } = await this.#sessions.openForPerson(
      {
        issuer,
        subject,
        sid,
        email,
        group: granted.group,
        idToken: this.#deps.sealer.seal(Buffer.from(idToken), idTokenField(subject)),
      },
      { requestId, isCommandLine: commandLine !== null },
    )
    if (commandLine === null) return { kind: 'signed-in', token }
    const untilMs = this.#deps.clock.nowMs() + CODE_MS
    const code = this.#seal(
      { token, expiresAt: expiresAt.toISOString(), challenge: commandLine.challenge, untilMs },
      CODE_FIELD,
    )
    return { kind: 'to-command-line', commandLine, code }
  }

  /** The session behind a code, for whoever has the verifier; null for all others. */
  redeem(code: string, verifier: string): { token: string; expiresAt: string } | null {
    const kept = this.#open(code, CODE_FIELD)
    if (kept === null || kept.untilMs < this.#deps.clock.nowMs()) return null
    const digest = createHash('sha256').update(verifier).digest()
    const challenge = Buffer.from(kept.challenge, 'base64url')
    const isRight = challenge.length === digest.length && timingSafeEqual(challenge, digest)
    return isRight ? { token: kept.token, expiresAt: kept.expiresAt } : null
  }

  /** Where the browser signs out at the company, too; null where it need not, or cannot now. */
  async signOutUrl(session: ConsoleSession, returnTo: string): Promise<string | null> {
    if (session.kind !== 'operator' || session.person === undefined) return null
    const { subject, idToken } = session.person
    const hint = idToken && this.#openText(idToken, idTokenField(subject))
    return this.#provider.signOutUrl(hint, returnTo).catch(() => null)
  }

  /** The provider says that somebody has signed out. Rejects with a ProviderFailure. */
  async endSessions(logoutToken: string, requestId: string): Promise<void> {
    const { subject, sid } = await this.#provider.readLogout(logoutToken)
    const { issuer } = this.settings
    // §2.7: a session that is named ends alone.
    if (sid !== null) await this.#sessions.endOfSid(issuer, sid, requestId)
    else if (subject !== null) {
      await this.#sessions.endOfPerson({ issuer, subject, groupsKept: [] }, requestId)
    }
  }

  #openBegun({ query, cookie }: { query: string; cookie: string | undefined }): Kept | null {
    const state = new URLSearchParams(query).get('state')
    if (cookie === undefined || state === null) return null
    // Sealed for this state: the cookie of another sign-in does not open.
    const kept: Kept | null = this.#open(cookie, stateField(state))
    return kept !== null && kept.untilMs >= this.#deps.clock.nowMs() ? kept : null
  }

  #seal(value: object, field: { column: string; row: string }): string {
    return this.#deps.sealer.seal(Buffer.from(JSON.stringify(value)), field).toString('base64url')
  }

  #open(text: string, field: { column: string; row: string }) {
    const opened = this.#openText(Buffer.from(text, 'base64url'), field)
    return opened === null ? null : JSON.parse(opened)
  }

  /** Null for what was not sealed here for this, or under a master key that has gone. */
  #openText(sealed: Buffer, field: { column: string; row: string }): string | null {
    try {
      return this.#deps.sealer.open(sealed, field).toString()
    } catch {
      return null
    }
  }
}

function stateField(state: string) {
  return { column: 'oidc.state', row: state }
}

function idTokenField(subject: string) {
  return { column: 'console_sessions.oidc_id_token', row: subject }
}

const REASON_CHARACTERS_MAX = 200

/** For the log: what happened and at most one cause of it, neither of which has a token in it. */
export function describe({ message, cause }: ProviderFailure): string {
  const beneath = cause instanceof Error && cause.message !== message ? `: ${cause.message}` : ''
  return (message + beneath).slice(0, REASON_CHARACTERS_MAX)
}
