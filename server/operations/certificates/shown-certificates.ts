// The certificates with their keys, as connections are opened with them. All are read at once and kept for a few seconds:
// a new default, or a renewed certificate, is shown in every process within them.

import type { ShownCertificate } from '../../core/certificates/shown-certificate.ts'
import { DEFAULT_CERTIFICATE } from '../../core/delivery/endpoint-tls.ts'
import { Remembered } from '../../core/plain/remembered.ts'
import {
  readCertificates,
  type StoredCertificate,
} from '../../store/secrets/client-certificates.ts'
import type { Deps } from '../shared/deps.ts'
import { openPrivateKey } from './private-key.ts'

const AGE_MS_MAX = 4_000

type All = ReadonlyMap<string, ShownCertificate>

export class ShownCertificates {
  readonly #deps: Pick<Deps, 'pool' | 'sealer'>
  readonly #all: Remembered<'all', All>

  constructor(deps: Pick<Deps, 'pool' | 'sealer' | 'clock'>) {
    this.#deps = deps
    this.#all = new Remembered({
      keysMax: 1,
      expiry: { monotonicMs: () => deps.clock.monotonicMs(), ageMsMax: AGE_MS_MAX },
    })
  }

  /** Null when there is none, when it is not signed yet, or when its key does not open. */
  async find(choice: string): Promise<ShownCertificate | null> {
    const all = await this.#all.get('all', () => this.#read())
    return all.get(choice) ?? null
  }

  async #read(): Promise<All> {
    const all = new Map<string, ShownCertificate>()
    for (const stored of await readCertificates(this.#deps.pool)) {
      const shown = this.#open(stored)
      if (shown === null) continue
      all.set(stored.id, shown)
      if (stored.isDefault) all.set(DEFAULT_CERTIFICATE, shown)
    }
    return all
  }

  #open(stored: StoredCertificate): ShownCertificate | null {
    const { chain } = stored
    if (chain === null) return null
    try {
      return {
        fingerprintSha256: chain.fingerprint.toString('hex'),
        chainPem: chain.pem,
        privateKey: openPrivateKey(this.#deps.sealer, stored),
      }
    } catch {
      return null
    }
  }
}
