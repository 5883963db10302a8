// The certificates with their keys, as connections are opened with them, each for the clients that it is given to. All are
// read at once and kept for a few seconds: a new default, a renewed certificate, or one that was taken from a client, is seen
// by every process within them. One that is not among them may be newer, so they are read again before it is missing.

import { type CertificateClients, EVERYONE } from '../../core/certificates/certificate-clients.ts'
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
/** However many are missing and asked for, they are read four times a second at most. */
const MISS_AGE_MS_MAX = 250

interface Owned {
  shown: ShownCertificate
  clients: typeof EVERYONE | ReadonlySet<number>
}

type All = ReadonlyMap<string, Owned>

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

  /** Null when the client has none by this id, when it is not signed yet, or when its key does not open. */
  async find(clientKey: number, choice: string): Promise<ShownCertificate | null> {
    const found = find(await this.#get(), clientKey, choice)
    return found ?? find(await this.#get(MISS_AGE_MS_MAX), clientKey, choice)
  }

  /** This process has changed one. */
  forget(): void {
    this.#all.forget('all')
  }

  #get(ageMsMax?: number): Promise<All> {
    return this.#all.get('all', () => this.#read(), ageMsMax)
  }

  async #read(): Promise<All> {
    const all = new Map<string, Owned>()
    for (const stored of await readCertificates(this.#deps.pool)) {
      const shown = this.#open(stored)
      if (shown === null) continue
      const owned = { shown, clients: toSet(stored.clients) }
      all.set(stored.id, owned)
      if (stored.isDefault) all.set(DEFAULT_CERTIFICATE, owned)
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

function find(all: All, clientKey: number, choice: string): ShownCertificate | null {
  const owned = all.get(choice)
  if (owned === undefined) return null
  return owned.clients === EVERYONE || owned.clients.has(clientKey) ? owned.shown : null
}

function toSet(clients: CertificateClients): Owned['clients'] {
  return clients === EVERYONE ? EVERYONE : new Set(clients)
}
