// What a connection over TLS is opened with, where an endpoint has settings of its own: a certificate to show, and the
// authorities that are believed. Connections and sessions of different settings are never shared: each has a name.

import { constants } from 'node:crypto'
import {
  createSecureContext,
  DEFAULT_CIPHERS,
  getCACertificates,
  type SecureContext,
} from 'node:tls'
import type { ShownCertificate } from '../../core/certificates/shown-certificate.ts'
import { digestOf } from '../../core/delivery/endpoint-tls.ts'
import { BoundedMap } from '../../core/plain/bounded-map.ts'

export interface TlsSettings {
  /** The same settings have the same, and others another. */
  name: string
  context: SecureContext
}

/** A context with its key and certificates takes some tens of kilobytes. */
const CONTEXTS_MAX = 1_000

const MIN_VERSION = 'TLSv1.2'
/** Without Diffie-Hellman in groups that the receiver chooses: one of 10,000 bits holds the loop for a second (TLS 1.2). */
const CIPHERS = `${DEFAULT_CIPHERS}:!kDHE`

export class TlsContexts {
  readonly #publicAuthorities: readonly string[] | undefined
  readonly #cached = new BoundedMap<string, TlsSettings>(CONTEXTS_MAX)

  /** `extraCa`: trusted beside the public ones, where an endpoint names none of its own. */
  constructor(extraCa: string | undefined) {
    // Left out, OpenSSL has them already, and shares them between contexts.
    this.#publicAuthorities =
      extraCa === undefined ? undefined : [...getCACertificates('default'), extraCa]
  }

  /** Of connections without settings of their own. */
  usual(): SecureContext {
    return this.#make(null, null)
  }

  settingsOf(shown: ShownCertificate | null, authorities: readonly string[] | null): TlsSettings {
    // By the whole chain: one that was completed is another one to receivers.
    const parts = [
      shown === null ? '' : digestOf([shown.chainPem]),
      authorities && digestOf(authorities),
    ]
    const name = parts.join(' ')
    const cached = this.#cached.get(name)
    if (cached !== undefined) return cached
    const made = { name, context: this.#make(shown, authorities) }
    this.#cached.set(name, made)
    return made
  }

  #make(shown: ShownCertificate | null, authorities: readonly string[] | null): SecureContext {
    const ca = authorities ?? this.#publicAuthorities
    return createSecureContext({
      minVersion: MIN_VERSION,
      ciphers: CIPHERS,
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      ...(ca === undefined ? {} : { ca: [...ca] }),
      // An authority that is named is believed, also one that another has signed.
      ...(authorities === null ? {} : { allowPartialTrustChain: true }),
      ...(shown === null
        ? {}
        : {
            cert: shown.chainPem,
            key: shown.privateKey.export({ type: 'pkcs8', format: 'pem' }),
          }),
    })
  }
}
