// The settings of the commands that call a service instead of being one.

import { readFileSync } from 'node:fs'
import { parseBaseUrl } from './parsers.ts'
import { ConfigError, type Environment, given, type ReadFile, readSetting } from './read-setting.ts'
import { CALLER_SETTINGS, type Setting } from './settings.ts'

export interface CallerConfig {
  url: string | null
  operatorKey: string | null
  clientId: string | null
  clientSecret: string | null
  accountId: string | null
  sharedKey: string | null
  dataDir: string
  /** Null: below the home directory. */
  configDir: string | null
}

/** Asked apart from the other settings, because their faults are told in colour or not. */
export function isColourRefused(env: Environment): boolean {
  return given(env.NO_COLOR) !== undefined || env.TERM === 'dumb'
}

/** Like loadConfig: pure, all faults at once, never a value. */
export function loadCallerConfig(
  env: Environment,
  readFile: ReadFile = (path) => readFileSync(path, 'utf8'),
): CallerConfig {
  const faults: string[] = []
  const read = (name: (typeof CALLER_SETTINGS)[number]['name']): string | null => {
    const setting = CALLER_SETTINGS.find((row) => row.name === name) as Setting
    return readSetting(setting, 'sandbox', env, readFile, faults) ?? null
  }
  const url = read('PAYBELL_URL')
  if (url !== null && parseBaseUrl(url) === undefined) {
    faults.push('PAYBELL_URL must be an absolute http or https URL')
  }
  const config: CallerConfig = {
    url,
    operatorKey: read('PAYBELL_OPERATOR_KEY'),
    clientId: read('PAYBELL_CLIENT_ID'),
    clientSecret: read('PAYBELL_CLIENT_SECRET'),
    accountId: read('PAYBELL_ACCOUNT_ID'),
    sharedKey: read('PAYBELL_SHARED_KEY'),
    dataDir: read('PAYBELL_DATA_DIR') ?? '.paybell',
    configDir: read('XDG_CONFIG_HOME'),
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}
