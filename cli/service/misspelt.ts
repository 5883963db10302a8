// Variables that look like settings of Paybell and are none: without a warning, a misspelt one would
// leave its setting at the default, perhaps for years. Reports names, never values.

import { SETTINGS } from '../../server/config/config.ts'
import { ROUTE_SETTINGS } from '../../server/config/route-settings.ts'
import type { Environment, Setting } from '../../server/core/plain/setting.ts'
import { distanceBetween } from '../../server/core/plain/spelling.ts'
import { CALLER_SETTINGS } from '../basics/settings.ts'

export interface MisspeltSetting {
  name: string
  /** The one that is spelt most like it; null when none is. */
  nearest: string | null
}

/** For tests and tools of the project itself. */
const OWN_TOOLS = /^PAYBELL_(TEST_\w+|CHROMIUM|SCREENSHOTS|CONFORMANCE_SEED)$/
/** What Kubernetes sets for every Service whose name begins with ours: PAYBELL_SERVICE_HOST and the like. */
const SERVICE_LINK = /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//

export function findMisspelt(env: Environment): readonly MisspeltSetting[] {
  const names = settingNames()
  return Object.entries(env)
    .filter(([name, text]) => isOurs(name) && !names.has(name) && !isServiceLink(name, text))
    .map(([name]) => ({ name, nearest: findNearest(name, names) }))
}

function settingNames(): ReadonlySet<string> {
  const all: readonly Setting[] = [...SETTINGS, ...ROUTE_SETTINGS, ...CALLER_SETTINGS]
  return new Set(all.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])))
}

function isOurs(name: string): boolean {
  return /^PAYBELL_/i.test(name) && !OWN_TOOLS.test(name)
}

function isServiceLink(name: string, text: string | undefined): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(text ?? ''))
}

function findNearest(name: string, names: ReadonlySet<string>): string | null {
  const spelt = name.toUpperCase()
  let nearest: string | null = null
  // Half of the letters may differ; beyond that it is another word.
  let least = Math.floor((spelt.length - 'PAYBELL_'.length) / 2) + 1
  for (const candidate of names) {
    const distance = distanceBetween(plainly(spelt), plainly(candidate), least)
    if (distance < least) {
      least = distance
      nearest = candidate
    }
  }
  return nearest
}

function plainly(name: string): string {
  return name.replaceAll('_', '')
}
