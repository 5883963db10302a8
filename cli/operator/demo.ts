// `paybell demo`: a receiver that fails twice, a payment, and what Paybell does about it, in the
// terminal. On the sandbox that runs, or on one of its own with a fast clock.

import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { OperatorDelivery, WrittenPayment } from '../../sdk/src/internal/operator-types.ts'
import type { CursorPage, Endpoint, Page } from '../../sdk/src/wire/types.ts'
import type { Api } from '../basics/api.ts'
import { type Call, calling, plainCommand } from '../basics/command.ts'
import { integer } from '../basics/parse.ts'
import { untilSignal } from '../basics/run.ts'
import { readSandboxFile, type SandboxFile } from '../basics/sandbox-file.ts'
import { operatorApi, Target } from '../basics/target.ts'
import { formatDuration } from '../basics/terminal.ts'
import { CallbackReceiver, type ReceivedCallback } from '../receiving/receiver.ts'
import { generateSharedKey } from '../receiving/shared-key.ts'
import { isReady, type OwnSandbox, startOwnSandbox } from './own-sandbox.ts'
import { samplePayment } from './sample-payment.ts'
import { writePayment } from './trigger.ts'

interface DemoOptions {
  own?: boolean
  failFirst: number
}

const FAILURES = 2
/** 5 s and 10 s between the attempts become half a second and a second. */
const TIME_SCALE = 10
const WAIT_MS_MAX = 120_000

export function demoCommand(): Command {
  return plainCommand(
    'demo',
    'Watch a receiver fail twice and the signed callback arrive all the same.',
    ['paybell demo', 'paybell demo --own --fail-first 4'],
  )
    .option('--own', 'start a separate sandbox even if one is running')
    .option('--fail-first <n>', 'number of attempts that fail', integer(0, 6), FAILURES)
    .option('--json', 'print JSON on stdout, a line for each callback')
    .action(calling(demo))
}

async function demo(call: Call<DemoOptions>): Promise<void> {
  const interruption = new AbortController()
  void untilSignal().then(() => interruption.abort())
  const { signal } = interruption
  const running = call.options.own ? null : await findRunning(call.target.config.dataDir)
  if (running) call.note(`On the sandbox at ${running.baseUrl}, with the delays of real life.`)
  else call.note('Starting a sandbox of its own, with a clock ten times as fast …')
  let own: OwnSandbox | null = null
  try {
    own = running ? null : await startOwnSandbox(TIME_SCALE, signal)
    const sandbox = (running ?? own) as SandboxFile
    await perform(call, sandbox, { timeScale: own ? TIME_SCALE : 1, signal })
  } catch (error) {
    if (!signal.aborted) throw error
    call.note('Stopped.')
  } finally {
    await own?.stop()
  }
}

async function findRunning(dataDir: string): Promise<SandboxFile | null> {
  const file = await readSandboxFile(dataDir).catch(() => null)
  return file !== null && (await isReady(file.baseUrl)) ? file : null
}

