// The side of a child: one of several processes that `paybell serve --processes` has started. It stops when its parent says
// so, when it gets a signal itself, and when its parent is gone: none stays behind.

import cluster from 'node:cluster'
import { EventEmitter } from 'node:events'
import { StopSignals } from '../../basics/stop-signals.ts'
import { NUMBER_VARIABLE, PREPARED_VARIABLE, type ToChild, type ToParent } from './messages.ts'

export interface ParentLink {
  /** 1, 2, 3 …: the same for the one that takes its place. */
  number: number
  /** The parent has waited for the database and migrated it a moment ago. */
  isPrepared: boolean
  signals: StopSignals
  /** Another process has its place: this one stops, and the service does not. */
  isReplaced(): boolean
  ready(): void
  /** Lets the process end. */
  leave(): void
}

/** Null where this process has no such parent. */
export function joinParent(env: NodeJS.ProcessEnv): ParentLink | null {
  const { worker } = cluster
  const number = env[NUMBER_VARIABLE]
  if (worker === undefined || worker === null || number === undefined) return null
  const source = new EventEmitter<Record<'SIGTERM', [NodeJS.Signals]>>()
  const signals = new StopSignals(source as unknown as NodeJS.Process)
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
  const say = (message: ToParent) => worker.send(message, undefined, undefined, () => {})
  const heard: Record<ToChild, () => void> = {
    stop,
    hurry,
    replaced: () => {
      isReplaced = true
      stop()
    },
    ping: () => say('pong'),
  }
  process.on('message', (message: ToChild) => heard[message]?.())
  process.on('SIGTERM', stop).on('SIGINT', stop)
  // A terminal that closes says it to all of its processes; what it means is the parent's to decide.
  process.on('SIGHUP', () => {})
  worker.once('disconnect', () => {
    // Otherwise Node ends the process here, with attempts under way. No port is left to drain: the parent had it.
    worker.exitedAfterDisconnect = true
    hurry()
  })
  return {
    number: Number(number),
    isPrepared: env[PREPARED_VARIABLE] === '1',
    signals,
    isReplaced: () => isReplaced,
    ready: () => say('ready'),
    leave() {
      worker.exitedAfterDisconnect = true
      if (process.connected) process.disconnect()
    },
  }
}
