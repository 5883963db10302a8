// `paybell cells …`: the cells of a database. And `paybell clients move`, which works on two of them. What they run is
// loaded when it is asked for.

import type { Command } from 'commander'
import { CELL_MAX } from '../../server/core/network/cell.ts'
import { family, JSON_HELP, plainCommand } from '../basics/command.ts'
import { id, integer } from '../basics/parse.ts'
import { runCommand } from '../basics/run.ts'

const cellNumber = integer(0, CELL_MAX)

export function cellsCommand(): Command {
  return family('cells', 'The cells of the database of DATABASE_URL.', [create(), list(), move()])
}

function create(): Command {
  return plainCommand(
    'create',
    'Create a cell: its schema, and where Citus is, its place on a node.',
    ['DATABASE_URL=postgres://… paybell cells create 7'],
  )
    .argument('<number>', `0 to ${CELL_MAX}`, cellNumber)
    .option(
      '--keys-from <cell>',
      'copy the keys that sign tokens, so that tokens of that cell are valid here',
      cellNumber,
    )
    .option(
      '--keys-database-file <path>',
      "file with the address of that cell's database, if another",
    )
    .option('--json', JSON_HELP)
    .action((cell: number, _options: unknown, command: Command) =>
      runCommand(async () =>
        (await import('../service/cells.ts')).createCell(cell, command.optsWithGlobals()),
      ),
    )
}

function list(): Command {
  return plainCommand(
    'list',
    'List the cells: size, due and scheduled deliveries, and the node of each.',
    ['DATABASE_URL=postgres://… paybell cells list'],
  )
    .option('--json', JSON_HELP)
    .action((_options: unknown, command: Command) =>
      runCommand(async () =>
        (await import('../service/cells.ts')).listCells(command.optsWithGlobals()),
      ),
    )
}

function move(): Command {
  return plainCommand('move', 'Move a cell to another node of a Citus cluster, while it runs.', [
    'DATABASE_URL=postgres://… paybell cells move 7 --to worker2:5432',
  ])
    .argument('<number>', `0 to ${CELL_MAX}`, cellNumber)
    .requiredOption('--to <node>', 'the node that it moves to, as cells list shows it: host:port')
    .option('--json', JSON_HELP)
    .action((cell: number, _options: unknown, command: Command) =>
      runCommand(async () =>
        (await import('../service/cells.ts')).moveCellCommand(cell, command.optsWithGlobals()),
      ),
    )
}

export function moveClientCommand(): Command {
  return plainCommand(
    'move',
    'Move a client to another cell, while both run; run it again if it was interrupted.',
    [
      'PAYBELL_CELL=0 paybell clients move 01a1dd3c-57d6-7001-9000-60de241483ec --to 7 --address https://cell7.example.com',
    ],
  )
    .argument('<client>', 'id of the client', id)
    .requiredOption('--to <cell>', 'the cell that it moves to', cellNumber)
    .requiredOption('--address <url>', 'public address of that cell, for its callers')
    .option(
      '--to-database-file <path>',
      "file with the address of that cell's database, if another",
    )
    .option('--undo', 'give up a move that is not complete: the client stays')
    .option('--json', JSON_HELP)
    .action((clientId: string, _options: unknown, command: Command) =>
      runCommand(async () =>
        (await import('../service/cells.ts')).moveClientCommand(
          clientId,
          command.optsWithGlobals(),
        ),
      ),
    )
}
