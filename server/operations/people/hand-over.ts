// A session for the command line, by way of the browser. A link alone gets none: the person is asked on a page of the
// service, and only the browser that was asked can agree. What follows is a code that is worth nothing without the
// verifier that only the command line has (RFC 7636).

import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { OidcSettings } from '../../config/config.ts'
import type { Operator, Role } from '../../core/plain/operator.ts'
import { useOnce } from '../../store/secrets/console-sessions.ts'
import type { ConsoleSessions } from '../access/console-session.ts'
import type { Deps } from '../shared/deps.ts'
import { openJson, sealJson } from './sealed-json.ts'

export const QUESTION_SECONDS = 5 * 60
const CODE_MS = 2 * 60_000
/** Longer than either is good for by far: the clock of whoever deletes it may be ahead. */
const USED_KEPT_MS = 3_600_000
const CODE_FIELD = { column: 'oidc.code', row: 'command-line' }

/** A command line that waits on this machine's loopback address. */
export interface CommandLine {
  port: number
  state: string
  challenge: string
}

/** Whom the company has vouched for, and the group that gives the role. */
export interface HandedPerson {
  issuer: string
  subject: string
  sid: string | null
  email: string | null
  group: string
}

/** What the person is asked. */
export interface Question {
  who: string
  role: Role
  commandLine: CommandLine
  /** Goes into the form. */
  form: string
  /** Goes into a cookie: the form counts only with it. */
  cookie: string
}

interface Kept {
  person: HandedPerson
  commandLine: CommandLine
  untilMs: number
}

export interface HandedSession extends Operator {
  token: string
  expiresAt: string
}

type HandOverDeps = Pick<Deps, 'clock' | 'sealer' | 'pool'>

export class HandOver {
  readonly #deps: HandOverDeps
  readonly #settings: OidcSettings
  readonly #sessions: ConsoleSessions

  constructor(deps: HandOverDeps, settings: OidcSettings, sessions: ConsoleSessions) {
    this.#deps = deps
    this.#settings = settings
    this.#sessions = sessions
  }

  /** Opens nothing yet. */
  ask(person: HandedPerson, role: Role, commandLine: CommandLine): Question {
    const cookie = randomBytes(32).toString('base64url')
    const untilMs = this.#deps.clock.nowMs() + QUESTION_SECONDS * 1_000
    const kept: Kept = { person, commandLine, untilMs }
    const form = sealJson(this.#deps.sealer, kept, questionField(cookie))
    return { who: person.email ?? person.subject, role, commandLine, form, cookie }
  }

  /** Null where this browser was not asked, too long ago, or has answered; a null code: the person said no. */
  async answer(
    came: { form: string; cookie: string; isAllowed: boolean },
    requestId: string,
  ): Promise<{ commandLine: CommandLine; code: string | null } | null> {
    const kept = openJson<Kept>(this.#deps.sealer, came.form, questionField(came.cookie))
    if (kept === null || kept.untilMs < this.#deps.clock.nowMs()) return null
    const { commandLine, person } = kept
    if (!(await this.#isFirstUse(came.form))) return null
    if (!came.isAllowed) return { commandLine, code: null }
    // The settings may be others since the person was asked.
    if (!this.#settings.roles.some(({ group }) => group === person.group)) return null
    const opened = await this.#sessions.openForPerson(
      // It signs out by itself, without the company's pages: nothing asks for its ID token.
      { ...person, idToken: null },
      { requestId, isCommandLine: true },
    )
    const { challenge } = commandLine
    const session = { ...opened, expiresAt: opened.expiresAt.toISOString() }
    const kind = { session, challenge, untilMs: this.#deps.clock.nowMs() + CODE_MS }
    return { commandLine, code: sealJson(this.#deps.sealer, kind, CODE_FIELD) }
  }

  /** The session behind a code, once, for the one who has the verifier; null for all others. */
  async redeem(code: string, verifier: string): Promise<HandedSession | null> {
    const kept = openJson<{ session: HandedSession; challenge: string; untilMs: number }>(
      this.#deps.sealer,
      code,
      CODE_FIELD,
    )
    if (kept === null || kept.untilMs < this.#deps.clock.nowMs()) return null
    const digest = createHash('sha256').update(verifier).digest()
    const challenge = Buffer.from(kept.challenge, 'base64url')
    const isRight = challenge.length === digest.length && timingSafeEqual(challenge, digest)
    return isRight && (await this.#isFirstUse(code)) ? kept.session : null
  }

  /** In any process. By what was sealed: its text can be spelt in several ways. */
  #isFirstUse(text: string): Promise<boolean> {
    const { pool, clock } = this.#deps
    const nowMs = clock.nowMs()
    const digest = hash('sha256', Buffer.from(text, 'base64url'), 'buffer')
    const used = { digest, expiresAt: new Date(nowMs + USED_KEPT_MS) }
    return useOnce(pool, used, new Date(nowMs))
  }
}

function questionField(cookie: string) {
  return { column: 'oidc.question', row: cookie }
}
