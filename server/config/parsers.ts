// What texts of settings may be: each parser returns a value, or undefined for what it does not take.

import { parseNetworks } from '../core/network/network-rules.ts'
import type { Mode } from '../core/plain/setting.ts'

export function parseInteger(text: string, min: number, max: number): number | undefined {
  if (!/^\d{1,9}$/.test(text)) return undefined
  const value = Number(text)
  return value >= min && value <= max ? value : undefined
}

/** What people copy from guides, or type when they are asked for something random. */
const KNOWN_DEFAULTS = /change-?me|password|secret|example|default|paybell|0123456789|abcdefgh/i

export function parseMasterKeys(text: string): readonly Buffer[] | undefined {
  const keys = text.split(',').map((part) => {
    const key = Buffer.from(part.trim(), 'base64')
    return key.toString('base64') === part.trim() ? key : Buffer.alloc(0)
  })
  const isWeak = (key: Buffer) =>
    key.length !== 32 ||
    new Set(key).size < 8 ||
    KNOWN_DEFAULTS.test(key.toString('latin1')) ||
    new Set(key.map((byte, index) => byte - (key[index - 1] ?? 0))).size < 4
  return keys.length <= 8 && !keys.some(isWeak) ? keys : undefined
}

export function parseOperatorKey(text: string): string | undefined {
  // What an Authorization header can carry (RFC 6750 §2.1).
  if (!/^[\w.~+/-]{32,512}=*$/.test(text)) return undefined
  return new Set(text).size < 8 || KNOWN_DEFAULTS.test(text) ? undefined : text
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  if (!match) return undefined
  const durationMs = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
  return durationMs <= 7 * UNIT_MS.d ? durationMs : undefined
}

export function parseCidrs(text: string): readonly string[] | undefined {
  const { networks, faults } = parseNetworks(text)
  return faults.length === 0 ? networks : undefined
}

const ORIGINS_MAX = 20

/** Exact ones: a wildcard or a path would let in pages that no one thought of. */
export function parseOrigins(text: string, mode: Mode): readonly string[] | undefined {
  const origins = text.split(',').map((each) => each.trim())
  const isExact = (origin: string) => {
    const url = URL.canParse(origin) ? new URL(origin) : null
    return url?.origin === origin && !url.hostname.includes('*') && isSafeAddress(url, mode)
  }
  return origins.length <= ORIGINS_MAX && origins.every(isExact) ? origins : undefined
}

/** With TLS; without it only at home, to try it out. */
export function isSafeAddress({ protocol, hostname }: URL, mode: Mode): boolean {
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  return protocol === 'https:' || (mode === 'sandbox' && protocol === 'http:' && isHere)
}
