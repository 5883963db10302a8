// The settings that `paybell route` has besides those that it shares with the service. docs/scaling.md shows them.

import type { Setting } from '../core/plain/setting.ts'

export const ROUTE_SETTINGS = [
  {
    name: 'PAYBELL_ROUTE_CELLS',
    required: true,
    about:
      'The cells and their addresses, such as 0=http://10.0.0.1:8080,7=http://10.0.0.7:8080; where a cell has an operator port, with a second address: 7=http://10.0.0.7:8080|http://10.0.0.7:9090.',
  },
  {
    name: 'PAYBELL_ROUTE_KEY',
    required: true,
    secret: true,
    about: 'An operator key that all cells accept, with the role viewer: it reads the directory.',
  },
] as const satisfies readonly Setting[]
