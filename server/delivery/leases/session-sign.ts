// Keeps a session whose end tells the others that this process is gone, and asks over it whose have ended. A session
// that is lost, or too slow to prove anything, is given up at once: the leases are renewed without a sign, and are
// what they were before there were signs. Until then one that is merely slow stays open, or the others would take
// this process for dead because the database is slow. A new one is opened, each time later while they do not last.

import type { LeasePolicy } from '../../core/delivery/lease.ts'
import { OthersSigns, OwnSign } from '../../core/delivery/session-signs.ts'
import type { EngineEnvironment, SignSession } from '../seams/environment.ts'

/** Until the next try, after the second loss in a row and those that follow. A session that lasts for so long as the
 *  longest begins the row anew. */
const REOPEN_MS = 250
const REOPEN_MS_MAX = 60_000

/** For so long after a loss nothing else is waited for: a server whose backend has crashed takes seconds to recover. */
const URGENT_MS = 10_000

export interface SignEvents {
  /** The leases are to be renewed, under another sign or under none. */
  onChanged(): void
  /** Signs of others have ended. */
  onEnded(): void
  /** It may send again. */
  onProven(): void
}

type SignEnvironment = Pick<
  EngineEnvironment,
  'clock' | 'cautiousMs' | 'setTimer' | 'openSign' | 'log'
>

export class SessionSign {
  readonly #environment: SignEnvironment
  readonly #policy: LeasePolicy['sign']
  readonly own: OwnSign
  readonly others: OthersSigns
  readonly #events: SignEvents
  #session: SignSession | null = null
  /** Given up, and named by leases of ours. */
  #slow: SignSession[] = []
  #openedAtMs = 0
  #losses = 0
  #lostAtMs = 0
  #isBeating = false
  /** The leases were renewed during a beat: it did not ask about what they have shown. */
  #isAskingAgain = false
  #isStopped = true
  #callOff: () => void = () => {}

  constructor(environment: SignEnvironment, policy: LeasePolicy['sign'], events: SignEvents) {
    this.#environment = environment
    this.#policy = policy
    this.own = new OwnSign(policy)
    this.others = new OthersSigns(policy)
    this.#events = events
  }

  get isHeld(): boolean {
    return this.#session !== null
  }

  /** Resolves when there is one, or for the time being none. */
  async start(): Promise<void> {
    this.#isStopped = false
    await this.#open()
  }

  stop(): void {
    this.#isStopped = true
    this.#callOff()
    for (const session of [...this.#slow, this.#session]) session?.close()
    this.#session = null
  }

  /** The leases were renewed: there may be more to ask about than at the last beat. */
  renewed(): void {
    const isOver = ({ name }: SignSession) => !this.own.mayHold(name)
    for (const session of this.#slow.filter(isOver)) session.close()
    this.#slow = this.#slow.filter((session) => !isOver(session))
    if (this.#isBeating) this.#isAskingAgain = true
    else if (this.#session !== null) this.#after(0, () => this.#beat())
  }

  /** Nothing is sent for leases under a sign that is lost: a renewal that failed is tried again at once, for some time. */
  isUrgent(): boolean {
    const isRecent = this.#environment.clock.monotonicMs() - this.#lostAtMs < URGENT_MS
    return this.own.provenUntilMs === Number.NEGATIVE_INFINITY && isRecent
  }

  async #open(): Promise<void> {
    const { openSign, cautiousMs, clock, log } = this.#environment
    if (openSign === undefined || this.#isStopped) return
    const askedAtMs = cautiousMs()
    let session: SignSession | null = null
    try {
      session = await openSign(() => this.#lose(session, 'ended'))
      if (cautiousMs() - askedAtMs >= this.#policy.provenMs) {
        session.close()
        throw new Error('it proves nothing any more')
      }
    } catch (error) {
      log.warn({ error: String(error) }, 'sign.not-opened')
      this.#openLater()
      return
    }
    if (this.#isStopped) return session.close()
    this.#session = session
    this.#openedAtMs = clock.monotonicMs()
    this.own.change(session.name, askedAtMs)
    this.#events.onChanged()
    void this.#beat()
  }

  async #beat(): Promise<void> {
    const session = this.#session
    if (session === null) return
    const { cautiousMs, clock } = this.#environment
    const sentAtMs = cautiousMs()
    // Whatever it is busy with: a session that does not answer in time proves nothing.
    this.#isBeating = true
    this.#isAskingAgain = false
    this.#after(this.#policy.provenMs, () => this.#lose(session, 'slow'))
    const ended = await session.beat(this.others.watched).catch(() => null)
    if (session !== this.#session) return
    this.#isBeating = false
    if (ended === null) return this.#lose(session, 'ended')
    if (cautiousMs() - sentAtMs >= this.#policy.provenMs) return this.#lose(session, 'slow')
    const wasProven = cautiousMs() < this.own.provenUntilMs
    this.own.prove(sentAtMs)
    if (clock.monotonicMs() - this.#openedAtMs >= REOPEN_MS_MAX) this.#losses = 0
    this.#after(this.#isAskingAgain ? 0 : this.#policy.beatEveryMs, () => this.#beat())
    if (ended.length > 0) {
      this.others.end(ended, clock.monotonicMs())
      this.#events.onEnded()
    }
    if (!wasProven) this.#events.onProven()
  }

  #lose(session: SignSession | null, why: 'slow' | 'ended'): void {
    if (session === null || session !== this.#session) return
    this.#session = null
    this.#isBeating = false
    if (why === 'slow') this.#slow.push(session)
    else session.close()
    this.own.change(null)
    this.#lostAtMs = this.#environment.clock.monotonicMs()
    this.#environment.log.warn({ why }, 'sign.lost')
    this.#openLater()
    this.#events.onChanged()
  }

  /** At once after the first loss: most are of the moment. */
  #openLater(): void {
    const pauseMs = this.#losses === 0 ? 0 : REOPEN_MS * 2 ** Math.min(this.#losses - 1, 8)
    this.#losses++
    this.#after(Math.min(pauseMs, REOPEN_MS_MAX), () => this.#open())
  }

  #after(ms: number, task: () => unknown): void {
    this.#callOff()
    if (this.#isStopped) return
    this.#callOff = this.#environment.setTimer(ms, () => void task())
  }
}
