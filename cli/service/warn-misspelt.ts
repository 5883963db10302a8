// One warning at the start of the commands that run the service. Not a fault: other programs may use such names.

import type { Logger } from 'pino'
import type { Environment } from '../../server/core/plain/setting.ts'
import { findMisspelt } from './misspelt.ts'

export function warnOfMisspelt(env: Environment, logger: Logger): void {
  for (const { name, nearest } of findMisspelt(env)) {
    const detail =
      nearest === null
        ? `${name} is not a setting and has no effect.`
        : `${name} is not a setting and has no effect. Did you mean ${nearest}?`
    logger.warn({ setting: name, nearest, detail }, 'settings.unknown')
  }
}
