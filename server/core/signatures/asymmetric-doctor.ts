// The signature doctor's look at `v1a`: under which of the service's keys it was made, and what was mistaken for it.

import { verify } from 'node:crypto'
import type { Steps } from '../plain/steps.ts'
import { KEY_ID_HEADER, type ServiceKey } from './asymmetric-signature.ts'
import type { CandidateBodies } from './body-candidates.ts'
import type { Finding } from './signature-findings.ts'
import type { CompleteSigned, SignatureInput, Signed } from './signature-input.ts'

export interface AsymmetricVerdict {
  /** Null where there is no `v1a` that could be checked. */
  verdict: 'holds' | 'none' | null
  findings: readonly Finding[]
}

const SIGNATURE_BYTES = 64
const MAC_BYTES = 32
/** A try over 10 MB takes 40 ms: of a large body only the likeliest are made. */
const LARGE_BYTES_MIN = 256 * 1_024
const TRIES_MAX = 24
const TRIES_OF_LARGE_MAX = 2

export function* examineAsymmetric(
  input: SignatureInput,
  signed: Signed,
  bodies: CandidateBodies,
): Steps<AsymmetricVerdict> {
  const findings = findMistaken(signed)
  const entries = signed.asymmetric.filter((entry) => sizeOf(entry) === SIGNATURE_BYTES)
  const keys = input.serviceKeys
  if (keys === undefined || signed.id === null || signed.timestamp === null) {
    return { verdict: null, findings }
  }
  if (entries.length === 0) {
    return { verdict: signed.asymmetric.length > 0 ? 'none' : null, findings }
  }
  const maker = yield* findMaker(input, signed as CompleteSigned, keys, entries)
  const fault =
    maker !== null || input.body.length > LARGE_BYTES_MIN
      ? null
      : yield* findBodyFault(bodies, signed as CompleteSigned, keys, entries)
  findings.push(...(fault === null ? judgeMaker(keys, signed.keyId, maker) : [fault]))
  return { verdict: maker === null || maker.state === 'retired' ? 'none' : 'holds', findings }
}

/** One signature in the place of the other, to be told by its length. */
function findMistaken({ asymmetric, signatures, hmac }: Signed): Finding[] {
  const findings: Finding[] = []
  const isTakenForMac = [...signatures, ...(hmac === null ? [] : [hmac])].some(
    (entry) => sizeOf(entry) === SIGNATURE_BYTES,
  )
  if (isTakenForMac) {
    findings.push({
      code: 'v1a-not-v1',
      detail:
        'You verify v1, and this is v1a: 64 bytes, made with a key of Paybell. The HMAC to compare with is the entry of webhook-signature that begins with "v1,".',
    })
  } else if (asymmetric.length > 0 && signatures.length === 0) {
    findings.push({
      code: 'v1a-not-v1',
      detail:
        'The header holds v1a and no v1. It is verified with a public key of /.well-known/webhook-keys.json. If you verify v1, with the shared key, take the whole header: Paybell always sends both.',
    })
  }
  if (asymmetric.some((entry) => sizeOf(entry) === MAC_BYTES)) {
    findings.push({
      code: 'v1-not-v1a',
      detail:
        'You verify v1a, and this is v1: 32 bytes, an HMAC with the shared key. v1a is sent to endpoints whose signatures are ["hmac", "ed25519"].',
    })
  } else if (asymmetric.some((entry) => sizeOf(entry) !== SIGNATURE_BYTES)) {
    findings.push({
      code: 'malformed-header',
      detail: 'An entry of v1a is "v1a," and 64 bytes in base64: 88 characters.',
    })
  }
  return findings
}

function* findMaker(
  { body }: SignatureInput,
  signed: CompleteSigned,
  keys: readonly ServiceKey[],
  entries: readonly string[],
): Steps<ServiceKey | null> {
  const content = contentOf(signed, [body])
  const inOrder = [...keys].sort(
    (a, b) => Number(b.kid === signed.keyId) - Number(a.kid === signed.keyId),
  )
  let left = body.length > LARGE_BYTES_MIN ? TRIES_OF_LARGE_MAX : TRIES_MAX
  for (const candidate of inOrder) {
    for (const entry of entries) {
      if (left-- <= 0) return null
      yield
      if (verify(null, content, candidate.key, bytesOf(entry))) return candidate
    }
  }
  return null
}

/** What may have been signed in place of this body, by the key that is named or the newest. */
function* findBodyFault(
  bodies: CandidateBodies,
  signed: CompleteSigned,
  keys: readonly ServiceKey[],
  entries: readonly string[],
): Steps<Finding | null> {
  const key = (keys.find(({ kid }) => kid === signed.keyId) ?? keys[0])?.key
  if (key === undefined) return null
  for (const { parts, fault } of (yield* bodies.all()).slice(0, TRIES_MAX)) {
    const content = contentOf(signed, parts)
    for (const entry of entries.slice(0, 2)) {
      yield
      if (verify(null, content, key, bytesOf(entry))) return fault
    }
  }
  return null
}

/** The timestamp as it was given: leading zeros would be other bytes. */
function contentOf({ id, timestamp }: CompleteSigned, parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from(`${id}.${timestamp}.`), ...parts])
}

function judgeMaker(
  keys: readonly ServiceKey[],
  keyId: string | null,
  maker: ServiceKey | null,
): Finding[] {
  const isKnown = keyId === null || keys.some(({ kid }) => kid === keyId)
  if (!isKnown) {
    return [
      {
        code: 'wrong-key-id',
        detail: `${KEY_ID_HEADER} names a key that Paybell does not have: it never had it, or has revoked it.${maker === null ? '' : ` The signature was made with key ${maker.kid}.`} Take the keys of /.well-known/webhook-keys.json, of the service that sent the callback.`,
      },
    ]
  }
  if (maker === null) {
    return [
      {
        code: 'wrong-public-key',
        detail:
          'No key of Paybell made this v1a over this webhook-id, webhook-timestamp and body: one of them was changed, or another key signed.',
      },
    ]
  }
  const findings: Finding[] = []
  if (keyId !== null && keyId !== maker.kid && maker.state === 'newest') {
    const detail = `${KEY_ID_HEADER} names key ${keyId}, and the signature was made with key ${maker.kid}.`
    findings.push({ code: 'wrong-key-id', detail })
  }
  if (maker.state !== 'newest') findings.push(oldKey(maker))
  return findings
}

function oldKey({ kid, state }: ServiceKey): Finding {
  return {
    code: 'old-public-key',
    detail:
      state === 'overlap'
        ? `Made with key ${kid}, which has been replaced. It signs beside the new one for 7 days: take the new key before they are over.`
        : `Made with key ${kid}, whose 7 days after its replacement are over. Accept no callback under it; take the keys of /.well-known/webhook-keys.json.`,
  }
}

/** Bytes of what follows the label; -1 for what is no base64. */
function sizeOf(entry: string): number {
  const text = entry.replace(/^v1a?,/, '')
  return /^[A-Za-z\d+/]+={0,2}$/.test(text) && text.length % 4 === 0 ? bytesOf(entry).length : -1
}

function bytesOf(entry: string): Buffer {
  return Buffer.from(entry.replace(/^v1a?,/, ''), 'base64')
}
