// A stage and a running Paybell for one scenario, gone when it is over, whatever happened.

import { Stage } from '../harness/stage.ts'
import { type PaybellOptions, type RunningPaybell, startPaybell } from '../paybell/system.ts'

export async function withPaybell<T>(
  options: Omit<PaybellOptions, 'receiverUrl' | 'apart'> & {
    /** So many endpoints at an origin of their own, as other people's hosts are. */
    apart?: number
  },
  work: (stage: Stage, paybell: RunningPaybell) => Promise<T>,
): Promise<T> {
  const stage = await Stage.open()
  try {
    const apart =
      options.apart === undefined
        ? undefined
        : { url: await stage.openOrigin(), count: options.apart }
    // `paybell serve` sends to https alone.
    const receiverUrl =
      options.siblings === undefined ? stage.receiverUrl : await stage.openTlsOrigin()
    const paybell = await startPaybell({ ...options, apart, receiverUrl })
    try {
      return await work(stage, paybell)
    } finally {
      await paybell.stop()
    }
  } finally {
    await stage.close()
  }
}
