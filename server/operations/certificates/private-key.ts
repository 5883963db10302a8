// The private key of a certificate: sealed in its row, a key object in memory, and in nothing else.

import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { StoredCertificate } from '../../store/secrets/client-certificates.ts'
import type { SealedField, Sealer } from '../../store/secrets/sealing.ts'

export function privateKeyField(id: string): SealedField {
  return { column: 'client_certificates.private_key', row: id }
}

export function openPrivateKey(
  sealer: Sealer,
  { id, sealedPrivateKey }: Pick<StoredCertificate, 'id' | 'sealedPrivateKey'>,
): KeyObject {
  const key = sealer.open(sealedPrivateKey, privateKeyField(id))
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
}
