// The public keys of Paybell that `v1a` is verified with: given by hand, or fetched from an address that you name.
// A callback can never point to one: `X-Paybell-Key-Id` only chooses among the keys that are trusted anyway.

import { type ImportedKey, importJwkX, importWhpk, type Whpk } from '../plain/ed25519.ts'
import { PaybellError } from '../plain/errors.ts'
import { readBytes } from '../plain/read-bytes.ts'

export interface PublicKey {
  /** Unknown for a key that was given by hand. */
  kid: string | undefined
  key: ImportedKey
}

/** Keys that are fetched; made by `fetchPublicKeys`. */
export interface PublicKeySource {
  /** The keys to try. `kid` is what a callback names: keys that do not have it may be asked for again. */
  find(kid: string | undefined): Promise<readonly PublicKey[]>
}

/** `whpk_…`, several during a rotation, or the source that fetches them. */
export type PublicKeys = Whpk | readonly Whpk[] | PublicKeySource

export interface FetchKeysOptions {
  /** How long keys are used before they are asked for again: 3,600 by default. */
  maxAgeSeconds?: number | undefined
  /** How long keys are used while they cannot be asked for: 86,400 by default. */
  staleSeconds?: number | undefined
  timeoutMs?: number | undefined
  fetch?: typeof fetch | undefined
  /** For tests: milliseconds. */
  now?: (() => number) | undefined
}

/** However many callbacks name keys that do not exist, the address is not asked more often than this. */
const AGAIN_AFTER_MS = 10_000
const ANSWER_BYTES_MAX = 256 * 1024
const KEYS_MAX = 16

/**
 * Keys from the address of a Paybell, kept in memory: asked for once, then once an hour, and when a callback names a
 * key that is not among them. Make one for the whole program.
 *
 * ```js
 * import { createReceiver, fetchPublicKeys } from '@paybell/sdk'
 *
 * const publicKeys = fetchPublicKeys('https://paybell.example.com/.well-known/webhook-keys.json')
 * const receiver = createReceiver({ publicKeys, onPayment: ({ id }) => console.log(id) })
 * console.log((await receiver(new Request('https://receiver.example'))).status) // 405
 * ```
 */
export function fetchPublicKeys(address: string, options: FetchKeysOptions = {}): PublicKeySource {
  // A wrong address fails at the start, not at the first callback.
  const { href } = new URL(address)
  const now = options.now ?? (() => Date.now())
  const maxAgeMs = (options.maxAgeSeconds ?? 3_600) * 1_000
  const staleMs = (options.staleSeconds ?? 86_400) * 1_000
  let keys: readonly PublicKey[] = []
  let readAtMs = Number.NEGATIVE_INFINITY
  let askedAtMs = Number.NEGATIVE_INFINITY
  let underWay: Promise<void> | null = null

  async function ask(): Promise<void> {
    askedAtMs = now()
    try {
      keys = await readKeys(href, options)
      readAtMs = now()
    } finally {
      underWay = null
    }
  }

  return {
    async find(kid) {
      const isOld = now() - readAtMs >= maxAgeMs
      const isUnknown = kid !== undefined && !keys.some((key) => key.kid === kid)
      const mayAsk = underWay !== null || now() - askedAtMs >= AGAIN_AFTER_MS
      if ((isOld || isUnknown) && mayAsk) {
        underWay ??= ask()
        try {
          await underWay
        } catch (error) {
          // The keys of before are as good as they were; without any, no callback can be judged.
          if (now() - readAtMs >= staleMs) throw error
        }
      }
      if (now() - readAtMs >= staleMs) {
        throw new PaybellError('The public keys could not be fetched.', { code: 'network-error' })
      }
      return keys
    },
  }
}

async function readKeys(url: string, options: FetchKeysOptions): Promise<readonly PublicKey[]> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), options.timeoutMs ?? 5_000)
  try {
    const response = await (options.fetch ?? fetch)(url, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal: controller.signal,
    })
    const bytes = await readBytes(response, ANSWER_BYTES_MAX)
    if (response.status !== 200) throw new Error(`It was answered with ${response.status}.`)
    const { keys } = JSON.parse(new TextDecoder().decode(bytes)) as { keys: unknown }
    if (!Array.isArray(keys)) throw new Error('It was not answered with keys.')
    const read = await Promise.all(keys.slice(0, KEYS_MAX).map(toPublicKey))
    return read.flatMap((key) => key ?? [])
  } catch (cause) {
    const message = `The public keys could not be fetched from ${url}.`
    throw new PaybellError(message, { code: 'network-error', cause })
  } finally {
    clearTimeout(timer)
  }
}

/** Null for a key of another kind: what is not known is not used. */
async function toPublicKey(jwk: {
  kty?: unknown
  crv?: unknown
  x?: unknown
  kid?: unknown
}): Promise<PublicKey | null> {
  const { kty, crv, x, kid } = jwk ?? {}
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof kid !== 'string' || typeof x !== 'string') {
    return null
  }
  const key = await importJwkX(x)
  return key && { kid, key }
}

/** The keys to try for a callback that names `kid`. */
export async function findPublicKeys(
  given: PublicKeys,
  kid: string | undefined,
): Promise<readonly PublicKey[]> {
  if (isSource(given)) return given.find(kid)
  const texts = typeof given === 'string' ? [given] : given
  const keys = await Promise.all(texts.map(importWhpk))
  if (keys.length === 0 || keys.includes(null)) {
    throw new TypeError('publicKeys must be whpk_…, a list of them, or made by fetchPublicKeys.')
  }
  return keys.map((key) => ({ kid: undefined, key: key as ImportedKey }))
}

function isSource(given: PublicKeys): given is PublicKeySource {
  return typeof given !== 'string' && !Array.isArray(given)
}
