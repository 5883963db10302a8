// The check of a receiver: a fixed list of callbacks, good and bad, what each must be answered with, and
// what an answer means. Pure: posts are made of what is handed in, answers are judged as values.

import type { KeyObject } from 'node:crypto'
import { callbackBodyParts } from './callback.ts'
import { callbackHeaders, HMAC_HEADER, type SigningKeys } from './callback-headers.ts'
import { isSuccess, type Outcome, outcomeCode } from './delivery.ts'
import type { PaymentState } from './payment.ts'
import { toInstantText, toPaymentText } from './payment-text.ts'

export const STEP_RESULTS = ['pass', 'fail', 'warning'] as const
export type StepResult = (typeof STEP_RESULTS)[number]

export interface CheckedStep {
  code: string
  title: string
  result: StepResult
  /** What happened, in a sentence or two. */
  reason: string
  /** What to do about it; null where there is nothing to do. */
  mend: string | null
}

export interface CheckReport {
  url: string
  at: string
  durationMs: number
  /** No step has failed. */
  passed: boolean
  counts: Readonly<Record<StepResult, number>>
  steps: readonly CheckedStep[]
}

/** A POST of the list. Between the parts of its body there may be pauses. */
export interface CheckPost {
  headers: readonly string[]
  body: readonly Uint8Array[]
  pauseMs: number
}

/** What posts are made of. */
export interface CheckMaterial {
  keys: SigningKeys
  /** A key that the receiver does not have. */
  strangeKey: KeyObject
  extraHeader: readonly [string, string] | null
  nowMs: number
  newId(): string
}

export interface Answered {
  outcome: Outcome
  durationMs: number
}

export interface CheckItem {
  code: string
  title: string
  /** What it must be answered with: 200, or anything that is a refusal. */
  expects: '200' | 'refusal'
  posts(material: CheckMaterial): readonly CheckPost[]
  /** What a wrong answer means, and what to do about it. */
  means: string
  mend: string
}

const STALE_MS = 3_600_000
const DOCUMENT_BYTES = 1_024 * 1_024
/** Longer than senders join in memory, so that the parts leave one by one. */
const SLOW_DOCUMENT_BYTES = 96 * 1_024
const SLOW_PARTS = 5
const SLOW_PAUSE_MS = 400
const SLOW_ANSWER_MS = 5_000

const VERIFY_FIRST =
  'Compute the HMAC over the raw body with the shared key, compare it in constant time, and answer 401 when it differs, before anything else is done with the body.'

