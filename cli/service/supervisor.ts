// Tells systemd how the service is, where it was started by a unit of Type=notify: ready, stopping, and alive
// as often as its watchdog wants to hear. The socket is one that Node cannot open, so systemd's own
// program speaks to it. A process whose event loop hangs falls silent, and is started again.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface Supervisor {
  ready(): Promise<void>
  /** Stopping takes its time, in which the watchdog still wants to hear. */
  stopping(): Promise<void>
  close(): void
}

export interface SupervisorOptions {
  env: Readonly<Record<string, string | undefined>>
  /** It is no reason to end the service. */
  onFailure: (error: Error) => void
}

/** Alive is said twice in each period of the watchdog. */
const TIMES_A_PERIOD = 2
/** systemd's program waits for 5 seconds by itself. */
const NOTIFY_MS_MAX = 6_000

export function connectSupervisor({ env, onFailure }: SupervisorOptions): Supervisor {
  const notify = async (...states: string[]): Promise<void> => {
    if (!env.NOTIFY_SOCKET) return
    // It waits until systemd has read the message: systemd finds the unit by the process that wrote it, which a
    // service without rights cannot name for another, and drops what comes from one that has ended.
    const options = { env: { ...env }, timeout: NOTIFY_MS_MAX }
    await promisify(execFile)('systemd-notify', states, options).catch(onFailure)
  }
  let watchdog: NodeJS.Timeout | undefined
  return {
    async ready() {
      await notify('--ready')
      const periodMs = Number(env.WATCHDOG_USEC ?? 0) / 1_000
      if (!(periodMs > 0)) return
      watchdog = setInterval(() => void notify('WATCHDOG=1'), periodMs / TIMES_A_PERIOD)
    },
    stopping: () => notify('STOPPING=1'),
    close: () => clearInterval(watchdog),
  }
}
