// Files out of the API: a link could not carry the header that the session's cookie needs.

import { api, send } from '../../api/client.ts'
import { useAction } from '../../api/hooks.ts'
import { useToast } from '../../ui/basics/toast.tsx'
import { type DocumentFacts, fileOf } from './body.ts'

export function useDownload() {
  const toast = useToast()
  const fetching = useAction<() => Promise<void>, void>((act) => act(), {
    onError: (problem) => toast(problem.message, 'bad'),
  })
  return {
    isBusy: fetching.isPending,
    /** The exact bytes: what the signature is over. */
    body: (url: string) =>
      fetching.mutate(async () => {
        const name = `${url.replace(/\/body$/, '').replace(/.*\//, '')}.json`
        const { bytes } = await send('GET', url)
        save(new Blob([bytes], { type: 'application/json' }), name)
      }),
    file: (url: string, { name }: DocumentFacts) =>
      fetching.mutate(async () => {
        const whole = await api.text(url)
        // Never opened with its own content type: a page on the console's origin could act in its name.
        save(new Blob([fileOf(whole)], { type: 'application/octet-stream' }), name)
      }),
  }
}

export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken it once the click is handled; the delay is to be safe.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
