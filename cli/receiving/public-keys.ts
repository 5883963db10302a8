// Public keys of Paybell for `paybell signature verify`: given as whpk_…, or as the file that
// /.well-known/webhook-keys.json answers with.

import { createPublicKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ServiceKey } from '../../server/core/signatures/asymmetric-signature.ts'
import { fromWhpk } from '../../server/core/signatures/webhook-key.ts'
import { UsageError } from '../basics/run.ts'

export interface PublicKeyOptions {
  publicKey?: string[]
  publicKeysFile?: string
}

/** Undefined where none are given. `keyId` is what the callback names: a key given by hand has no id of its own. */
export async function findPublicKeys(
  { publicKey = [], publicKeysFile }: PublicKeyOptions,
  keyId: string | undefined,
): Promise<readonly ServiceKey[] | undefined> {
  const given = publicKey.map((whpk) => {
    const x = fromWhpk(whpk)
    if (x === null)
      throw new UsageError('a public key looks like whpk_ and 44 characters of base64.')
    return toKey(x, keyId ?? whpk, 'newest')
  })
  if (publicKeysFile === undefined) return given.length === 0 ? undefined : given
  return [...given, ...(await readKeys(publicKeysFile))]
}

async function readKeys(file: string): Promise<readonly ServiceKey[]> {
  try {
    const { keys, retired = [] } = JSON.parse(await readFile(file, 'utf8')) as PublishedFile
    return [
      ...keys.map(({ x, kid }, at) => toKey(x, kid, at === 0 ? 'newest' : 'overlap')),
      ...retired.map(({ x, kid }) => toKey(x, kid, 'retired')),
    ]
  } catch (error) {
    throw new UsageError(
      `${file} has no public keys: ${(error as Error).message} Save the answer of /.well-known/webhook-keys.json.`,
    )
  }
}

interface PublishedFile {
  keys: { x: string; kid: string }[]
  retired?: { x: string; kid: string }[]
}

function toKey(x: string, kid: string, state: ServiceKey['state']): ServiceKey {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return { kid, key, state }
}
