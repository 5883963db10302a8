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
