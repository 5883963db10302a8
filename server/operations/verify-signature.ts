// Diagnoses a callback's signature: opens the endpoint's keys, looks up the event that the callback names,
// and asks core/signature-doctor. The answer names mistakes, never keys or other values.

import { type Diagnosis, diagnose } from '../core/signature-doctor.ts'
import { isUuid } from '../core/uuid.ts'
import { type EndpointScope, findEndpoint } from '../store/endpoints.ts'
import { readSendingEndpoints, type SendingEndpoint } from '../store/sending-endpoints.ts'
import type { Deps } from './parts/deps.ts'
import { notFound } from './parts/failures.ts'
import { findKeptBody } from './view-events.ts'

export interface Callback {
  /** As they were received, names in any case. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

export async function verifySignature(
  deps: Deps,
  scope: EndpointScope,
  endpointId: string,
  { headers, body }: Callback,
  /** Runs `step` later where the body is large, because hashing it takes long. */
  schedule: (step: () => Diagnosis) => Diagnosis | Promise<Diagnosis> = (step) => step(),
): Promise<Diagnosis> {
  const { secrets } = await openEndpoint(deps, scope, endpointId)
  const id = Object.entries(headers).find(([name]) => name.toLowerCase() === 'webhook-id')?.[1]
  const eventBody =
    id !== undefined && isUuid(id.trim())
      ? await findKeptBody(deps, { clientKey: scope.clientKey, accountId: null }, id.trim())
      : null
  const serviceKeys = await deps.webhookKeys.publicKeys()
  return schedule(() =>
    diagnose({
      headers,
      body,
      keys: secrets.keys,
      serviceKeys,
      nowMs: deps.clock.nowMs(),
      eventBody: eventBody === null ? null : Buffer.concat(eventBody),
    }),
  )
}

type OpenEndpoint = SendingEndpoint & { secrets: NonNullable<SendingEndpoint['secrets']> }

/** One of the caller's endpoints with its keys, for a diagnosis or a check that its owner asks for. */
export async function openEndpoint(
  deps: Pick<Deps, 'pool' | 'sealer'>,
  scope: EndpointScope,
  endpointId: string,
): Promise<OpenEndpoint> {
  const { clientKey } = scope
  const found = await findEndpoint(deps.pool, scope, endpointId)
  if (found === null) throw notFound()
  const [endpoint] = await readSendingEndpoints(deps.pool, deps.sealer, [{ clientKey, endpointId }])
  if (endpoint === undefined) throw notFound()
  // A stored key that does not open is our mistake, or the operator's who changed the master key.
  if (endpoint.secrets === null)
    throw new Error(`the keys of endpoint ${endpointId} cannot be decrypted`)
  return { ...endpoint, secrets: endpoint.secrets }
}