/** The first one is the measure of the others: it is the plain case. */
export const CHECK_ITEMS: readonly CheckItem[] = [
  {
    code: 'valid-signature',
    title: 'A valid callback is answered with 200',
    expects: '200',
    posts: (material) => [post(material, event(material))],
    means: 'Every callback would be sent again and again for 7 days.',
    mend: 'Verify the signature over the raw bytes of the body with the shared key of this endpoint, and answer exactly 200.',
  },
  {
    code: 'tampered-body',
    title: 'A body that was changed on its way is refused',
    expects: 'refusal',
    posts: (material) => {
      const made = event(material)
      // Signed as one thing, sent as another of the same length: somebody raises the amount.
      const raised = made.text.replace('"amount":100.00', '"amount":900.00')
      return [{ ...post(material, made), body: [Buffer.from(raised)] }]
    },
    means: 'Anybody on the way could change an amount unnoticed.',
    mend: VERIFY_FIRST,
  },
  {
    code: 'wrong-signature',
    title: 'A signature made with another key is refused',
    expects: 'refusal',
    posts: (material) => [
      post(
        { ...material, keys: { current: material.strangeKey, previous: null } },
        event(material),
      ),
    ],
    means: 'Anybody who knows the address could invent payments.',
    mend: VERIFY_FIRST,
  },
  {
    code: 'missing-signature',
    title: 'A callback without a signature is refused',
    expects: 'refusal',
    posts: (material) => {
      const made = post(material, event(material))
      return [{ ...made, headers: withoutSignatures(made.headers) }]
    },
    means: 'Anybody who knows the address could invent payments, without even trying to sign them.',
    mend: 'Answer 401 when neither signature header is there; a missing signature is a wrong one.',
  },
  {
    code: 'stale-timestamp',
    title: 'A callback that is an hour old is refused',
    expects: 'refusal',
    posts: (material) => [post({ ...material, nowMs: material.nowMs - STALE_MS }, event(material))],
    means: 'Somebody who recorded a callback could send it again whenever it suits them.',
    mend: `Check webhook-signature, which covers webhook-timestamp, and refuse what is more than five minutes away from your clock. ${HMAC_HEADER} alone cannot tell.`,
  },
  {
    code: 'same-event-twice',
    title: 'The same event twice is answered with 200 twice',
    expects: '200',
    posts: (material) => {
      const made = event(material)
      return [post(material, made), post(material, { ...made, attempt: 2 })]
    },
    means:
      'An event may come again, for instance when your first answer got lost. Refused, it is repeated for 7 days.',
    mend: 'Remember webhook-id, and answer 200 at once to one that you have seen.',
  },
  {
    code: 'late-update',
    title: 'Update 1 that comes after update 2 is answered with 200',
    expects: '200',
    posts: (material) => {
      const paymentId = material.newId()
      const second = event(material, { paymentId, sequence: 2, state: 'PAID' })
      const first = event(material, { paymentId, sequence: 1, state: 'DUE' })
      return [post(material, second), post(material, first)]
    },
    means:
      'A replay, or an update that others overtook, may come late. Refused, it is repeated for 7 days.',
    mend: 'Compare X-Paybell-Sequence with the highest one of the payment; drop what is older, and answer 200.',
  },
  {
    code: 'unknown-fields',
    title: 'Members that are new are ignored',
    expects: '200',
    posts: (material) => {
      const made = event(material)
      const more = `,"settlement":{"batch":17,"tags":["a","b"]},"rate":1.0850}`
      return [post(material, { ...made, text: made.text.slice(0, -1) + more })]
    },
    means: 'The day a member is added, every callback would fail.',
    mend: 'Read the members that you know and ignore the others; turn strict parsing off.',
  },
  {
    code: 'unicode',
    title: 'Text in any script arrives unharmed',
    expects: '200',
    posts: (material) => [post(material, event(material, { reference: UNICODE_TEXT }))],
    means: 'The first payment with an umlaut would be refused.',
    mend: 'Compute the HMAC over the bytes as they came. If they must be text first, decode them as UTF-8 and nothing else, and do not normalise.',
  },
  {
    code: 'large-document',
    title: 'A document of 1 MB is taken',
    expects: '200',
    posts: (material) => [post(material, event(material, { documentBytes: DOCUMENT_BYTES }))],
    means: 'Callbacks carry receipts of up to 10 MB, 14 MB in base64.',
    mend: 'Raise the limit for bodies to 15 MB, in your framework and in the proxy before it.',
  },
  {
    code: 'slow-body',
    title: 'A body that arrives slowly is waited for',
    expects: '200',
    posts: (material) => {
      const made = post(material, event(material, { documentBytes: SLOW_DOCUMENT_BYTES }))
      return [{ ...made, body: inParts(made.body, SLOW_PARTS), pauseMs: SLOW_PAUSE_MS }]
    },
    means: 'Networks are slow at times, and bodies come in pieces.',
    mend: 'Read the body to its end, all of its pieces, before you verify it; allow it 15 seconds.',
  },
]

/** Combining marks, right to left, quotation marks, a backslash, beyond the basic plane, line separator. */
const UNICODE_TEXT =
  'Zürich · Łódź · Αθήνα · Москва · 東京 · مكة · e\u0301 · "quoted" \\ / · 🔔💶 · \u2028 end'

interface MadeEvent {
  eventId: string
  sequence: number
  attempt: number
  text: string
  file: Uint8Array | null
}

interface EventOptions {
  paymentId?: string
  sequence?: number
  state?: PaymentState
  reference?: string
  documentBytes?: number
}

