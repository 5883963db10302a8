// `paybell open [TEXT]`: the console in the browser, at whatever the text finds.

import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import type { SearchHit } from '../../sdk/src/wire/types.ts'
import { type Call, calling, readerCommand } from '../basics/command.ts'
import { UsageError } from '../basics/run.ts'

const PAGES: Readonly<Partial<Record<string, string>>> = {
  delivery: 'deliveries',
  payment: 'payments',
  endpoint: 'endpoints',
  client: 'clients',
}

export function openCommand(): Command {
  return readerCommand('open', 'Open the console in your browser, at what an id or a name finds.', [
    'paybell open',
    'paybell open INV-2026-0042',
  ])
    .argument('[text]', 'an id, an external id, a name or an address')
    .option('--print', 'print the address instead')
    .action(
      calling(async (call: Call<{ print?: boolean }>, text: string | undefined) => {
        const { api, isOperator } = await call.target.reader()
        const path = text === undefined ? '' : await findPage(api, isOperator, text)
        const url = `${api.url}/console/${path}`
        if (call.isJson) call.print(JSON.stringify({ url }))
        else call.print(url)
        if (!call.options.print && !call.isJson) openInBrowser(call, url)
      }),
    )
}

async function findPage(
  api: Awaited<ReturnType<Call['operator']>>,
  isOperator: boolean,
  q: string,
): Promise<string> {
  const answer = await api.get(isOperator ? '/operator/v1/search' : '/v1/search', { q })
  const [hit] = answer.json<{ items: SearchHit[] }>().items
  const page = hit && PAGES[hit.kind]
  if (hit === undefined || page === undefined) {
    throw new UsageError(`nothing was found for ${q}. See what there is: paybell find TEXT`)
  }
  return `${page}/${hit.id}`
}

/** Where there is no browser, the printed address is the answer. */
export function openInBrowser(call: Call, url: string): void {
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open']
  const child = spawn(program as string, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => call.note('No browser could be started here: open it yourself.'))
  child.unref()
}
