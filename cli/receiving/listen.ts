// `paybell listen`: callbacks to a receiver on this machine. The listener asks the service for them, so no
// port has to be open; they are attempts like any other, with their signatures, order and retries.

import { hostname } from 'node:os'
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import type { ListenerOffer } from '../../sdk/src/wire/types.ts'
import { LISTENER_NAME } from '../../server/core/delivery/listener.ts'
import { type Call, callCommand, calling } from '../basics/command.ts'
import { id, integer } from '../basics/parse.ts'
import { untilSignal } from '../basics/run.ts'
import { plural, safe } from '../basics/terminal.ts'
import { type Forwarded, forward } from './forward.ts'
import { isReached } from './is-reached.ts'
import {
  answeredLine,
  arrivedLine,
  bodyLines,
  hintFor,
  type ShownCallback,
} from './listen-lines.ts'
import { ListenerKeys } from './listener-keys.ts'
import { ListenerSession } from './listener-session.ts'
import {
  findSharedKey,
  hintAtArgument,
  type SharedKeyOptions,
  withSharedKey,
} from './shared-key.ts'
import { checkSignature } from './signature.ts'

interface ListenOptions extends SharedKeyOptions {
  forwardTo?: string
  name?: string
  account?: string
  count?: number
  printResponse?: boolean
  skipVerify?: boolean
  fresh?: boolean
  forget?: boolean
}

/** What the service itself has in flight at one endpoint at most. */
const FORWARDS_MAX = 64
/** Reserved for reporting the outcome to the service. */
const TELLING_MS = 500
/** Enough to recognise a body that holds a document. */
const DETAILS_BYTES_MAX = 4_096
/** For what is still being forwarded while leaving. */
const PARTING_MS = 3_000

export function listenCommand(): Command {
  return withSharedKey(
    callCommand('listen', 'Forward callbacks to a receiver on this machine, and show them.', [
      'paybell listen --forward-to http://localhost:3000/hook',
      'paybell listen --forward-to https://localhost:3000/hook --skip-verify --print-response',
      'paybell listen --json | jq -r .event',
    ]),
  )
    .option(
      '--forward-to <url>',
      'your receiver; without it callbacks are shown and answered with 200',
      address,
    )
    .option('--name <name>', 'of the listener (default: the name of this machine)', listenerName)
    .option('--account <id>', 'the account (PAYBELL_ACCOUNT_ID)', id)
    .option('--client-id <id>', 'the client (PAYBELL_CLIENT_ID)')
    .option('--client-secret <secret>', 'its secret (PAYBELL_CLIENT_SECRET)')
    .option('--client-secret-file <file>', 'file with its secret')
    .option('--print-response', 'print the beginning of every response, not only of failures')
    .option('--skip-verify', 'accept any certificate of the receiver')
    .option('--fresh', 'drop the callbacks that wait for this listener')
    .option(
      '--forget',
      'delete the listener when it stops; otherwise callbacks wait for the next start',
    )
    .option('--count <n>', 'stop after n callbacks', integer(1, 1_000_000_000))
    .addHelpText(
      'after',
      '\nOn a terminal: r sends the last callback again, d shows its details, q quits.\n' +
        'The shared key is made once and kept in ~/.config/paybell/listeners.json.',
    )
    .action(calling(listen))
}

async function listen(call: Call<ListenOptions>): Promise<void> {
  // Signals are heard before the listener is registered, so that it is also paused in the end.
  const stopped = untilSignal()
  await new Listening(call, await openSession(call)).run(stopped)
}

interface OpenSession {
  session: ListenerSession
  sharedKey: string
}

async function openSession(call: Call<ListenOptions>): Promise<OpenSession> {
  const { options, target } = call
  const name = options.name ?? machineName()
  const note = (text: string) => call.note(text)
  if (call.options.clientSecret !== undefined) hintAtArgument(call, '--client-secret')
  const api = await target.client(() => note('The access token expired; getting a new one.'))
  const { url } = api
  const accountId = await target.accountId()
  const keys = new ListenerKeys(target.config.configDir)
  const given = await findSharedKey(call)
  const sharedKey = given ?? (await keys.keyOf({ url, accountId, name }))
  const session = new ListenerSession({ api, accountId, name, sharedKey, note })
  const { isNew, pending } = await session.register()
  if (options.fresh && !isNew) {
    await session.delete()
    await session.register()
  } else if (pending > 0) {
    call.note(`${plural(pending, 'callback')} waited for you; --fresh would drop them.`)
  }
  const where = options.forwardTo ? `, forwarding to ${options.forwardTo}` : ''
  call.note(`Listening as ${name} at ${url}${where}`)
  if (options.forwardTo && !(await isReached(new URL(options.forwardTo)))) {
    call.note(
      `Nothing answers at ${options.forwardTo} yet: callbacks fail, and are retried, until it does.`,
    )
  }
  call.note(given ? 'Shared key: the given one' : `Shared key: ${sharedKey} (kept in ${keys.path})`)
  return { session, sharedKey }
}

