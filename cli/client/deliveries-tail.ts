// `paybell deliveries tail`: what happens, while it happens, from the service's event stream.

import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { AcceptedEvent, AttemptedEvent } from '../../sdk/src/internal/operator-types.ts'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import {
  readServerSentEvents,
  type ServerSentEvent,
} from '../../sdk/src/plain/server-sent-events.ts'
import { outcomeText } from '../../server/core/delivery/outcome-words.ts'
import { type Api, UnreachableError } from '../basics/api.ts'
import { type Call, calling, operatorCommand } from '../basics/command.ts'
import { id, integer, oneOf } from '../basics/parse.ts'
import { untilSignal } from '../basics/run.ts'
import { cellText, formatTime, paintState, plural } from '../basics/terminal.ts'

interface TailOptions {
  endpoint?: string
  only?: 'accepted' | 'attempt'
  count?: number
}

const RECONNECT_MS_MAX = 10_000

export function tailCommand(): Command {
  return operatorCommand('tail', 'Follow accepted events and attempts live.', [
    'paybell deliveries tail',
    'paybell deliveries tail --only attempt --json | jq -r .status',
  ])
    .option('--endpoint <id>', 'only attempts at this endpoint', id)
    .option('--only <kind>', 'accepted or attempt', oneOf(['accepted', 'attempt'] as const))
    .option('--count <n>', 'stop after n lines', integer(1, 1_000_000_000))
    .action(calling(tail))
}

async function tail(call: Call<TailOptions>): Promise<void> {
  const api = await call.operator()
  const controller = new AbortController()
  void untilSignal().then(() => controller.abort())
  const limit = call.options.count ?? Number.POSITIVE_INFINITY
  let printed = 0
  for await (const event of follow(call, api, controller.signal)) {
    const line = lineOf(call, event)
    if (line === null) continue
    call.print(line)
    if (++printed >= limit) break
  }
}

/** Reconnects when the connection is cut; what happened in between is in `deliveries list`. */
async function* follow(call: Call, api: Api, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  for (let waitMs = 500, isFirst = true; !signal.aborted; isFirst = false) {
    try {
      const stream = await api.stream('/operator/v1/stream', signal)
      if (isFirst) call.note('Following. Stop with Ctrl-C.')
      waitMs = 500
      yield* readServerSentEvents(stream)
    } catch (error) {
      if (signal.aborted) return
      const isPassing =
        error instanceof UnreachableError || (error instanceof PaybellError && error.status === 503)
      // Cut in the middle of the stream, fetch reports a plain TypeError.
      if (isFirst && !(error instanceof TypeError)) throw error
      if (!isFirst && !isPassing && !(error instanceof TypeError)) throw error
    }
    if (signal.aborted) return
    call.note('The stream was cut; connecting again.')
    await delay(waitMs, undefined, { signal }).catch(() => {})
    waitMs = Math.min(waitMs * 2, RECONNECT_MS_MAX)
  }
}

function lineOf(call: Call<TailOptions>, { event: kind, data }: ServerSentEvent): string | null {
  const { only, endpoint } = call.options
  if (kind !== 'accepted' && kind !== 'attempt') return null
  if (only !== undefined && only !== kind) return null
  if (kind === 'accepted') {
    if (endpoint !== undefined) return null
    const accepted = JSON.parse(data) as AcceptedEvent
    if (call.isJson) return JSON.stringify({ kind, ...accepted })
    return [
      formatTime(accepted.at),
      call.paint.cyan('accepted'),
      cellText(accepted.event),
      `sequence ${accepted.sequence}`,
      `payment ${cellText(accepted.paymentId)}`,
      `for ${plural(accepted.deliveries, 'endpoint')}`,
    ].join('  ')
  }
  const attempt = JSON.parse(data) as AttemptedEvent
  if (endpoint !== undefined && attempt.endpointId !== endpoint) return null
  if (call.isJson) return JSON.stringify({ kind, ...attempt })
  return [
    formatTime(attempt.at),
    'attempt ',
    `#${attempt.attempt}`,
    paintState(cellText(attempt.status ?? outcomeText(attempt.outcome)), call.paint),
    `delivery ${cellText(attempt.deliveryId)}`,
    `endpoint ${cellText(attempt.endpointId)}`,
  ].join('  ')
}
