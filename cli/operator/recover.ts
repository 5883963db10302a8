// `paybell recover`: replays in bulk what has ended without success. Says how many before it does it.

import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { CountedEndpoint, Job } from '../../sdk/src/internal/operator-types.ts'
import type { Api } from '../basics/api.ts'
import { type Call, calling, operatorCommand } from '../basics/command.ts'
import { endOfAsking, instant } from '../basics/parse.ts'
import { cellText, formatCount, formatTime, plural } from '../basics/terminal.ts'
import { type FilterOptions, toFilter, withFilter } from '../client/deliveries.ts'

interface RecoverOptions extends FilterOptions {
  since: string
  dryRun?: boolean
  yes?: boolean
  wait: boolean
}

const PATH = '/operator/v1/deliveries/replay'
const POLL_MS = 300
/** The service goes through at most this many in one call. */
const WAIT_MS_MAX = 3_600_000

export function recoverCommand(): Command {
  return withFilter(
    operatorCommand('recover', 'Replay many deliveries at once: exhausted ones by default.', [
      'paybell recover --since 2d --dry-run',
      'paybell recover --since 2d --endpoint 01a1dd3c-57d6-7001-9e6f-60de241483ec',
      'paybell recover --since 2026-11-15T06:00:00Z --until 2026-11-15T09:00:00Z --state EXHAUSTED,CANCELLED',
    ]),
  )
    .requiredOption('--since <when>', 'created from then on: 2h, 2026-11-15T06:00:00Z', instant)
    .option('--until <when>', 'created before then', instant)
    .option('--dry-run', 'only count them')
    .option('--yes', 'do not ask for confirmation')
    .option('--no-wait', 'do not wait until all are under way')
    .action(calling(recover))
}

interface Trial {
  wouldReplay: number
  endpoints: readonly CountedEndpoint[]
}

/** What waits at an endpoint that takes nothing is easily taken for sent. */
function warnOfClosed(call: Call, endpoints: readonly CountedEndpoint[]): void {
  for (const { endpointUrl, status, count } of endpoints) {
    if (status === 'ACTIVE') continue
    call.note(
      `${plural(count, 'delivery', 'deliveries')} to ${cellText(endpointUrl)}, which is ${status}: they wait until it is resumed.`,
    )
  }
}

async function recover(call: Call<RecoverOptions>): Promise<void> {
  const { options } = call
  const api = await call.operator()
  const until = endOfAsking(options.since, options.until)
  const filter = toFilter({ state: ['EXHAUSTED'], ...options, until })
  const trial = await api.post(`${PATH}?byEndpoint=true`, { filter, dryRun: true })
  const { wouldReplay, endpoints } = trial.json<Trial>()
  warnOfClosed(call, endpoints)
  const what = `${plural(wouldReplay, 'delivery', 'deliveries')} ${filter.state}, created since ${formatTime(options.since)}`
  if (options.dryRun || wouldReplay === 0) {
    if (call.isJson) call.print(trial.text)
    else call.print(`${what}: ${options.dryRun ? 'would be replayed.' : 'nothing to replay.'}`)
    return
  }
  await call.confirm(`Replay ${what}?`)
  const answer = await api.post(PATH, { filter, dryRun: false })
  const { replayed } = answer.json<{ replayed: number }>()
  const job = answer.headers.get('location')
  if (options.wait && job) await untilDone(call, api, job)
  if (call.isJson) call.print(answer.text)
  else call.print(`${plural(replayed, 'delivery', 'deliveries')} replayed.`)
  call.note('Watch them: paybell deliveries tail --only attempt')
}

async function untilDone(call: Call, api: Api, jobPath: string): Promise<void> {
  const limit = performance.now() + WAIT_MS_MAX
  let shownAt = 0
  while (performance.now() < limit) {
    const job = (await api.get(jobPath)).json<Job>()
    if (job.state === 'DONE') return
    if (job.state === 'FAILED') {
      throw new Error(
        `the replay stopped after ${formatCount(job.done)} of ${formatCount(job.total)}. Run it again: what was replayed is not taken twice.`,
      )
    }
    if (performance.now() - shownAt > 2_000) {
      shownAt = performance.now()
      call.note(`${formatCount(job.done)} of ${formatCount(job.total)}`)
    }
    await delay(POLL_MS)
  }
}
