// The file that a link of a callback leads to. The link is all that is asked for: it was made for one event and one
// endpoint, and holds for some days, while the endpoint exists and its client is active. Nothing of the file is read
// before it is checked. Where the client has moved to another cell, so has the file, and the caller is sent there.

import { timingSafeEqual } from 'node:crypto'
import {
  isShaped,
  type LinkedDocument,
  linkEndsAtMs,
  linkedText,
  parseLink,
} from '../../core/payments/document-link.ts'
import { isErased } from '../../core/payments/erasure.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { findAnyEndpoint } from '../../store/endpoints/endpoint-lists.ts'
import { findEvent } from '../../store/history/feed.ts'
import { readDocumentParts, readDocumentSize } from '../../store/payments/documents.ts'
import { findClient } from '../../store/secrets/clients.ts'
import { assertEndpointHere } from '../access/move-checks.ts'
import type { Deps } from '../shared/deps.ts'
import { notFound } from '../shared/service-errors.ts'

export interface FetchedDocument {
  mediaType: string
  name: string
  sizeBytes: number
  /** Read while it is sent, a piece at a time. */
  content: AsyncIterable<Buffer>
}

export async function fetchDocument(deps: Deps, link: string): Promise<FetchedDocument> {
  const { pool, sealer, clock, config } = deps
  const linked = parseLink(link)
  if (linked === null) throw notFound()
  const isSigned = sealer.isLinkSignature(linkedText(linked), linked.signature)
  const endpoint =
    isSigned || isShaped(linked) ? await findAnyEndpoint(pool, linked.endpointId) : null
  if (!isSigned && !(endpoint && (await isKept(deps, endpoint.clientKey, linked, link)))) {
    throw notFound()
  }
  if (linkEndsAtMs(linked, config.documentLinkDays) <= clock.nowMs()) throw ended()
  await assertEndpointHere(pool, linked.endpointId, endpoint?.clientKey)
  if (endpoint === null || endpoint.deletedAt !== null) throw ended()
  const { clientKey, clientId, accountId } = endpoint
  if ((await findClient(pool, clientId))?.status !== 'ACTIVE') throw ended()
  const event = await findEvent(pool, { clientKey, accountId }, linked.eventId)
  if (event === null || event.documentHash === null || isErased(event.text)) throw gone()
  const sizeBytes = await readDocumentSize(pool, clientKey, event.documentHash)
  if (sizeBytes === null) throw gone()
  const { document } = JSON.parse(event.text) as { document: { mediaType: string; name: string } }
  const content = readDocumentParts(pool, clientKey, event.documentHash)
  return { mediaType: document.mediaType, name: document.name, sizeBytes, content }
}

/** A master key that made links may be gone since: then the link itself, as it was sent, is what it is held against. */
async function isKept(
  { callbackLinks }: Deps,
  clientKey: number,
  { eventId, endpointId }: LinkedDocument,
  link: string,
): Promise<boolean> {
  const url = await callbackLinks.find({ clientKey, eventId, endpointId })
  const kept = Buffer.from(url?.slice(url.lastIndexOf('/') + 1) ?? '')
  const given = Buffer.from(link)
  return kept.length === given.length && timingSafeEqual(kept, given)
}

function ended(): ServiceError {
  return new ServiceError(
    'link-ended',
    'The time of this link is over, its endpoint is deleted, or its client is not active.',
  )
}

function gone(): ServiceError {
  return new ServiceError('payload-expired', 'The file is no longer kept.')
}
