// `paybell check`: drives a receiver through the fixed list, from this machine with a shared key, or
// through a service for a webhook that is registered there. Ends with 1 when a step has failed.

import { randomBytes } from 'node:crypto'
import { lookup } from 'node:dns'
import { writeFile } from 'node:fs/promises'
import type { LookupFunction } from 'node:net'
import type { Command } from 'commander'
import type {
  Answered,
  CheckReport,
  StepResult,
} from '../../server/core/checking/receiver-check.ts'
import type { CheckPost } from '../../server/core/checking/receiver-check-posts.ts'
import { runReceiverCheck } from '../../server/core/checking/receiver-checker.ts'
import { renderReport } from '../../server/core/checking/receiver-report.ts'
import type { Outcome } from '../../server/core/delivery/delivery.ts'
import { checkCallbackUrl } from '../../server/core/network/callback-url.ts'
import { isAllowedAddress, type TargetPolicy } from '../../server/core/network/network-rules.ts'
import { UuidMaker } from '../../server/core/plain/uuid.ts'
import { toSigningKey } from '../../server/core/signatures/signature.ts'
import { type Call, callCommand, calling } from '../basics/command.ts'
import { id } from '../basics/parse.ts'
import { SilentFailure, UsageError } from '../basics/run.ts'
import { type Paint, safe } from '../basics/terminal.ts'
import { forward } from './forward.ts'
import { type HmacHeaderOptions, withHmacHeader } from './hmac-header.ts'
import { requireSharedKey, type SharedKeyOptions, withSharedKey } from './shared-key.ts'

interface CheckOptions extends SharedKeyOptions, HmacHeaderOptions {
  webhook?: string
  html?: string
}

/** A check through the service takes a minute at most. */
const SERVICE_TIMEOUT_MS = 90_000
/** As an attempt of the service. */
const ATTEMPT_MS_MAX = 15_000

/** The caller's own machine and network: a service must not reach them, the caller may. */
const OWN_NETWORKS: TargetPolicy = {
  loopbackAllowed: true,
  allowedNetworks: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'],
}

export function checkCommand(): Command {
  return withHmacHeader(
    withSharedKey(
      callCommand('check', 'Drive a receiver through a fixed list of callbacks, good and bad.', [
        'paybell check http://localhost:3000/hook --shared-key-file key.txt',
        'paybell check https://shop.example.com/hooks --shared-key-file key.txt --html report.html',
        'paybell check --webhook 01a1dd3c-57d6-7001-9e6f-60de241483ec',
      ]),
    ),
  )
    .argument('[url]', 'address of the receiver, called from this machine')
    .option('--webhook <id>', 'a registered webhook, called by the service', id)
    .option('--html <file>', 'write the report as a page, too')
    .action(calling(check))
}

async function check(call: Call<CheckOptions>, url: string | undefined): Promise<void> {
  const { webhook, html, hmacHeaderName } = call.options
  if ((url === undefined) === (webhook === undefined)) {
    throw new UsageError('give the address of a receiver, or --webhook ID.')
  }
  if (webhook !== undefined && hmacHeaderName !== undefined) {
    throw new UsageError('leave --hmac-header-name out: the service knows that of the webhook.')
  }
  const report = url === undefined ? await ask(call, webhook as string) : await drive(call, url)
  if (html !== undefined) {
    await writeFile(html, renderReport(report)).catch((error: Error) => {
      throw new UsageError(`${html} cannot be written: ${error.message}`)
    })
  }
  call.print(call.isJson ? JSON.stringify(report) : reportText(report, call.paint))
  if (html !== undefined) call.note(`The report is in ${html}.`)
  if (!report.passed) throw new SilentFailure()
}

async function ask(call: Call, webhookId: string): Promise<CheckReport> {
  const api = await call.target.client()
  call.note('Checking; this takes up to a minute.')
  const options = { timeoutMs: SERVICE_TIMEOUT_MS }
  const answer = await api.post(`/v1/webhooks/${webhookId}/check`, undefined, options)
  return answer.json<CheckReport>()
}

async function drive(call: Call<CheckOptions>, text: string): Promise<CheckReport> {
  const allowed = checkCallbackUrl(text, OWN_NETWORKS)
  if (!allowed.ok) throw new UsageError(`this address cannot be called. ${allowed.detail}`)
  const url = new URL(text)
  const current = toSigningKey(await requireSharedKey(call))
  const ids = new UuidMaker(Date.now, randomBytes)
  return runReceiverCheck(
    {
      clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
      newId: () => ids.next(),
      strangeKey: toSigningKey(randomBytes(32)),
      send: (post) => send(url, post),
    },
    {
      url: text,
      keys: { current, previous: null },
      extraHeader: null,
      hmacHeaderName: call.options.hmacHeaderName,
    },
  )
}

async function send(url: URL, { headers, body, pauseMs }: CheckPost): Promise<Answered> {
  const pairs = headers.flatMap((name, at) =>
    at % 2 === 0 ? [[name, headers[at + 1] as string] as const] : [],
  )
  const options = { timeoutMs: ATTEMPT_MS_MAX, skipVerify: false, pauseMs, lookup: lookUpAllowed }
  const { status, error, durationMs } = await forward(url, pairs, body, options)
  const outcome: Outcome =
    status === null ? { kind: 'unreachable', reason: error } : { kind: 'answered', status }
  return { outcome, durationMs }
}

/** Leaves out addresses where no receiver can be. */
const lookUpAllowed: LookupFunction = (name, options, done) => {
  lookup(name, { ...options, all: true }, (error, found) => {
    const addresses = (found ?? []).filter(({ address }) => isAllowedAddress(address, OWN_NETWORKS))
    const [first] = addresses
    if (error || first === undefined) {
      done(
        error ?? Object.assign(new Error('no address that may be called'), { code: 'ENOTFOUND' }),
        '',
      )
    } else if (options.all) done(null, addresses)
    else done(null, first.address, first.family)
  })
}

const MARKS: Readonly<Record<StepResult, string>> = { pass: '✔', fail: '✖', warning: '!' }

function reportText(report: CheckReport, paint: Paint): string {
  const dress = { pass: paint.green, fail: paint.red, warning: paint.yellow }
  const lines = [paint.bold(safe(report.url)), '']
  for (const { title, result, reason, mend } of report.steps) {
    lines.push(`${dress[result](MARKS[result])} ${safe(title)}`)
    if (result === 'pass') continue
    lines.push(`    ${safe(reason)}`)
    if (mend !== null) lines.push(`    ${paint.bold('What to do:')} ${safe(mend)}`)
  }
  const { pass, fail, warning } = report.counts
  const summary = `${pass} passed, ${fail} failed, ${warning} ${warning === 1 ? 'warning' : 'warnings'}`
  const seconds = (report.durationMs / 1_000).toFixed(1)
  lines.push('', `${(report.passed ? paint.green : paint.red)(summary)}, after ${seconds} s.`)
  return lines.join('\n')
}
