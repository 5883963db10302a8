import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiProblem } from './api/client.ts'
import { App } from './app.tsx'
import { Toasts } from './ui/basics/toast.tsx'
import './styles/variables.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/ui.css'

const queries = new QueryClient({
  defaultOptions: {
    // A request that cannot leave fails at once. Held back until the browser is online again, an action would run after
    // it was dismissed; and a service on the same machine answers without a network.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 1_000,
      // A refusal is final; a request that got no answer may get one the next time.
      retry: (failures, error) =>
        failures < 2 &&
        (!(error instanceof ApiProblem) || error.status === 0 || error.status >= 500),
    },
  },
})

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has lost its root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Toasts>
        <App />
      </Toasts>
    </QueryClientProvider>
  </StrictMode>,
)
