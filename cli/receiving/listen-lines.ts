// What `paybell listen` shows of a callback: a line when it arrives, one when it is answered, and a hint
// when the answer is not what the service counts as delivered.

import { cellText, type Paint, safe } from '../basics/terminal.ts'
import type { Forwarded } from './forward.ts'

export interface ShownCallback {
  at: Date
  offerId: string
  /** Null for a test. */
  deliveryId: string | null
  eventId: string
  event: string
  sequence: number
  attempt: number
  isReplay: boolean
  isTest: boolean
  /** `ok`, or the code of what is wrong with it. */
  signature: string
}

const BODY_LINES_MAX = 6
const LINE_CHARACTERS_MAX = 200

export function arrivedLine(callback: ShownCallback, paint: Paint): string {
  const { signature, isReplay, isTest } = callback
  return [
    clock(callback.at),
    paint.cyan('-->'),
    paint.bold(safe(callback.event)),
    mark(callback),
    `seq ${callback.sequence}`,
    `attempt ${callback.attempt}`,
    ...(isReplay ? [paint.yellow('replay')] : []),
    ...(isTest ? [paint.yellow('test')] : []),
    signature === 'ok' ? 'signature ok' : paint.red(`signature ${signature}`),
  ].join(' ')
}

export function answeredLine(
  callback: ShownCallback,
  answer: Forwarded,
  to: { at: Date; url: string | null; paint: Paint },
): string {
  const { paint } = to
  const what = answer.status === null ? answer.error : String(answer.status)
  const painted = answer.status === 200 ? paint.green(`[${what}]`) : paint.red(`[${what}]`)
  const where = to.url === null ? 'shown, not forwarded' : `POST ${safe(to.url)}`
  return `${clock(to.at)} ${paint.cyan('<--')} ${painted} ${where} (${answer.durationMs} ms) ${mark(callback)}`
}

/** What to do about it; null when it was a 200. */
export function hintFor(answer: Forwarded, url: string): string | null {
  const { status } = answer
  if (status === null) return ERROR_HINTS[answer.error]?.(url) ?? null
  if (status === 200) return null
  if (status > 200 && status < 300) {
    return `Only 200 counts as delivered: answer exactly 200, not ${status}.`
  }
  if (status >= 300 && status < 400) {
    return 'Redirects are never followed: give the address that they lead to.'
  }
  if (status === 401 || status === 403) {
    return 'If your receiver refused the signature: verify over the raw body, before it is parsed, with the shared key above.'
  }
  if (status === 404)
    return `Your server has nothing at ${new URL(url).pathname}: check --forward-to.`
  return null
}

const ERROR_HINTS: Readonly<Record<string, (url: string) => string>> = {
  'connect-error': (url) =>
    `Nothing listens at ${new URL(url).host}. Start your receiver: the callback is tried again by itself.`,
  'dns-error': (url) => `The name ${new URL(url).hostname} is not known: check --forward-to.`,
  'tls-error': () => 'The certificate is not trusted. Add --skip-verify for one of your own.',
  'connection-reset': () => 'Your receiver closed the connection without an answer.',
  'protocol-error': () => 'What came back is no HTTP: check --forward-to.',
  timeout: () => 'An answer has to come within 15 s: answer 200 first, then do the work.',
}

/** The first lines of the answer's body, indented; empty when there is none. */
export function bodyLines(body: Buffer): string {
  const text = body.toString('utf8').trim()
  if (text === '') return ''
  const lines = text.split(/\r?\n/)
  const shown = lines.slice(0, BODY_LINES_MAX).map((line) => `    ${shortened(safe(line))}`)
  if (lines.length > BODY_LINES_MAX) shown.push('    …')
  return shown.join('\n')
}

function shortened(line: string): string {
  return line.length <= LINE_CHARACTERS_MAX ? line : `${line.slice(0, LINE_CHARACTERS_MAX)}…`
}

function mark({ deliveryId }: ShownCallback): string {
  return `[${cellText(deliveryId ?? 'test')}]`
}

/** UTC, as all times of Paybell. */
function clock(at: Date): string {
  return `${at.toISOString().slice(11, 19)}Z`
}
