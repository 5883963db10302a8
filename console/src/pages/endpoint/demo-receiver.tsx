// In the sandbox, an endpoint that leads to the receiver inside: it can be broken and mended, to see
// what Paybell makes of it.

import { api } from '../../api/client.ts'
import { useAction, useRead, useRefresh } from '../../api/hooks.ts'
import type { SandboxReceiver } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Problem } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { toCountText } from '../../ui/lists/numbers.ts'

/** Null when the address is not of a receiver of this very sandbox. */
export function demoReceiverName(url: string): string | null {
  if (!URL.canParse(url)) return null
  const { port, pathname } = new URL(url)
  if (port !== window.location.port) return null
  return /^\/sandbox\/receiver\/([\w-]{1,64})$/.exec(pathname)?.[1] ?? null
}

export function receiverPath(name: string): string {
  return `/sandbox/receiver/${name}`
}

export function DemoReceiver({ name, canAct }: { name: string; canAct: boolean }) {
  const refresh = useRefresh()
  const path = receiverPath(name)
  const { data, error } = useRead<SandboxReceiver>(path, { everyMs: 3_000 })
  const write = useAction((script: readonly number[]) => api.put(path, { script }), {
    onDone: () => refresh(path),
  })
  const isBroken = data !== undefined && data.script.at(-1) !== 200
  const problem = error ?? write.error
  return (
    <Panel
      title="Demo receiver of the sandbox"
      aside={
        canAct && data ? (
          isBroken ? (
            <Button look="primary" disabled={write.isPending} onClick={() => write.mutate([200])}>
              Fix
            </Button>
          ) : (
            <Button look="danger" disabled={write.isPending} onClick={() => write.mutate([500])}>
              Break
            </Button>
          )
        ) : null
      }
    >
      {problem ? <Problem problem={problem} /> : null}
      {data ? (
        <p role="status">
          It answers <strong className="num">{data.script.join(', ')}</strong>
          {data.script.length > 1 ? ' in turn, the last one from then on' : ''}
          {data.delayMs > 0 ? `, each after ${data.delayMs} ms` : ''}.{' '}
          <span className="muted">{toCountText(data.count)} requests received.</span>
        </p>
      ) : null}
    </Panel>
  )
}
