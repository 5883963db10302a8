// One callback from a simulated process to a simulated receiver, and what becomes of its answer.

import type { AttemptResult, CallbackRequest } from '../../server/core/delivery/callback-request.ts'
import type { Outcome } from '../../server/core/delivery/delivery.ts'
import type { Dice } from './dice.ts'
import type { NodeClocks } from './node-clocks.ts'
import type { Door, NodeWorld } from './node-world.ts'

export interface SendingNode {
  name: string
  world: Pick<NodeWorld, 'scheduler' | 'options' | 'startMs' | 'receiverAt'>
  clocks: NodeClocks
  dice: Dice
  door: Door
  cautiousMs(): number
  /** True while its process stands still. */
  isFrozen(): boolean
}

/** As delivery/sending has it. A process that is frozen as it sends begins when it goes on, before anything else: it is in
 *  the middle of a turn. */
export function sendFrom(node: SendingNode, request: CallbackRequest): Promise<AttemptResult> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      if (node.cautiousMs() >= (request.beginByMs ?? Infinity)) {
        reject(new Error('the lease may end before the attempt is over'))
      } else exchange(node, request, resolve)
    }
    if (node.isFrozen()) node.door(0, `${node.name} begins to send`, begin, { isMidTurn: true })
    else begin()
  })
}

/** Connecting takes time and needs the process; once the request is out, nothing calls it back. */
function exchange(
  { name, world, clocks, dice, door, cautiousMs }: SendingNode,
  request: CallbackRequest,
  onEnd: (result: AttemptResult) => void,
): void {
  const { scheduler, options, startMs } = world
  const { attemptMsMax } = options.leases
  const calledAtMs = scheduler.nowMs
  const startedAtMonotonicMs = clocks.monotonicMs()
  const startedAtCautiousMs = cautiousMs()
  const finish = (outcome: Outcome): Outcome => {
    const durationMs = clocks.monotonicMs() - startedAtMonotonicMs
    // The process may have slept: an answer that it reads after the deadline is late.
    const heard: Outcome =
      durationMs > attemptMsMax ? { kind: 'unreachable', reason: 'timeout' } : outcome
    onEnd({ outcome: heard, durationMs })
    return heard
  }
  const timeOut = () =>
    door(calledAtMs + attemptMsMax - scheduler.nowMs, `${name} deadline`, () =>
      finish({ kind: 'unreachable', reason: 'timeout' }),
    )
  const go = () => {
    const receiver = world.receiverAt(request.url)
    // As delivery/sending/exchange.ts has it, just before the first byte.
    if (cautiousMs() - startedAtCautiousMs >= attemptMsMax || receiver === undefined) {
      finish({ kind: 'unreachable', reason: 'connect-error' })
      return
    }
    const transitMs = dice.chance(0.05) ? dice.between(50, 3_000) : dice.skewed(0.5, 50)
    const room = calledAtMs + attemptMsMax - scheduler.nowMs
    scheduler.after(Math.min(transitMs, room), `${name} request`, () => {
      const nowMs = scheduler.nowMs
      const from = {
        node: name,
        sentAtMs: calledAtMs,
        nowMs,
        sinceStartMs: nowMs - startMs,
      }
      const { received, afterMs, outcome } = receiver.receive(request, from)
      scheduler.note(`${received.webhookId}/${received.attempt}`)
      const backMs = afterMs + dice.skewed(0.5, 50)
      if (outcome === null || nowMs + backMs - calledAtMs > attemptMsMax) {
        timeOut()
        return
      }
      door(backMs, `${name} answer`, () => {
        received.wasAnswerHeard = finish(outcome) === outcome && outcome.kind === 'answered'
      })
    })
  }
  if (dice.chance(0.1)) door(dice.skewed(1, 4_900), `${name} connected`, go)
  else go()
}
