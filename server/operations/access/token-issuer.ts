// What tokens name as their issuer: the address of the service, the same text as in its metadata (RFC 8414 §2,
// RFC 9068 §2.2). Where no address is set, processes of 0.2 and before take nothing but a word of their own: while one of
// them is alive, during a rolling upgrade or on the way back, tokens name that, and every process takes them.

import { LEASE_POLICY } from '../../core/delivery/lease.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import { ISSUER_BEFORE } from '../../core/proofs/token.ts'
import { readOtherVersions } from '../../store/secrets/sealing-form.ts'
import type { Deps } from '../shared/deps.ts'

const LOOK_EVERY_MS = 1_000
const BEFORE = /^0\.[12]\./

export class TokenIssuer {
  readonly #deps: Pick<Deps, 'pool' | 'config'> & { version: string; baseUrl(): string }
  readonly #isBeforeAlive: Remembered<'now', boolean>

  constructor(
    deps: Pick<Deps, 'pool' | 'config' | 'clock'> & { version: string; baseUrl(): string },
  ) {
    const monotonicMs = () => deps.clock.monotonicMs()
    this.#deps = deps
    this.#isBeforeAlive = new Remembered({
      keysMax: 1,
      expiry: { monotonicMs, ageMsMax: LOOK_EVERY_MS },
    })
  }

  async name(): Promise<string> {
    const { config, baseUrl } = this.#deps
    if (config.baseUrl !== null) return baseUrl()
    const isBeforeAlive = await this.#isBeforeAlive.get('now', () => this.#look())
    return isBeforeAlive ? ISSUER_BEFORE : baseUrl()
  }

  async #look(): Promise<boolean> {
    const { pool, version } = this.#deps
    const others = await readOtherVersions(pool, version, LEASE_POLICY.processGoneAfterMs)
    return others.some((other) => BEFORE.test(other))
  }
}
