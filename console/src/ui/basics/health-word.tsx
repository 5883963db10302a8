// How an endpoint stands, in the one word that is used for it everywhere. Nothing that fails is shown in green.

import { Badge, type Tone } from './badge.tsx'

const TONES = {
  healthy: 'good',
  failing: 'bad',
  paused: 'warn',
  disabled: 'bad',
  deleted: 'quiet',
  'not tried yet': 'quiet',
} as const satisfies Record<string, Tone>

export function HealthWord({
  status,
  isFailing,
  isTried = true,
}: {
  status: string
  isFailing: boolean
  isTried?: boolean
}) {
  const word = wordOf(status, isFailing, isTried)
  return <Badge tone={TONES[word]}>{word}</Badge>
}

/** One that takes nothing is not failing, whatever its last attempts have shown. */
function wordOf(status: string, isFailing: boolean, isTried: boolean): keyof typeof TONES {
  if (status === 'DELETED') return 'deleted'
  if (status === 'DISABLED') return 'disabled'
  if (status === 'PAUSED') return 'paused'
  if (isFailing) return 'failing'
  return isTried ? 'healthy' : 'not tried yet'
}
