// The diagnosis of the signature doctor, once a signature does not fit: it repeats each known mistake, and names
// the one with which the signature fits. Nothing here changes what is valid. What a mistake would have signed is
// computed once for each key, and then compared with all signatures that were given.

import { type KeyObject, timingSafeEqual } from 'node:crypto'
import type { Steps } from '../plain/steps.ts'
import { type CandidateBodies, withoutNewline } from './body-candidates.ts'
import { saysTheSame } from './json-spellings.ts'
import { toSigningKey } from './signature.ts'
import {
  bodyChanged,
  type Finding,
  type FindingCode,
  incompleteContent,
  malformedSignature,
  previousKey,
  reserialised,
  trailingNewline,
} from './signature-findings.ts'
import {
  type CompleteSigned,
  knownKeys,
  mac,
  prefixOf,
  type SignatureInput,
  type Signed,
  type Verdict,
} from './signature-input.ts'

/** Larger bodies hold a file: hashing those dozens of times is not worth the time. */
const GUESSED_BYTES_MAX = 256 * 1_024

/** Why at least one signature does not fit. Never changes what is valid. */
export function* explain(
  input: SignatureInput,
  signed: Signed,
  verdict: { plain: Verdict | null; standard: Verdict | null },
  bodies: CandidateBodies,
): Steps<Finding[]> {
  // Body and key are right where the plain HMAC is: only what the other covers besides can be wrong.
  if (verdict.standard === 'none' && verdict.plain !== null && verdict.plain !== 'none') {
    return [standardFault(input, signed as CompleteSigned)]
  }
  const digests = readDigests(signed, verdict)
  const malformed = digests.length === 0
  if (malformed) return [malformedSignature(signed.hmacHeader)]
  const found = new Map<FindingCode, Finding>()
  const add = (finding: Finding) => found.set(finding.code, finding)
  const body = yield* bodyFault(input)
  if (body !== null) add(body)
  for (const dialect of ['plain', 'standard'] as const) {
    const spoken = digests.filter((digest) => digest.dialect === dialect)
    if (spoken.length === 0) continue
    const faults = yield* digestFaults(input, signed, spoken, bodies, body !== null)
    for (const finding of faults) add(finding)
  }
  return [...found.values()]
}

/** The bytes that a signature header claims, and how they were written. */
interface Digest {
  dialect: 'plain' | 'standard'
  encoding: 'hex' | 'base64'
  bytes: Buffer
}

function readDigests(
  signed: Signed,
  verdict: { plain: Verdict | null; standard: Verdict | null },
): Digest[] {
  const digests: Digest[] = []
  const read = (dialect: Digest['dialect'], text: string) => {
    const value = text.replace(/^(sha256=|v1[,=])/i, '')
    if (/^[0-9a-f]{64}$/i.test(value)) {
      digests.push({ dialect, encoding: 'hex', bytes: Buffer.from(value, 'hex') })
    } else if (/^[\w+/-]{43}=?$/.test(value)) {
      digests.push({ dialect, encoding: 'base64', bytes: Buffer.from(value, 'base64') })
    }
  }
  if (verdict.plain === 'none' && signed.hmac !== null) read('plain', signed.hmac)
  if (verdict.standard === 'none') for (const one of signed.signatures) read('standard', one)
  return digests
}

/** What is plain from the body alone, because we know the bytes that were sent. */
export function* bodyFault({ body, eventBody }: SignatureInput): Steps<Finding | null> {
  if (eventBody === null || Buffer.compare(body, eventBody) === 0) return null
  if (Buffer.compare(withoutNewline(body), eventBody) === 0) return trailingNewline()
  return (yield* saysTheSame(body, eventBody)) ? reserialised() : bodyChanged()
}

/** What a mistake, or none, would have made of the body, and what is to be said of it. */
interface Trial {
  mac: Buffer
  /** Where it is the key from before. */
  older: readonly Finding[]
  fault: Finding | null
}

/** Of digests in one dialect, in which all of them cover the same. */
function* digestFaults(
  input: SignatureInput,
  signed: Signed,
  digests: readonly Digest[],
  bodies: CandidateBodies,
  isBodyExplained: boolean,
): Steps<Finding[]> {
  const isStandard = digests[0]?.dialect === 'standard'
  const prefix = isStandard ? prefixOf(signed as CompleteSigned) : Buffer.alloc(0)
  const trials = yield* tryKnownKeys(input, prefix, isStandard, bodies, isBodyExplained)
  const isLeft = digests.some((digest) => !trials.some((trial) => isMadeBy(digest, trial)))
  if (isLeft) trials.push(...(yield* tryMisreadKeys(input, prefix, bodies, isBodyExplained)))
  return digests.flatMap((digest) => {
    const encoding = encodingFault(digest, signed.hmacHeader)
    const trial = trials.find((one) => isMadeBy(digest, one))
    if (trial === undefined) return [...encoding, anotherKey(input, isBodyExplained)]
    const faults = [...trial.older, ...encoding, ...(trial.fault === null ? [] : [trial.fault])]
    // Upper-case hex, or a prefix such as sha256=: the digest is right, its spelling is not.
    return faults.length > 0 || isBodyExplained ? faults : [malformedSignature(signed.hmacHeader)]
  })
}

