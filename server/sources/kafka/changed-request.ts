// A request of the Kafka client that is made or read otherwise here. All its versions stay the client's.

import { type Base, kGetApi } from '@platformatic/kafka'

export type Changeable = Pick<Base, typeof kGetApi>

export function changeRequest<Request, C extends Changeable>(
  client: C,
  changed: string,
  change: (request: Request) => Request,
): C {
  const getApi = client[kGetApi].bind(client) as Base[typeof kGetApi]
  client[kGetApi] = (name, callback) =>
    getApi(name, (error, api) => {
      const isMeant = name === changed && api !== undefined
      callback(error, (isMeant ? change(api as unknown as Request) : api) as never)
    })
  return client
}
