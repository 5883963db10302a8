import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import { cloneDatabase } from '../../../test/support/database.ts'
import { storeClient } from '../../../test/support/stored-deliveries.ts'
import { inTransaction } from '../connection/db.ts'
import { copyClient } from './move-rows.ts'

test('regression: a copy that was broken off for a lock can be made again in the same snapshot', async () => {
  const { pool } = await cloneDatabase()
  const { clientKey } = await storeClient(pool)
  const target = {
    async query(text: string) {
      if (text.startsWith('insert into clients')) return { rows: [{ client_key: 1 }] }
      if (!text.startsWith('insert into accounts')) return { rows: [] }
      throw Object.assign(new Error('not now'), { code: '55P03' })
    },
  }
  await inTransaction(pool, async (source) => {
    const copy = () => copyClient(source as pg.Client, target as unknown as pg.Client, clientKey)
    await assert.rejects(copy, /not now/)
    await assert.rejects(copy, /not now/)
  })
})
