// The statements of a cell's entry in the directory.

import { NIL_UUID } from '../../server/core/plain/uuid.ts'
import { readCellResidents, readStampedSince } from '../../server/store/moves/cell-residents.ts'
import type { Recorder } from './recorder.ts'

export async function callCells(recorder: Recorder): Promise<void> {
  const { pool } = recorder
  const query = { digits: '000', above: NIL_UUID, max: 10_000 }
  await recorder.record('', () => readStampedSince(pool))
  await recorder.record('', () => readCellResidents(pool, query))
}
