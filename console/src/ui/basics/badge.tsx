// States in words, with a colour that helps. Never the colour alone.

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet'

const TONES: Readonly<Record<string, Tone>> = {
  // Deliveries
  PENDING: 'info',
  DELIVERED: 'good',
  EXHAUSTED: 'bad',
  SUPERSEDED: 'quiet',
  CANCELLED: 'quiet',
  // Endpoints and clients
  ACTIVE: 'good',
  PAUSED: 'warn',
  DISABLED: 'bad',
  DELETED: 'quiet',
  // Circuits
  CLOSED: 'good',
  OPEN: 'bad',
  HALF_OPEN: 'warn',
  // Payments
  DRAFT: 'quiet',
  PENDING_APPROVAL: 'warn',
  DUE: 'info',
  PAID: 'good',
  // Jobs: one that is done has asked for its deliveries, none of which need have arrived.
  RUNNING: 'info',
  DONE: 'quiet',
  FAILED: 'bad',
}

/** Any state of the service: `<State of="PENDING" />`. */
export function State({ of }: { of: string }) {
  return <Badge tone={TONES[of.toUpperCase()] ?? 'quiet'}>{of.replaceAll('_', ' ')}</Badge>
}

export function Badge({
  tone = 'quiet',
  isPlain = false,
  children,
}: {
  tone?: Tone
  isPlain?: boolean
  children: string | number
}) {
  return <span className={`badge tone-${tone}${isPlain ? ' plain' : ''}`}>{children}</span>
}
