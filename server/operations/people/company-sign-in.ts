// People sign in with their company: to the provider and back, and out again. What has to be remembered on the way is
// sealed into a cookie, so any process may finish what another has begun.

import { hash } from 'node:crypto'
import type { OidcSettings } from '../../config/config.ts'
import { toAddressGroup } from '../../core/network/network-rules.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import type { ConsoleSession, ConsoleSessions } from '../access/console-session.ts'
import { RateBuckets } from '../access/rate-buckets.ts'
import type { Deps } from '../shared/deps.ts'
import { type CommandLine, HandOver, type Question } from './hand-over.ts'
import {
  type Begun,
  IdentityProvider,
  ProviderFailure,
  type ProviderFault,
} from './identity-provider.ts'
import { openJson, openText, sealJson } from './sealed-json.ts'
import { toVouchedPerson } from './vouched-person.ts'

export const BEGUN_SECONDS = 10 * 60
/** Sign-ins of one address that have come to nothing yet: each step of one asks the provider. */
const UNFINISHED = { burst: 50, perSecond: 1, keysMax: 50_000 }
/** Longer than a logout token is taken by far, as clocks may be apart. */
const LOGOUT_KEPT_MS = 3_600_000

interface Kept extends Begun {
  redirectUri: string
  commandLine: CommandLine | null
  untilMs: number
}

export type SignedIn =
  | { kind: 'signed-in'; token: string }
  /** A command line waits for it: the person is asked first. */
  | { kind: 'asks'; question: Question }
  | { kind: 'no-role'; who: string }
  | { kind: 'failed'; fault: ProviderFault | 'not-begun'; reason: string }

type CompanyDeps = Pick<Deps, 'clock' | 'sealer' | 'pool'>

export class CompanySignIn {
  readonly settings: OidcSettings
  /** To the command line. */
  readonly handOver: HandOver
  readonly #deps: CompanyDeps
  readonly #sessions: ConsoleSessions
  readonly #provider: IdentityProvider
  /** By address. What a sign-in has taken is given back when the provider has vouched for the person. */
  readonly #unfinished: RateBuckets

  constructor(deps: CompanyDeps, settings: OidcSettings, sessions: ConsoleSessions) {
    this.settings = settings
    this.handOver = new HandOver(deps, settings, sessions)
    this.#deps = deps
    this.#sessions = sessions
    const monotonicMs = () => deps.clock.monotonicMs()
    this.#provider = new IdentityProvider(settings, monotonicMs)
    this.#unfinished = new RateBuckets({ ...UNFINISHED, monotonicMs })
  }

  /** What people know the provider by. */
  get name(): string {
    return new URL(this.settings.issuer).host
  }

  /** Where the browser goes, and the cookie that it comes back with. Rejects with a ProviderFailure. */
  async begin(redirectUri: string, commandLine: CommandLine | null, address: string) {
    this.#take(address)
    const { url, begun } = await this.#provider.begin(redirectUri)
    const untilMs = this.#deps.clock.nowMs() + BEGUN_SECONDS * 1_000
    const kept: Kept = { ...begun, redirectUri, commandLine, untilMs }
    return { url, cookie: sealJson(this.#deps.sealer, kept, stateField(begun.state)) }
  }

  async finish(
    came: { query: string; cookie: string | undefined; address: string },
    requestId: string,
  ): Promise<SignedIn> {
    const kept = this.#openBegun(came)
    if (kept === null) {
      return { kind: 'failed', fault: 'not-begun', reason: 'no cookie for this state' }
    }
    // A cookie can come back with many codes.
    this.#take(came.address)
    try {
      const cameTo = new URL(`${kept.redirectUri}?${came.query}`)
      const done = await this.#admit(kept, cameTo, requestId)
      this.#giveBack(came.address)
      return done
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
    const vouched = { issuer, subject, sid, email, group: granted.group }
    if (kept.commandLine !== null) {
      const question = this.handOver.ask(vouched, granted.role, kept.commandLine)
      return { kind: 'asks', question }
    }
    const { sealer } = this.#deps
    const { token } = await this.#sessions.openForPerson(
      { ...vouched, idToken: sealer.seal(Buffer.from(idToken), idTokenField(subject)) },
      { requestId, isCommandLine: false },
    )
    return { kind: 'signed-in', token }
  }

  /** Where the browser signs out at the company, too; null where it need not, or cannot now. */
  async signOutUrl(session: ConsoleSession, returnTo: string): Promise<string | null> {
    if (session.kind !== 'operator' || session.person === undefined) return null
    const { subject, idToken } = session.person
    const hint = idToken && openText(this.#deps.sealer, idToken, idTokenField(subject))
    return this.#provider.signOutUrl(hint, returnTo).catch(() => null)
  }

  /** The provider says that somebody has signed out. Rejects with a ProviderFailure. */
  async endSessions(logoutToken: string, requestId: string): Promise<void> {
    const { subject, sid, jti } = await this.#provider.readLogout(logoutToken)
    const { issuer } = this.settings
    const use = {
      digest: hash('sha256', `${issuer} ${jti}`, 'buffer'),
      expiresAt: new Date(this.#deps.clock.nowMs() + LOGOUT_KEPT_MS),
    }
    const isNew = await this.#sessions.endByLogout({ issuer, subject, sid }, use, requestId)
    if (!isNew) throw new ProviderFailure('unverified', 'the logout token was used before')
  }

  #take(address: string): void {
    const retryAfterSeconds = this.#unfinished.takeOrWait(toAddressGroup(address))
    if (retryAfterSeconds === 0) return
    throw new ServiceError(
      'too-many-requests',
      'Too many sign-ins were begun. Wait, then try again.',
      {
        retryAfterSeconds,
      },
    )
  }

  /** What beginning and coming back have taken. */
  #giveBack(address: string): void {
    for (const _ of ['begun', 'back']) this.#unfinished.giveBack(toAddressGroup(address))
  }

  #openBegun({ query, cookie }: { query: string; cookie: string | undefined }): Kept | null {
    const state = new URLSearchParams(query).get('state')
    if (cookie === undefined || state === null) return null
    // Sealed for this state: the cookie of another sign-in does not open.
    const kept = openJson<Kept>(this.#deps.sealer, cookie, stateField(state))
    return kept !== null && kept.untilMs >= this.#deps.clock.nowMs() ? kept : null
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
