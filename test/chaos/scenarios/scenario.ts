// A scenario: one fault, made on purpose, in the smallest set-up that shows it, and what the documentation promises
// about it. It throws where the promise does not hold.

import { existsSync } from 'node:fs'
import { findNatsServer } from '../../support/nats-server.ts'
import { LIBFAKETIME } from '../clock-jumps.ts'
import type { Stage } from './stage.ts'

export interface Scenario {
  /** What `npm run chaos -- --scenario` calls it. */
  name: string
  /** What must hold. */
  claim: string
  needs: readonly Need[]
  perform(stage: Stage): Promise<void>
}

/** Debian packages that have to be installed. */
export type Need = 'libfaketime' | 'nats-server'

const IS_THERE: Record<Need, () => boolean> = {
  libfaketime: () => LIBFAKETIME.some((path) => existsSync(path)),
  'nats-server': () => findNatsServer() !== null,
}

/** Why it cannot be performed on this machine; false where it can. For the options of a test. */
export function whySkipped({ needs }: Scenario): string | false {
  const missing = needs.filter((need) => !IS_THERE[need]())
  return missing.length > 0 && `${missing.join(' and ')}: not installed here`
}
