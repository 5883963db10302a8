// The signature doctor: why a receiver and Paybell disagree about a signature. `valid` comes from exact
// recomputation, here, and from nothing else; core/signatures/signature-diagnosis only names the mistake. What is given decides
// how much there is to try, and the service does it in steps.

import { type KeyObject, timingSafeEqual } from 'node:crypto'
import { runAtOnce, type Steps } from '../plain/steps.ts'
import { examineAsymmetric } from './asymmetric-doctor.ts'
import { CandidateBodies } from './body-candidates.ts'
import { bodyFault, explain } from './signature-diagnosis.ts'
import { type Finding, previousKey } from './signature-findings.ts'
import {
  type CompleteSigned,
  isPreviousAlive,
  type KeyName,
  knownKeys,
  mac,
  prefixOf,
  readHeaders,
  type SignatureInput,
  type Signed,
  type Verdict,
} from './signature-input.ts'

export interface Diagnosis {
  valid: boolean
  findings: readonly Finding[]
}

/** What receivers allow (Standard Webhooks): five minutes to either side. */
const TOLERANCE_SECONDS = 300

export function diagnose(input: SignatureInput): Diagnosis {
  return runAtOnce(diagnoseInSteps(input))
}

export function* diagnoseInSteps(input: SignatureInput): Steps<Diagnosis> {
  const bodies = new CandidateBodies(input)
  const signed = readHeaders(input.headers, input.hmacHeaderName)
  const findings: Finding[] = []
  const isWhole = !findMissing(signed, misplacedHmac(input, signed), findings)
  const isTimely = judgeTimestamp(signed, input.nowMs, findings)
  const keys = knownKeys(input.keys)

  yield
  const plain = signed.hmac === null ? null : plainKey(signed.hmac, input.body, keys)
  const isComplete = signed.id !== null && signed.timestamp !== null
  yield
  const standard =
    signed.signatures.length === 0 || !isComplete
      ? null
      : standardKey(signed as CompleteSigned, input.body, keys)
  const ours = yield* examineAsymmetric(input, signed, bodies)
  findings.push(...ours.findings)
  const verdicts = [plain, standard, ours.verdict].filter((verdict) => verdict !== null)
  const verified = verdicts.filter((verdict) => verdict !== 'none')

  if (verified.includes('previous')) {
    findings.push(previousKey(input.keys, input.nowMs))
  }
  const isInTime = !verified.includes('previous') || isPreviousAlive(input.keys, input.nowMs)
  if (plain === 'none' || standard === 'none') {
    addNew(findings, yield* explain(input, signed, { plain, standard }, bodies))
  } else if (verdicts.length > 0) {
    addNew(findings, listOf(yield* bodyFault(input)))
  }

  return {
    // Each signature must be there to be checked, and right: one that is wrong is never called valid.
    valid:
      isWhole && verified.length > 0 && verified.length === verdicts.length && isTimely && isInTime,
    findings,
  }
}

/** What one signature has shown is not said again of another, nor is a v1a in its place called malformed. */
function addNew(findings: Finding[], more: readonly Finding[]): void {
  const codes = new Set(findings.map(({ code }) => code))
  const isSaid = ({ code }: Finding) =>
    codes.has(code) || (code === 'malformed-header' && codes.has('v1a-not-v1'))
  findings.push(...more.filter((finding) => !isSaid(finding)))
}

function listOf<T>(item: T | null): T[] {
  return item === null ? [] : [item]
}

/** True when one is missing without which a signature cannot be checked. */
function findMissing(signed: Signed, misplaced: string | null, findings: Finding[]): boolean {
  const missing: string[] = []
  const hasStandard = signed.signatures.length + signed.asymmetric.length > 0
  if (signed.hmac === null && !hasStandard) {
    missing.push(signed.hmacHeader, 'webhook-signature')
  } else if (hasStandard) {
    if (signed.id === null) missing.push('webhook-id')
    if (signed.timestamp === null) missing.push('webhook-timestamp')
  }
  const isLost = signed.hasLostHmac && missing.length === 0
  if (missing.length === 0 && !isLost) return false
  if (misplaced !== null) {
    findings.push({
      code: 'missing-header',
      detail: `The HMAC is right, but it is in ${misplaced} and is looked for in ${signed.hmacHeader}. The endpoint’s hmacHeaderName says where it comes: change that, or the name in your receiver.`,
    })
    return true
  }
  findings.push({
    code: 'missing-header',
    detail: isLost
      ? `${signed.hmacHeader} is empty or not there, although other headers of the callback are. A proxy or framework may have dropped it.`
      : hasStandard
        ? `webhook-signature covers id, timestamp and body, and cannot be checked without ${missing.join(' and ')}.`
        : `Neither ${missing.join(' nor ')} is there. A proxy or framework may have dropped it; header names are compared without regard to case.`,
  })
  return true
}

/** The header in which the HMAC came instead: receiver and endpoint have different names for it. */
function misplacedHmac({ headers, body, keys }: SignatureInput, { hmac }: Signed): string | null {
  if (hmac !== null) return null
  const wanted = knownKeys(keys).map(([, key]) => mac(key, body).toString('hex'))
  const found = Object.entries(headers).find(([, value]) =>
    wanted.some((right) => isSame(value.trim(), right)),
  )
  return found?.[0] ?? null
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

function isSame(given: string, expected: string): boolean {
  const a = Buffer.from(given)
  const b = Buffer.from(expected)
  return a.length === b.length && timingSafeEqual(a, b)
}
