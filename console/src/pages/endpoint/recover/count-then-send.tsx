// Sends something to an endpoint again that was made since an instant: first shows how many, then sends them when
// that is confirmed. What is confirmed is what was counted: the period ends when the count is asked for, and a change of
// the form takes the count away.

import { type FormEvent, type ReactNode, useState } from 'react'
import { useAction, useRefresh } from '../../../api/hooks.ts'
import { Button } from '../../../ui/basics/button.tsx'
import { Problem } from '../../../ui/basics/messages.tsx'
import { Panel } from '../../../ui/basics/page.tsx'
import { useToast } from '../../../ui/basics/toast.tsx'
import { Confirm } from '../../../ui/forms/dialog.tsx'
import { Field } from '../../../ui/forms/field.tsx'
import { toCountText } from '../../../ui/lists/numbers.ts'
import { endOfAsking, toInputValue, toInstant } from '../../../ui/times/instant.ts'

const DAY_MS = 86_400_000

export interface Period {
  since: string
  /** Left out where `since` is in the future. */
  until?: string
}

export interface CountThenSendProps<T> {
  title: string
  /** What it does, in a sentence. */
  about: string
  since: { name: string; label: string; daysAgo: number }
  /** More fields of the form, beside the instant. */
  controls?: ReactNode
  read(period: Period, form: FormData): T
  count(wanted: T): Promise<number>
  send(wanted: T): Promise<number>
  texts: {
    /** The button, and what the question is answered with: "Send 3 again". */
    action(count: string): string
    question(count: string): string
    found(count: string): string
    none: string
    sent(count: string): string
  }
  /** What is about to be sent, in the question. */
  explain(wanted: T): ReactNode
}

export function CountThenSend<T>(props: CountThenSendProps<T>) {
  const { title, about, since, controls, read, count, send, texts, explain } = props
  const refresh = useRefresh()
  const toast = useToast()
  const [found, setFound] = useState<{ wanted: T; count: number } | null>(null)
  const [isOpen, setOpen] = useState(false)
  const preview = useAction(count, {
    onDone: (counted, wanted) => setFound({ wanted, count: counted }),
  })
  const act = useAction(send, {
    onDone: (sent) => {
      setOpen(false)
      setFound(null)
      refresh('/operator/v1/', '/v1/deliveries', '/v1/webhooks')
      toast(texts.sent(toCountText(sent)))
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const from = toInstant(String(form.get(since.name)))
    const until = endOfAsking(from, Date.now())
    preview.mutate(read({ since: from, ...(until === undefined ? {} : { until }) }, form))
  }
  const countText = toCountText(found?.count ?? 0)
  const problem = act.error ?? preview.error
  return (
    <Panel title={title}>
      <p className="muted">{about}</p>
      <form className="filters is-roomy" onSubmit={submit} onChange={() => setFound(null)}>
        <Field
          name={since.name}
          label={since.label}
          type="datetime-local"
          required
          defaultValue={toInputValue(new Date(Date.now() - since.daysAgo * DAY_MS).toISOString())}
        />
        {controls}
        <div className="row">
          <Button type="submit" disabled={preview.isPending}>
            Preview
          </Button>
          {found && found.count > 0 ? (
            <Button look="primary" onClick={() => setOpen(true)}>
              {texts.action(countText)}
            </Button>
          ) : null}
        </div>
      </form>
      <p role="status" className={found ? undefined : 'visually-hidden'}>
        {found ? (found.count === 0 ? texts.none : texts.found(countText)) : ''}
      </p>
      {problem ? <Problem problem={problem} /> : null}
      {isOpen && found ? (
        <Confirm
          title={texts.question(countText)}
          action={texts.action(countText)}
          isBusy={act.isPending}
          onConfirm={() => act.mutate(found.wanted)}
          onClose={() => setOpen(false)}
        >
          {explain(found.wanted)}
        </Confirm>
      ) : null}
    </Panel>
  )
}