async function perform(
  call: Call<DemoOptions>,
  sandbox: SandboxFile,
  { timeScale, signal }: { timeScale: number; signal: AbortSignal },
): Promise<void> {
  const { paint } = call
  const say = (text: string) => {
    if (!call.isJson) call.print(text)
  }
  const operator = operatorApi(sandbox.baseUrl, sandbox.operatorKey)
  const client = await clientOf(call, sandbox)
  const arrivals = new Arrivals(signal)
  const sharedKey = generateSharedKey()
  const receiver = new CallbackReceiver({
    port: 0,
    status: 200,
    failFirst: call.options.failFirst,
    delayMs: 0,
    sharedKey,
    onCallback: (callback) => arrivals.add(callback),
  })
  await receiver.start()
  const { accountId } = sandbox
  let webhookId: string | undefined
  try {
    await client.post(
      '/v1/webhooks/register',
      { callbackUrl: receiver.url, sharedKey },
      { accountId },
    )
    webhookId = await findWebhookId(client, accountId, receiver.url)
    say(
      `${paint.bold('1.')} A receiver at ${receiver.url} that will fail ${call.options.failFirst} times, registered as a webhook.`,
    )

    const payment = samplePayment()
    const answer = await writePayment(operator, accountId, payment, 'DUE')
    const { payment: written, event } = answer.json<WrittenPayment>()
    say(
      `${paint.bold('2.')} A payment of ${written.amount.amount} ${written.amount.currency} is written: ${event?.type}.\n   The change and the callback that it owes are on disk before the answer is given.`,
    )
    say(`${paint.bold('3.')} What the receiver sees:`)
    for (;;) {
      const callback = await arrivals.next()
      say(`   ${attemptText(callback, call)}`)
      if (call.isJson) call.print(jsonOf(callback))
      if (callback.answered === 200) {
        showSuccess(say, callback)
        break
      }
      const nextAt = await readNextAttempt(operator, payment.id, callback.attempt ?? 0)
      if (nextAt !== null) {
        const waitMs = Math.max(0, nextAt - Date.now())
        const scaled =
          timeScale === 1 ? '' : ` (${formatDuration(waitMs * timeScale)} in real life)`
        say(paint.dim(`              again in ${formatDuration(waitMs)}${scaled}`))
      }
    }
    await writePayment(operator, accountId, payment, 'PAID')
    const paid = await arrivals.next()
    say(`${paint.bold('4.')} The payment becomes PAID, and the receiver works:`)
    say(`   ${attemptText(paid, call)}`)
    if (call.isJson) call.print(jsonOf(paid))
    say(
      '\nOnly 200 is success. Everything else is tried again, after 5 s, 10 s, 20 s … 6 h, for 7 days.',
    )
  } finally {
    if (webhookId) await client.call('DELETE', `/v1/webhooks/${webhookId}`).catch(() => {})
    await receiver.stop()
  }
}

/** The sandbox's own client, whatever the settings say. */
function clientOf(call: Call, sandbox: SandboxFile): Promise<Api> {
  const { clientId, clientSecret, accountId, baseUrl } = sandbox
  const own = { clientId, clientSecret, clientKey: null, accountId, url: baseUrl }
  const config = { ...call.target.config, ...own }
  return new Target(config, {}, () => {}).client()
}

async function findWebhookId(
  client: Api,
  accountId: string,
  url: string,
): Promise<string | undefined> {
  const query = { size: 100 }
  const answer = await client.call('GET', '/v1/webhooks/list', { accountId, query })
  const { content } = answer.json<Page<Endpoint>>()
  return content.find(({ endpointUrl }) => endpointUrl === url)?.id
}

function attemptText(callback: ReceivedCallback, call: Call): string {
  const { paint } = call
  const answer = callback.answered === 200 ? paint.green('200') : paint.red(`${callback.answered}`)
  return `attempt ${callback.attempt}  ${answer}  ${callback.event}, signature ${callback.signature}`
}

function jsonOf({ body: _, ...callback }: ReceivedCallback): string {
  return JSON.stringify(callback)
}

function showSuccess(say: (text: string) => void, callback: ReceivedCallback): void {
  say(`              webhook-id ${callback.eventId}: the same on every attempt`)
  say(`              X-Paybell-Hmac ${callback.hmac}`)
}

/** When the attempt is recorded, its delivery tells when the next one is. */
async function readNextAttempt(
  operator: Api,
  paymentId: string,
  attempt: number,
): Promise<number | null> {
  for (let tries = 0; tries < 40; tries++) {
    const answer = await operator.get('/operator/v1/deliveries', { paymentId })
    const found = answer
      .json<CursorPage<OperatorDelivery>>()
      .items.find(({ attempts, state }) => attempts >= attempt && state === 'PENDING')
    if (found) return found.nextAttemptAt === null ? null : Date.parse(found.nextAttemptAt)
    await delay(25)
  }
  return null
}

/** Callbacks in the order of their arrival; `next` takes one, and waits for it. */
class Arrivals {
  readonly #waiting: ReceivedCallback[] = []
  readonly #interruption: AbortSignal
  #wake: (() => void) | null = null

  constructor(interruption: AbortSignal) {
    this.#interruption = interruption
  }

  add(callback: ReceivedCallback): void {
    this.#waiting.push(callback)
    this.#wake?.()
  }

  async next(): Promise<ReceivedCallback> {
    const limit = AbortSignal.any([this.#interruption, AbortSignal.timeout(WAIT_MS_MAX)])
    while (this.#waiting.length === 0) {
      if (limit.aborted) throw new Error('no callback came in time')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        limit.onabort = () => resolve()
      })
    }
    return this.#waiting.shift() as ReceivedCallback
  }
}
