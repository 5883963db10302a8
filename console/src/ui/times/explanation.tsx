// Why a delivery has its status, in the service's sentences. Their instants come apart from the words: times are
// written in the viewer's zone, and the time until one counts down.

import type { ExplanationPart } from '../../api/types.ts'
import { Time, toDurationText, useNow } from './time.tsx'

export function Explanation({ parts }: { parts: readonly ExplanationPart[] }) {
  return parts.map((part, index) => (
    <span key={part.template}>
      {index === 0 ? '' : ' '}
      <Sentence of={part} />
    </span>
  ))
}

/** `Next attempt in {in nextAttemptAt} ({nextAttemptAt}).` */
function Sentence({ of: { template, instants } }: { of: ExplanationPart }) {
  const atOf = (name: string) => instants.find((instant) => instant.name === name)?.at ?? null
  return template.split(/(\{[^}]+\})/).map((piece) => {
    const [, isDuration, name] = /^\{(in )?(\w+)\}$/.exec(piece) ?? []
    if (name === undefined) return piece
    const at = atOf(name)
    return isDuration ? <Left key={piece} at={at} /> : <Time key={piece} at={at} as="short" />
  })
}

function Left({ at }: { at: string | null }) {
  const nowMs = useNow()
  return at === null ? '–' : toDurationText(Math.max(0, Date.parse(at) - nowMs))
}
