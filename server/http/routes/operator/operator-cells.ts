// GET /operator/v1/cells: the directory of cells. A cell answers with its own entry; `paybell route` answers the same
// call with the entries of all.

import { CellViewer } from '../../../operations/clients/view-cell.ts'
import type { Deps } from '../../../operations/shared/deps.ts'
import { TextOrNull } from '../../basics/scalars.ts'
import { Type } from '../../basics/type.ts'
import type { Routes } from '../../basics/typed.ts'
import { answer, forOperators } from '../../schemas/calls.ts'

export const CellSchema = Type.Object(
  {
    cell: Type.Integer({ description: '0 to 1023.' }),
    address: Type.String({ format: 'uri', description: 'Where this cell itself is reached.' }),
    isAway: Type.Boolean({ description: 'It has not answered `paybell route` recently.' }),
    entry: TextOrNull(
      'Compact JWS (EdDSA, `paybell-cell+jws`) under a key of `/.well-known/webhook-keys.json`: which clients and accounts the cell has although their ids name another. Null while a cell that is away has given none.',
    ),
  },
  {
    examples: [
      {
        cell: 7,
        address: 'https://cell7.example.com',
        isAway: false,
        entry: 'eyJhbGciOiJFZERTQSIs…',
      },
    ],
  },
)

export function operatorCellRoutes(deps: Deps & { baseUrl(): string }): Routes {
  const viewer = new CellViewer(deps, () => deps.baseUrl())
  return (app) => {
    app.route({
      method: 'GET',
      url: '/cells',
      ...forOperators('viewer', {
        operationId: 'listCells',
        summary: 'See which cells there are, and who lives where',
        description:
          'A cell answers with itself. `paybell route` answers with all that it knows, and says which of them are away.',
        answers: {
          200: answer(
            'The cells, each with its signed entry of the directory.',
            Type.Object({ items: Type.Array(CellSchema) }),
          ),
        },
      }),
      handler: async () => ({ items: [{ ...(await viewer.view()), isAway: false }] }),
    })
  }
}
