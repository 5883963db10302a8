// Numbers as people read them.

import type { Payment } from '../../api/types.ts'

const WHOLE = new Intl.NumberFormat()
const SHARE = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

export function toCountText(value: number): string {
  return WHOLE.format(value)
}

/** 0.9987 → `99.8 %`: rounded down, because "100 %" must mean all. */
export function toShareText(share: number | null): string {
  return share === null ? '–' : SHARE.format(Math.floor(share * 1_000) / 1_000)
}

export function toMsText(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

export function toBytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  if (bytes < 1_024 * 1_024) return `${(bytes / 1_024).toFixed(1)} KiB`
  return `${(bytes / 1_024 / 1_024).toFixed(1)} MiB`
}

/** The digits as they were written: an amount is never a number here. */
export function toAmountText({ amount, currency }: Payment['amount']): string {
  return `${amount} ${currency}`
}

/** As people read it: `11,129.50 USD`, `2,400 JPY`. No digit that was written is left out; an exponent stays as it is. */
export function toReadableAmount({ amount, currency }: Payment['amount']): string {
  const [, sign = '', whole = '', fraction = ''] =
    /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(amount)) ?? []
  if (whole === '') return `${amount} ${currency}`
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  const digits = fraction.padEnd(digitsOf(currency), '0')
  return `${sign}${grouped}${digits === '' ? '' : `.${digits}`} ${currency}`
}

/** Two for most, none for the yen, three for the dinar; none for what is no currency that the browser knows. */
function digitsOf(currency: string): number {
  try {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency })
    return format.resolvedOptions().minimumFractionDigits ?? 0
  } catch {
    return 0
  }
}
