// The console before several cells, at the address of `paybell route`: a switch, an overview of all, and with one cell
// nothing of it.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { addClient, until } from '../support/paybell.ts'
import { routeConfig, startRoute, startTwoCells } from '../support/two-cells.ts'
import { openSite } from './support.ts'

const cells = await startTwoCells({ after })
const { first, seventh, operatorKey } = cells
const addresses = { 0: first.baseUrl, 7: seventh.baseUrl }
const route = await startRoute({ after }, routeConfig(addresses, operatorKey))
await addClient(first, 'Client of zero')
await addClient(seventh, 'Client of seven')

const several = await openSite({ after }, {}, { ...first, baseUrl: route.baseUrl })
const one = await openSite({ after }, {}, first)

several.test('an operator sees all cells, and chooses one', { as: 'operator' }, async (visit) => {
  const { page, go } = visit
  await go('/')
  const table = page.getByRole('table', { name: 'Cells' })
  await table.getByRole('row').nth(2).waitFor()
  await table.getByText('up').nth(1).waitFor()
  await visit.checkAccessibility()

  // All clients, of both cells, and then those of one.
  await go('/clients')
  await page.getByText('Client of zero').waitFor()
  await page.getByText('Client of seven').waitFor()
  await page.getByLabel('Cell').selectOption('7')
  await page.getByText('Client of zero').waitFor({ state: 'detached' })
  await page.getByText('Client of seven').waitFor()

  // The choice stays, and its overview is that of the cell.
  await go('/')
  await page.getByRole('list', { name: 'Now' }).waitFor()
  assert.equal(await page.getByLabel('Cell').inputValue(), '7')
})

several.test(
  'regression: nothing of one cell is asked for before they are known',
  {
    as: 'operator',
  },
  async ({ page }) => {
    const asked: string[] = []
    let lastAt = 0
    page.on('request', (request) => {
      asked.push(new URL(request.url()).pathname)
      lastAt = performance.now()
    })
    const held = Promise.withResolvers<void>()
    await page.route('**/operator/v1/cells', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.goto('/console/')
    await until('it waits for the cells', () => {
      return asked.includes('/operator/v1/cells') && performance.now() - lastAt > 500
    })
    const ofOneCell = asked.filter((path) => /\/(stats|stream)$/.test(path))
    assert.deepEqual(ofOneCell, [])
    held.resolve()
    await page.getByRole('table', { name: 'Cells' }).getByRole('row').nth(2).waitFor()
  },
)

one.test('with one cell there is neither switch nor table', { as: 'operator' }, async (visit) => {
  const { page, go } = visit
  await go('/')
  await page.getByRole('list', { name: 'Now' }).waitFor()
  assert.equal(await page.getByLabel('Cell', { exact: true }).count(), 0)
})
