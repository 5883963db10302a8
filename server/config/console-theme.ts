// PAYBELL_CONSOLE_THEME: how the console looks in an operator's own product. Pure.

import type { Mode } from '../core/plain/setting.ts'
import { isSafeAddress } from './parsers.ts'

export interface ConsoleTheme {
  name: string | null
  /** `#rrggbb`. */
  accent: string | null
  logo: string | null
}

/** White text on it, and it as text on a pale tint of itself, can be read (WCAG 2.2, 4.5 to 1). */
const CONTRAST_MIN = 5.5

/** `accent=#0b5c8f, logo=https://…, name=Acme Pay`: any of them, once each. */
export function parseTheme(text: string, mode: Mode): ConsoleTheme | undefined {
  const theme: ConsoleTheme = { name: null, accent: null, logo: null }
  for (const pair of text.split(',').map((each) => each.trim())) {
    const [, key, value = ''] = /^(name|accent|logo) *= *(.+)$/.exec(pair) ?? []
    if (key === undefined || theme[key as keyof ConsoleTheme] !== null) return undefined
    if (!IS_GOOD[key as keyof ConsoleTheme](value, mode)) return undefined
    theme[key as keyof ConsoleTheme] = value
  }
  return theme
}

const IS_GOOD: Readonly<Record<keyof ConsoleTheme, (value: string, mode: Mode) => boolean>> = {
  name: (value) => value.length <= 40 && !/\p{Cc}/u.test(value),
  accent: (value) =>
    /^#[0-9a-f]{6}$/i.test(value) && 1.05 / (luminance(value) + 0.05) >= CONTRAST_MIN,
  // It becomes a part of the content security policy.
  logo: (value, mode) =>
    URL.canParse(value) &&
    new URL(value).href === value &&
    !/[\s;,'"?#*]/.test(value) &&
    isSafeAddress(new URL(value), mode),
}

/** WCAG's relative luminance of `#rrggbb`. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