function event(material: CheckMaterial, options: EventOptions = {}): MadeEvent {
  const { documentBytes, state = 'DUE' } = options
  const file =
    documentBytes === undefined
      ? null
      : Buffer.from(Buffer.alloc(documentBytes, 'paybell check ').toString('base64'), 'latin1')
  const text = toPaymentText({
    id: options.paymentId ?? material.newId(),
    status: { state, reason: 'receiver check' },
    createdAt: toInstantText(material.nowMs),
    completedAt: state === 'PAID' ? toInstantText(material.nowMs) : null,
    externalId: 'PAYBELL-CHECK',
    quoteId: material.newId(),
    amount: { amount: '100.00', currency: 'EUR' },
    reference: options.reference ?? 'Receiver check',
    purposeOfPayment: 'OTHER',
    beneficiaryId: material.newId(),
    documentReference: null,
    document:
      file === null
        ? null
        : {
            mediaType: 'application/pdf',
            name: 'receipt.pdf',
            file: { base64: file, hash: new Uint8Array(0), sizeBytes: documentBytes ?? 0 },
          },
  })
  const sequence = options.sequence ?? 1
  return { eventId: material.newId(), sequence, attempt: 1, text, file }
}

function post(material: CheckMaterial, made: MadeEvent): CheckPost {
  const body = callbackBodyParts(made.text, made.file)
  const trace = made.eventId.replaceAll('-', '')
  const headers = callbackHeaders(
    {
      eventId: made.eventId,
      kind: made.sequence === 1 ? 'payment.created' : 'payment.paid',
      sequence: made.sequence,
      attempt: made.attempt,
      atMs: material.nowMs,
      mark: 'test',
      traceparent: `00-${trace}-${trace.slice(16)}-01`,
      extraHeader: material.extraHeader,
    },
    material.keys,
    body,
  )
  return { headers, body, pauseMs: 0 }
}

const SIGNATURE_HEADERS = new Set([
  HMAC_HEADER.toLowerCase(),
  `${HMAC_HEADER}-Previous`.toLowerCase(),
  'webhook-signature',
])

