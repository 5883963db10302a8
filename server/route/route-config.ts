// The settings of `paybell route`: which cells there are and where, and the key that reads the directory. Pure; faults
// are gathered, by name and never by value.

import { SETTINGS } from '../config/config.ts'
import { parseCidrs, parseInteger } from '../config/parsers.ts'
import { ROUTE_SETTINGS } from '../config/route-settings.ts'
import { parseBaseUrl } from '../core/network/base-url.ts'
import { parseCell } from '../core/network/cell.ts'
import {
  ConfigError,
  type Environment,
  type ReadFile,
  readSetting,
  type Setting,
} from '../core/plain/setting.ts'

/** What the service has, too, and means the same here. */
const SHARED = [
  'HOST',
  'PORT',
  'PAYBELL_BASE_URL',
  'PAYBELL_OPERATOR_PORT',
  'PAYBELL_TRUSTED_PROXIES',
  'PAYBELL_DRAIN_SECONDS',
  'PAYBELL_LOG_LEVEL',
] as const

type RouteSettingName = (typeof SHARED)[number] | (typeof ROUTE_SETTINGS)[number]['name']

export interface CellAddress {
  cell: number
  /** Without a slash at the end. */
  address: string
  /** Another one where the cell has an operator port. */
  operatorAddress: string
}

export interface RouteConfig {
  host: string
  port: number
  /** The operator's side is at this port alone; null: at the same one. */
  operatorPort: number | null
  baseUrl: string | null
  cells: readonly CellAddress[]
  key: string
  trustedProxies: readonly string[]
  drainSeconds: number
  logLevel: string
}

const CELLS_MAX = 64

export function loadRouteConfig(env: Environment, readFile: ReadFile): RouteConfig {
  const faults: string[] = []
  const texts = new Map<string, string>()
  const shared = SETTINGS.filter(({ name }) => (SHARED as readonly string[]).includes(name))
  for (const setting of [...shared, ...ROUTE_SETTINGS] as readonly Setting[]) {
    const text = readSetting(setting, 'production', env, readFile, faults)
    if (text !== undefined) texts.set(setting.name, text)
  }
  const parse = <T>(
    name: RouteSettingName,
    takes: string,
    parser: (text: string) => T | undefined,
  ) => {
    const text = texts.get(name)
    if (text === undefined) return undefined
    const value = parser(text)
    if (value === undefined) faults.push(`${name} must be ${takes}`)
    return value
  }
  const integer = (name: RouteSettingName, max: number) =>
    parse(name, `a whole number from 0 to ${max}`, (text) => parseInteger(text, 0, max))
  const config: RouteConfig = {
    host: texts.get('HOST') ?? '127.0.0.1',
    port: integer('PORT', 65_535) ?? 0,
    operatorPort: integer('PAYBELL_OPERATOR_PORT', 65_535) ?? null,
    baseUrl: parse('PAYBELL_BASE_URL', 'an absolute http or https URL', parseBaseUrl) ?? null,
    cells:
      parse(
        'PAYBELL_ROUTE_CELLS',
        `a list of different cells with their addresses, 0=https://…,7=https://…, ${CELLS_MAX} at most`,
        parseCells,
      ) ?? [],
    key: texts.get('PAYBELL_ROUTE_KEY') ?? '',
    trustedProxies:
      parse('PAYBELL_TRUSTED_PROXIES', 'a comma-separated list of CIDRs', parseCidrs) ?? [],
    drainSeconds: integer('PAYBELL_DRAIN_SECONDS', 600) ?? 0,
    logLevel: texts.get('PAYBELL_LOG_LEVEL') ?? 'info',
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}

export function parseCells(text: string): readonly CellAddress[] | undefined {
  const cells = text.split(',').map((part) => {
    const [, number, given, second] = /^\s*(\d+)=([^|]+)(?:\|(.+?))?\s*$/.exec(part) ?? []
    const cell = parseCell(number ?? '')
    const address = parseBaseUrl(given ?? '')
    const operatorAddress = parseBaseUrl(second ?? given ?? '')
    if (cell === undefined || address === undefined || operatorAddress === undefined) return null
    return { cell, address, operatorAddress }
  })
  const valid = cells.filter((cell) => cell !== null)
  const isGood =
    valid.length === cells.length &&
    valid.length <= CELLS_MAX &&
    new Set(valid.map(({ cell }) => cell)).size === valid.length
  return isGood ? valid.toSorted((one, other) => one.cell - other.cell) : undefined
}
