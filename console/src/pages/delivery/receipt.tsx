// The signed receipt of a delivered event: shown, and saved as it is. Made by the service when it is asked for.

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useAction } from '../../api/hooks.ts'
import type { DeliveryDetail } from '../../api/types.ts'
import { Button } from '../../ui/basics/button.tsx'
import { Code } from '../../ui/basics/copy.tsx'
import { Facts } from '../../ui/basics/page.tsx'
import { useToast } from '../../ui/basics/toast.tsx'
import { Dialog } from '../../ui/forms/dialog.tsx'
import { save } from './use-download.ts'

export function ReceiptButton({ delivery, path }: { delivery: DeliveryDetail; path: string }) {
  const toast = useToast()
  const [receipt, setReceipt] = useState<string | null>(null)
  const read = useAction<void, string>(() => api.text(`${path}/receipt`), {
    onDone: setReceipt,
    onError: (problem) => toast(problem.message, 'bad'),
  })
  // It names the bytes that were sent: without them there is none, and the request says so.
  if (delivery.state !== 'DELIVERED' || delivery.request.body === null) return null
  return (
    <>
      <Button disabled={read.isPending} onClick={() => read.mutate()}>
        Receipt
      </Button>
      {receipt === null ? null : (
        <Dialog title="Signed receipt" isWide onClose={() => setReceipt(null)}>
          <Facts of={claimsOf(receipt)} />
          <Code text={receipt} label="Copy the receipt" />
          <p className="muted">
            Anyone can check it with the keys at <code>/.well-known/webhook-keys.json</code>, or
            with <code>paybell receipt verify</code>.
          </p>
          <div className="dialog-actions">
            <Button onClick={() => setReceipt(null)}>Close</Button>
            <Button
              look="primary"
              onClick={() =>
                save(new Blob([receipt], { type: 'application/jose' }), `${delivery.id}.jws`)
              }
            >
              Download
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}

/** What it says; the signature is for those who do not trust this page. */
function claimsOf(jws: string): readonly (readonly [string, string])[] {
  const body = (jws.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
  const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
  const claims = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
  return Object.entries(claims).map(([name, value]) => [name, String(value)] as const)
}
