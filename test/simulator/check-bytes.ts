// I7: one body per event, signed with the keys of the moment.

import type { EndpointAct, ReceivedRequest, Violation } from './records.ts'
import { ofRequest, type RunIndex } from './run-index.ts'

/** I7: one body per event; signed with the keys of the moment. */
export function stableBytes(seen: RunIndex): Violation[] {
  const wrong: Violation[] = []
  const hashes = new Map<string, string>()
  for (const request of seen.run.requests) {
    const known = hashes.get(request.webhookId) ?? request.bodyHash
    hashes.set(request.webhookId, known)
    if (known !== request.bodyHash) {
      wrong.push(ofRequest('I7', 'another body for the same webhook-id', request))
    }
    const delivery = seen.deliveryOf(request)
    if (delivery?.sequence !== request.sequence || delivery.paymentId !== request.paymentId) {
      wrong.push(ofRequest('I7', 'not what was stored', request))
    }
    const detail = keyFault(seen, request)
    if (detail !== null) wrong.push(ofRequest('I7', detail, request))
  }
  return wrong
}

function keyFault(
  seen: RunIndex,
  { endpointId, signedBy, sentAtMs, node }: ReceivedRequest,
): string | null {
  if (signedBy === null) return 'a signature that no key of the endpoint verifies'
  const { controlMsMax, keyOverlapMs, clockErrorMs, leaseMs } = seen.run.limits
  const acts = seen.endpoints.get(endpointId)?.acts ?? []
  const keys = acts.filter((act) => act.keyName !== null)
  // A caller who was not answered repeats himself, so a key can come back: its last time counts.
  const at = keys.findLastIndex((act) => act.keyName === signedBy[0] && act.appliedAtMs <= sentAtMs)
  const key = keys[at]
  if (key === undefined) return 'signed with a key of the future'
  const next = keys[at + 1]
  const isLate = seen.isSick(node, (next?.askedAtMs ?? 0) - leaseMs, sentAtMs)
  if (isKnown(next, sentAtMs, controlMsMax) && !isLate) return 'signed with an old key alone'
  const previous = keys[at - 1]
  const overlapEndsAtMs = key.appliedAtMs + keyOverlapMs
  if (signedBy.length > 1) {
    if (signedBy[1] !== previous?.keyName) return 'signed with a key that is not the previous one'
    if (sentAtMs > overlapEndsAtMs + clockErrorMs) return 'the old key signs for too long'
  } else if (previous && sentAtMs < key.askedAtMs + keyOverlapMs - clockErrorMs) {
    return 'the old key does not sign beside the new one'
  }
  return null
}

function isKnown(act: EndpointAct | undefined, atMs: number, graceMs: number): boolean {
  if (act === undefined || act.acknowledgedAtMs === null) return false
  return act.acknowledgedAtMs + graceMs < atMs
}
