// The signature doctor's surgery: opens the endpoint's keys, looks up the event that the callback names,
// and lets core/signature-doctor judge. Keys stay inside; the answer names mistakes, never values.

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
  /** Calls `step` when there is time for it: of a large body it takes long. */
  inTurn: (step: () => Diagnosis) => Diagnosis | Promise<Diagnosis> = (step) => step(),
): Promise<Diagnosis> {
  const { secrets } = await openEndpoint(deps, scope, endpointId)
  const id = Object.entries(headers).find(([name]) => name.toLowerCase() === 'webhook-id')?.[1]
  const eventBody =
    id !== undefined && isUuid(id.trim())
      ? await findKeptBody(deps, { clientKey: scope.clientKey, accountId: null }, id.trim())
      : null
  return inTurn(() =>
    diagnose({
      headers,
      body,
      keys: secrets.keys,
      nowMs: deps.clock.nowMs(),
      eventBody: eventBody === null ? null : Buffer.concat(eventBody),
    }),
  )
}

type OpenEndpoint = SendingEndpoint & { secrets: NonNullable<SendingEndpoint['secrets']> }

/** One of the caller's endpoints with its keys, for what is done at once in its owner's name. */
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
  // A stored key that does not open is a mistake of ours, or of whoever changed the master key.
  if (endpoint.secrets === null) throw new Error(`the keys of endpoint ${endpointId} do not open`)
  return { ...endpoint, secrets: endpoint.secrets }
}