class Listening {
  readonly #call: Call<ListenOptions>
  readonly #session: ListenerSession
  readonly #sharedKey: string
  readonly #stop = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  #handled = 0
  #failure: Error | null = null
  #last: { callback: ShownCallback; offer: ListenerOffer; answer: Forwarded } | null = null

  constructor(call: Call<ListenOptions>, { session, sharedKey }: OpenSession) {
    this.#call = call
    this.#session = session
    this.#sharedKey = sharedKey
  }

  async run(stopped: Promise<unknown>): Promise<void> {
    const { count = Number.POSITIVE_INFINITY } = this.#call.options
    void stopped.then(() => this.#stop.abort())
    const releaseKeys = this.#takeKeys()
    try {
      let taken = 0
      for await (const offer of this.#session.callbacks(this.#stop.signal)) {
        const handling = this.#handle(offer)
          .catch((error) => this.#fail(error))
          .finally(() => this.#underWay.delete(handling))
        this.#underWay.add(handling)
        if (++taken >= count) break
        if (this.#underWay.size >= FORWARDS_MAX) await Promise.race(this.#underWay)
      }
    } finally {
      releaseKeys()
      await this.#leave()
    }
    if (this.#failure !== null) throw this.#failure
  }

  /** A mistake of our own: going on would hide it. */
  #fail(error: Error): void {
    this.#failure ??= error
    this.#stop.abort()
  }

  async #handle(offer: ListenerOffer): Promise<void> {
    const { options, isJson, paint } = this.#call
    const arrivedAtMs = performance.now()
    const body = Buffer.from(offer.bodyBase64, 'base64')
    const callback = this.#toShown(offer, body)
    if (!isJson) this.#call.print(arrivedLine(callback, paint))
    const answer = await this.#forward(offer, body)
    this.#last = { callback, offer, answer }
    if (!isJson) {
      const to = { at: new Date(), url: options.forwardTo ?? null, paint }
      this.#call.print(answeredLine(callback, answer, to))
      this.#explain(answer)
    }
    const leftMs = offer.timeoutMs - (performance.now() - arrivedAtMs)
    const isRecorded = await this.#session.answer(offer, answer, leftMs)
    if (isJson) this.#call.print(JSON.stringify(toJson(callback, answer, isRecorded)))
    else if (!isRecorded) {
      this.#call.note('  The result reached the service too late: it will retry this one.')
    }
    this.#handled++
  }

  #forward(offer: ListenerOffer, body: Buffer): Promise<Forwarded> {
    const { forwardTo, skipVerify = false } = this.#call.options
    if (forwardTo === undefined) {
      const shown = { status: 200, error: null, durationMs: 0, body: Buffer.alloc(0) } as const
      return Promise.resolve({ ...shown, retryAfter: null })
    }
    const timeoutMs = Math.max(0, offer.timeoutMs - TELLING_MS)
    return forward(new URL(forwardTo), offer.headers, [body], { timeoutMs, skipVerify })
  }

  #explain(answer: Forwarded): void {
    const { forwardTo, printResponse } = this.#call.options
    if (forwardTo === undefined) return
    if (answer.status !== null && (printResponse || answer.status !== 200)) {
      const lines = bodyLines(answer.body)
      if (lines !== '') this.#call.print(lines)
    }
    const hint = hintFor(answer, forwardTo)
    if (hint !== null) this.#call.note(`    ${hint}`)
  }

  #toShown(offer: ListenerOffer, body: Buffer): ShownCallback {
    const headers = Object.fromEntries(
      offer.headers.map(([name, value]) => [name.toLowerCase(), value]),
    )
    const nowMs = Date.now()
    const { valid, findings } = checkSignature({ headers, body, sharedKey: this.#sharedKey, nowMs })
    return {
      at: new Date(nowMs),
      offerId: offer.offerId,
      deliveryId: offer.deliveryId,
      eventId: offer.eventId,
      event: headers['x-paybell-event'] ?? '',
      sequence: Number(headers['x-paybell-sequence']),
      attempt: offer.attempt,
      isReplay: headers['x-paybell-replay'] === 'true',
      isTest: headers['x-paybell-test'] === 'true',
      signature: valid ? 'ok' : (findings[0]?.code ?? 'wrong'),
    }
  }

  /** Single keys, where a person is there to press them; returns what gives the terminal back. */
  #takeKeys(): () => void {
    const { stdin, stdout } = process
    if (!stdin.isTTY || !stdout.isTTY || this.#call.isJson) return () => {}
    this.#call.note('Press r to send the last callback again, d for its details, q to quit.')
    const onKey = (pressed: Buffer) => {
      for (const key of pressed.toString('latin1')) void this.#press(key)
    }
    stdin.setRawMode(true).on('data', onKey)
    return () => {
      stdin.off('data', onKey)
      stdin.setRawMode(false).pause()
    }
  }

  async #press(key: string): Promise<void> {
    try {
      // In raw mode Ctrl-C is a key, and no signal.
      if (key === 'q' || key === '\u0003') this.#stop.abort()
      else if (key === 'r') await this.#sendAgain()
      else if (key === 'd') await this.#showDetails()
    } catch (error) {
      const { problem } = error instanceof PaybellError ? error : { problem: undefined }
      this.#call.note(problem?.detail ?? (error as Error).message)
    }
  }

  async #sendAgain(): Promise<void> {
    const deliveryId = this.#last?.offer.deliveryId
    if (!deliveryId) this.#call.note('There is nothing to send again yet; a test is no delivery.')
    else await this.#session.again(deliveryId)
  }

