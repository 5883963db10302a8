// Every page of the console, in the order of the navigation. A page whose path has a `:name` is reached
// through another one and is not in the navigation. Pages are loaded when they are first opened.

import { type ComponentType, lazy } from 'react'
import type { PageProps } from './page-props.ts'

export interface ConsolePage {
  path: string
  /** In the navigation. */
  title: string
  for: readonly ('operator' | 'client')[]
  isSandboxOnly?: boolean
  component: ComponentType<PageProps>
}

const OPERATOR = ['operator'] as const
const BOTH_KINDS = ['operator', 'client'] as const

export const PAGES: readonly ConsolePage[] = [
  {
    path: '/',
    title: 'Overview',
    for: BOTH_KINDS,
    component: lazy(() => import('./overview/overview.tsx')),
  },
  {
    path: '/deliveries',
    title: 'Deliveries',
    for: BOTH_KINDS,
    component: lazy(() => import('./deliveries/deliveries.tsx')),
  },
  {
    path: '/deliveries/:id',
    title: 'Delivery',
    for: BOTH_KINDS,
    component: lazy(() => import('./delivery/delivery.tsx')),
  },
  {
    path: '/payments',
    title: 'Payments',
    for: BOTH_KINDS,
    component: lazy(() => import('./payments/payments.tsx')),
  },
  {
    path: '/payments/:id',
    title: 'Payment',
    for: BOTH_KINDS,
    component: lazy(() => import('./payment/payment.tsx')),
  },
  {
    path: '/endpoints',
    title: 'Endpoints',
    for: BOTH_KINDS,
    component: lazy(() => import('./endpoints/endpoints.tsx')),
  },
  {
    path: '/endpoints/:id',
    title: 'Endpoint',
    for: BOTH_KINDS,
    component: lazy(() => import('./endpoint/endpoint.tsx')),
  },
  {
    path: '/clients',
    title: 'Clients',
    for: OPERATOR,
    component: lazy(() => import('./clients/clients.tsx')),
  },
  {
    path: '/clients/:id',
    title: 'Client',
    for: OPERATOR,
    component: lazy(() => import('./client/client.tsx')),
  },
  {
    path: '/jobs',
    title: 'Jobs',
    for: OPERATOR,
    component: lazy(() => import('./jobs/jobs.tsx')),
  },
  {
    path: '/jobs/:id',
    title: 'Job',
    for: OPERATOR,
    component: lazy(() => import('./jobs/job.tsx')),
  },
  {
    path: '/keys',
    title: 'Keys',
    for: OPERATOR,
    component: lazy(() => import('./keys/keys.tsx')),
  },
  {
    path: '/audit',
    title: 'Audit',
    for: OPERATOR,
    component: lazy(() => import('./audit/audit.tsx')),
  },
  {
    path: '/playground',
    title: 'Playground',
    for: OPERATOR,
    isSandboxOnly: true,
    component: lazy(() => import('./playground/playground.tsx')),
  },
  {
    path: '/settings',
    title: 'Settings',
    for: OPERATOR,
    component: lazy(() => import('./settings/settings.tsx')),
  },
]
