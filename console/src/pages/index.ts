// Every page of the console, in the order of the navigation. A page whose path has a `:name` is reached
// through another one and is not in the navigation. Pages are loaded when they are first opened.

import { type ComponentType, lazy } from 'react'
import type { IconName } from '../ui/basics/icon.tsx'
import type { PageProps } from './page-props.ts'

export interface ConsolePage {
  path: string
  /** In the navigation. */
  title: string
  /** In the navigation, beside the title. */
  icon?: IconName
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
    icon: 'overview',
    for: BOTH_KINDS,
    component: lazy(() => import('./overview/overview.tsx')),
  },
  {
    path: '/deliveries',
    title: 'Deliveries',
    icon: 'deliveries',
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
    icon: 'payments',
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
    icon: 'endpoints',
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
    icon: 'clients',
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
    icon: 'jobs',
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
    icon: 'keys',
    for: OPERATOR,
    component: lazy(() => import('./keys/keys.tsx')),
  },
  {
    path: '/certificates',
    title: 'Certificates',
    icon: 'certificates',
    for: BOTH_KINDS,
    component: lazy(() => import('./certificates/certificates.tsx')),
  },
  {
    path: '/audit',
    title: 'Audit',
    icon: 'audit',
    for: OPERATOR,
    component: lazy(() => import('./audit/audit.tsx')),
  },
  {
    path: '/playground',
    title: 'Playground',
    icon: 'playground',
    for: OPERATOR,
    isSandboxOnly: true,
    component: lazy(() => import('./playground/playground.tsx')),
  },
  {
    path: '/settings',
    title: 'Settings',
    icon: 'settings',
    for: OPERATOR,
    component: lazy(() => import('./settings/settings.tsx')),
  },
]