  async #showDetails(): Promise<void> {
    if (this.#last === null) {
      this.#call.note('No callback has come yet.')
      return
    }
    const { offer, answer } = this.#last
    const { deliveryId } = offer
    this.#call.fields([
      ...offer.headers.map((header) => header),
      ['answered', answer.status ?? answer.error],
    ])
    const body = Buffer.from(offer.bodyBase64, 'base64')
    this.#call.print(safe(body.subarray(0, DETAILS_BYTES_MAX).toString('utf8')))
    if (body.length > DETAILS_BYTES_MAX) this.#call.note(`… ${body.length} bytes in all`)
    if (deliveryId !== null) this.#call.print(await this.#session.explain(deliveryId))
  }

  /** Lets the forwarding under way end, then pauses the listener at the service. */
  async #leave(): Promise<void> {
    const timer = Promise.withResolvers<void>()
    const limit = setTimeout(timer.resolve, PARTING_MS)
    await Promise.race([Promise.allSettled(this.#underWay), timer.promise])
    clearTimeout(limit)
    try {
      if (this.#call.options.forget) await this.#session.delete()
      else await this.#session.pause()
    } catch {
      // The service notices by itself, half a minute later.
      this.#call.note('The service did not get the message that this listener has stopped.')
    }
    const after = this.#call.options.forget ? '' : ' New callbacks wait for the next start.'
    this.#call.note(`Stopped after ${plural(this.#handled, 'callback')}.${after}`)
  }
}

function toJson(callback: ShownCallback, answer: Forwarded, isRecorded: boolean): object {
  return {
    ...callback,
    at: callback.at.toISOString(),
    status: answer.status,
    error: answer.error,
    durationMs: answer.durationMs,
    response: answer.status === null ? null : answer.body.toString('utf8'),
    recorded: isRecorded,
  }
}

const NAME = new RegExp(LISTENER_NAME)

/** The machine's own, as far as it conforms. */
function machineName(): string {
  const name = hostname()
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
  return name.slice(0, 63) || 'listener'
}

function listenerName(text: string): string {
  if (!NAME.test(text)) {
    throw new InvalidArgumentError('Give letters, digits, dots, hyphens, underscores; at most 63.')
  }
  return text
}

function address(text: string): string {
  const given = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('Give an address, such as http://localhost:3000/hook.')
  }
  return url.href
}
