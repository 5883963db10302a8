// Reseals every stored secret under the first master key, and authenticates every key, so that the others can be removed. Works in
// chunks, each its own statement, so it can be stopped and repeated at any time while the service runs.
// HMACs cannot be remade, because their secrets are not stored: they are counted.

import {
  fieldOf,
  openEndpoint,
  SEALED_ENDPOINT_COLUMNS,
} from '../../store/secrets/endpoint-secrets.ts'
import {
  countForeignDigests,
  type EndpointToReseal,
  FIRST_ENDPOINT,
  type PrivateKeyTable,
  type ResealedEndpoint,
  readEndpointsToReseal,
  readPrivateKeysToReseal,
  replaceSealedEndpoints,
  replaceSealedPrivateKeys,
} from '../../store/secrets/reseal.ts'
import type { SealedField } from '../../store/secrets/sealing.ts'
import { authenticateClientKeys, authenticateTrusted } from '../access/trusted-keys.ts'
import type { Deps } from '../shared/deps.ts'
import { renewMark } from './bind-addresses.ts'

export interface Resealing {
  endpoints: number
  /** Those of tokens and those of webhooks. */
  signingKeys: number
  clientCertificates: number
  /** Keys whose public part was authenticated again, or for the first time. */
  authenticatedKeys: number
  /** Keys that nothing authenticates: they stay as they are, and are trusted for nothing. */
  untrustedKeys: number
  /** Rows with a secret that opens under no configured key: it is damaged, or its key is missing. */
  unreadable: number
  /** Client secrets and operator keys that need another master key until they are used or replaced. */
  clientSecrets: number
  operatorKeys: number
}

type ResealDeps = Pick<Deps, 'pool' | 'sealer'>

const CHUNK = 500
/** A row that changes during a pass is resealed in the next one. */
const PASSES_MAX = 5

export async function resealSecrets(
  deps: ResealDeps,
  onProgress: (endpoints: number) => void = () => {},
): Promise<Resealing> {
  const tokenKeys = await resealPrivateKeys(deps, 'signing_keys')
  const webhookKeys = await resealPrivateKeys(deps, 'webhook_keys')
  const certificates = await resealPrivateKeys(deps, 'client_certificates')
  const keys = [
    await authenticateTrusted(deps.pool, deps.sealer, 'signing_keys'),
    await authenticateTrusted(deps.pool, deps.sealer, 'webhook_keys'),
    await authenticateClientKeys(deps.pool, deps.sealer),
  ]
  const { resealed: endpoints, unreadable } = await resealAllEndpoints(deps, onProgress)
  await renewMark(deps)
  return {
    endpoints,
    authenticatedKeys: sumOf(keys, ({ authenticated }) => authenticated),
    untrustedKeys: sumOf(keys, ({ untrusted }) => untrusted),
    signingKeys: tokenKeys.resealed + webhookKeys.resealed,
    clientCertificates: certificates.resealed,
    unreadable:
      unreadable + sumOf([tokenKeys, webhookKeys, certificates], (done) => done.unreadable),
    ...(await countForeignDigests(deps.pool, deps.sealer.digestKeyId)),
  }
}

/** Of the endpoints alone: as often as one has changed in between, which is seldom. */
export async function resealAllEndpoints(
  deps: ResealDeps,
  onProgress: (endpoints: number) => void = () => {},
): Promise<{ resealed: number; unreadable: number }> {
  const all = { resealed: 0, unreadable: 0 }
  for (let pass = 0; pass < PASSES_MAX; pass++) {
    const done = await resealEndpoints(deps, (count) => onProgress(all.resealed + count))
    all.resealed += done.resealed
    all.unreadable = done.unreadable
    if (done.missed === 0) break
  }
  return all
}

async function resealEndpoints(deps: ResealDeps, onProgress: (resealed: number) => void) {
  const done = { resealed: 0, unreadable: 0, missed: 0 }
  for (let after = FIRST_ENDPOINT; ; ) {
    const rows = await readEndpointsToReseal(deps.pool, deps.sealer.addressedPrefix, after, CHUNK)
    const last = rows.at(-1)
    if (last === undefined) return done
    const resealed = rows.flatMap((row) => resealEndpoint(deps, row) ?? [])
    const replaced = await replaceSealedEndpoints(deps.pool, resealed)
    done.resealed += replaced
    done.missed += resealed.length - replaced
    done.unreadable += rows.length - resealed.length
    onProgress(done.resealed)
    after = { clientKey: last.client_key, id: last.id }
  }
}

function resealEndpoint({ sealer }: ResealDeps, before: EndpointToReseal): ResealedEndpoint | null {
  try {
    const open = openEndpoint(sealer, before)
    const after = { ...before }
    for (const column of SEALED_ENDPOINT_COLUMNS) {
      const secret = open(column)
      if (secret !== null) after[column] = sealer.seal(secret, fieldOf(before, column))
    }
    if (before.oauth2 !== null && sealer.binding !== 'none') {
      after.oauth2_secret ??= sealer.seal(Buffer.alloc(0), fieldOf(before, 'oauth2_secret'))
    }
    return { before, after }
  } catch {
    return null
  }
}

async function resealPrivateKeys(deps: ResealDeps, table: PrivateKeyTable) {
  const rows = await readPrivateKeysToReseal(deps.pool, table, deps.sealer.sealedPrefix)
  const keys = rows.flatMap((before) => {
    const after = reseal(deps, before.private_key, {
      column: `${table}.private_key`,
      row: before.id,
    })
    return after === null ? [] : [{ before, after }]
  })
  const resealed = await replaceSealedPrivateKeys(deps.pool, table, keys)
  return { resealed, unreadable: rows.length - keys.length }
}

function sumOf<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((sum, value) => sum + of(value), 0)
}

function reseal({ sealer }: ResealDeps, sealed: Buffer, field: SealedField): Buffer | null {
  try {
    return sealer.seal(sealer.open(sealed, field), field)
  } catch {
    return null
  }
}
