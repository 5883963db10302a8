// The signature doctor: why a receiver and Paybell disagree about a signature. `valid` comes from exact
// recomputation and from nothing else; the guesses below only name the mistake. A guess is told when a
// computation proves it: the signature fits once the mistake is repeated on our side.

import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { HMAC_HEADER, type SigningKeys } from './callback-headers.ts'
import { otherSpellings, saysTheSame } from './json-spellings.ts'
import { toSigningKey } from './signature.ts'

export const FINDING_CODES = [
  'missing-header',
  'malformed-header',
  'timestamp-too-old',
  'timestamp-in-future',
  'previous-key',
  'wrong-key',
  'base64-not-hex',
  'hex-not-base64',
  'trailing-newline',
  'body-reserialised',
  'body-changed',
  'signed-content-incomplete',
  'id-or-timestamp-changed',
] as const
export type FindingCode = (typeof FINDING_CODES)[number]

export interface Finding {
  code: FindingCode
  detail: string
}

export interface Diagnosis {
  valid: boolean
  findings: readonly Finding[]
}

export interface Patient {
  /** Names in any case. */
  headers: Readonly<Record<string, string>>
  body: Uint8Array
  keys: SigningKeys
  nowMs: number
  /** The real bytes of the event that `webhook-id` names, where it is one of the client's. */
  eventBody: Uint8Array | null
}

/** What receivers allow (Standard Webhooks): five minutes to either side. */
export const TOLERANCE_SECONDS = 300

/** Larger bodies hold a file: hashing those dozens of times would cost more than it tells. */
const GUESSED_BYTES_MAX = 256 * 1_024

interface Signed {
  hmac: string | null
  id: string | null
  timestamp: string | null
  signatures: readonly string[]
  /** Other headers of ours are there, so that this one was not left out by choice. */
  hasLostHmac: boolean
}

type KeyName = 'current' | 'previous'

export function diagnose(patient: Patient): Diagnosis {
  const signed = readHeaders(patient.headers)
  const findings: Finding[] = []
  const isWhole = !findMissing(signed, findings)
  const isTimely = judgeTimestamp(signed, patient.nowMs, findings)
  const keys = knownKeys(patient.keys)

  const plain = signed.hmac === null ? null : plainKey(signed.hmac, patient.body, keys)
  const isComplete = signed.id !== null && signed.timestamp !== null
  const standard =
    signed.signatures.length === 0 || !isComplete
      ? null
      : standardKey(signed as CompleteSigned, patient.body, keys)
  const verdicts = [plain, standard].filter((verdict) => verdict !== null)
  const verified = verdicts.filter((verdict) => verdict !== 'none')

  if (verified.includes('previous')) {
    findings.push(previousKey(patient.keys, patient.nowMs))
  }
  const isInTime = !verified.includes('previous') || isPreviousAlive(patient.keys, patient.nowMs)
  if (verdicts.includes('none')) findings.push(...explain(patient, signed, { plain, standard }))
  else if (verified.length > 0) findings.push(...listOf(bodyFault(patient)))

  return {
    // Each signature must be there to be checked, and right: one that is wrong is never called valid.
    valid:
      isWhole && verified.length > 0 && verified.length === verdicts.length && isTimely && isInTime,
    findings,
  }
}

function listOf<T>(item: T | null): T[] {
  return item === null ? [] : [item]
}

type Verdict = KeyName | 'none'

interface CompleteSigned extends Signed {
  id: string
  timestamp: string
}

function readHeaders(headers: Readonly<Record<string, string>>): Signed {
  const found = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]),
  )
  const read = (name: string) => found.get(name.toLowerCase()) || null
  // A receiver with the old key compares with the second of the two.
  const hmac = read(HMAC_HEADER) ?? read(`${HMAC_HEADER}-Previous`)
  return {
    hmac,
    id: read('webhook-id'),
    timestamp: read('webhook-timestamp'),
    signatures: read('webhook-signature')?.split(/\s+/) ?? [],
    hasLostHmac: hmac === null && [...found.keys()].some((name) => name.startsWith('x-paybell-')),
  }
}

/** True when one is missing without which a signature cannot be checked. */
function findMissing(signed: Signed, findings: Finding[]): boolean {
  const missing: string[] = []
  if (signed.hmac === null && signed.signatures.length === 0) {
    missing.push(HMAC_HEADER, 'webhook-signature')
  } else if (signed.signatures.length > 0) {
    if (signed.id === null) missing.push('webhook-id')
    if (signed.timestamp === null) missing.push('webhook-timestamp')
  }
  const isLost = signed.hasLostHmac && missing.length === 0
  if (missing.length === 0 && !isLost) return false
  findings.push({
    code: 'missing-header',
    detail: isLost
      ? `${HMAC_HEADER} is empty or not there, although other headers of the callback are. A proxy or framework may have dropped it.`
      : signed.signatures.length > 0
        ? `webhook-signature covers id, timestamp and body, and cannot be checked without ${missing.join(' and ')}.`
        : `Neither ${missing.join(' nor ')} is there. A proxy or framework may have dropped it; header names are compared without regard to case.`,
  })
  return true
}

