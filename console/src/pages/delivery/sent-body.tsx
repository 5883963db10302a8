// What was sent: the headers of the last attempt with their signatures, the body as a tree, the file of a
// document as a file.

import type { SentRequest } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Copy } from '../../ui/basics/copy.tsx'
import { JsonTree } from '../../ui/basics/json-tree.tsx'
import { Notice } from '../../ui/basics/messages.tsx'
import { Panel } from '../../ui/basics/page.tsx'
import { toBytesText } from '../../ui/lists/numbers.ts'
import { Table } from '../../ui/lists/table.tsx'
import { documentOf } from './body.ts'
import { DocumentFile } from './document-file.tsx'
import { useDownload } from './use-download.ts'

export function SentBody({ request }: { request: SentRequest }) {
  const { method, url, attempt, headers, body, bodyBytes, bodyUrl } = request
  const document = body === null || bodyBytes === null ? null : documentOf(body, bodyBytes)
  const download = useDownload()
  return (
    <Panel
      title="Request"
      aside={
        bodyBytes === null ? null : (
          <>
            <span className="muted">{toBytesText(bodyBytes)}</span>
            <Button isSmall onClick={() => download.body(bodyUrl)} disabled={download.isBusy}>
              Download the exact body
            </Button>
          </>
        )
      }
    >
      <p className="break">
        <code>
          {method} {url}
        </code>{' '}
        <span className="muted">
          {attempt === null ? 'not sent' : `as sent with attempt ${attempt}`}
        </span>
      </p>
      {body === null ? (
        <Notice title="The body is no longer stored">
          A body is kept for a limited time, and only until its payment is erased; the delivery and
          its attempts are kept longer. Without the body there is no signed receipt.
        </Notice>
      ) : (
        <div className="sent">
          <JsonTree text={body} />
          {document ? (
            <DocumentFile document={document} onDownload={() => download.file(bodyUrl, document)} />
          ) : null}
        </div>
      )}
      {headers.length === 0 ? null : (
        <div className="headers">
          <Table
            label="Headers"
            rows={headers}
            keyOf={({ name }) => name}
            columns={[
              { head: 'Header', cell: ({ name }) => <code className="nowrap">{name}</code> },
              {
                head: 'Value',
                cell: ({ name, value }) => (
                  <>
                    <code className="break">{value}</code>{' '}
                    <Copy text={value} label={`Copy ${name}`} />
                  </>
                ),
              },
            ]}
          />
        </div>
      )}
    </Panel>
  )
}
