// What was sent, to its client: the exact body of the event, fetched when it is asked for, because a
// document may make it 14 MB.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type ApiProblem, api } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { JsonTree } from '../../ui/json-tree.tsx'
import { Loading, Problem } from '../../ui/messages.tsx'
import { toBytesText } from '../../ui/numbers.ts'
import { Panel } from '../../ui/page.tsx'
import { splitBody } from './body.ts'
import { DocumentFile } from './document-file.tsx'
import { useDownload } from './use-download.ts'

export function ClientBody({ eventId }: { eventId: string }) {
  const [isAsked, setAsked] = useState(false)
  const url = `/v1/events/${eventId}`
  const body = useQuery<string, ApiProblem>({
    queryKey: [url, 'bytes'],
    queryFn: ({ signal }) => api.text(url, { signal }),
    enabled: isAsked,
    // An event never changes.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const download = useDownload()
  const parts = body.data === undefined ? null : splitBody(body.data)
  const document = parts?.document ?? null
  return (
    <Panel
      title="Request body"
      aside={
        <>
          {body.data === undefined ? null : (
            <span className="muted">{toBytesText(new TextEncoder().encode(body.data).length)}</span>
          )}
          <Button isSmall onClick={() => download.body(url)} disabled={download.isBusy}>
            Download the exact body
          </Button>
        </>
      }
    >
      <p className="muted">
        The same bytes on every attempt and replay, and what the signature is over. The headers of
        your callbacks also carry <code>webhook-id: {eventId}</code>.
      </p>
      {body.error ? <Problem problem={body.error} /> : null}
      {isAsked ? null : (
        <div>
          <Button onClick={() => setAsked(true)}>Show the body</Button>
        </div>
      )}
      {isAsked && body.isPending ? <Loading /> : null}
      {parts === null ? null : (
        <div className="sent">
          <JsonTree text={parts.text} />
          {document ? (
            <DocumentFile document={document} onDownload={() => download.file(url, document)} />
          ) : null}
        </div>
      )}
    </Panel>
  )
}
