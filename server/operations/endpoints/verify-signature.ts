// Diagnoses a callback's signature: opens the endpoint's keys, looks up the event that the callback names,
// and asks core/signatures/signature-doctor. The answer names mistakes, never keys or other values.

import { callbackBodyWithoutFile } from '../../core/delivery/callback.ts'
import type { Steps } from '../../core/plain/steps.ts'
import { isUuid } from '../../core/plain/uuid.ts'
import { type Diagnosis, diagnoseInSteps } from '../../core/signatures/signature-doctor.ts'
import { type EndpointScope, findEndpoint } from '../../store/endpoints/endpoints.ts'
import { readSendingEndpoints, type SendingEndpoint } from '../../store/owed/sending-endpoints.ts'
import { findKeptBody, findKeptText } from '../deliveries/view-events.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

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
  /** Lets other work go between the steps. */
  runSteps: (steps: Steps<Diagnosis>) => Promise<Diagnosis>,
): Promise<Diagnosis> {
  const endpoint = await openEndpoint(deps, scope, endpointId)
  const id = Object.entries(headers).find(([name]) => name.toLowerCase() === 'webhook-id')?.[1]
  const eventBody =
    id !== undefined && isUuid(id.trim()) ? await findSent(deps, endpoint, id.trim(), body) : null
  const serviceKeys = await deps.webhookKeys.publicKeys()
  return runSteps(
    diagnoseInSteps({
      headers,
      body,
      keys: endpoint.secrets.keys,
      serviceKeys,
      nowMs: deps.clock.nowMs(),
      hmacHeaderName: endpoint.settings.hmacHeaderName,
      eventBody,
    }),
  )
}

/**
 * What this endpoint was sent of the event: of the three forms that a document can have the one that came, or else the
 * one that it would be sent now.
 */
async function findSent(
  deps: Deps,
  { clientKey, id: endpointId, settings }: OpenEndpoint,
  eventId: string,
  body: Uint8Array,
): Promise<Buffer | null> {
  const scope = { clientKey, accountId: null }
  const text = await findKeptText(deps, scope, eventId)
  if (text === null) return null
  const key = { clientKey, eventId: eventId.toLowerCase(), endpointId }
  const url = await deps.callbackLinks.toShow(key)
  const linked = Buffer.concat(callbackBodyWithoutFile(text, url))
  const bare = Buffer.concat(callbackBodyWithoutFile(text, null))
  for (const form of [linked, bare]) if (Buffer.compare(form, body) === 0) return form
  if (settings.document === 'link') return linked
  if (settings.document === 'none') return bare
  const inline = await findKeptBody(deps, scope, eventId)
  return inline && Buffer.concat(inline)
}

export type OpenEndpoint = SendingEndpoint & { secrets: NonNullable<SendingEndpoint['secrets']> }

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
