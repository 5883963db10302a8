// What the demo receiver answers. A script starts from its beginning when it is written.

import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction, useRefresh } from '../../api/hooks.ts'
import type { SandboxReceiver } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Problem } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { Field } from '../../ui/forms/field.tsx'
import { receiverPath } from '../endpoint/demo-receiver.tsx'

interface Script {
  script: readonly number[]
  delayMs?: number
  redirectTo?: string
}

const PRESETS: readonly (readonly [name: string, about: string, script: Script])[] = [
  ['200', 'accepts', { script: [200] }],
  ['500, 500, 200', 'fails twice, then accepts', { script: [500, 500, 200] }],
  ['204', 'is not 200, so it is retried', { script: [204] }],
  ['Slow', '200 after 4 seconds', { script: [200], delayMs: 4_000 }],
  ['Redirect', '302, which is never followed', { script: [302], redirectTo: '/elsewhere' }],
  ['500', 'always fails', { script: [500] }],
]

export function ReceiverScript({
  name,
  view,
}: {
  name: string
  view: SandboxReceiver | undefined
}) {
  const refresh = useRefresh()
  const [own, setOwn] = useState('')
  const [ownError, setOwnError] = useState<string | undefined>()
  const path = receiverPath(name)
  const write = useAction((script: Script) => api.put(path, script), {
    onDone: () => refresh(path),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const script = own
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number)
    const isFit = script.every((status) => status >= 200 && status <= 599 && status % 1 === 0)
    if (script.length === 0 || !isFit) {
      setOwnError('Statuses from 200 to 599, such as 503, 503, 200')
      return
    }
    setOwnError(undefined)
    write.mutate({ script })
  }
  return (
    <Panel title="Receiver" aside={<code className="muted">{path}</code>}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset brings a frame and a legend with it */}
      <div className="presets" role="group" aria-label="What the receiver answers">
        {PRESETS.map(([label, about, script]) => (
          <button
            key={label}
            type="button"
            className="preset"
            aria-pressed={view !== undefined && isSame(view, script)}
            disabled={write.isPending}
            onClick={() => write.mutate(script)}
          >
            <strong>{label}</strong>
            <span>{about}</span>
          </button>
        ))}
      </div>
      <form className="row" onSubmit={submit}>
        <Field
          label="Or your own statuses, in order"
          placeholder="503, 503, 204, 200"
          value={own}
          error={ownError}
          onChange={(event) => setOwn(event.target.value)}
        />
        <Button type="submit" disabled={write.isPending} className="at-end">
          Use them
        </Button>
      </form>
      {write.error ? <Problem problem={write.error} /> : null}
    </Panel>
  )
}

function isSame(view: SandboxReceiver, { script, delayMs = 0, redirectTo }: Script): boolean {
  return (
    view.script.join() === script.join() &&
    view.delayMs === delayMs &&
    (view.redirectTo ?? undefined) === redirectTo
  )
}