function withoutSignatures(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at] as string, headers[at + 1] as string]
    if (!SIGNATURE_HEADERS.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

function inParts(body: readonly Uint8Array[], count: number): Uint8Array[] {
  const whole = Buffer.concat(body)
  const size = Math.ceil(whole.length / count)
  return Array.from({ length: count }, (_, at) => whole.subarray(at * size, (at + 1) * size))
}

/** What the answers to a step mean. `plain` is what the plain valid callback was answered with. */
export function judge(
  item: CheckItem,
  answers: readonly Answered[],
  plain: Answered | null,
): CheckedStep {
  const verdict = item.expects === '200' ? judgeTaken : judgeRefused
  return { code: item.code, title: item.title, ...verdict(item, answers, plain) }
}

/** A step that was not tried, because its outcome would mean nothing. */
export function notTried(item: CheckItem, why: string): CheckedStep {
  return { code: item.code, title: item.title, result: 'warning', reason: why, mend: null }
}

type Verdict = Pick<CheckedStep, 'result' | 'reason' | 'mend'>

function judgeTaken(
  item: CheckItem,
  answers: readonly Answered[],
  plain: Answered | null,
): Verdict {
  const at = answers.findIndex(({ outcome }) => !isSuccess(outcome))
  const wrong = answers[at]
  if (wrong === undefined) return judgeSpeed(answers)
  if (plain !== null && !isSuccess(plain.outcome) && isAlike(plain, wrong)) {
    return {
      result: 'warning',
      reason: `It ${said(wrong)}, as to the plain valid callback, so this step tells nothing.`,
      mend: 'Mend the first step, then check again.',
    }
  }
  const which = answers.length === 1 ? 'It' : at === 0 ? 'The first time it' : 'The second time it'
  return {
    result: 'fail',
    reason: `${which} ${said(wrong)}. ${item.means}`,
    mend: remedy(wrong.outcome) ?? item.mend,
  }
}

function judgeSpeed(answers: readonly Answered[]): Verdict {
  const slowest = Math.max(...answers.map(({ durationMs }) => durationMs))
  const seconds = (slowest / 1_000).toFixed(1)
  if (slowest <= SLOW_ANSWER_MS) {
    return {
      result: 'pass',
      reason: `It answered 200 after ${Math.round(slowest)} ms.`,
      mend: null,
    }
  }
  return {
    result: 'warning',
    reason: `It answered 200, after ${seconds} seconds. An attempt ends after 15.`,
    mend: 'Answer 200 as soon as the callback is verified and stored; do the work afterwards.',
  }
}

function judgeRefused(
  item: CheckItem,
  answers: readonly Answered[],
  plain: Answered | null,
): Verdict {
  const answer = answers.find(({ outcome }) => isSuccess(outcome)) ?? answers[0]
  if (answer === undefined) return { result: 'warning', reason: 'Nothing was sent.', mend: null }
  if (isSuccess(answer.outcome)) {
    return { result: 'fail', reason: `It answered 200. ${item.means}`, mend: item.mend }
  }
  if (plain !== null && !isSuccess(plain.outcome) && isAlike(plain, answer)) {
    return {
      result: 'warning',
      reason: `It ${said(answer)}, as to the plain valid callback: it may refuse everything, or check nothing.`,
      mend: 'Mend the first step, then check again.',
    }
  }
  if (isRefusal(answer.outcome)) {
    return { result: 'pass', reason: `It ${said(answer)}.`, mend: null }
  }
  return {
    result: 'warning',
    reason: `It ${said(answer)}. That is not 200, but it is not plainly a refusal either.`,
    mend: 'Answer 401 to a callback whose signature or time is wrong.',
  }
}

function isRefusal(outcome: Outcome): boolean {
  return outcome.kind === 'answered' && outcome.status >= 400 && outcome.status < 500
}

function isAlike(one: Answered, other: Answered): boolean {
  return said(one) === said(other)
}

function said({ outcome }: Answered): string {
  if (outcome.kind === 'answered') return `answered ${outcome.status}`
  return SILENCE[outcomeCode(outcome)] ?? `did not answer (${outcomeCode(outcome)})`
}

const SILENCE: Readonly<Record<string, string>> = {
  timeout: 'did not answer within 15 seconds',
  'connection-reset': 'closed the connection without an answer',
  'connect-error': 'could not be connected to',
  'dns-error': 'has a host name that is not known',
  'tls-error': 'has a certificate that does not hold',
  'blocked-address': 'is at an address that callbacks are not sent to',
}

/** What is wrong with an answer whatever was asked. */
function remedy(outcome: Outcome): string | null {
  if (outcome.kind === 'answered') {
    const { status } = outcome
    if (status > 200 && status < 300) {
      return `Answer exactly 200. Paybell takes ${status}, like everything else that is not 200, for a failure and sends again.`
    }
    if (status >= 300 && status < 400) {
      return 'Register the address that answers itself: redirects are never followed.'
    }
    return null
  }
  switch (outcomeCode(outcome)) {
    case 'timeout':
      return 'Answer 200 as soon as the callback is verified and stored; do the work afterwards.'
    case 'tls-error':
      return 'Serve a certificate that browsers trust, with its intermediate certificates, for this host name.'
    case 'dns-error':
    case 'connect-error':
      return 'Check the address, and that the receiver runs and can be reached from outside.'
    case 'blocked-address':
      return 'Use an address that is public.'
    default:
      return null
  }
}

export function toReport(
  of: { url: string; startedAtMs: number; durationMs: number },
  steps: readonly CheckedStep[],
): CheckReport {
  const count = (result: StepResult) => steps.filter((step) => step.result === result).length
  const counts = { pass: count('pass'), fail: count('fail'), warning: count('warning') }
  return {
    url: of.url,
    at: toInstantText(of.startedAtMs),
    durationMs: Math.round(of.durationMs),
    passed: counts.fail === 0,
    counts,
    steps,
  }
}
