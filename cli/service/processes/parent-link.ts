// The side of a child: one of several processes that `paybell serve --processes` has started. It stops when its parent says
// so, when it gets a signal itself, and when its parent is gone: none stays behind.

import cluster from 'node:cluster'
import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import type { SiblingChannel, SiblingEnd } from '../../../server/delivery/seams/sibling-channel.ts'
import type { Figures } from '../../../server/telemetry/joined-figures.ts'
import { StopSignals } from '../../basics/stop-signals.ts'
import { NUMBER_VARIABLE, PREPARED_VARIABLE, type ToChild, type ToParent } from './messages.ts'
import { useSocket } from './sibling-sockets.ts'

/** What the parent may ask of it. */
export interface Served {
  figures(): Promise<Figures>
  countedFigures(): Promise<Figures>
  joinSibling(channel: SiblingChannel): SiblingEnd
}

export interface ParentLink {
  /** 1, 2, 3 …: the same for the one that takes its place. */
  number: number
  /** The parent has waited for the database and migrated it a moment ago. */
  isPrepared: boolean
  signals: StopSignals
  /** Another process has its place: this one stops, and the service does not. */
  isReplaced(): boolean
  ready(served: Served): void
  /** The metrics of all processes of this parent. */
  metricsOfAll(): Promise<string>
  /** Lets the process end. */
  leave(): Promise<void>
}

/** The parent gives each process 2 seconds for its figures. */
const METRICS_MS_MAX = 5_000

/** Null where this process has no such parent. */
export function joinParent(env: NodeJS.ProcessEnv): ParentLink | null {
  const { worker } = cluster
  const number = env[NUMBER_VARIABLE]
  if (worker === undefined || worker === null || number === undefined) return null
  const source = new EventEmitter<Record<'SIGTERM', [NodeJS.Signals]>>()
  const signals = new StopSignals(source as unknown as NodeJS.Process)
  const answers = new EventEmitter<Record<'metrics', [string]>>().setMaxListeners(0)
  let served: Served | null = null
  let isReplaced = false
  // Ctrl-C, and systemd with its default, signal the parent and every child; the parent passes it on besides. So only the
  // parent's word counts as the second.
  const stop = () => {
    if (!signals.isRequested) source.emit('SIGTERM', 'SIGTERM')
  }
  const hurry = () => {
    stop()
    source.emit('SIGTERM', 'SIGTERM')
  }
  const say = (message: ToParent) =>
    new Promise<void>((resolve) => {
      if (!process.connected) resolve()
      // A parent that is gone is noticed by the end of the channel.
      else worker.send(message, undefined, undefined, () => resolve())
    })
  // Only those that serve get one; it may have closed on its way.
  const joinSibling = (socket: Socket | undefined) => {
    if (socket && served) useSocket(socket, (channel) => (served as Served).joinSibling(channel))
    else socket?.destroy()
  }
  const heard: Record<Exclude<ToChild['say'], 'metrics' | 'sibling'>, () => unknown> = {
    stop,
    hurry,
    replaced: () => {
      isReplaced = true
      stop()
    },
    ping: () => say({ say: 'pong' }),
    // Without an answer the parent has those of last time.
    figures: () =>
      served?.figures().then(
        (figures) => say({ say: 'figures', figures }),
        () => {},
      ),
  }
  process.on('message', (message: ToChild, socket?: Socket) => {
    if (message.say === 'metrics') answers.emit('metrics', message.text)
    else if (message.say === 'sibling') joinSibling(socket)
    else heard[message.say]?.()
  })
  process.on('SIGTERM', stop).on('SIGINT', stop)
  // A terminal that closes says it to all of its processes; what it means is the parent's to decide.
  process.on('SIGHUP', () => {})
  worker.once('disconnect', () => {
    // Otherwise Node ends the process here, with attempts under way.
    worker.exitedAfterDisconnect = true
    hurry()
  })
  return {
    number: Number(number),
    isPrepared: env[PREPARED_VARIABLE] === '1',
    signals,
    isReplaced: () => isReplaced,
    ready(one) {
      served = one
      void say({ say: 'ready' })
    },
    async metricsOfAll() {
      // Whichever answer is next: it is of a moment ago, for whom it may have been made.
      const answered = once(answers, 'metrics', { signal: AbortSignal.timeout(METRICS_MS_MAX) })
      void say({ say: 'metrics' })
      const [text] = await answered
      return text as string
    },
    async leave() {
      const figures = await served?.countedFigures().catch(() => undefined)
      if (figures) await say({ say: 'last', figures })
      worker.exitedAfterDisconnect = true
      if (process.connected) process.disconnect()
    },
  }
}