/** True when the timestamp does not speak against it. */
function judgeTimestamp({ timestamp }: Signed, nowMs: number, findings: Finding[]): boolean {
  if (timestamp === null) return true
  if (!/^\d{1,12}$/.test(timestamp)) {
    findings.push({
      code: 'malformed-header',
      detail: 'webhook-timestamp must be whole unix seconds in decimal digits, not milliseconds.',
    })
    return false
  }
  const ageSeconds = Math.floor(nowMs / 1_000) - Number(timestamp)
  if (Math.abs(ageSeconds) <= TOLERANCE_SECONDS) return true
  findings.push(
    ageSeconds > 0
      ? {
          code: 'timestamp-too-old',
          detail: `webhook-timestamp is ${ageSeconds} seconds old; receivers allow ${TOLERANCE_SECONDS}. If it came just now, the clock of your machine is fast; if it is a recorded callback, that alone makes it invalid.`,
        }
      : {
          code: 'timestamp-in-future',
          detail: `webhook-timestamp is ${-ageSeconds} seconds ahead of our clock; receivers allow ${TOLERANCE_SECONDS}.`,
        },
  )
  return false
}

function knownKeys(keys: SigningKeys): [KeyName, KeyObject][] {
  const known: [KeyName, KeyObject][] = [['current', keys.current]]
  if (keys.previous !== null) known.push(['previous', keys.previous.key])
  return known
}

function isPreviousAlive({ previous }: SigningKeys, nowMs: number): boolean {
  return previous !== null && previous.untilMs > nowMs
}

function previousKey(keys: SigningKeys, nowMs: number): Finding {
  return {
    code: 'previous-key',
    detail: isPreviousAlive(keys, nowMs)
      ? `Made with the key from before the last rotation, which counts until ${new Date(keys.previous?.untilMs ?? 0).toISOString()}. Use the new key from now on.`
      : 'Made with the key from before the last rotation. Its 24 hours are over: use the new key.',
  }
}

function plainKey(given: string, body: Uint8Array, keys: readonly [KeyName, KeyObject][]): Verdict {
  return keys.find(([, key]) => isSame(given, mac(key, body).toString('hex')))?.[0] ?? 'none'
}

function standardKey(
  signed: CompleteSigned,
  body: Uint8Array,
  keys: readonly [KeyName, KeyObject][],
): Verdict {
  const prefix = prefixOf(signed)
  for (const [name, key] of keys) {
    const expected = `v1,${mac(key, prefix, body).toString('base64')}`
    // Not `some`: all of them are compared, whichever matches.
    const matching = signed.signatures.filter((given) => isSame(given, expected))
    if (matching.length > 0) return name
  }
  return 'none'
}

function prefixOf({ id, timestamp }: CompleteSigned): Buffer {
  return Buffer.from(`${id}.${timestamp}.`)
}

