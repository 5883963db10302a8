// Amounts as the console writes them, without a browser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toAmountText, toReadableAmount } from '../../console/src/ui/lists/numbers.ts'

test('an amount has separators and the digits of its currency, and loses none that was written', () => {
  for (const [amount, currency, text] of [
    ['11129.57', 'USD', '11,129.57 USD'],
    ['2400', 'JPY', '2,400 JPY'],
    ['2400.5', 'JPY', '2,400.5 JPY'],
    ['1250', 'EUR', '1,250.00 EUR'],
    ['1250.123456', 'EUR', '1,250.123456 EUR'],
    ['9007199254740993.10', 'EUR', '9,007,199,254,740,993.10 EUR'],
    ['-999', 'KWD', '-999.000 KWD'],
    ['1e2', 'EUR', '1e2 EUR'],
    ['5', 'no', '5 no'],
  ] as const) {
    assert.equal(toReadableAmount({ amount, currency } as never), text)
    assert.equal(toAmountText({ amount, currency } as never), `${amount} ${currency}`)
  }
})
