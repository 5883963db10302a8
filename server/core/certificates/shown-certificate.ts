// A certificate of the service's own, with its key, as a receiver is shown it.

import type { KeyObject } from 'node:crypto'

export interface ShownCertificate {
  fingerprintSha256: string
  chainPem: string
  privateKey: KeyObject
}
