// `paybell find TEXT`: any id or name, and what it belongs to.

import type { Command } from 'commander'
import type { OperatorSearchHit } from '../../sdk/src/internal/operator-types.ts'
import type { SearchHit } from '../../sdk/src/wire/types.ts'
import { type Call, calling, readerCommand } from '../basics/command.ts'

export function findCommand(): Command {
  return readerCommand('find', 'Find anything by an id, an external id, a name or an address.', [
    'paybell find INV-2026-0042',
    'paybell find northwind',
    'paybell find 7c0d0a5e-54c8-4b56-9f0e-2a4f5d1c9b11',
  ])
    .argument('<text>', 'what you know of it')
    .action(
      calling(async (call: Call, q: string) => {
        const { api, isOperator } = await call.target.reader()
        const answer = await api.get(isOperator ? '/operator/v1/search' : '/v1/search', { q })
        call.answer<{ items: (SearchHit | OperatorSearchHit)[] }>(answer, ({ items }) => {
          call.table(
            [
              { title: 'WHAT', of: ({ kind }) => kind },
              { title: 'ID', of: (hit) => hit.id },
              { title: 'STATE', of: ({ state }) => state, isState: true },
              { title: 'CLIENT', of: (hit) => ('clientName' in hit ? hit.clientName : null) },
              { title: 'NAME', of: ({ name }) => name },
            ],
            items,
            'Nothing was found. External ids have to be whole; of names and addresses, the beginnings of words suffice.',
          )
        })
      }),
    )
}
