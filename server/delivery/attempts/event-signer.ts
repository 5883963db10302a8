// Signs callbacks with the service's own keys. What is signed is the event, the second and the body, and none of
// them is the endpoint's: so all endpoints that an event goes to within a second share one signature. What is kept
// is bounded, and so are the bytes of large bodies that are being signed.

import { Remembered } from '../../core/plain/remembered.ts'
import {
  type AsymmetricSignature,
  signAsymmetric,
  signedContent,
} from '../../core/signatures/asymmetric-signature.ts'
import { ByteBudget } from '../caches/byte-budget.ts'
import type { EngineEnvironment } from '../seams/environment.ts'

interface EventSignerLimits {
  /** Some 300 bytes each. */
  signaturesMax: number
  /** Of bodies that are being signed; each is copied for it. */
  bytesMax: number
}

const LIMITS: EventSignerLimits = {
  signaturesMax: 4_096,
  bytesMax: 64 * 1_024 * 1_024,
}

/** Smaller bodies do not count: as many as there are slots are nothing. */
const COUNTED_BYTES_MIN = 128 * 1_024

/** What is signed. Bodies of one event differ by `variant` alone: where each endpoint has its own, it is its id. */
export interface Signable {
  eventId: string
  variant: string
  timestampSeconds: number
  body: readonly Uint8Array[]
  bytes: number
}

export class EventSigner {
  readonly #environment: Pick<EngineEnvironment, 'signers' | 'onSigned'>
  readonly #budget: ByteBudget
  readonly #signatures: Remembered<string, AsymmetricSignature>

  constructor(environment: Pick<EngineEnvironment, 'signers' | 'onSigned'>, limits = LIMITS) {
    this.#environment = environment
    this.#budget = new ByteBudget(limits.bytesMax)
    this.#signatures = new Remembered({ keysMax: limits.signaturesMax })
  }

  /** Without a promise where another endpoint has had it signed. Rejects when no key can be read. */
  sign(what: Signable): AsymmetricSignature | Promise<AsymmetricSignature> {
    const key = `${what.eventId} ${what.timestampSeconds} ${what.variant}`
    return this.#signatures.look(key) ?? this.#signatures.get(key, () => this.#make(what))
  }

  async #make(what: Signable): Promise<AsymmetricSignature> {
    const release = what.bytes < COUNTED_BYTES_MIN ? null : await this.#budget.take(what.bytes)
    try {
      const signers = await this.#environment.signers()
      const content = signedContent(what.eventId, what.timestampSeconds, what.body)
      const signature = await signAsymmetric(signers, content)
      this.#environment.onSigned?.()
      return signature
    } finally {
      release?.()
    }
  }
}
