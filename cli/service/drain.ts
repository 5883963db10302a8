// Between the signal and the stop: the process says that it is not ready and goes on serving, so that a
// load balancer leaves it before the port closes. A second signal ends the wait.

import type { Logger } from 'pino'
import type { PaybellApp } from '../../server/app.ts'
import type { StopSignals } from '../basics/stop-signals.ts'

export async function drain(
  app: Pick<PaybellApp, 'drain'>,
  {
    seconds,
    signals,
    logger,
    isReplaced = false,
  }: { seconds: number; signals: StopSignals; logger: Logger; isReplaced?: boolean },
): Promise<void> {
  if (seconds === 0 && !isReplaced) return
  app.drain({ isReplaced })
  logger.info({ seconds }, 'paybell.draining')
  await signals.patience(seconds * 1_000)
}
