// What users copy from a delivery: the request as a command, and its address.

import { useState } from 'react'
import { useSession } from '../../api/session.ts'
import type { DeliveryDetail } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Code, copyText } from '../../ui/basics/copy.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { toCurl } from './curl.ts'

export function CopyCurl({ delivery }: { delivery: DeliveryDetail }) {
  const { kind } = useSession()
  const toast = useToast()
  const [shown, setShown] = useState<string | null>(null)
  const { request, eventId } = delivery
  const origin = window.location.origin
  const hasFile = request.body !== null && request.bodyBytes !== byteLength(request.body)
  const command = toCurl({
    url: delivery.endpointUrl,
    headers:
      request.headers.length > 0
        ? request.headers
        : [
            { name: 'Content-Type', value: 'application/json' },
            { name: 'webhook-id', value: eventId },
            { name: 'X-Paybell-Event', value: delivery.event },
            { name: 'X-Paybell-Sequence', value: String(delivery.sequence) },
          ],
    body: hasFile ? null : request.body,
    bodyUrl: origin + request.bodyUrl,
    credential: kind === 'operator' ? 'OPERATOR_KEY' : 'TOKEN',
  })
  const copy = async () => {
    if (await copyText(command)) toast('Copied the request as a curl command.')
    else setShown(command)
  }
  return (
    <>
      <Button onClick={() => void copy()}>Copy as curl</Button>
      {shown === null ? null : (
        <Dialog title="The request as a command" onClose={() => setShown(null)}>
          <Code text={shown} />
          <div className="dialog-actions">
            <Button onClick={() => setShown(null)}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  )
}

export function CopyLink({ href }: { href: string }) {
  const toast = useToast()
  const copy = async () => {
    if (await copyText(href)) toast('Copied the address of this delivery.')
    else toast('Copy the address from the browser’s address bar.', 'info')
  }
  return <Button onClick={() => void copy()}>Copy link</Button>
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
