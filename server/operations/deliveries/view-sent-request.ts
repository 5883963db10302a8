// The request of a delivery's last attempt as it was sent: rebuilt from what is stored, because only the
// body is kept. Signatures come from the keys of that time, where these still exist. For a minute after a rotation of
// the service's own keys, some processes still signed without the new one: it is shown anyway. An attempt of a replay is
// shown without its mark where the delivery waits for a second replay, ended with its endpoint, or ended before 0042.

import { HMAC_ALGORITHM } from '../../core/delivery/endpoint.ts'
import { DEFAULT_SETTINGS } from '../../core/delivery/endpoint-settings.ts'
import {
  callbackHeaders,
  type SigningKeys,
  traceparentOf,
} from '../../core/signatures/callback-headers.ts'
import type { AttemptItem, DeliveryDetail } from '../../store/history/delivery-details.ts'
import { readSendingEndpoints } from '../../store/owed/sending-endpoints.ts'
import type { Deps } from '../shared/deps.ts'
import { signIfEnabled } from '../shared/sign-callback.ts'
import { findSentBody } from './sent-body.ts'

export interface SentRequest {
  attempt: number | null
  /** Empty before the first attempt, when the body is no longer stored, and when the keys do not open. */
  headers: readonly { name: string; value: string }[]
  /** Without the file of a document. */
  body: string | null
  bodyBytes: number | null
}

export interface SignatureInputs {
  algorithm: string
  headers: readonly { name: string; signed: string; encoding: string }[]
  webhookId: string
  timestamp: number | null
  keys: number
}

const MASKED = '•••'

export async function viewSentRequest(
  deps: Deps,
  delivery: DeliveryDetail,
  last: AttemptItem | undefined,
): Promise<{ request: SentRequest; signatureInputs: SignatureInputs }> {
  const { clientKey, eventId, endpointId } = delivery
  const [endpoint] = await readSendingEndpoints(deps.pool, deps.sealer, [{ clientKey, endpointId }])
  const body = await findSentBody(deps, delivery)
  const secrets = endpoint?.secrets ?? null
  const { hmacHeaderName } = endpoint?.settings ?? DEFAULT_SETTINGS
  const { keyOverlapMs } = deps.policies
  const keys = secrets && last ? keysAt(secrets.keys, last.at.getTime(), keyOverlapMs) : null
  const ours =
    endpoint && body && last
      ? await signIfEnabled(deps.webhookKeys, endpoint.settings, {
          eventId,
          atMs: last.at.getTime(),
          body,
        })
      : null
  const headers =
    keys === null || body === null || last === undefined
      ? []
      : toPairs([
          ...callbackHeaders(
            {
              eventId,
              kind: delivery.kind,
              sequence: delivery.sequence,
              attempt: last.attempt,
              atMs: last.at.getTime(),
              // A run gets its deadline with its first attempt: the last one may be of the run before a replay.
              mark: delivery.isReplay && delivery.deadlineAt !== null ? 'replay' : null,
              traceparent: traceparentOf(eventId, delivery.id),
              hmacHeaderName,
              extraHeader: secrets?.extraHeader ? [secrets.extraHeader[0], MASKED] : null,
            },
            keys,
            body,
            ours,
          ),
          ...(secrets?.oauth2 && hadToken(last) ? ['authorization', `Bearer ${MASKED}`] : []),
        ])
  return {
    request: {
      attempt: last?.attempt ?? null,
      headers,
      body: body === null ? null : withoutFile(body),
      bodyBytes: body === null ? null : body.reduce((sum, part) => sum + part.length, 0),
    },
    signatureInputs: {
      algorithm: HMAC_ALGORITHM,
      headers: [
        { name: hmacHeaderName, signed: 'body', encoding: 'hex' },
        {
          name: 'webhook-signature',
          signed: 'webhook-id.webhook-timestamp.body',
          encoding: ours === null ? 'v1,base64' : 'v1,base64 and v1a,base64',
        },
      ],
      webhookId: eventId,
      timestamp: last ? Math.floor(last.at.getTime() / 1_000) : null,
      keys: headers.some(({ name }) => name === 'X-Paybell-Hmac-Previous') ? 2 : 1,
    },
  }
}

/** Without one nothing is sent. */
function hadToken({ outcome }: AttemptItem): boolean {
  return outcome !== 'token-refused' && outcome !== 'token-unreachable'
}

/** An attempt before the rotation was signed with the key that is now the previous one, or with one that is gone. */
function keysAt(keys: SigningKeys, atMs: number, keyOverlapMs: number): SigningKeys {
  if (keys.previous === null) return keys
  const rotatedAtMs = keys.previous.untilMs - keyOverlapMs
  return atMs < rotatedAtMs ? { current: keys.previous.key, previous: null } : keys
}

/** With a document the parts are text, seam, file, seam (core/delivery/callback): the file is not decoded. */
function withoutFile(body: readonly Uint8Array[]): string {
  const [head, , , tail] = body
  if (tail === undefined) return Buffer.concat(body).toString('utf8')
  return `${Buffer.from(head as Uint8Array).toString('utf8')}}}`
}

function toPairs(flat: readonly string[]): { name: string; value: string }[] {
  const pairs: { name: string; value: string }[] = []
  for (let at = 0; at < flat.length; at += 2) {
    pairs.push({ name: flat[at] as string, value: flat[at + 1] as string })
  }
  return pairs
}
