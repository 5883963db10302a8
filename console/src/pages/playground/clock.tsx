// How fast the delivery clock runs: the 7 days of a delivery may be over in a minute.

import { useEffect, useId, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../api/hooks.ts'
import { SESSION_PATH } from '../../api/session.ts'
import { Problem } from '../../ui/messages.tsx'
import { toCountText } from '../../ui/numbers.ts'
import { Panel } from '../../ui/page.tsx'
import { toSpanText } from '../../ui/time.tsx'

const CLOCK = '/sandbox/clock'
const WEEK_MS = 7 * 86_400_000
const FIRST_DELAY_MS = 5_000
const STEPS_PER_DECADE = 4
const DECADES = 5
/** Waits until the slider rests: the values that it passes are not meant. */
const SETTLED_MS = 250

export function Clock({ canAct }: { canAct: boolean }) {
  const refresh = useRefresh()
  const id = useId()
  const { data, error } = useRead<{ timeScale: number }>(CLOCK)
  const [step, setStep] = useState<number | null>(null)
  const change = useAction((timeScale: number) => api.put(CLOCK, { timeScale }), {
    onDone: () => refresh(CLOCK, SESSION_PATH),
  })
  const { mutate } = change
  useEffect(() => {
    if (step === null) return
    const timer = setTimeout(() => mutate(toScale(step)), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [step, mutate])
  const timeScale = step === null ? (data?.timeScale ?? 1) : toScale(step)
  const problem = error ?? change.error
  return (
    <Panel title="Clock">
      <div className="field">
        <label htmlFor={id}>Time runs</label>
        <input
          id={id}
          type="range"
          min={0}
          max={DECADES * STEPS_PER_DECADE}
          disabled={!canAct || data === undefined}
          value={step ?? toStep(timeScale)}
          aria-valuetext={`${toCountText(timeScale)} times as fast`}
          onChange={(event) => setStep(Number(event.target.value))}
        />
        <output htmlFor={id}>
          <strong>{toCountText(timeScale)} ×</strong>: 7 days pass in{' '}
          {toSpanText(WEEK_MS / timeScale)}, the first retry comes after{' '}
          {toSpanText(FIRST_DELAY_MS / timeScale)}
        </output>
        <span className="field-hint">
          For payments that you make from now on; what is under way keeps its deadline. A restart
          goes back to <code>PAYBELL_TIME_SCALE</code>.
        </span>
      </div>
      {problem ? <Problem problem={problem} /> : null}
    </Panel>
  )
}

function toScale(step: number): number {
  return Math.round(10 ** (step / STEPS_PER_DECADE))
}

function toStep(timeScale: number): number {
  return Math.round(Math.log10(timeScale) * STEPS_PER_DECADE)
}
