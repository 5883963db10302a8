// What the last attempt of a delivery sent and what came back, and the same request as a curl command.

import type { DeliveryDetail } from '../../sdk/src/wire/types.ts'
import type { Api } from '../basics/api.ts'
import type { Call } from '../basics/command.ts'
import { UsageError } from '../basics/run.ts'
import { cellText, safe } from '../basics/terminal.ts'

/** A longer body does not fit on a command line: then it is read from a file. */
const INLINE_CHARACTERS_MAX = 16_384

export function showRequest(call: Call, { request, attemptLog }: DeliveryDetail): void {
  if (request.headers.length > 0) {
    call.print(`\n${call.paint.bold(`Sent with attempt ${request.attempt}`)}`)
    call.fields(request.headers.map(({ name, value }) => [name, value] as const))
  }
  const excerpt = attemptLog.at(-1)?.excerpt
  if (excerpt) call.print(`\n${call.paint.bold('Answered')}\n${lines(excerpt)}`)
}

/** Foreign text: line by line, without what could move the cursor. */
function lines(text: string): string {
  return text.split(/\r?\n/).map(safe).join('\n')
}

/** Signed as it was: a receiver that checks the age of signatures takes it for a few minutes. */
export async function showSignedCurl(
  call: Call,
  api: Api,
  delivery: DeliveryDetail,
): Promise<void> {
  const { request } = delivery
  if (request.headers.length === 0) {
    throw new UsageError('nothing was sent yet, or what was sent is no longer stored.')
  }
  const body = (await api.get(request.bodyUrl)).text
  const isInline = body.length <= INLINE_CHARACTERS_MAX
  const parts = [
    `curl -i -X ${request.method} ${quote(request.url)}`,
    ...request.headers.map(({ name, value }) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-binary ${isInline ? quote(body) : '@body.json'}`,
  ]
  if (call.isJson) call.print(JSON.stringify({ curl: parts.join(' ') }))
  else call.print(parts.join(' \\\n  '))
  if (!isInline)
    call.note(`The body is long. Save the bytes of ${cellText(request.bodyUrl)} as body.json.`)
  if (request.headers.some(({ value }) => value === '•••')) {
    call.note('A header of the endpoint’s own is shown as •••: put its value in.')
  }
  call.note(
    'A receiver may refuse it when the signature is older than 5 minutes: paybell signature makes a new one.',
  )
}

/** For a shell, whatever it holds. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
