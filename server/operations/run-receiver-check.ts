// Drives a receiver through the list of core/receiver-check-items, one POST after the other, within a minute,
// up to the first callback that must be taken and is not: nobody can have more than one POST sent to a host
// that does not want them.
// Knows no endpoint and no store: the command line runs the same list from the caller's own machine.

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { SigningKeys } from '../core/callback-headers.ts'
import type { Clock } from '../core/clock.ts'
import { isSuccess } from '../core/delivery.ts'
import {
  type Answered,
  type CheckedStep,
  type CheckReport,
  judge,
  notRun,
  toReport,
} from '../core/receiver-check.ts'
import { CHECK_ITEMS } from '../core/receiver-check-items.ts'
import type { CheckPost } from '../core/receiver-check-posts.ts'
import { toSigningKey } from '../core/signature.ts'
import type { CallbackPost, Deps } from './parts/deps.ts'

export interface CheckTarget {
  url: string
  tenant: string
  keys: SigningKeys
  extraHeader: readonly [string, string] | null
}

export interface CheckTools {
  clock: Clock
  newId(): string
  send: Deps['send']
}

/** An attempt ends within 15 seconds, so that a check which begins none later ends within 60. */
const LAST_START_MS = 44_000

const NOT_TAKEN =
  'Not run, because a valid callback was not answered with 200. Mend that, then check again.'

export async function runReceiverCheck(
  tools: CheckTools,
  target: CheckTarget,
): Promise<CheckReport> {
  const { clock } = tools
  const startedAtMs = clock.nowMs()
  const startedAt = clock.monotonicMs()
  const strangeKey = toSigningKey(randomBytes(32))
  const steps: CheckedStep[] = []
  let isOver = false
  for (const item of CHECK_ITEMS) {
    if (isOver) {
      steps.push(notRun(item, NOT_TAKEN))
      continue
    }
    const posts = item.posts({ ...target, strangeKey, nowMs: clock.nowMs(), newId: tools.newId })
    const answers: Answered[] = []
    for (const post of posts) {
      if (isOver || clock.monotonicMs() - startedAt > LAST_START_MS) break
      const answer = await tools.send(toCallbackPost(target, post))
      answers.push(answer)
      isOver = item.expects === '200' && !isSuccess(answer.outcome)
    }
    steps.push(
      isOver || answers.length === posts.length
        ? judge(item, answers, posts.length)
        : notRun(item, 'Not run, because the receiver was slow and the minute was over.'),
    )
  }
  const durationMs = clock.monotonicMs() - startedAt
  return toReport({ url: target.url, startedAtMs, durationMs }, steps)
}

function toCallbackPost({ url, tenant }: CheckTarget, post: CheckPost): CallbackPost {
  const body = post.pauseMs === 0 ? post.body : slowly(post.body, post.pauseMs)
  return { url, tenant, headers: post.headers, body }
}

/**
 * The parts with a pause between them. The sender writes what is large part by part, and asks for each
 * part when the one before is out: an iterator that takes its time makes a body that does.
 */
function slowly(parts: readonly Uint8Array[], pauseMs: number): readonly Uint8Array[] {
  return Object.assign([...parts], {
    async *[Symbol.asyncIterator]() {
      for (const [at, part] of parts.entries()) {
        if (at > 0) await delay(pauseMs)
        yield part
      }
    },
  })
}
