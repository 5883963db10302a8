// The check of a receiver: what the answers to the list of core/checking/receiver-check-items mean. Pure: answers are
// judged as values.

import { isSuccess, type Outcome, outcomeCode } from '../delivery/delivery.ts'
import { outcomeWords, toClientCode } from '../delivery/outcome-words.ts'
import { toInstantText } from '../payments/payment-text.ts'
import type { CheckItem } from './receiver-check-items.ts'

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

export interface Answered {
  outcome: Outcome
  durationMs: number
}

const SLOW_ANSWER_MS = 5_000

/** What the answers to a step of so many posts mean; there are fewer when one that must be taken was not. */
export function judge(
  item: CheckItem,
  answers: readonly Answered[],
  postCount: number,
): CheckedStep {
  const verdict =
    item.expects === '200' ? judgeTaken(item, answers, postCount) : judgeRefused(item, answers)
  return { code: item.code, title: item.title, ...verdict }
}

/** A step that was not run, because its outcome would mean nothing. */
export function notRun(item: CheckItem, why: string): CheckedStep {
  return { code: item.code, title: item.title, result: 'warning', reason: why, mend: null }
}

type Verdict = Pick<CheckedStep, 'result' | 'reason' | 'mend'>

function judgeTaken(item: CheckItem, answers: readonly Answered[], postCount: number): Verdict {
  const at = answers.findIndex(({ outcome }) => !isSuccess(outcome))
  const wrong = answers[at]
  if (wrong === undefined) return judgeSpeed(answers)
  const which = postCount === 1 ? 'It' : at === 0 ? 'The first time it' : 'The second time it'
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

function judgeRefused(item: CheckItem, answers: readonly Answered[]): Verdict {
  const answer = answers.find(({ outcome }) => isSuccess(outcome)) ?? answers[0]
  if (answer === undefined) return { result: 'warning', reason: 'Nothing was sent.', mend: null }
  if (isSuccess(answer.outcome)) {
    return { result: 'fail', reason: `It answered 200. ${item.means}`, mend: item.mend }
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

function said({ outcome }: Answered): string {
  if (outcome.kind === 'answered') return `answered ${outcome.status}`
  const words = `gave no answer: ${outcomeWords(outcomeCode(outcome))}`
  return outcome.kind === 'tokenless' ? `${words}. ${outcome.detail.slice(0, -1)}` : words
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
  switch (toClientCode(outcomeCode(outcome))) {
    case 'timeout':
      return 'Answer 200 as soon as the callback is verified and stored; do the work afterwards.'
    case 'certificate-refused':
      return 'Choose a certificate with tls.clientCertificate, and let the receiver trust its chain (GET /v1/client-certificates).'
    case 'certificate-missing':
      return 'Choose a certificate of GET /v1/client-certificates with tls.clientCertificate, or ask the operator to let your client use one.'
    case 'token-refused':
      return 'Check clientId, the secret, scope and audience of oauth2 with the token endpoint. With authentication tls, let it know the client certificate. With privateKeyJwt, let it trust the keys at /.well-known/clients/{clientId}/jwks.json, with the id of your client at Paybell.'
    case 'token-unreachable':
      return 'Check tokenUrl of oauth2, and that the token endpoint can be reached from outside. The tls settings hold for it, too.'
    case 'tls-authority':
      return 'Serve the intermediate certificates too. Where the authority is private, give it in tls.certificateAuthorities.'
    case 'tls-too-costly':
      return 'Serve at most 10 certificates, 32 KiB in all, with usual keys, such as RSA with 2,048 bits or P-256. After a handshake that took too long, wait a while.'
    case 'tls-name':
      return 'Serve a certificate for this host name, or register the name that it is for.'
    case 'tls-error':
      return 'Serve a certificate that browsers trust, with its intermediate certificates, for this host name. Where that port speaks plain HTTP, give the one that speaks TLS.'
    case 'connect-error':
      return 'Check the address, and that the receiver runs and can be reached from outside.'
    case 'no-address':
      return 'Check the name of the host. It must be known in public DNS, with an address that is public.'
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