function isMadeBy(digest: Digest, trial: Trial): boolean {
  return timingSafeEqual(trial.mac, digest.bytes)
}

function* tryKnownKeys(
  { body, keys, nowMs }: SignatureInput,
  prefix: Uint8Array,
  isStandard: boolean,
  bodies: CandidateBodies,
  isBodyExplained: boolean,
): Steps<Trial[]> {
  const trials: Trial[] = []
  const candidates = yield* bodies.all()
  for (const [name, key] of knownKeys(keys)) {
    const older = name === 'previous' ? [previousKey(keys, nowMs)] : []
    for (const { parts, fault } of candidates) {
      const named = isBodyExplained ? null : fault
      trials.push({ mac: mac(key, prefix, ...parts), older, fault: named })
      yield
    }
    if (isStandard) trials.push({ mac: mac(key, body), older, fault: incompleteContent() })
    yield
  }
  return trials
}

function encodingFault({ dialect, encoding }: Digest, hmacHeader: string): Finding[] {
  if (dialect === 'plain' && encoding === 'base64') {
    return [
      {
        code: 'base64-not-hex',
        detail: `This is base64. ${hmacHeader} is the same 32 bytes in lower-case hex: 64 digits.`,
      },
    ]
  }
  if (dialect === 'standard' && encoding === 'hex') {
    return [
      {
        code: 'hex-not-base64',
        detail: 'This is hex. An entry of webhook-signature is "v1," and the 32 bytes in base64.',
      },
    ]
  }
  return []
}

/** Mistakes in reading the key, each proven by the signature itself. */
function* tryMisreadKeys(
  { keys, body }: SignatureInput,
  prefix: Uint8Array,
  bodies: CandidateBodies,
  isBodyExplained: boolean,
): Steps<Trial[]> {
  if (body.length > GUESSED_BYTES_MAX) return []
  const trials: Trial[] = []
  const candidates = (yield* bodies.all()).slice(0, isBodyExplained ? undefined : 1)
  for (const [how, key] of misreadKeys(keys.current)) {
    const detail = `The key was ${how}. The HMAC takes the UTF-8 bytes of sharedKey exactly as it was given.`
    for (const { parts } of candidates) {
      const fault: Finding = { code: 'wrong-key', detail }
      trials.push({ mac: mac(key, prefix, ...parts), older: [], fault })
      yield
    }
  }
  return trials
}

function anotherKey({ eventBody }: SignatureInput, isBodyExplained: boolean): Finding {
  return {
    code: 'wrong-key',
    detail:
      eventBody !== null && !isBodyExplained
        ? 'The body is exactly what was sent, and the signature was not made with a key of this endpoint. Compare the sharedKey in your receiver with the one that you registered last.'
        : 'No key of this endpoint makes this signature over this body: either it was made with another key, or the body is not the one that was signed.',
  }
}

function misreadKeys(current: KeyObject): [string, KeyObject][] {
  const bytes = current.export()
  const text = bytes.toString('utf8')
  const misread: [string, Uint8Array][] = [
    ['read with a line feed at its end', Buffer.from(`${text}\n`)],
    ['read with a line break at its end', Buffer.from(`${text}\r\n`)],
    ['trimmed of white space', Buffer.from(text.trim())],
    ['put in quotation marks', Buffer.from(`"${text}"`)],
    ['decoded from base64 first', Buffer.from(text.replace(/^whsec_/, ''), 'base64')],
    ['decoded from hex first', Buffer.from(text, 'hex')],
    ['encoded in base64 first', Buffer.from(bytes.toString('base64'))],
    ['put behind "whsec_"', Buffer.from(`whsec_${text}`)],
  ]
  return misread
    .filter(([, key]) => key.length > 0 && Buffer.compare(key, bytes) !== 0)
    .map(([how, key]) => [how, toSigningKey(key)])
}

/** The plain HMAC fits, so that key and body are right, and yet this one does not. */
function standardFault(input: SignatureInput, signed: CompleteSigned): Finding {
  const [digest] = readDigests(signed, { plain: null, standard: 'none' })
  if (digest === undefined) return malformedSignature(signed.hmacHeader)
  const [encoding] = encodingFault(digest, signed.hmacHeader)
  if (encoding !== undefined) return encoding
  for (const [, key] of knownKeys(input.keys)) {
    if (timingSafeEqual(mac(key, input.body), digest.bytes)) return incompleteContent()
    if (timingSafeEqual(mac(key, prefixOf(signed), input.body), digest.bytes)) {
      return malformedSignature(signed.hmacHeader)
    }
  }
  return {
    code: 'id-or-timestamp-changed',
    detail:
      'Body and key are right, but webhook-signature does not fit: webhook-id or webhook-timestamp is not the one that was signed.',
  }
}