function mac(key: KeyObject, ...parts: readonly Uint8Array[]): Buffer {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

function isSame(given: string, expected: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(expected)
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Why at least one signature does not fit. Never changes what is valid. */
function explain(
  patient: Patient,
  signed: Signed,
  verdict: { plain: Verdict | null; standard: Verdict | null },
): Finding[] {
  // Body and key are right where the plain HMAC is: only what the other covers besides can be wrong.
  if (verdict.standard === 'none' && verdict.plain !== null && verdict.plain !== 'none') {
    return [standardFault(patient, signed as CompleteSigned)]
  }
  const digests = readDigests(signed, verdict)
  const malformed = digests.length === 0
  if (malformed) return [malformedSignature()]
  const found = new Map<FindingCode, Finding>()
  const add = (finding: Finding) => found.set(finding.code, finding)
  const body = bodyFault(patient)
  if (body !== null) add(body)
  for (const digest of digests) {
    for (const finding of digestFaults(patient, signed, digest, body !== null)) add(finding)
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

function malformedSignature(): Finding {
  return {
    code: 'malformed-header',
    detail: `The value cannot be a signature: ${HMAC_HEADER} is 64 lower-case hex digits, an entry of webhook-signature is "v1," and 44 characters of base64.`,
  }
}

/** What is plain from the body alone, because we know the bytes that were sent. */
function bodyFault({ body, eventBody }: Patient): Finding | null {
  if (eventBody === null || Buffer.compare(body, eventBody) === 0) return null
  if (Buffer.compare(withoutNewline(body), eventBody) === 0) return trailingNewline()
  return saysTheSame(body, eventBody) ? reserialised() : bodyChanged()
}

function digestFaults(
  patient: Patient,
  signed: Signed,
  digest: Digest,
  isBodyExplained: boolean,
): Finding[] {
  const { body, eventBody, keys } = patient
  const prefix =
    digest.dialect === 'standard' ? prefixOf(signed as CompleteSigned) : Buffer.alloc(0)
  const encoding = encodingFault(digest)
  const fits = (key: KeyObject, bytes: Uint8Array, before = prefix) =>
    timingSafeEqual(mac(key, before, bytes), digest.bytes)

  const candidates = bodyCandidates(body, eventBody)
  for (const [name, key] of knownKeys(keys)) {
    const older = name === 'previous' ? [previousKey(keys, patient.nowMs)] : []
    for (const { bytes, fault } of candidates) {
      const faults = [...older, ...encoding, ...(fault === null || isBodyExplained ? [] : [fault])]
      if (fits(key, bytes)) {
        // Upper-case hex, or a prefix such as sha256=: the digest is right, its spelling is not.
        return faults.length > 0 || isBodyExplained ? faults : [malformedSignature()]
      }
    }
    if (digest.dialect === 'standard' && fits(key, body, Buffer.alloc(0))) {
      return [...older, ...encoding, incompleteContent()]
    }
  }
  return [...encoding, wrongKey(patient, fits, candidates, isBodyExplained)]
}

function encodingFault({ dialect, encoding }: Digest): Finding[] {
  if (dialect === 'plain' && encoding === 'base64') {
    return [
      {
        code: 'base64-not-hex',
        detail: `This is base64. ${HMAC_HEADER} is the same 32 bytes in lower-case hex: 64 digits.`,
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

interface Candidate {
  bytes: Uint8Array
  fault: Finding | null
}

/** What may have been signed in place of the body that we were shown. */
function bodyCandidates(body: Uint8Array, eventBody: Uint8Array | null): Candidate[] {
  const candidates: Candidate[] = [
    { bytes: body, fault: null },
    { bytes: Buffer.concat([body, Buffer.from('\n')]), fault: trailingNewline() },
    { bytes: Buffer.concat([body, Buffer.from('\r\n')]), fault: trailingNewline() },
  ]
  const trimmed = withoutNewline(body)
  if (trimmed.length < body.length) candidates.push({ bytes: trimmed, fault: trailingNewline() })
  if (eventBody !== null) candidates.push({ bytes: eventBody, fault: reserialised() })
  for (const bytes of otherSpellings(body)) candidates.push({ bytes, fault: reserialised() })
  return candidates
}

function withoutNewline(body: Uint8Array): Uint8Array {
  let end = body.length
  while (end > 0 && (body[end - 1] === 0x0a || body[end - 1] === 0x0d)) end--
  return body.subarray(0, end)
}

/** Mistakes in reading the key, each proven by the signature itself; else only that it is another. */
function wrongKey(
  { keys, eventBody, body }: Patient,
  fits: (key: KeyObject, bytes: Uint8Array) => boolean,
  candidates: readonly Candidate[],
  isBodyExplained: boolean,
): Finding {
  const bodies = isBodyExplained ? candidates.map(({ bytes }) => bytes) : [body]
  const misread = body.length > GUESSED_BYTES_MAX ? [] : misreadKeys(keys.current)
  for (const [how, key] of misread) {
    if (bodies.some((bytes) => fits(key, bytes))) {
      return {
        code: 'wrong-key',
        detail: `The key was ${how}. The HMAC takes the UTF-8 bytes of sharedKey exactly as it was given.`,
      }
    }
  }
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
function standardFault(patient: Patient, signed: CompleteSigned): Finding {
  const [digest] = readDigests(signed, { plain: null, standard: 'none' })
  if (digest === undefined) return malformedSignature()
  const [encoding] = encodingFault(digest)
  if (encoding !== undefined) return encoding
  for (const [, key] of knownKeys(patient.keys)) {
    if (timingSafeEqual(mac(key, patient.body), digest.bytes)) return incompleteContent()
    if (timingSafeEqual(mac(key, prefixOf(signed), patient.body), digest.bytes)) {
      return malformedSignature()
    }
  }
  return {
    code: 'id-or-timestamp-changed',
    detail:
      'Body and key are right, but webhook-signature does not fit: webhook-id or webhook-timestamp is not the one that was signed.',
  }
}

function trailingNewline(): Finding {
  return {
    code: 'trailing-newline',
    detail:
      'The body that was signed and the body that was checked differ by a line break at the end. Bodies have none: an editor, echo or a shell redirect has added it.',
  }
}

function reserialised(): Finding {
  return {
    code: 'body-reserialised',
    detail:
      'The body was parsed and written again: it says the same, in other bytes (spacing, order of members, digits of numbers or escapes). Verify the raw bytes, before any JSON parser has seen them.',
  }
}

function bodyChanged(): Finding {
  return {
    code: 'body-changed',
    detail:
      'The body does not say what the event with this webhook-id says: something was changed, cut off or mixed up on the way. GET /v1/events/{id} answers with the bytes that were sent.',
  }
}

function incompleteContent(): Finding {
  return {
    code: 'signed-content-incomplete',
    detail:
      'This is a signature over the body alone. webhook-signature is made over <webhook-id>.<webhook-timestamp>.<body>.',
  }
}
