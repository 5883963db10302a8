import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startFakeCell } from '../../test/support/fake-cells.ts'
import { routeConfig, startRoute } from '../../test/support/routes.ts'

const t = { after }
/** Made in cell 0. */
const MOVED = '019a8f6e-1c2d-7a3b-9000-5e6f70819204'

const clients: Record<number, string[]> = { 0: [], 7: [] }
const startCell = (cell: number) =>
  startFakeCell(t, () => {
    const content = (clients[cell] ?? []).map((clientId) => ({ clientId, createdAt: '2026-11-16' }))
    return { status: 200, body: { content, totalElements: content.length } }
  })
const [first, seventh] = [await startCell(0), await startCell(7)]
const config = routeConfig({ 0: first.baseUrl, 7: seventh.baseUrl }, 'x'.repeat(43))
const route = await startRoute(t, config)

async function cellsThatList(): Promise<number[]> {
  const answer = await fetch(`${route.baseUrl}/operator/v1/clients`)
  const body = (await answer.json()) as { content: { cell: number }[]; totalElements: number }
  assert.equal(body.totalElements, body.content.length)
  return body.content.map(({ cell }) => cell)
}

test('regression: a client is listed before, while and after it moves, whatever the directory knows', async () => {
  clients[0] = [MOVED]
  assert.deepEqual(await cellsThatList(), [0])
  clients[7] = [MOVED]
  assert.deepEqual(await cellsThatList(), [0], 'once')
  clients[0] = []
  assert.deepEqual(await cellsThatList(), [7], 'no entry says so yet')
})

test('regression: a page over more cells than it has room for is as long as was asked for, and none is left out', async () => {
  const listed = new Map([0, 3, 7].map((cell) => [cell, [1, 2].map((n) => `${cell}-${n}`)]))
  const cells = await Promise.all(
    [...listed].map(async ([cell, ids]) => {
      const { baseUrl } = await startFakeCell(t, ({ path }) => {
        const query = new URL(path, 'http://cell').searchParams
        const from = Number(query.get('after') ?? 0)
        const items = ids.slice(from, from + Number(query.get('limit'))).map((id) => ({ id }))
        const at = from + items.length
        return { status: 200, body: { items, next: at < ids.length ? String(at) : null } }
      })
      return [cell, baseUrl] as const
    }),
  )
  const over = await startRoute(t, routeConfig(Object.fromEntries(cells), 'x'.repeat(43)))
  for (const limit of [1, 2, 3, 4, 50]) {
    const seen: string[] = []
    let after = ''
    for (let pages = 0; pages < 10; pages++) {
      const answer = await fetch(`${over.baseUrl}/operator/v1/payments?limit=${limit}${after}`)
      const body = (await answer.json()) as { items: { id: string }[]; next: string | null }
      assert.ok(body.items.length <= limit, `limit=${limit} gave ${body.items.length}`)
      seen.push(...body.items.map(({ id }) => id))
      if (body.next === null) break
      after = `&after=${encodeURIComponent(body.next)}`
    }
    assert.deepEqual(seen.toSorted(), [...listed.values()].flat().toSorted(), `limit=${limit}`)
  }
})
