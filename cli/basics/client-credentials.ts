// What a client shows to get a token: its secret, or a private key of its own, which never leaves this machine.

import type { Bearer } from '../../sdk/src/calling/caller.ts'
import type { Credentials } from '../../sdk/src/calling/client-caller.ts'
import type { PrivateJwk, PrivateKey } from '../../sdk/src/plain/private-key.ts'
import { tokenBearer } from './api.ts'
import { readGivenText } from './given-file.ts'
import { UsageError } from './run.ts'

/** PEM or a JWK. What is wrong with the key itself is said when it is used. */
export function readClientKey(text: string): PrivateKey {
  if (!text.trim().startsWith('{')) return text
  try {
    return JSON.parse(text) as PrivateJwk
  } catch {
    // Not what the parser says, which may repeat a piece of the key.
    throw new UsageError('the private key is neither PEM nor a JWK: it is not JSON.')
  }
}

export async function readClientKeyFile(path: string): Promise<PrivateKey> {
  return readClientKey(await readGivenText(path))
}

/** A token for the credentials, and another one when it has expired; a key that cannot be used is wrong usage. */
export function clientBearer(url: string, credentials: Credentials): Bearer {
  const bearer = orWrongUsage(() => tokenBearer(url, credentials))
  return {
    get: () => bearer.get().catch(refuseKey),
    refuse: (token) => bearer.refuse(token),
  }
}

function orWrongUsage<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    return refuseKey(error)
  }
}

/** The SDK's word for it is that of its option. */
function refuseKey(error: unknown): never {
  if (!(error instanceof TypeError)) throw error
  throw new UsageError(error.message.replace('privateKey', 'the private key'))
}
