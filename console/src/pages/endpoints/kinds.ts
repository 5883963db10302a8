import type { EndpointKind } from '../../api/types.ts'

/** What each kind of endpoint is for. */
export const KINDS: Readonly<Record<EndpointKind, { title: string; about: string }>> = {
  webhook: {
    title: 'Webhooks',
    about: 'A webhook receives the payments of one account.',
  },
  subscription: {
    title: 'Subscriptions',
    about: 'A subscription receives the payments of all your accounts.',
  },
  listener: {
    title: 'Listeners',
    about: '“paybell listen” brings callbacks to a machine that is not reachable from outside.',
  },
}
